"""Poles of a matrix polynomial: eigenvalues of its block companion matrix."""

from __future__ import annotations

import numpy as np

from supple.array_types import Complex


def polynomial_roots(A: Complex) -> tuple[Complex, Complex]:
    """Roots z (m n,) and left null vectors (m n, n), of unit length, of A(z) = I + A_1 z + ... + A_m z^m.

    A : (m, n, n), A_1 ... A_m

    uᵀ A(z) = 0 with μ = 1/z is the eigenproblem of the companion matrix                                       [eq. 7]

        [-A_1ᵀ ... -A_mᵀ; I 0 ...; ...] (μ^{m-1} u, ..., u) = μ (μ^{m-1} u, ..., u)

    Roots at infinity (μ = 0) are far outside the unit circle, where nobody looks.
    """
    m, n, _ = A.shape
    companion = np.zeros((m * n, m * n), dtype=np.complex128)
    companion[:n] = -A.transpose(2, 0, 1).reshape(n, m * n)
    companion[n:, :-n] = np.eye((m - 1) * n)
    mu, vectors = np.linalg.eig(companion)
    # Of the n-blocks of an eigenvector, in the ratio μ, the largest is the most accurate.
    blocks = vectors.reshape(m, n, m * n)
    u = np.where(np.abs(mu) > 1.0, blocks[0], blocks[-1]).T
    size = np.linalg.norm(u, axis=1)
    tiny = np.finfo(float).tiny
    z = 1.0 / np.where(np.abs(mu) > 1e-12, mu, 1e-12)
    return np.asarray(z), np.asarray(u / np.maximum(size, tiny)[:, None])
