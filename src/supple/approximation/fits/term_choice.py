"""Which terms a function needs in many dimensions, by what its samples show.

Polynomials of total degree n have (s + n)!/(s! n!) terms, most of them wasted where a function bends along some
coordinates only, or holds products of few of them. So terms are taken one after another, from a repertoire
(`lower_set`), by what is left of the samples: with r the residual of the terms taken so far and a_β the column of
equations of term β,

    e_β = ‖a_βᵀ r‖² / ‖a_β‖²,      α that maximises  Σ e_β / #   over the β ≤ α that are not taken yet,

which are then taken with α. What is taken stays a lower set; a term that is far out has to be worth its divisors.
Depending on the function that is a total degree, weighed or not, a hyperbolic cross, or neither: a coordinate that
enters linearly gets no second power. After each step r is what is left beside all that is taken.
[Pati, Rezaiifar, Krishnaprasad 1993: matching pursuit; Chkifa, Cohen, Schwab 2014, Migliorati 2019: lower sets]
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from supple.approximation.fits.chebyshev_products import basis, basis_gradient
from supple.approximation.fits.lower_set import divisors
from supple.approximation.fits.multi_index import Indices
from supple.array_types import Array

_BATCH = 0.06  # of the terms taken so far: as many are taken before the residual is found anew
_OUTPUTS = 16  # combinations of outputs, those that change most, by which terms are chosen
_SLOPE = 1 / 3  # what an equation for a slope weighs against one for a value


def chosen_terms(xi: Array, values: Array, gradients: Array | None, terms: Indices, most: int) -> Indices:
    """The terms by how much they are needed, each after its divisors: the first `most` as they were taken, then twice
    as many in all by what was left.

    xi        : (N, s) in [-1, 1]
    values    : (N, t), weighed by what they count
    gradients : (N, t, k) with respect to the first k of ξ, or None
    terms     : (terms, s), a lower set by rising total degree
    """
    A, r = basis(xi, terms), values
    if gradients is not None:
        A = np.vstack([A, _SLOPE * basis_gradient(xi, terms)[:, : gradients.shape[2]].reshape(-1, len(terms))])
        r = np.vstack([r, _SLOPE * np.swapaxes(gradients, 1, 2).reshape(-1, values.shape[1])])
    A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    below = divisors(terms)
    left = np.ones(len(terms))
    taken: list[int] = []
    Q = np.zeros((len(A), 0))
    r = _changing(r - A[:, :1] @ (A[:, :1].T @ r))
    while len(taken) < min(most, len(terms)):
        new = _next(_worth(A, r, below, left), below, left, max(1, int(_BATCH * len(taken))))
        new = new[: most - len(taken)]  # a divisor stands before its multiples
        left[new] = 0.0
        B = A[:, new]
        for _ in range(2):
            B = B - Q @ (Q.T @ B)
        B, _ = np.linalg.qr(B)
        Q, r = np.hstack([Q, B]), r - B @ (B.T @ r)
        taken += new
    more = min(2 * most, len(terms)) - len(taken)
    if more > 0:
        taken += _next(_worth(A, r, below, left), below, left, more)
    return terms[taken]


def _changing(r: Array) -> Array:
    """The combinations of outputs that change most, at most _OUTPUTS: their sum of squares is nearly that of all."""
    if r.shape[1] <= _OUTPUTS:
        return r
    U, size, _ = np.linalg.svd(r, full_matrices=False)
    return np.asarray(U[:, :_OUTPUTS] * size[:_OUTPUTS])


def _worth(A: Array, r: Array, below: csr_array, left: Array) -> Array:
    """What each term that is left, with its divisors that are left, takes off ‖r‖², a term."""
    energy = np.square(A.T @ r).sum(axis=1) * left
    needed = below @ left
    return np.where(left > 0.0, (below @ energy) / np.maximum(needed, 1.0), -1.0)


def _next(worth: Array, below: csr_array, left: Array, count: int) -> list[int]:
    """At least `count` terms that are worth most, if there are so many, with their divisors."""
    new: dict[int, None] = {}
    for k in np.argsort(-worth, kind="stable"):
        if len(new) >= count or worth[k] < 0.0:
            break
        for below_k in np.sort(below.indices[below.indptr[k] : below.indptr[k + 1]]).tolist():
            if left[below_k] > 0.0:
                new[below_k] = None
    return list(new)
