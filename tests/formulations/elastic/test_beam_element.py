"""Laws of beam elements: energy of exact states, rigid motions, indifference to axes, limits of the theories."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.formulations.elastic.beam_element import SectionRates, beam_matrices, in_body_axes, on_arms
from supple.formulations.elastic.body_matrices import rigid_body_motions
from supple.geometry.rotation import exponential

ROUNDING = 1e-12  # of the largest entry: a few hundred products of order one
COUNT = 7


def elements(seed=3, tapered=True, shear=None):
    random = np.random.default_rng(seed)
    length = random.uniform(0.2, 2.0, COUNT)
    ends = random.uniform(0.5, 2.0, (10, COUNT, 2))
    if not tapered:
        ends[:, :, 1] = ends[:, :, 0]
    theory = np.arange(COUNT) % 2 == 0 if shear is None else np.full(COUNT, shear)
    return length, SectionRates(*ends), theory


def motions(length, axes=None):
    """Rigid motions of the two nodes of every element, (e, 12, 6)."""
    found = []
    for i, L in enumerate(length):
        along = np.array([L, 0.0, 0.0]) if axes is None else axes[i][:, 0] * L
        node, component = np.repeat([0, 1], 6), np.tile(np.arange(6), 2)
        found.append(rigid_body_motions(np.array([np.zeros(3), along]), node, component, 6))
    return np.array(found)


def test_matrices_are_symmetric_and_stiffness_has_six_rigid_motions_and_is_positive_otherwise():
    length, rates, shear = elements()
    K, M = beam_matrices(length, rates, shear)
    T = motions(length)
    for k, m, t in zip(K, M, T, strict=True):
        assert_allclose(k, k.T, atol=ROUNDING * abs(k).max())
        assert_allclose(m, m.T, atol=ROUNDING * abs(m).max())
        assert_allclose(k @ t, 0.0, atol=ROUNDING * abs(k).max())
        values = np.linalg.eigvalsh(k)
        assert np.sum(np.abs(values) < 1e-10 * values.max()) == 6
        assert values.min() > -1e-10 * values.max()
        assert np.linalg.eigvalsh(m).min() > 0.0


def test_mass_and_moments_of_a_tapered_element_are_the_integrals():
    length, rates, shear = elements()
    _, M = beam_matrices(length, rates, shear)
    T = motions(length)
    rigid = np.swapaxes(T, 1, 2) @ M @ T
    r0, r1 = rates.rA.T
    assert_allclose(rigid[:, 0, 0], length * (r0 + r1) / 2, rtol=ROUNDING)
    assert_allclose(rigid[:, 1, 5], length**2 * (r0 + 2 * r1) / 6, rtol=ROUNDING)
    rotary = np.where(shear[:, None], rates.rIz, 0.0).mean(axis=1) * length
    assert_allclose(rigid[:, 5, 5], length**3 * (r0 + 3 * r1) / 12 + rotary, rtol=1e-11)
    assert_allclose(rigid[:, 3, 3], rates.rIx.mean(axis=1) * length, rtol=ROUNDING)


def test_energy_of_stretch_twist_and_bending_is_the_integral_of_the_stiffness():
    length, rates, shear = elements()
    K, _ = beam_matrices(length, rates, shear)
    states = np.zeros((4, COUNT, 12))
    states[0, :, 6] = length  # u' = 1
    states[1, :, 9] = length  # φx' = 1
    states[2, :, 7], states[2, :, 11] = 0.5 * length**2, length  # v'' = 1, no shear
    states[3, :, 8], states[3, :, 10] = 0.5 * length**2, -length  # w'' = 1
    for state, rate in zip(states, (rates.EA, rates.GJ, rates.EIz, rates.EIy), strict=True):
        energy = np.einsum("ei,eij,ej->e", state, K, state)
        assert_allclose(energy, rate.mean(axis=1) * length, rtol=1e-11)


def test_a_uniform_timoshenko_cantilever_deflects_exactly_under_a_tip_load():
    length, rates, shear = elements(tapered=False, shear=True)
    K, _ = beam_matrices(length, rates, shear)
    compliance = np.linalg.inv(K[:, 6:, 6:])
    EIz, EIy, GAy, GAz = rates.EIz[:, 0], rates.EIy[:, 0], rates.GAy[:, 0], rates.GAz[:, 0]
    assert_allclose(compliance[:, 1, 1], length**3 / (3 * EIz) + length / GAy, rtol=1e-10)
    assert_allclose(compliance[:, 2, 2], length**3 / (3 * EIy) + length / GAz, rtol=1e-10)


def test_timoshenko_without_shear_and_rotary_inertia_is_euler_bernoulli():
    length, rates, _ = elements()
    slender = rates._replace(GAy=1e12 * rates.GAy, GAz=1e12 * rates.GAz, rIy=0 * rates.rIy, rIz=0 * rates.rIz)
    of = [beam_matrices(length, slender, np.full(COUNT, shear)) for shear in (False, True)]
    for stiff, limit in zip(*of, strict=True):
        assert_allclose(limit, stiff, atol=1e-9 * abs(stiff).max())  # the shear parameter is 1e-11


def test_turning_the_axes_turns_the_matrices_and_nothing_else():
    length, rates, shear = elements()
    random = np.random.default_rng(5)
    axes = np.array([exponential(w) for w in random.normal(size=(COUNT, 3))])
    for own in beam_matrices(length, rates, shear):
        body = in_body_axes(own, axes)
        assert_allclose(np.linalg.eigvalsh(body), np.linalg.eigvalsh(own), atol=1e-10 * abs(own).max())
    K = in_body_axes(beam_matrices(length, rates, shear)[0], axes)
    assert_allclose(K @ motions(length, axes), 0.0, atol=1e-11 * abs(K).max())


@pytest.mark.parametrize("matrix", [0, 1])
def test_arms_keep_energies_of_rigid_motions(matrix):
    length, rates, shear = elements()
    arms = np.random.default_rng(6).normal(size=(COUNT, 2, 3))
    own = beam_matrices(length, rates, shear)[matrix]
    held = on_arms(own, arms)
    for i, L in enumerate(length):
        ends = np.array([np.zeros(3), [L, 0.0, 0.0]])
        node, component = np.repeat([0, 1], 6), np.tile(np.arange(6), 2)
        T_nodes, T_ends = (rigid_body_motions(at, node, component, 6) for at in (ends - arms[i], ends))
        expected = T_ends.T @ own[i] @ T_ends
        assert_allclose(T_nodes.T @ held[i] @ T_nodes, expected, atol=1e-10 * abs(own[i]).max())
