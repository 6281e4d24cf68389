"""Episodes as flat arrays, and what is computed of their steps."""
