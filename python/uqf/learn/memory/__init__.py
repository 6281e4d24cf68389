"""What a learner keeps of a history: contexts, filters, beliefs of hidden Markov models."""
