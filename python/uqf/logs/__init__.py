"""From files and tables to episodes, and back."""
