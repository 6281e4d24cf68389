"""Episodes as flat arrays, and what is computed along them."""
