"""What compares us with others, outside of the wheel: ``python -m experiments --help``."""
