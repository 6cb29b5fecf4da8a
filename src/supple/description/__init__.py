"""What the user means: a frozen description of a mechanism, with the names of the mechanism file."""
