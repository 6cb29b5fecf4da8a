"""Frequencies of a flexible model with θ locked: those of its deformation alone."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.reduced.layout import CoefficientLayout

_STILL = 1e-6  # of the highest frequency: below, a mode is one of rigid motion, and its frequency rounding


def kept_frequencies(layout: CoefficientLayout) -> int:
    """How many frequencies a model is made for: one for each internal mode, without any the lowest, none if rigid."""
    return min(max(layout.internal, 1), layout.size - layout.theta)


def locked_frequencies(K: Array, M: Array) -> Array:
    """ω (N, k) in rad/s, rising, of K_δδ φ = ω² M_δδ φ with K_δδ and M_δδ (N, k, k).

    A fit may be anything: ω = -√-ω² where K_δδ is not positive, and 0 throughout where M_δδ is not. nan where they are.
    """
    known = np.isfinite(K).all(axis=(1, 2)) & np.isfinite(M).all(axis=(1, 2))
    found = np.full(K.shape[:2], np.nan)
    found[known] = 0.0
    heavy = np.flatnonzero(known)
    least = np.linalg.eigvalsh(M[heavy])[:, 0]
    heavy = heavy[least > 0.0]
    inverse = np.linalg.inv(np.linalg.cholesky(M[heavy]))
    squares = np.linalg.eigvalsh(inverse @ K[heavy] @ np.swapaxes(inverse, 1, 2))
    omega = np.sign(squares) * np.sqrt(np.abs(squares))
    least_counted = _STILL * np.abs(omega).max(axis=1, keepdims=True, initial=0.0)
    found[heavy] = np.where(np.abs(omega) < least_counted, least_counted, omega)
    return found
