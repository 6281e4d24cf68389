"""Episodes: in memory, in files, on many machines; and sums along and over them."""
