"""At rest the elements in large motion are those of the linear theory, entry by entry."""

import numpy as np
import pytest
from moving_beams import Work, beams_through, bent_pair
from numpy.testing import assert_allclose

from supple.formulations.absolute.beams.beam_arrays import beam_arrays, no_beams
from supple.formulations.absolute.beams.beam_forces import beam_forces, beam_kinetic
from supple.formulations.absolute.elements import beam_tangents
from supple.formulations.absolute.step_work import BENT
from supple.formulations.absolute.tangent import complex_steps

ROUNDING = 1e-12  # of the largest entry

CASES = {
    "slender in the plane": lambda: bent_pair(True, shear=False),
    "sheared in the plane": lambda: bent_pair(True),
    "slender in space": lambda: bent_pair(False, shear=False),
    "sheared in space": lambda: bent_pair(False),
    "straight": lambda: beams_through([(0, 0, 0), (2, 0, 0)], planar=False, shear=True),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def beams(request):
    return request.param()


def derivatives_at_rest(beams):
    found = np.zeros((3, len(beams.arrays.frames), 2 * beams.d, 2 * beams.d))
    complex_steps(beams.arrays, np.zeros(3), beams.at_rest, beams.still, beams.still, found)
    return [beams.whole(blocks) for blocks in found]


def test_stiffness_and_mass_at_rest_are_those_of_the_modes(beams):
    of_pose, of_velocity, of_acceleration = derivatives_at_rest(beams)
    assert_allclose(-of_pose, beams.K, atol=ROUNDING * np.abs(beams.K).max())
    assert_allclose(-of_acceleration, beams.M, atol=ROUNDING * np.abs(beams.M).max())
    assert np.abs(of_velocity).max() == 0.0


def test_damping_of_elements_at_rest_is_in_proportion_to_stiffness(beams):
    """The part in proportion to mass is the mechanism's: it acts on the deformation alone (test_mass_damping.py)."""
    of_velocity = derivatives_at_rest(beams.damped(0.3, 0.02))[1]
    assert_allclose(-of_velocity, 0.02 * beams.K, atol=ROUNDING * np.abs(beams.K).max())


def test_iteration_matrix_at_rest_is_their_sum(beams):
    beams = beams.damped(0.3, 0.02)
    n = beams.d * len(beams.nodes)
    columns = (beams.d * beams.arrays.frames[:, :, None] + np.arange(beams.d)).reshape(len(beams.arrays.frames), -1)
    one, other = columns[:, :, None], columns[:, None, :]
    places = np.minimum(one, other) * n + np.maximum(one, other)
    work = Work(beams.still, np.zeros(BENT + 1), np.zeros(n * n))
    beam_tangents(beams.arrays._replace(places=places), beams.at_rest, 0.1, 0.2, work)
    upper = work.matrix.reshape(n, n)
    expected = (1.0 + 0.1 * 0.3) * beams.M + (0.1 * 0.02 + 0.2) * beams.K
    assert_allclose(upper + np.triu(upper, 1).T, expected, atol=ROUNDING * np.abs(expected).max())


def test_gravity_at_rest_is_that_of_the_mass(beams):
    g = np.array([1.0, -9.0, 0.0 if beams.planar else 3.0])
    uniform = np.zeros((len(beams.nodes), beams.d))
    shown = 2 if beams.planar else 3
    uniform[:, :shown] = g[:shown]
    pull = beams.forces(beams.at_rest, gravity=g).Q - beams.forces(beams.at_rest).Q
    assert_allclose(pull.ravel(), beams.M @ uniform.ravel(), atol=ROUNDING * np.abs(beams.M).max())


@pytest.mark.parametrize("planar", [True, False])
def test_a_mechanism_without_beams_has_no_forces_of_them(planar):
    none = no_beams(planar)
    for field, of_none in zip(beam_arrays([], planar), none, strict=True):
        assert field.shape == of_none.shape
        assert field.dtype == of_none.dtype
    X, V = np.zeros((1, 12)), np.zeros((0, 3 if planar else 6))
    assert beam_forces(none, np.zeros(3), X, V, V, Work(V, np.zeros(BENT + 1), np.zeros(0))) == 0.0
    assert beam_kinetic(none, X, V) == 0.0
