"""Fits on one box: designs of sample points, polynomials, and records of both."""
