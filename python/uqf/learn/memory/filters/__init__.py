"""What SpectralQ keeps of a history: words, canonical coordinates, alternating filters."""
