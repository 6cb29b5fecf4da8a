"""Comparison of a reduced model with the full mechanism, in its coefficients and in time."""
