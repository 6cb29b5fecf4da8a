"""The reduced model in time."""
