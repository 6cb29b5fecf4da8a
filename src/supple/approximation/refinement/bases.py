"""Ladders of polynomials for a box: by total degree or, in many dimensions, by the number of terms.

In many dimensions the samples decide which terms are used. A level has a number of terms, which gives the number of its
samples, and a degree: for a number of terms N in between, it is the ν of (s + ν)!/(s! ν!) = N, interpolated between
whole degrees on a line of log N.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.stats import qmc

from supple.approximation.evaluated import Evaluated, Rows
from supple.approximation.fits.chebyshev_products import Indices, basis, basis_gradient, count, total_degree
from supple.approximation.fits.lower_set import divisors, repertoire
from supple.approximation.fits.scattered_fit import (
    LEAST_OVERSAMPLING,
    OVERSAMPLING,
    find_missing_points,
    highest_fit_degree,
    samples_for,
)
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode
from supple.approximation.refinement.leaf import FIRST_DEGREE, Leaf
from supple.array_types import Array

Weight = Callable[[Box, int], Array]
"""Function of a box and a degree: weight (t,) of each output there."""

MANY = 4  # dimensions from which on terms are chosen by samples
_HIGHER = 3  # degrees by which a better fit may exceed the highest
_GROWTH = 1.35  # of the number of terms from level to level
_FIRST_DEGREE_OF_MANY = 2
_MOST_TERMS = 1000
_FRESH = (16, 40)  # range of the number of fresh check points, in units of 1 + s
_NEWS = 1.15  # growth of the number of points after which terms are chosen again
_SHARES = (1.0, 0.75, 0.5)  # fractions of the allowed number of terms that are tried


class CandidateTerms(NamedTuple):
    """List of terms, and the number of its first ones that make a polynomial."""

    indices: Indices
    terms: int


class Bases(Protocol):
    """Ladder of polynomials for boxes of one dimension.

    indices                  : list of terms for leaves without their own
    first, cheapest, highest : levels: the first one of a fit, the lowest one expected for a half, the last one
    looked_back, slowest     : levels over which the decrease of the error is measured; ratio per degree above which a
                               higher degree is useless
    """

    indices: Indices
    first: int
    cheapest: int
    highest: int
    looked_back: int
    slowest: float

    def degree(self, level: int) -> float:
        """Return the degree of a level."""

    def below(self, level: int) -> int:
        """Return the highest level that halves begin with."""

    def short(self, leaf: Leaf, slopes: int) -> bool:
        """Return whether a leaf has too few samples for its level, because fewer slopes are known than expected."""

    def samples(self, level: int, slopes: int) -> int:
        """Return the number of samples of a level, with slopes known along so many axes."""

    def choose_points(self, leaf: Leaf, known: Array, slopes: int) -> Array:
        """Return the points ξ of the level's design that no known point (N, s) represents."""

    def propose_terms(self, leaf: Leaf, evaluated: Evaluated, weight: Weight) -> list[CandidateTerms]:
        """Return the polynomials that the samples of a leaf allow."""

    def better(self, node: BoxNode, rows: Rows, evaluated: Evaluated, weight: Weight) -> Indices:
        """Return the terms of a larger polynomial than that of a node, for all known points `rows` of its box."""

    def fresh(self, fitted: int) -> int:
        """Return the number of fresh check points of boxes that passed, after so many fitted points."""


