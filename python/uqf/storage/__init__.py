"""Policies and statistics as files: safetensors, never pickle."""
