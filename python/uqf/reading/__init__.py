"""Sums over all episodes of a data set, in memory or in files, on this machine or on many."""
