"""Policies as files: safetensors, never pickle."""
