"""What the spectral learner alone needs: words, Hankel blocks, decomposition, automata."""
