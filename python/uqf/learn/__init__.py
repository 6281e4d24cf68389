"""From trajectories to an automaton: Hankel statistics → spectral step → automaton → estimator."""
