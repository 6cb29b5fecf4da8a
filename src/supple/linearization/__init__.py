"""Linear models about a state."""
