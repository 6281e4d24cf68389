"""Gymnasium in both directions, and Minari."""