class Graded:
    """Ladder of total degrees."""

    def __init__(self, dimension: int, degree: int | None):
        self.highest = highest_fit_degree(dimension) if degree is None else degree
        self.first, self.cheapest = min(FIRST_DEGREE, self.highest), min(2, self.highest)
        self.looked_back, self.slowest = 3, 0.9
        self.indices = total_degree(dimension, self.highest)
        self._dimension = dimension

    def degree(self, level: int) -> float:
        """Return the level itself."""
        return level

    def below(self, level: int) -> int:
        """Return two degrees less."""
        return level - 2

    def short(self, leaf: Leaf, slopes: int) -> bool:
        """Return False: the next degree adds the missing samples."""
        return False

    def samples(self, level: int, slopes: int) -> int:
        """Return the samples of a degree, see `samples_for`."""
        return samples_for(self._dimension, level, slopes)

    def choose_points(self, leaf: Leaf, known: Array, slopes: int) -> Array:
        """Return the missing points of a nested sequence."""
        return find_missing_points(known, self.samples(leaf.level, slopes))

    def propose_terms(self, leaf: Leaf, evaluated: Evaluated, weight: Weight) -> list[CandidateTerms]:
        """Return the degree of the level, one less, and higher ones if the samples allow."""
        s, equations = self._dimension, len(leaf.fitted) * (1 + evaluated.slopes)
        degrees = [n for n in range(1, self.highest + 1) if LEAST_OVERSAMPLING * count(s, n) <= equations]
        return [
            CandidateTerms(self.indices, count(s, n))
            for n in [n for n in degrees if n >= leaf.level - 1][:4] or degrees[-1:]
        ]

    def better(self, node: BoxNode, rows: Rows, evaluated: Evaluated, weight: Weight) -> Indices:
        """Return the highest degree that the equations allow."""
        s, equations = self._dimension, len(rows) * (1 + evaluated.slopes)
        degrees = range(self.highest + _HIGHER + 1)
        return total_degree(s, max(n for n in degrees if n == 0 or LEAST_OVERSAMPLING * count(s, n) <= equations))

    def fresh(self, fitted: int) -> int:
        """Return as many points as were fitted, at least some."""
        return max(10 * (1 + self._dimension), fitted)


