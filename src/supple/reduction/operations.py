"""Floating-point operations of one evaluation of M, Γ and p: the paper's estimate, for any of our fits."""

from __future__ import annotations

from supple.approximation.piecewise import Piecewise
from supple.reduced.layout import CoefficientLayout


def operations(layout: CoefficientLayout, fitted: Piecewise) -> int:
    """Operations on the leaf that needs most.                                              [Brüls 2004, eq. 32]

        n = depth + s + (P - 1 - s) + 2 t (P - 1)

    P polynomials of a basis, t functions to sum. For quadratics on 2ˣ intervals along each of s axes it is the paper's
    x s + s + s(s + 1)/2 + t (s² + 3s). Like the paper we count what the dynamics needs, M, Γ and p. Where Γ and p
    follow from the gradients of M and the potential, those are s sums each instead of functions of their own (and of
    the potential itself nothing is needed), and Γ takes three operations an entry from there.
    """
    s, n = layout.theta, layout.size
    terms = int(fitted.arrays.leaves_i[:, 1].max(initial=1))
    width = {name: stop - first for name, (first, stop) in layout.columns.items()}
    sums = sum(width.get(name, 0) for name in ("M", "christoffel", "force"))
    combined = 0
    if layout.christoffel == "from-mass":
        sums += s * width["M"]
        combined = 3 * n * n * (n + 1) // 2
    if layout.force == "from-potential":
        sums += s
    return fitted.depth + s + max(0, terms - 1 - s) + 2 * sums * (terms - 1) + combined
