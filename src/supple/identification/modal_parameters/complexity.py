"""How complex a shape is: whether its places move in phase, as those of normal modes do."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array, Complex


def phase_collinearity(shapes: Complex) -> Array:
    """MPC (R,): 1 if all entries of a shape (R, n) are in phase or against it, 0 if there is no common phase.

    ((S_xx - S_yy)² + 4 S_xy²) / (S_xx + S_yy)² with S the products of real and imaginary parts        [Pappa; eq. 17]
    Parts are not taken about their mean: a shape of one entry, or one that moves as a whole, is no less in phase.
    """
    x, y = shapes.real, shapes.imag
    xx, yy, xy = (np.sum(a * b, axis=-1) for a, b in ((x, x), (y, y), (x, y)))
    whole = np.maximum((xx + yy) ** 2, np.finfo(float).tiny)
    return np.asarray(((xx - yy) ** 2 + 4.0 * xy**2) / whole)


def mean_phase(shapes: Complex) -> Array:
    """(R,) rad, of the line through zero that lies closest to the entries of a shape: the half angle of Σ ψ²."""
    return np.asarray(0.5 * np.angle(np.sum(shapes**2, axis=-1)))


def phase_deviation(shapes: Complex) -> Array:
    """MPD (R,) rad: mean angle between the entries of a shape and its mean phase, weighed by their size.  [eq. 18]"""
    turned = shapes * np.exp(-1j * mean_phase(shapes))[..., None]
    size = np.abs(turned)
    angle = np.arctan2(np.abs(turned.imag), np.abs(turned.real))
    return np.asarray(np.sum(size * angle, axis=-1) / np.maximum(size.sum(axis=-1), np.finfo(float).tiny))


def turned_real(shapes: Complex) -> Complex:
    """The shapes over their largest entry's size, turned by their mean phase, that entry positive: nearly real."""
    turned = shapes * np.exp(-1j * mean_phase(shapes))[..., None]
    rows = np.arange(len(turned))
    largest = turned[rows, np.abs(turned).argmax(axis=1)] if turned.size else np.ones(len(turned))
    size = np.maximum(np.abs(largest), np.finfo(float).tiny)
    return np.asarray(turned / (np.where(largest.real < 0.0, -1.0, 1.0) * size)[:, None])
