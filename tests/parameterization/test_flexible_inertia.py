"""M and Γ of flexible mechanisms against the motion of all their masses, taken by differences: see nodal_motion.py."""

import numpy as np
import pytest
from flexible_cases import SPATIAL, FlexibleCase
from nodal_motion import NodalMotion, slopes
from numpy.testing import assert_allclose

import supple

DIFFERENCES = 1e-7
"""Of the largest entry of a slice: nested differences of sixth order; some 2e-8 was seen where modes are 8 % apart."""


def christoffel(dM):
    return 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))


def test_mass_is_that_of_all_nodes(flexible_case):
    model, s = flexible_case.local(), len(flexible_case.theta)
    expected = NodalMotion(flexible_case).M(flexible_case.at, np.zeros(len(model.M) - s))
    assert_allclose(model.M, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_christoffel_symbols_are_those_of_the_moving_masses(flexible_case):
    """Γ from ∂M/∂θ and ∂M/∂δ of M(θ, δ) = Vᵀ M₀ V with the whole, uncondensed mass matrix."""
    model, s = flexible_case.local(), len(flexible_case.theta)
    dM = NodalMotion(flexible_case).dM(flexible_case.at, len(model.M) - s)
    size = np.abs(dM).max(axis=(0, 1))
    assert (np.abs(model.dM - dM) <= DIFFERENCES * size).all()
    expected = christoffel(dM)
    size = np.sqrt(np.diag(model.M))
    unit = size[:, None, None] * size[:, None] * size
    assert_allclose(model.christoffel / unit, expected / unit, rtol=0, atol=DIFFERENCES * np.abs(expected / unit).max())


def test_power_law_of_the_christoffel_symbols(flexible_case):
    """Γ_ijk + Γ_jik = ∂M_ij/∂η_k, over θ and δ, and Γ_ijk = Γ_ikj."""
    model = flexible_case.local()
    G = model.christoffel
    size = np.abs(model.dM).max()
    assert_allclose(G + G.transpose(1, 0, 2), model.dM, rtol=0, atol=1e-14 * size)
    assert_allclose(G, G.transpose(0, 2, 1), rtol=0, atol=1e-14 * size)


def test_mass_is_symmetric_and_positive_definite(flexible_case):
    rng = np.random.default_rng(3)
    around = flexible_case.at + 0.05 * rng.uniform(-1, 1, (12, len(flexible_case.theta)))
    M = flexible_case.local(around, tracking="none").M
    assert_allclose(M, np.swapaxes(M, 1, 2), rtol=0, atol=1e-15 * np.abs(M).max())
    size = np.sqrt(np.einsum("nii->ni", M))
    assert np.linalg.eigvalsh(M / (size[:, :, None] * size[:, None])).min() > 1e-6


def test_rigid_part_is_that_of_the_rigid_mechanism(flexible_case):
    """M_θθ, Γ_θθθ, p_θ and what θ alone decides: the same mass, spread in the same way."""
    flexible, rigid = flexible_case.local(), supple.local(flexible_case.mechanism, flexible_case.at, rigid=True)
    s = len(flexible_case.theta)
    # A body without mass counts as 1e-10 of the mechanism's.
    for name in ("M", "dM", "christoffel"):
        mine, other = getattr(flexible, name), getattr(rigid, name)
        assert_allclose(mine[(slice(s),) * mine.ndim], other, rtol=0, atol=1e-9 * np.abs(other).max())
    assert_allclose(flexible.force[:s], rigid.force, rtol=1e-13, atol=0)
    assert_allclose(flexible.dforce[:s, :s], rigid.dforce, rtol=1e-13, atol=1e-13 * np.abs(rigid.dforce).max())
    assert flexible.potential == rigid.potential
    for name, output in rigid.outputs.items():
        assert_allclose(flexible.outputs[name].rigid, output.rigid, rtol=1e-13, atol=1e-15)
        assert_allclose(flexible.outputs[name].bend, output.bend, rtol=1e-13, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("center", [[0, 0, 0], [0.65, 0.7, 0.2], [2, -1, 0.5]])
def test_the_mass_of_a_rigid_body_may_stand_off_its_origin(center):
    """Its centre then moves with u + φ × c, and is turned with the frame as a point is."""
    plain = "rocker: {mass: 1.3, center: [0.65, 0.7, 0.2], inertia: [0.02, 0.03, 0.025]}"
    assert plain in SPATIAL
    text = SPATIAL.replace(plain, f"rocker: {{mass: 1.3, center: {center}, inertia: [0.02, 0.03, 0.025]}}")
    case = FlexibleCase(text, (-0.3,), ("C.z",), 2)
    model = case.local()
    dM = NodalMotion(case).dM(case.at, 3)
    # With the mass a metre away the lowest mode is at 5 Hz, and rounding of the modes is the larger for it.
    assert (np.abs(model.dM - dM) <= 1e-6 * np.abs(dM).max(axis=(0, 1))).all()


def test_differences_would_see_a_wrong_turning(flexible_case):
    """The comparison can fail: without ω × u, ∂M/∂δ differs by more than it may."""
    model, s = flexible_case.local(), len(flexible_case.theta)

    class Untwisted(NodalMotion):
        def velocities(self, theta, delta):
            still = super().velocities(theta, np.zeros_like(delta))
            moved = slopes(lambda t: self._displacements(t, delta), theta, self.step)
            return still + np.concatenate([moved, np.zeros((len(moved), len(delta)))], axis=1)

        def _displacements(self, theta, delta):
            zero = np.zeros_like(delta)
            (x, phi, R), (x0, _, _) = self.points(theta, delta), self.points(theta, zero)
            local = np.einsum("npji,npj->npi", R, x - x0)
            return np.concatenate([local, phi], axis=2)[:, :, self.kept].reshape(len(theta), -1)

    dM = Untwisted(flexible_case).dM(flexible_case.at, len(model.M) - s)
    assert np.abs(model.dM - dM)[..., s:].max() > 1e-3 * np.abs(model.dM[..., s:]).max()
