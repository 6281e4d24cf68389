"""Improving the logged policy by what its returns say: values that are linear in a memory."""
