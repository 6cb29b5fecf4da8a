"""Approximation of functions on boxes: sample points, polynomials, trees of boxes, errors. Independent of mechanics."""
