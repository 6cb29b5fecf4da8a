"""Polynomials of exported code: conversion to monomials, Horner's rule with derivatives, and what both cost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.testing import assert_allclose

import supple
from supple.export.c.columns import stored_columns
from supple.export.c.generated_model import CModel
from supple.export.c.horner import derivatives, horner_rule, windows
from supple.export.c.monomials import (
    chebyshev_in_monomials,
    conversion,
    horner_order,
    kept_counts,
    needed_exponents,
)


def total_degree(s: int, degree: int) -> list[tuple[int, ...]]:
    return [item for item in itertools.product(range(degree + 1), repeat=s) if sum(item) <= degree]


def monomial_derivative(alpha: tuple[int, ...], axes: tuple[int, ...], x: np.ndarray) -> float:
    """∂^axes of x^α."""
    powers, factor = list(alpha), 1.0
    for axis in axes:
        factor *= powers[axis]
        powers[axis] -= 1
    return factor * float(np.prod(x ** np.maximum(powers, 0))) if factor else 0.0


def run_rule(rule, c: np.ndarray, x: np.ndarray) -> dict[tuple[int, ...], float]:
    """Evaluate straight-line C code in Python, whose syntax is the same for it."""
    known = {"c": c, "COLUMNS": 1, "o": 0} | {f"x{i}": value for i, value in enumerate(x)}
    for line in rule.lines:
        name, expression = line.removeprefix("const double ").rstrip(";").split(" = ")
        known[name] = eval(expression, known)  # noqa: S307 - code that the generator has just written
    return {key: eval(value, known) for key, value in rule.results.items()}  # noqa: S307


@pytest.mark.parametrize(("s", "degree", "order"), [(1, 6, 3), (2, 4, 3), (3, 4, 2), (3, 3, 3), (4, 2, 2), (6, 2, 1)])
def test_horner_gives_every_derivative(s, degree, order):
    rng = np.random.default_rng(s)
    exponents = horner_order([item for item in total_degree(s, degree) if item != (2,) + (0,) * (s - 1)])
    c, x = rng.normal(size=len(exponents)), rng.uniform(-1.0, 1.0, s)
    found = run_rule(horner_rule(exponents, order), c, x)
    for axes in derivatives(s, order):
        expected = sum(k * monomial_derivative(alpha, axes, x) for k, alpha in zip(c, exponents, strict=True))
        assert_allclose(found.get(axes, 0.0), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("s", "degree"), [(2, 9), (3, 8), (6, 4)])
def test_values_with_slopes_cost_two_products_a_term(s, degree):
    exponents = horner_order(total_degree(s, degree))
    assert horner_rule(exponents, 0).products == len(exponents) - 1
    assert horner_rule(exponents, 1).products < 2 * len(exponents)
    assert horner_rule(exponents, 2).products < 3 * len(exponents)


def test_chebyshev_polynomials_in_monomials():
    for n, row in enumerate(chebyshev_in_monomials(12)):
        assert_allclose(row[: n + 1], chebyshev.cheb2poly(np.eye(n + 1)[n]), rtol=0, atol=0)


@pytest.mark.parametrize("indices", [[(0, 0), (1, 0), (0, 1), (3, 2)], [(0, 0), (2, 0)], [(4, 1), (0, 0)]])
def test_conversion_holds_for_sets_with_gaps(indices):
    """A set of degrees need not hold all lower ones: the monomials are those that the products contain."""
    rng, table = np.random.default_rng(0), np.array(indices)
    exponents, c, x = needed_exponents(table), rng.normal(size=len(table)), rng.uniform(-1.0, 1.0, 2)
    products = np.prod([[np.cos(n * np.arccos(x[i])) for i, n in enumerate(row)] for row in indices], axis=1)
    powers = np.array([np.prod(x ** np.array(alpha)) for alpha in exponents])
    assert_allclose(powers @ (conversion(table, exponents) @ c), products @ c, rtol=1e-14)


@pytest.mark.parametrize("name", ["orthoglide", "four-bar", "flexible-five-bar"])
def test_no_digits_are_lost(name):
    """Σ|c_α| over Σ|ĉ_α| bounds what rounding costs in comparison with Chebyshev products: less than one digit."""
    modes = {"internal_modes": 2} if name.startswith("flexible") else {}
    rom = supple.reduce(supple.load(name), tolerance=1e-2, store=False, **modes)
    model, arrays = CModel("code", rom), rom.fitted.arrays
    columns = [column.column for column in model.stored]
    before = np.abs(arrays.coefficients[:, columns]).sum(axis=0)
    after = np.abs(model.polynomials.coefficients).sum(axis=0)
    for name in {column.coefficient for column in model.stored}:
        here = [column.coefficient == name for column in model.stored]
        # Numbers that are rounding do not decay: they count by the size of their coefficient.
        assert (after[here] < np.maximum(10.0 * before[here], 1e-3 * before[here].max())).all()


def test_numbers_of_terms_are_rounded_up_with_the_fewest_zeros():
    counts = np.array([10] * 50 + [12] + [35] * 4 + [36] * 3 + [84])
    assert kept_counts(counts, 2) == [10, 84]
    assert kept_counts(counts, 4) == [10, 12, 36, 84]
    assert kept_counts(counts, 9) == [10, 12, 35, 36, 84]


@pytest.mark.parametrize("orders", [[1] * 7, [1] * 9 + [0] * 3, [1] + [0] * 9, [0], [1] * 30 + [0] * 11])
@pytest.mark.parametrize("padded", [True, False])
def test_windows_cover_every_column_in_its_order(orders, padded):
    found, at = windows(orders, [False] * len(orders), padded=padded), 0
    for window in found:
        assert window.first == at
        assert all(window.order >= order for order in orders[at : at + window.width])
        at += window.width
    assert len(orders) <= at < len(orders) + (8 if padded else 1)


def test_columns_of_zeros_are_not_stored(reference):
    rom = reference.invented(1, 2, 1, (1, 1), (2,), structured=True)
    coefficients = rom.fitted.arrays.coefficients
    before = len(stored_columns(CModel("code", rom)))
    coefficients[:, rom.layout.columns["M"][0]] = 0.0
    assert len(stored_columns(CModel("code", rom))) == before - 1
