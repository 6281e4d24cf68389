"""Columns and numbers as one code, and back."""
