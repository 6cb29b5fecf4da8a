"""Fits on one box: designs, polynomials."""
