"""Vibrations of a reduced model with θ led: frequencies and damping ratios of its deformation along a course of θ.

K_δδ(θ) φ = ω² M_δδ(θ) φ,   ζ = φᵀ D_δδ φ / (2 ω φᵀ M_δδ φ)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.reduced.model import ReducedModel


class LocalModes(NamedTuple):
    """frequencies : ω (N, k) rad/s, rising; damping : ζ (N, k); shapes : φ (N, m, k), with φᵀ M_δδ φ = 1."""

    frequencies: Array
    damping: Array
    shapes: Array


def local_modes(model: ReducedModel, theta: Array) -> LocalModes:
    """At θ (N, s)."""
    s = model.layout.theta
    if model.layout.size == s:
        raise InputError(
            "it does not deform, and has nothing to vibrate", part=f'model "{model.name}"',
            hint="reduce the mechanism with internal_modes=",
        )  # fmt: skip
    c = model.evaluate(np.ascontiguousarray(theta))
    M, K, D = (part[:, s:, s:] for part in (c.M, c.K, c.damping))
    L = np.linalg.inv(np.linalg.cholesky(M))
    squares, V = np.linalg.eigh(L @ K @ np.swapaxes(L, 1, 2))
    if not (squares > 0.0).all():
        raise InputError(
            "its stiffness is not positive along the motion", part=f'model "{model.name}"',
            hint="reduce with a smaller tolerance",
        )  # fmt: skip
    shapes, omega = np.swapaxes(L, 1, 2) @ V, np.sqrt(squares)
    return LocalModes(omega, np.einsum("nik,nij,njk->nk", shapes, D, shapes) / (2.0 * omega), shapes)
