"""What a policy is, and how many histories are stepped at once."""
