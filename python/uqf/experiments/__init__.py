"""Experiments: each has an id, a seed, and a command that repeats it."""
