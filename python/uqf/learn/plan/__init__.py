"""Planning in a model."""
