"""The reduced model as C source."""
