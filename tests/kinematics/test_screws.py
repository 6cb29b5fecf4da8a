"""Screws against closed forms, over many turns: a nut on the ground (a tree), a spindle that drives a carriage (a
loop)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

PITCH = 0.01  # m a turn
ADVANCE = PITCH / (2.0 * np.pi)
GRAVITY = 9.81


@pytest.fixture(scope="module")
def nut():
    """It turns and climbs on a fixed vertical thread, held by a spring about it."""
    return supple.loads(
        """
        supple: 1
        name: nut
        gravity: [0, 0, -9.81]
        points: {A: [0, 0, 0]}
        bodies:
          nut: {mass: 2, center: [0, 0, 0], inertia: [0.02, 0.02, 0.03]}
        joints:
          thread: {screw: [ground, nut], at: A, axis: z, pitch: 10 mm}
        springs:
          twist: {joint: thread, stiffness: 3}
        actuators: {motor: {joint: thread}}
        """
    )


@pytest.fixture(scope="module")
def spindle():
    """It turns in a bearing and moves a carriage on a guide, which a spring holds."""
    return supple.loads(
        """
        supple: 1
        name: spindle
        points: {A: [0, 0, 0]}
        bodies:
          spindle: {mass: 1, center: [0, 0, 0], inertia: [0.01, 0.01, 0.005]}
          carriage: {mass: 5, center: [0, 0, 0], inertia: [0.1, 0.1, 0.1]}
        joints:
          bearing: {revolute: [ground, spindle], at: A, axis: z}
          guide: {prismatic: [ground, carriage], at: A, axis: z}
          thread: {screw: [carriage, spindle], at: A, axis: z, pitch: 10 mm}
        springs:
          buffer: {joint: guide, stiffness: 1e6}
        actuators: {motor: {joint: bearing}}
        """
    )


NUT_INERTIA, NUT_STIFFNESS = 0.03 + 2.0 * ADVANCE**2, 3.0
SPINDLE_INERTIA, SPINDLE_STIFFNESS = 0.005 + 5.0 * ADVANCE**2, 1e6 * ADVANCE**2


@pytest.mark.parametrize("angle", [0.3, -4.0, 60.0])
def test_a_screw_advances_over_many_turns(nut, spindle, angle):
    assert_allclose(supple.assemble(nut, [angle]).frame("nut").position, [0.0, 0.0, ADVANCE * angle], atol=1e-12)
    assert_allclose(supple.assemble(spindle, [angle]).joint_coordinates["guide"], -ADVANCE * angle, rtol=1e-12)


def test_local_models_of_screws(nut, spindle):
    model = supple.local(nut, [7.0])
    assert_allclose(model.M, [[NUT_INERTIA]], rtol=1e-12)
    assert_allclose(model.force, [-2.0 * GRAVITY * ADVANCE - NUT_STIFFNESS * 7.0], rtol=1e-12)
    model = supple.local(spindle, [7.0])
    assert_allclose(model.M, [[SPINDLE_INERTIA]], rtol=1e-12)
    assert_allclose(model.force, [-SPINDLE_STIFFNESS * 7.0], rtol=1e-12)


def test_linear_models_of_screws(nut, spindle):
    for machine, squared in ((nut, NUT_STIFFNESS / NUT_INERTIA), (spindle, SPINDLE_STIFFNESS / SPINDLE_INERTIA)):
        poles = np.linalg.eigvals(supple.linearize(machine, [0.0]).A)
        assert_allclose(np.sort(poles.imag), [-np.sqrt(squared), np.sqrt(squared)], rtol=1e-10)


def test_screws_swing_in_time(nut, spindle):
    for machine, joint, rest, squared in (
        (nut, "thread", -2.0 * GRAVITY * ADVANCE / NUT_STIFFNESS, NUT_STIFFNESS / NUT_INERTIA),
        (spindle, "bearing", 0.0, SPINDLE_STIFFNESS / SPINDLE_INERTIA),
    ):
        run = supple.simulate(machine, until=0.1, start=[20.0], tolerance=1e-8)
        expected = rest + (20.0 - rest) * np.cos(np.sqrt(squared) * run.time)
        assert_allclose(run.joint_coordinates[joint], expected, atol=1e-3)  # what the steps leave, of 20 rad
