"""Fits on one box: designs of sample points, polynomials, and the records that name both."""
