"""Which learner suits a log: the front door `uqf.fit`, and what it needs."""
