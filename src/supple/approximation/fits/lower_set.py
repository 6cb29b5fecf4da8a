"""Lower sets of multi-indices: with α they contain every β ≤ α, so that every divisor of a term is a term.

The total degree is one, |α| ≤ n; weighted, Σ g_i α_i ≤ n, it is anisotropic. The hyperbolic cross Π (1 + α_i) ≤ K grows
like K (log K)^(s-1) only: it contains high powers of one coordinate and products of many, but not high powers of many.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from scipy.sparse import csr_array

from supple.approximation.fits.chebyshev_products import Indices, count, total_degree

Term = tuple[int, ...]

_FROM_THE_START = 2000  # terms of the hyperbolic cross that are candidates before any sample is known


def sort_terms(terms: set[Term]) -> Indices:
    """Return terms by rising total degree: (terms, s)."""
    return np.array(sorted(terms, key=lambda term: (sum(term), tuple(-n for n in term))), dtype=np.int64)


@cache
def hyperbolic_cross(dimension: int, size: int) -> tuple[Term, ...]:
    """Return all α with Π (1 + α_i) ≤ size."""
    found: list[Term] = [()]
    sizes = [1]
    for _ in range(dimension):
        grown = [
            ((*term, n), held * (n + 1)) for term, held in zip(found, sizes, strict=True) for n in range(size // held)
        ]
        found, sizes = [term for term, _ in grown], [held for _, held in grown]
    return tuple(found)


@cache
def _initial_terms(dimension: int) -> frozenset[Term]:
    size = 2
    while len(hyperbolic_cross(dimension, size + 1)) <= _FROM_THE_START:
        size += 1
    degree = 2
    while count(dimension, degree + 1) <= _FROM_THE_START // 3:
        degree += 1
    graded_terms = frozenset(map(tuple, total_degree(dimension, degree).tolist()))
    return frozenset(hyperbolic_cross(dimension, size)) | graded_terms


def repertoire(dimension: int, known: Indices | None = None, degree: int | None = None) -> Indices:
    """Return candidate terms: a hyperbolic cross, a total degree, and a known lower set with its margin.

    degree : largest total degree
    """
    terms = set(_initial_terms(dimension))
    if known is not None:
        terms |= with_margin(known)
    return sort_terms({term for term in terms if degree is None or sum(term) <= degree})


def with_margin(indices: Indices) -> set[Term]:
    """Return a lower set with its margin.

    The margin are the terms that keep it a lower set, and those two powers higher along a coordinate that a term
    contains: even functions have no odd powers, and odd functions no even ones.
    """
    inside: set[Term] = set(map(tuple, indices.tolist()))
    margin = {above for term in inside for above in _next_above(term) if above not in inside}
    margin = {term for term in margin if all(below in inside for below in _next_below(term))}
    further = set()
    for term in margin:
        for axis, n in enumerate(term):
            above = (*term[:axis], n + 1, *term[axis + 1 :])
            if n > 1 and all(below in inside or below in margin for below in _next_below(above)):
                further.add(above)
    return inside | margin | further


def _next_above(term: Term) -> list[Term]:
    return [(*term[:i], n + 1, *term[i + 1 :]) for i, n in enumerate(term)]


def _next_below(term: Term) -> list[Term]:
    return [(*term[:i], n - 1, *term[i + 1 :]) for i, n in enumerate(term) if n]


def divisors(indices: Indices) -> csr_array:
    """Return which terms of a lower set divide which: (terms, terms), 1 where β ≤ α, row α."""
    place = {tuple(term): k for k, term in enumerate(indices.tolist())}
    rows = [[place[below] for below in product(*(range(n + 1) for n in term))] for term in place]
    first = np.cumsum([0, *map(len, rows)])
    return csr_array((np.ones(first[-1]), np.concatenate(rows), first), shape=(len(rows), len(rows)))


def union_of_terms(lists: list[Indices]) -> Indices:
    """Return every term of some lists of lower sets, ordered by its first place in any of them.

    Each list has the divisors of a term before it, and so does the joined one.
    """
    place: dict[Term, int] = {}
    for indices in lists:
        for k, term in enumerate(map(tuple, indices.tolist())):
            place[term] = min(k, place.get(term, k))
    order = sorted(place, key=lambda term: (place[term], sum(term), tuple(-n for n in term)))
    return np.array(order, dtype=np.int64)
