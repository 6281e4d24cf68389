"""Reports on a log and on the policies learned from it, as one page each."""
