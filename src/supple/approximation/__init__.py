"""Functions on boxes: designs of sample points, polynomials, trees of boxes, errors. Knows no mechanics."""
