"""Alternating spectral filters: the memory of `SpectralQ`."""
