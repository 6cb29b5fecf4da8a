"""Designs: where in a box [-1, 1]^s a function is sampled."""

from __future__ import annotations

from itertools import product

import numpy as np

from supple.array_types import Array


def full_factorial(dimension: int, levels: int = 3) -> Array:
    """`levels` equally spaced values along every axis: 3^s points by default."""
    return np.array(list(product(np.linspace(-1.0, 1.0, levels), repeat=dimension)))


def central_composite(dimension: int) -> Array:
    """Corners, centres of the faces (the star points), and the centre: 2^s + 2s + 1 points.    [Brüls 2004, 4.2]"""
    corners = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    stars = np.vstack([np.eye(dimension), -np.eye(dimension)])
    return np.vstack([corners, stars, np.zeros((1, dimension))])


def chebyshev_grid(dimension: int, degree: int) -> Array:
    """Tensor grid of Chebyshev points with the ends, cos(πk/degree): (degree + 1)^s points."""
    nodes = np.cos(np.pi * np.arange(degree, -1, -1) / degree) if degree > 0 else np.zeros(1)
    nodes[np.abs(nodes) < 1e-15] = 0.0
    return np.array(list(product(nodes, repeat=dimension)))
