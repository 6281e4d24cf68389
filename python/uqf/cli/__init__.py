"""The command line: ``uqf --help``."""
