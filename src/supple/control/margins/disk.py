"""Disk margins: how much every input's gain may be turned and stretched at once before the loop is unstable.

    f_k = (1 + δ_k/2) / (1 - δ_k/2),  |δ_k| < α,      α = 1 / max_ω μ(S(ω) - ½)        [Seiler 2020]

μ is the structured singular value for δ = diag(δ_k), each its own complex number. It is bounded from above by the
largest singular value of D (S - ½) D⁻¹ with the best diagonal D, exactly up to three inputs; with more, α may come out
too small, never too large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from supple.array_types import Array

ComplexArray = NDArray[np.complex128]


def balanced_norms(N: ComplexArray) -> Array:
    """Upper bounds (n,) of μ of matrices (n, m, m) at once, by the scaling d = √(y/x) of Perron's vectors of |N|."""
    if N.shape[-1] == 1:
        return np.abs(N[:, 0, 0])
    size = np.abs(N) + 1e-300
    right, left = _perron(size), _perron(np.swapaxes(size, 1, 2))
    d = np.sqrt(left / right)
    return np.asarray(np.linalg.svd(d[:, :, None] * N / d[:, None, :], compute_uv=False)[:, 0])


def structured_norm(N: ComplexArray) -> float:
    """The least largest singular value of D N D⁻¹ over diagonal D > 0, for N (m, m).

    σ(e^X N e^-X) is convex in the diagonal X, its slope along x_k is σ (|u_k|² - |v_k|²).
    """
    m = len(N)
    if m == 1:
        return float(abs(N[0, 0]))

    def scaled(x: Array) -> tuple[float, Array]:
        d = np.exp(np.append(0.0, x))
        u, s, v = np.linalg.svd(d[:, None] * N / d[None, :])
        slope = s[0] * (np.abs(u[:, 0]) ** 2 - np.abs(v[0]) ** 2)
        return float(s[0]), slope[1:]

    size = np.abs(N)[None] + 1e-300
    d = np.sqrt(_perron(np.swapaxes(size, 1, 2)) / _perron(size))[0]
    first = np.log(d[1:] / d[0])
    return float(min(minimize(scaled, first, jac=True).fun, scaled(first)[0]))


def _perron(size: Array) -> Array:
    """Positive vectors (n, m) of the largest eigenvalue of positive matrices (n, m, m)."""
    values, vectors = np.linalg.eig(size)
    place = np.argmax(values.real, axis=1)
    chosen = np.abs(np.take_along_axis(vectors, place[:, None, None], axis=2)[:, :, 0])
    return np.maximum(chosen, 1e-12 * chosen.max(axis=1, keepdims=True))
