"""Learners: from episodes to a policy."""
