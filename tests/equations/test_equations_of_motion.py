"""The equations of motion from a row of numbers: kernels and arrays say the same, slopes are derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.equations import forces as kernels
from supple.equations import row as places
from supple.equations.equations_of_motion import (
    Coefficients,
    Labels,
    christoffel,
    christoffel_symbols,
    gradient_from_christoffel,
    inertia_forces,
)
from supple.equations.forces import CoefficientRow, Friction
from supple.equations.row import local_layout, row_layout

N, S, INPUTS, OUTPUTS, DRY = 5, 2, 3, 2, 2
LIMITS, SPEED = np.array([0.7, 1.3]), 0.4
NAMES = {
    "MASS": "M", "STIFFNESS": "K", "DAMPING": "damping", "CHRISTOFFEL": "christoffel", "POTENTIAL": "potential",
    "FORCE": "force", "FORCE_SLOPE": "force_slope", "INPUT_MAP": "input_map", "OUTPUTS": "outputs", "RIGID": "rigid",
    "MODES": "modes", "FRICTION_MAP": "friction_map", "STIFFNESS_SLOPE": "stiffness_slope", "DM": "dM",
    "DFORCE_THETA": "dforce_theta", "DDAMPING": "ddamping", "DINPUT_MAP": "dinput_map", "BEND": "bend",
    "MODES_SLOPE": "modes_slope", "DFRICTION_MAP": "dfriction_map", "SQUARES": "squares", "OVERLAP": "overlap",
    "PLACES": "places", "MASS_GRADIENT": "mass_gradient", "MASS_SLOPE": "mass_slope",
    "MASS_SLOPE_GRADIENT": "mass_slope_gradient", "MASS_CURVATURE": "mass_curvature",
    "MASS_CURVATURE_GRADIENT": "mass_curvature_gradient", "EFFORTS": "efforts",
}  # fmt: skip


@pytest.fixture(params=["M of θ and δ", "M of θ and δ, stiffened", "M of θ"])
def equations(request):
    """A row of any numbers, with the symmetries of its matrices and K zero for θ."""
    rng = np.random.default_rng(4)
    bent, curved = request.param != "M of θ", "stiffened" in request.param
    layout = row_layout(N, S, INPUTS, OUTPUTS, DRY, bent=bent, curved=curved)
    row = rng.standard_normal(layout.width)
    for name in ("M", "K", "damping", "stiffness_slope", "christoffel", "mass_gradient"):
        part = layout.part(row, name)
        part += np.swapaxes(part, -1, -2).copy()
    for name in ("mass_slope", "mass_slope_gradient") if bent else ():
        part = layout.part(row, name)
        part = part[..., : part.shape[-3], :]
        part += np.swapaxes(part, -3, -2).copy()
    for name in ("mass_curvature", "mass_curvature_gradient") if curved else ():
        part = layout.part(row, name)
        part += np.swapaxes(part, -1, -2).copy()
        part += np.swapaxes(part, -3, -4).copy()
    layout.part(row, "M")[:] += 20.0 * np.eye(N)
    layout.part(row, "K")[:S], layout.part(row, "K")[:, :S] = 0.0, 0.0
    labels = Labels(tuple("abcde"), tuple("uvw"), tuple("yz"), {"p": LIMITS[0], "q": LIMITS[1]})
    return Coefficients(rng.standard_normal(S), labels, layout, row)


@pytest.fixture
def state():
    rng = np.random.default_rng(5)
    return rng.standard_normal(N), rng.standard_normal(N), rng.standard_normal(N), rng.standard_normal(INPUTS)


def packed(c):
    return CoefficientRow(N, S, INPUTS, c.row.offsets, c.rows), Friction(LIMITS, SPEED)


def kernel_forces(c, eta, rates, u):
    f = np.empty(N)
    kernels.forces(*packed(c), eta, rates, u, f)
    return f


@pytest.mark.parametrize(
    "layout",
    [
        row_layout(5, 2, 3, 2, 1),
        row_layout(5, 2, 3, 2, 1, bent=True),
        row_layout(5, 2, 3, 2, 1, bent=True, curved=True),
        local_layout(5, 2, 3, 2, 1, 2),
        local_layout(2, 2, 3, 2, 1),
    ],
)
def test_a_coefficient_stands_where_its_name_says(layout):
    for constant, name in NAMES.items():
        place = getattr(places, constant)
        if place < len(layout.shapes):
            assert layout.offsets[place] == layout.start(name), constant
    assert len(layout.shapes) in (places.COEFFICIENTS, len(NAMES) + 1)  # no kernel asks for "defforts"
    rows = np.arange(2.0 * layout.width).reshape(2, -1)
    assert sum(part.size for part in layout.split(rows).values()) == rows.size


def test_christoffel_symbols_are_the_mass_gradient():
    half = np.random.default_rng(6).standard_normal((3, N, N, N))
    dM = half + np.swapaxes(half, -3, -2)
    G = christoffel(dM)
    assert_allclose(gradient_from_christoffel(G), dM, atol=1e-14)
    assert_allclose(G, np.swapaxes(G, -1, -2), atol=1e-15)
    found = np.empty(N**3)
    christoffel_symbols(N, dM[0].ravel(), found)
    assert_allclose(found, G[0].ravel(), atol=1e-15)


def test_inertia_forces_do_the_work_that_kinetic_energy_gains():
    # d/dt ½ η̇ᵀMη̇ = η̇ᵀ M η̈ + ½ η̇ᵀ (∂M[η̇]) η̇
    rng = np.random.default_rng(7)
    half = rng.standard_normal((N, N, N))
    dM, M = half + half.transpose(1, 0, 2), np.eye(N)
    v, a = rng.standard_normal((2, N))
    power = v @ inertia_forces(M, christoffel(dM), v, a)
    assert_allclose(power, v @ M @ a + 0.5 * np.einsum("ijk,i,j,k", dM, v, v, v), rtol=1e-12)


def test_the_kernel_and_the_arrays_give_the_same_forces(equations, state):
    eta, v, a, u = state
    drag, _ = equations.dry_friction(v, SPEED)
    needed = equations.required_forces(v, a, eta[S:]) + equations.friction_forces(drag)
    f = kernel_forces(equations, eta, v, u)
    assert_allclose(equations.M @ a - f, needed - equations.input_map @ u, rtol=1e-12, atol=1e-12)
    x = f.copy()
    assert kernels.solve_mass(packed(equations)[0], np.empty((N, N)), x)
    assert_allclose(equations.M @ x, f, rtol=1e-11)


def test_slopes_are_derivatives(equations, state):
    eta, v, _, u = state
    step = 1e-6

    def differences(move):
        return np.array([(move(step * e) - move(-step * e)) / (2.0 * step) for e in np.eye(N)]).T

    by_rates = differences(lambda d: kernel_forces(equations, eta, v + d, u))
    found = np.empty((N, N))
    kernels.rate_slopes(*packed(equations), v, found)
    assert_allclose(found, by_rates, atol=1e-7 * np.abs(by_rates).max())  # rounding over the step
    assert_allclose(equations.rate_slopes(v, SPEED), found, atol=1e-12)
    by_eta = differences(lambda d: kernel_forces(equations, eta + d, v, u))
    assert_allclose(equations.stiffness_force_slope(eta[S:]), by_eta[:, S:], atol=1e-7 * np.abs(by_eta).max())


def test_the_force_on_delta_is_the_slope_of_the_potential_energy(equations, state):
    eta, _, _, _ = state
    c, step = packed(equations)[0], 1e-6
    still = np.zeros(N)
    slopes = [
        (kernels.energies(c, eta + step * e, still)[1] - kernels.energies(c, eta - step * e, still)[1]) / (2.0 * step)
        for e in np.eye(N)[S:]
    ]
    assert_allclose(-equations.potential_force(eta[S:])[S:], slopes, atol=1e-7 * np.abs(slopes).max())


def test_a_batch_is_its_single_rows(equations, state):
    _, v, a, _ = state
    rows = np.stack([equations.rows, 2.0 * equations.rows])
    batch = Coefficients(np.stack([equations.theta] * 2), equations.labels, equations.row, rows)
    found = batch.required_forces(np.stack([v, v]), np.stack([a, a]))
    assert_allclose(found, [equations.required_forces(v, a), 2.0 * equations.required_forces(v, a)], rtol=1e-13)
    assert_allclose(batch.outputs["z"].rigid[0], equations.outputs["z"].rigid)
