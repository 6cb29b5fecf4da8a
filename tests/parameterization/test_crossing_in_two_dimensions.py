"""The symmetric five-bar: at a point of its line of symmetry a symmetric and an antisymmetric mode have one frequency.

Off the line they do not cross but veer: the point is the tip of a cone. Around it each mode comes back as minus itself,
so that no single one can be followed; what they span can.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flexible_cases import EXAMPLES
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import supple
from supple.parameterization.modal_parameterization import modal_parameterization
from supple.parameterization.mode_choice import ModeChoice
from supple.parameterization.mode_tracking import continued_modes
from supple.reduction.exchanges import tracking_faults

FAMILIES = ("M", "dM", "K", "dK", "christoffel", "force", "dforce", "input_map")
RADII = (0.02, 0.1)


@cache
def five_bar():
    return supple.load(EXAMPLES / "flexible-five-bar" / "mechanism.yaml")


def on_the_line(left):
    """Configurations that are their own mirror images."""
    left = np.asarray(left, float)
    return np.stack([left, np.pi - left], axis=-1)


@cache
def crossing():
    """By bisection: on the line the two modes of the germ (on it, too) stay uncoupled; their stiffness is equal.

    Modes are followed, and exchange, as they are without loads.
    """

    def difference(left):
        K = supple.local(five_bar(), on_the_line(left), internal_modes=2, tracking="subspace", preload=False).K
        return K[2, 2] - K[3, 3]

    return on_the_line(brentq(difference, 1.85, 2.0, xtol=1e-12))


def loop(count, radius, center=None):
    angle = 2 * np.pi * np.arange(count + 1) / count
    center = crossing() if center is None else np.array(center)
    points = center + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points[-1] = points[0]
    return points


def around(count, radius, tracking):
    return supple.local(five_bar(), loop(count, radius), internal_modes=2, tracking=tracking, preload=False)


def largest_second_difference(model, name):
    values = getattr(model, name)
    values = values.reshape(len(values), -1)[:-1]  # a closed loop: the last point is the first
    second = np.roll(values, 1, axis=0) - 2 * values + np.roll(values, -1, axis=0)
    return np.abs(second).max() / np.abs(values).max()


def test_where_they_cross():
    assert_allclose(crossing(), on_the_line(1.923244), atol=1e-6)  # printed by this project; its frequencies are equal
    hz = supple.local(five_bar(), crossing(), internal_modes=3).internal_hz
    assert_allclose(hz[0], hz[1], rtol=1e-9)
    assert hz[2] > 4 * hz[1]
    for name, limits in ((a.joint, a.limits) for a in five_bar().actuators.values()):
        value = crossing()["AE".index(name)]
        assert limits[0] < value < limits[1]


def test_one_is_symmetric_and_the_other_is_not():
    """C moves along the line of symmetry, or across it."""
    for left, symmetric in ((1.8, 1), (2.0, 0)):
        outputs = supple.local(five_bar(), on_the_line(left), internal_modes=2).outputs
        assert abs(outputs["C.x"].modes[symmetric]) < 1e-9 * abs(outputs["C.z"].modes[symmetric])
        assert abs(outputs["C.z"].modes[1 - symmetric]) < 1e-9 * abs(outputs["C.x"].modes[1 - symmetric])


def test_off_the_line_they_veer():
    """A cone: in every direction the distance of the frequencies grows with that from the crossing."""
    for angle in np.linspace(0, np.pi, 7):
        way = np.array([np.cos(angle), np.sin(angle)])
        distance = np.array([[1e-4], [2e-4]])
        gap = np.diff(supple.local(five_bar(), crossing() + distance * way, internal_modes=2).internal_hz, axis=1)[:, 0]
        assert gap[0] > 1e-4
        assert_allclose(gap[1] / gap[0], 2.0, rtol=1e-3)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "input_map"])
def test_coefficients_of_the_followed_subspace_are_smooth_around_it(name, radius):
    """The largest second difference falls with the square of the number of points."""
    found = [largest_second_difference(around(count, radius, "subspace"), name) for count in (40, 80, 160)]
    exponent = np.log2([a / b for a, b in pairwise(found)])
    assert_allclose(exponent, 2.0, atol=0.1)
    assert found[-1] < 0.01


@pytest.mark.parametrize("radius", RADII)
def test_coefficients_of_the_followed_subspace_come_back(radius):
    """What one turn leaves is nothing: the last point is the first, and no step on the way turns the modes by much."""
    found = around(40, radius, "subspace")
    for name in FAMILIES:
        values = getattr(found, name)
        assert_allclose(values[-1], values[0], rtol=0, atol=1e-9 * np.abs(values).max())
    products = np.einsum("nkz,njz->nkj", found.modes[:-1, 2:], found.modes[1:, 2:])
    assert_allclose(products, np.broadcast_to(np.eye(2), products.shape), atol=0.1)


@pytest.mark.parametrize("radius", RADII)
def test_each_mode_comes_back_as_minus_itself(radius):
    system = modal_parameterization(five_bar(), ModeChoice((), 2, "modes"))
    points = loop(40, radius)
    first = modes = continued_modes(system, system.germ.theta, system.reference, points[0])
    for a, b in pairwise(points):
        modes = continued_modes(system, a, modes, b)
    assert_allclose(np.einsum("kz,kz->k", modes, first), [-1, -1], atol=1e-6)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("tracking", ["none", "modes"])
def test_modes_one_by_one_jump_however_fine_the_loop(tracking, radius):
    found = [largest_second_difference(around(count, radius, tracking), "M") for count in (40, 160)]
    assert found[1] > 0.5 * found[0] > 0.1


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("count", [12, 40])
def test_following_one_by_one_reports_where_it_fails(radius, count):
    system = modal_parameterization(five_bar(), ModeChoice((), 2, "modes"))
    (fault,) = tracking_faults(system, loop(count, radius))
    assert_allclose(fault.theta, crossing(), atol=1e-6)
    assert fault.modes == (1, 2)
    assert_allclose(fault.hz, 12.68409, atol=1e-4)
    words = fault.describe(("left", "right"))
    assert "left=1.923, right=1.218" in words
    assert "subspace" in words


def test_the_fault_lies_behind_the_crossing_as_seen_from_the_germ():
    system = modal_parameterization(five_bar(), ModeChoice((), 2, "modes"))
    (fault,) = tracking_faults(system, loop(40, 0.1))
    way = crossing() - system.germ.theta
    for theta in fault.between:
        aside = np.array(theta) - crossing()
        assert way @ aside > 0.95 * np.linalg.norm(way) * np.linalg.norm(aside)


def test_following_one_by_one_is_silent_where_it_works():
    system = modal_parameterization(five_bar(), ModeChoice((), 2, "modes"))
    assert tracking_faults(system, loop(20, 0.08, center=(1.62, 1.5))) == []
    assert tracking_faults(modal_parameterization(five_bar(), ModeChoice(("C.z",), 0, "modes")), loop(4, 0.1)) == []
