"""Inertia that changes with deformation: M(θ, δ), its Christoffel symbols, and the forces that need not form them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.equations import deformation as kernels
from supple.equations.equations_of_motion import Coefficients, Labels
from supple.equations.forces import CoefficientRow, energies
from supple.equations.row import row_layout

N, S = 5, 2
D = N - S


@pytest.fixture
def row():
    """Any numbers with the symmetries of M, ∂M/∂θ, ∂M/∂δ and ∂²M/∂δ∂θ."""
    rng = np.random.default_rng(1)
    layout = row_layout(N, S, 1, 1, 0, bent=True)
    numbers = rng.standard_normal(layout.width)
    for name in ("M", "mass_gradient"):
        part = layout.part(numbers, name)
        part += np.swapaxes(part, -1, -2).copy()
    for name in ("mass_slope", "mass_slope_gradient"):
        part = layout.part(numbers, name)[..., :S, :]
        part += np.swapaxes(part, -3, -2).copy()
    return layout, numbers


def at(row, delta):
    """The coefficients at δ."""
    layout, numbers = row
    there = numbers.copy()
    kernels.deform(CoefficientRow(N, S, 1, layout.offsets, there), np.append(np.zeros(S), delta))
    labels = Labels(tuple("abcde"), ("u",), ("y",), {})
    return Coefficients(np.zeros(S), labels, layout, there)


def test_mass_is_linear_in_the_deformation_and_its_slope_is_kept(row):
    rng = np.random.default_rng(2)
    delta = rng.standard_normal(D)
    plain, bent = at(row, np.zeros(D)), at(row, delta)
    assert_allclose(bent.M, plain.M + plain.dM[:, :, S:] @ delta, atol=1e-13)
    assert_allclose(bent.M, bent.M.T, atol=0)
    assert_allclose(bent.dM[:, :, S:], plain.dM[:, :, S:], atol=0)
    assert not plain.dM[S:, S:, S:].any()


def test_gradients_of_the_mass_commute(row):
    """∂M/∂θ at δ has the slope with δ that ∂M/∂δ has with θ."""
    layout, numbers = row
    plain = at(row, np.zeros(D))
    along = kernels.full_mass_slope(layout.part(numbers, "mass_slope_gradient"))  # (s, n, n, d)
    for a, e in enumerate(np.eye(D)):
        assert_allclose(at(row, e).dM[:, :, :S] - plain.dM[:, :, :S], np.moveaxis(along[..., a], 0, -1), atol=1e-14)


def test_christoffel_symbols_are_the_mass_gradient_deformed(row):
    c = at(row, np.random.default_rng(3).standard_normal(D))
    G = c.christoffel
    assert_allclose(G + G.transpose(1, 0, 2), c.dM, atol=1e-14)
    assert_allclose(G, G.transpose(0, 2, 1), atol=1e-14)


def test_forces_are_those_of_the_christoffel_symbols_without_forming_them(row):
    rng = np.random.default_rng(4)
    c, v = at(row, rng.standard_normal(D)), rng.standard_normal(N)
    packed = CoefficientRow(N, S, 1, c.row.offsets, c.rows)
    f, slopes = np.zeros(N), np.empty((N, N))
    kernels.take_bending(packed, v, f)
    assert_allclose(-f, np.einsum("ijk,j,k->i", c.christoffel, v, v), atol=1e-12)
    kernels.bending_slopes(packed, v, slopes)
    assert_allclose(slopes, c.christoffel @ v, atol=1e-12)


def test_power_of_the_inertia_forces_is_the_rate_of_kinetic_energy(row):
    """Along θ(t), δ(t) with θ̇ = θ̈ = 0 but δ moving, and with all moving: d/dt ½ η̇ᵀ M(θ, δ) η̇, by differences in δ."""
    rng = np.random.default_rng(5)
    delta, v, a = rng.standard_normal(D), rng.standard_normal(N), rng.standard_normal(N)
    c = at(row, delta)
    power = v @ c.inertia_forces(v, a)
    packed = CoefficientRow(N, S, 1, c.row.offsets, c.rows)
    step = 1e-6

    def kinetic(h):
        there = at(row, delta + h * v[S:])
        turned = there.M + np.einsum("ijk,k->ij", c.dM[:, :, :S], h * v[:S])  # to first order in θ
        w = v + h * a
        return 0.5 * w @ turned @ w

    rounding = 4.0 * np.finfo(float).eps * abs(kinetic(0.0)) / step  # of the two energies, whichever way sums are taken
    assert_allclose((kinetic(step) - kinetic(-step)) / (2 * step), power, rtol=1e-8, atol=rounding)
    assert_allclose(energies(packed, np.append(np.zeros(S), delta), v)[0], kinetic(0.0), rtol=1e-12)


def test_slopes_with_deformation_are_differences(row):
    rng = np.random.default_rng(6)
    delta, v, a = rng.standard_normal(D), rng.standard_normal(N), rng.standard_normal(N)
    found = at(row, delta).inertia_slope(v, a)
    step = 1e-6
    for k, e in enumerate(np.eye(D)):
        ahead, behind = (at(row, delta + h * e).inertia_forces(v, a) for h in (step, -step))
        assert_allclose(found[:, k], (ahead - behind) / (2 * step), atol=1e-7 * np.abs(found).max())
