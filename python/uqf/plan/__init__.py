"""Planning with a simulator at hand."""
