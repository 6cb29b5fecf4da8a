"""C code of Horner's rule in several coordinates: values of columns, and their derivatives up to some order.

    f = (...(c_n ξ + c_{n-1}) ξ + ...) ξ + c_0,   f' = (...(f_n ξ + f_{n-1}) ξ + ...),   f_k the partial sums of f

In several coordinates the coefficients of the outer coordinate are polynomials of the inner ones. Derivatives are
carried along: one multiplication and one addition for each partial sum that is not zero, so that values with all slopes
cost about two multiplications a coefficient, whatever the number of coordinates. The code is one straight line inside a
loop over adjacent columns. The loop has a constant length of eight or less, and compilers turn it into vector
instructions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

from supple.export.c.monomials import Exponents

LANES = 8  # columns of a window
Derivative = tuple[int, ...]  # axes of a partial derivative, increasing; () is the value


class Window(NamedTuple):
    """Adjacent columns that are evaluated together, up to derivatives of some order; exact : in the type `exact`."""

    first: int
    width: int
    order: int
    exact: bool = False


def windows(orders: Sequence[int], exact: Sequence[bool], first: int = 0, *, padded: bool = True) -> list[Window]:
    """Return windows that cover columns with given orders of derivatives, which decrease.

    padded : widths are 1, 2, 4 or 8, as vector instructions need them; the last window may reach beyond the columns
    """
    found, at = [], 0
    while at < len(orders):
        left = min(LANES, len(orders) - at)
        width = next(w for w in (1, 2, 4, 8) if w >= left) if padded else left
        # A window of few columns of high order followed by many of low order is cut where this saves operations.
        high = sum(order == orders[at] for order in orders[at : at + left])
        cut = next((w for w in (1, 2, 4) if high <= w < left), width) if padded else high
        if cut < width and orders[at] > orders[min(at + cut, len(orders) - 1)]:
            width = cut
        here = slice(at, min(at + width, len(orders)))
        found.append(Window(first + at, width, max(orders[here]), any(exact[here])))
        at += width
    return found


class Rule(NamedTuple):
    """Straight-line code of Horner's rule for one set of exponents.

    lines    : statements, in terms of x0, x1, ... and `c[TERM * COLUMNS + o]`
    results  : expression of each derivative
    products : multiplications, each with an addition
    """

    lines: list[str]
    results: dict[Derivative, str]
    products: int


def derivatives(axes: int, order: int) -> list[Derivative]:
    """Return all partial derivatives up to an order."""
    return [axis for q in range(order + 1) for axis in combinations_with_replacement(range(axes), q)]


def horner_rule(exponents: Exponents, order: int, real: str = "double") -> Rule:
    """Return the code for one set of exponents and all derivatives up to an order."""
    below: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for alpha in exponents:
        for depth in range(len(alpha)):
            below[alpha[:depth]].add(alpha[depth])
    place, axes, products = {alpha: k for k, alpha in enumerate(exponents)}, len(exponents[0]), 0
    lines: list[str] = []
    cast = "" if real == "double" else f"({real})"

    def add(expression: str) -> str:
        name = f"t{len(lines)}"
        lines.append(f"const {real} {name} = {expression};")
        return name

    def evaluate(prefix: tuple[int, ...], axis: int) -> dict[Derivative, str]:
        """Return the derivatives, divided by the factorial of the order along each axis, of one inner polynomial."""
        nonlocal products
        if axis == axes:
            return {(): f"{cast}c[{f'{place[prefix]} * COLUMNS + ' if place[prefix] else ''}o]"}
        sums: dict[Derivative, str] = {}
        for n in range(max(below[prefix]), -1, -1):
            inner = evaluate((*prefix, n), axis + 1) if n in below[prefix] else {}
            own = {(*key, axis): value for key, value in sums.items() if len(key) < order}
            grown = inner | {key: value for key, value in own.items() if axis in key}
            made = {}
            # Derivatives along this axis take the partial sums of the order below, others the inner derivatives.
            for key in sorted({*sums, *grown}, key=lambda key: (-len(key), key)):
                if key in sums:
                    products += 1
                    term = f" + {grown[key]}" if key in grown else ""
                    made[key] = add(f"{sums[key]} * x{axis}{term}")
                else:
                    made[key] = grown[key]
            sums = made
        return sums

    # An inner derivative names inner axes first; results are sorted.
    found: dict[Derivative, str] = {}
    for key, value in evaluate((), 0).items():
        factor = 1
        for axis in set(key):
            for k in range(2, key.count(axis) + 1):
                factor *= k
        found[tuple(sorted(key))] = value if factor == 1 else f"{factor}.0 * {value}"
    return Rule(lines, found, products)