class AdaptiveBasis:
    """Ladder of numbers of terms, which are chosen by the samples."""

    def __init__(self, dimension: int, degree: int | None):
        s, self._dimension, self._degree = dimension, dimension, degree
        most = _MOST_TERMS if degree is None else count(s, degree)
        self._counts = [1 + s]
        while self._counts[-1] < most:
            self._counts.append(min(most, ceil(_GROWTH * self._counts[-1])))
        self.highest = len(self._counts) - 1
        start = count(s, _FIRST_DEGREE_OF_MANY)
        self.first = next((k for k, terms in enumerate(self._counts) if terms >= start), self.highest)
        self.cheapest, self.looked_back, self.slowest = min(1, self.highest), 5, 1.0
        self.indices = repertoire(s, degree=degree)
        self._orders: dict[BoxNode, tuple[int, Indices]] = {}
        whole = [1, 1 + s]
        while whole[-1] < most:
            whole.append(count(s, len(whole)))
        self._degrees = np.interp(np.log(self._counts), np.log(whole), range(len(whole)))

    def degree(self, level: int) -> float:
        """Return ν of the level's number of terms."""
        return float(self._degrees[level])

    def below(self, level: int) -> int:
        """Return the level with a third of the terms."""
        return level - 4

    def short(self, leaf: Leaf, slopes: int) -> bool:
        """Return whether a leaf has less than half of the samples of its level."""
        return 2 * len(leaf.fitted) < self.samples(leaf.level, slopes)

    def samples(self, level: int, slopes: int) -> int:
        """Return the samples as for a total degree with as many terms."""
        return self._dimension + ceil(OVERSAMPLING * self._counts[level] / (1 + slopes))

    def choose_points(self, leaf: Leaf, known: Array, slopes: int) -> Array:
        """Return approximate Fekete points of the terms that were chosen last, as many as points are missing."""
        needed = self.samples(leaf.level, slopes)
        indices = self.indices if leaf.node.indices is None else leaf.node.indices
        return fekete_points(known, indices[:needed], max(0, needed - len(known)))

    def propose_terms(self, leaf: Leaf, evaluated: Evaluated, weight: Weight) -> list[CandidateTerms]:
        """Return the terms chosen by the samples, in several numbers, and a total degree."""
        s = self._dimension
        most = self._most(len(leaf.fitted), evaluated)
        order = self._order(leaf.node, leaf.fitted, evaluated, weight)
        lists = [CandidateTerms(order, n) for n in {max(1, int(share * most)): None for share in _SHARES}]
        degree = max(n for n in range(25) if n == 0 or count(s, n) <= most)
        graded = total_degree(s, degree if self._degree is None else min(degree, self._degree))
        return [*lists, CandidateTerms(_append_terms(graded, order), len(graded))]

    def better(self, node: BoxNode, rows: Rows, evaluated: Evaluated, weight: Weight) -> Indices:
        """Return the terms chosen by all points; those of the previous call unless there are many more points."""
        points, order = self._orders.get(node, (0, None))
        if order is None or len(rows) > _NEWS * points:
            order = self._order(node, rows, evaluated, weight)
            self._orders[node] = len(rows), order
        return order[: self._most(len(rows), evaluated)]

    def fresh(self, fitted: int) -> int:
        """Return as many points as were fitted, within bounds."""
        return (1 + self._dimension) * int(np.clip(fitted // (1 + self._dimension), *_FRESH))

    def _most(self, samples: int, evaluated: Evaluated) -> int:
        """Return the number of terms that so many samples determine."""
        return max(1, min(int(samples * (1 + evaluated.slopes) / LEAST_OVERSAMPLING), self._counts[-1]))

    def _order(self, node: BoxNode, rows: Rows, evaluated: Evaluated, weight: Weight) -> Indices:
        """Return terms by how much some samples need them."""
        box, known, used = node.box, evaluated.known_samples, node.indices
        if used is not None and node.coefficients is not None:
            used = node.terms(self.indices)
        counted, gradients = weight(box, FIRST_DEGREE), None
        if known.gradients is not None:
            gradients = known.gradients[rows] * counted[:, None] * box.half[: evaluated.slopes]
        xi, values = box.to_unit(evaluated.points[rows]), known.values[rows] * counted
        terms = repertoire(self._dimension, used, self._degree)
        return chosen_terms(xi, values, gradients, terms, self._most(len(rows), evaluated))


def _append_terms(first: Indices, then: Indices) -> Indices:
    """Return a list of terms, followed by the other terms of a second list."""
    known = set(map(tuple, first.tolist()))
    rest = [term for term in then.tolist() if tuple(term) not in known]
    return np.vstack([first, np.array(rest, dtype=np.int64).reshape(-1, first.shape[1])])


def bases_of(dimension: int, degree: int | None) -> Bases:
    """Return total degrees in a few dimensions, chosen terms in many."""
    return Graded(dimension, degree) if dimension < MANY else AdaptiveBasis(dimension, degree)


# Points for a given list of terms: approximate Fekete points, found one after another in addition to known ones.
#
# From a pool of candidates the next point is that where the points so far determine the terms least,
#
#     argmax_ξ T(ξ)ᵀ G⁻¹ T(ξ),     G = ε + Σ_p T(ξ_p) T(ξ_p)ᵀ,
#
# which makes det G grow fastest. Without known points, and with one term after another, these are Leja points.
# [Bos, De Marchi, Sommariva, Vianello 2010; Narayan, Jakeman 2014]


_POOL = 3000
_HELD = 1e-3  # ε: for terms that no point determines yet


@cache
def _pool(dimension: int, count: int) -> Array:
    """Return nested points scattered with the density 1/√(1 - ξ²), as good sample points are."""
    pool = np.cos(np.pi * qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(11)).random(count))
    pool.setflags(write=False)
    return pool


def fekete_points(known: Array, indices: Indices, count: int) -> Array:
    """Return further points (count, s) in addition to the known ones (N, s), for the terms (terms, s)."""
    s = indices.shape[1]
    pool = _pool(s, _POOL * ceil((len(known) + count) / (_POOL / 2)))
    if len(known):
        taken = {row.tobytes() for row in np.round(known, 9) + 0.0}
        pool = pool[[row.tobytes() not in taken for row in np.round(pool, 9) + 0.0]]
    G = _HELD * np.eye(len(indices))
    if len(known):
        T = basis(known, indices)
        G += T.T @ T
    W = solve_triangular(cholesky(G, lower=True), basis(pool, indices).T, lower=True).T
    loose = np.einsum("pk,pk->p", W, W)
    held = np.zeros((len(pool), count))
    chosen: list[int] = []
    for n in range(min(count, len(pool))):
        k = int(np.argmax(loose))
        chosen.append(k)
        shared = W @ W[k] - held[:, :n] @ held[k, :n]
        held[:, n] = shared / np.sqrt(1.0 + loose[k])
        loose = loose - held[:, n] ** 2
        loose[k] = -1.0
    return pool[chosen]


# Terms that a function needs in many dimensions, chosen by its samples.
#
# Polynomials of total degree n have (s + n)!/(s! n!) terms, most of them wasted where a function is nonlinear along
# some coordinates only, or contains products of few of them. So terms are taken one after another, from a repertoire
# (`lower_set`), by the residual of the samples: with r the residual of the terms taken so far and a_β the column of
# equations of term β,
#
#     e_β = ‖a_βᵀ r‖² / ‖a_β‖²,      α that maximises  Σ e_β / #   over the β ≤ α that are not taken yet,
#
# which are then taken with α. The taken terms stay a lower set; a term that is far out has to be worth its divisors.
# Depending on the function that is a total degree, weighted or not, a hyperbolic cross, or neither: a coordinate that
# enters linearly gets no second power. After each step r is the residual of all taken terms.
# [Pati, Rezaiifar, Krishnaprasad 1993: matching pursuit; Chkifa, Cohen, Schwab 2014, Migliorati 2019: lower sets]


_BATCH = 0.06  # of the terms taken so far: as many are taken before the residual is updated
_OUTPUTS = 16  # combinations of outputs, those that change most, by which terms are chosen
_SLOPE = 1 / 3  # weight of an equation for a slope against one for a value


def chosen_terms(xi: Array, values: Array, gradients: Array | None, terms: Indices, most: int) -> Indices:
    """Return terms by how much they are needed, each after its divisors.

    The first `most` are in the order in which they were taken, the others, twice as many in all, by the final residual.

    xi        : (N, s) in [-1, 1]
    values    : (N, t), weighted
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
    r = _combine_outputs(r - A[:, :1] @ (A[:, :1].T @ r))
    while len(taken) < min(most, len(terms)):
        new = _next(_worth(A, r, below, left), below, left, max(1, int(_BATCH * len(taken))))
        new = new[: most - len(taken)]  # a divisor comes before its multiples
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


def _combine_outputs(r: Array) -> Array:
    """Return at most _OUTPUTS combinations of outputs that change most; their sum of squares is nearly the total."""
    if r.shape[1] <= _OUTPUTS:
        return r
    U, size, _ = np.linalg.svd(r, full_matrices=False)
    return np.asarray(U[:, :_OUTPUTS] * size[:_OUTPUTS])


def _worth(A: Array, r: Array, below: csr_array, left: Array) -> Array:
    """Return the reduction of ‖r‖² per term by each open term with its open divisors."""
    energy = np.square(A.T @ r).sum(axis=1) * left
    needed = below @ left
    return np.where(left > 0.0, (below @ energy) / np.maximum(needed, 1.0), -1.0)


def _next(worth: Array, below: csr_array, left: Array, count: int) -> list[int]:
    """Return at least `count` terms that are worth most, if there are so many, with their divisors."""
    new: dict[int, None] = {}
    for k in np.argsort(-worth, kind="stable"):
        if len(new) >= count or worth[k] < 0.0:
            break
        for below_k in np.sort(below.indices[below.indptr[k] : below.indptr[k + 1]]).tolist():
            if left[below_k] > 0.0:
                new[below_k] = None
    return list(new)
