"""Simulated worlds, by name, from arrays and from files."""
