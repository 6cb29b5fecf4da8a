"""LDLᵀ of quasi-definite matrices in a sparse pattern, against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.compilation import compile_kernel
from supple.integration.ldl import factorise, pattern_of, substitute


def quasi_definite(rng, primal, dual, density):
    """[[A, Bᵀ], [B, -C]] with sparse A, C positive definite, and the places of its entries."""

    def definite(size):
        R = rng.standard_normal((size, size)) * (rng.random((size, size)) < density)
        return R @ R.T + np.eye(size)

    B = rng.standard_normal((dual, primal)) * (rng.random((dual, primal)) < density)
    K = np.block([[definite(primal), B.T], [B, -definite(dual)]])
    return K, *np.nonzero(np.triu(K))


class Factor:
    """The pattern once, the numbers as often as wanted."""

    def __init__(self, size, rows, columns, kernel=compile_kernel):
        self.pattern, self.place = pattern_of(size, rows, columns)
        self.size = size
        self.rows, self.columns = np.append(rows, np.arange(size)), np.append(columns, np.arange(size))
        self.L, self.D = np.empty(len(self.pattern.below_index)), np.empty(size)
        self.factorise, self.substitute = kernel(factorise), kernel(substitute)

    def fill(self, K):
        values = np.zeros(len(self.pattern.entries))
        values[self.place.of(self.rows, self.columns)] = K[self.rows, self.columns]
        return self.factorise(self.pattern, values, self.L, self.D, np.empty(self.size), np.empty(self.size, np.int64))

    def solve(self, b):
        x = b.copy()
        self.substitute(self.pattern, self.L, self.D, x, np.empty(self.size))
        return x

    def lower(self):
        """L as a dense matrix, in the order of elimination."""
        L = np.eye(self.size)
        for k in range(self.size):
            for p in range(self.pattern.below_start[k], self.pattern.below_start[k + 1]):
                L[self.pattern.below_index[p], k] = self.L[p]
        return L


@pytest.mark.parametrize("seed", range(12))
def test_it_solves_as_dense_linear_algebra(seed):
    rng = np.random.default_rng(seed)
    primal, dual = int(rng.integers(1, 25)), int(rng.integers(0, 15))
    K, rows, columns = quasi_definite(rng, primal, dual, rng.uniform(0.05, 0.8))
    factor = Factor(len(K), rows, columns)
    assert factor.fill(K)
    b = rng.standard_normal(len(K))
    assert_allclose(factor.solve(b), np.linalg.solve(K, b), atol=1e-10 * np.linalg.cond(K))


@pytest.mark.parametrize("seed", range(6))
def test_the_factors_give_the_permuted_matrix_back(seed):
    rng = np.random.default_rng([1, seed])
    K, rows, columns = quasi_definite(rng, 12, 7, 0.25)
    factor = Factor(len(K), rows, columns)
    assert factor.fill(K)
    order = factor.pattern.order
    assert sorted(order) == list(range(len(K)))
    L = factor.lower()
    assert_allclose(L @ np.diag(factor.D) @ L.T, K[np.ix_(order, order)], atol=1e-12 * np.abs(K).max())
    assert (factor.D > 0).sum() == 12  # inertia of a quasi-definite matrix, in every order
    assert (factor.D < 0).sum() == 7


def test_the_pattern_serves_again_with_other_numbers():
    rng = np.random.default_rng(5)
    K, rows, columns = quasi_definite(rng, 15, 8, 0.3)
    factor = Factor(len(K), rows, columns)
    b = rng.standard_normal(len(K))
    for scale in (1.0, 3.0, 0.1):
        other = np.where(K != 0.0, K * scale, 0.0) + np.diag(np.sign(np.diag(K)) * rng.random(len(K)))
        assert factor.fill(other)
        assert_allclose(factor.solve(b), np.linalg.solve(other, b), atol=1e-9)


def test_only_entries_that_fill_in_are_kept():
    """A chain is eliminated without fill: as many entries below the diagonal as there are links."""
    links = np.arange(29)
    factor = Factor(30, links, links + 1)
    assert len(factor.pattern.below_index) == 29
    K = np.diag(np.full(30, 3.0)) + np.diag(np.ones(29), 1) + np.diag(np.ones(29), -1)
    assert factor.fill(K)
    assert_allclose(K @ factor.solve(np.arange(30.0)), np.arange(30.0), atol=1e-12)


def test_a_singular_matrix_and_one_that_is_no_number_are_told():
    factor = Factor(2, np.array([0]), np.array([1]))
    assert not factor.fill(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert not factor.fill(np.array([[1.0, np.nan], [np.nan, 1.0]]))
    assert factor.fill(np.eye(2))


def test_compiled_and_interpreted_agree():
    K, rows, columns = quasi_definite(np.random.default_rng(8), 10, 5, 0.4)
    found = []
    for kernel in (compile_kernel, lambda function: function):
        factor = Factor(len(K), rows, columns, kernel)
        factor.fill(K)
        found.append(factor.solve(np.ones(len(K))))
    assert_allclose(found[0], found[1], rtol=1e-13)
