"""What sensors see: angles between frames, over full turns, in every model; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

ARM = """
supple: 1
name: arm
points: {A: [0, 0, 0], B: [1, 0, 0], C: [1, 0, 1]}
bodies:
  one: {mass: 1, center: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1], rotation: {about: z, angle: 0.3}}
  two: {mass: 1, center: [1, 0, 0.5], inertia: [0.1, 0.1, 0.1]}
frames:
  tool: {on: two, at: C, rotation: {about: z, angle: 90 deg}}
  tilted: {on: two, at: C, rotation: {about: x, angle: 0.2}}
joints: {A: {revolute: [ground, one], axis: z}, B: {revolute: [one, two], axis: z}}
actuators: {a: {joint: A}, b: {joint: B}}
sensors: SENSORS
"""
FLAT = """
supple: 1
plane: xz
points: {A: [0, 0], B: [1, 0], C: [1, 1]}
bodies: {one: {rod: [A, B], mass: 1}, two: {rod: [B, C], mass: 1}}
joints: {A: {revolute: [ground, one]}, B: {revolute: [one, two]}}
actuators: {a: {joint: A}, b: {joint: B}}
sensors: SENSORS
"""


def values(text: str, sensors: str, theta: list[float]) -> dict[str, float]:
    found = supple.local(supple.loads(text.replace("SENSORS", sensors)), theta)
    assert set(found.units.outputs.values()) == {"rad"}
    return {name: float(np.ravel(output.value)[0]) for name, output in found.outputs.items()}


@pytest.mark.parametrize("theta", [[0.1, 0.2], [4.0, 5.0], [-9.0, 20.0]])
def test_angles_count_full_turns(theta):
    sensors = """{heading: {angle: [ground, two], axis: z}, back: {angle: [two, ground], axis: z},
      down: {angle: [ground, two], axis: -z}, tool: {angle: [ground, tool], axis: z},
      elbow: {angle: [one, two], axis: z}, tilted: {angle: [ground, tilted], axis: z}}"""
    found = values(ARM, sensors, theta)
    both = sum(theta)
    expected = {
        "heading": both, "back": -both, "down": -both, "tool": both + np.pi / 2,
        "elbow": theta[1] - 0.3, "tilted": both,  # about its own x axis it tilts, which stays in the plane
    }  # fmt: skip
    assert_allclose([found[name] for name in expected], list(expected.values()), atol=1e-12)


def test_in_the_plane_angles_are_between_the_bodies_axes():
    found = values(FLAT, "{s: {angle: [ground, two]}, e: {angle: [one, two]}}", [4.0, 5.0])
    assert_allclose(found["s"], 9.0, atol=1e-12)
    assert_allclose(found["e"], 5.0, atol=1e-12)


def test_an_angle_is_seen_in_time_and_by_linear_models():
    machine = supple.loads(ARM.replace("SENSORS", "{heading: {angle: [ground, two], axis: z}}"))
    run = supple.simulate(machine, until=0.5, rates={"a": 8.0, "b": 9.0})
    assert_allclose(run.outputs["heading"], run.coordinates["a"] + run.coordinates["b"], atol=1e-9)
    assert run.outputs["heading"][-1] > np.pi
    assert_allclose(supple.linearize(machine, [1.0, 2.0]).C[:, :2], [[1.0, 1.0]], atol=1e-9)


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        ("{angle: [ground, two]}", "sensor needs an axis.*axis: z"),
        ("{angle: [one, one], axis: z}", 'both points are on "one"; .*two different bodies'),
        ("{joint: A, axis: z}", "a joint sensor has no axis; .*position, angle"),
        ("{angel: [ground, two], axis: z}", 'did you mean .*"angle"'),
        ("{joint: A, angle: [ground, two], axis: z}", "exactly one of joint, between, position, angle"),
        ("{angle: [one, two], axis: [A, B]}", "an axis between two points.*give components in the frame"),
        ("{angle: [one, three], axis: z}", 'unknown .*"three"'),
        ("{acceleration: one, axes: own}", "world"),
        ("{position: one, axes: body}", '"axes": a position sensor does not'),
        ("{velocity: one, gravity: true}", '"gravity": a velocity sensor does not'),
        ("{velocity: one, order: 1}", '"order": a velocity sensor does not'),
        (
            "{angular_velocity: two, axes: body, axis: [A, B]}",
            "an axis between two points.*give components in the frame",
        ),
        ("{angle: one, axis: z}", '"angle" cannot be "one"; give a list'),
    ],
)
def test_what_is_wrong_is_said_with_its_line(sensor, message):
    with pytest.raises(supple.InputError, match=message) as caught:
        supple.check(supple.loads(ARM.replace("SENSORS", f"{{s: {sensor}}}")))
    assert caught.value.line == 13


def test_in_the_plane_an_axis_is_refused():
    with pytest.raises(supple.InputError, match=r"in the plane.*remove axis"):
        supple.check(supple.loads(FLAT.replace("SENSORS", "{s: {angle: [one, two], axis: x}}")))


def test_copies_of_sensors_look_at_their_own_copies():
    machine = supple.loads("""
supple: 1
name: arms
points: {P: [0, 0, 5], Q: [0, 1, 5]}
bodies: {base: {rod: [P, Q], mass: 1}}
joints: {P: {revolute: [ground, base], axis: x}}
actuators: {base: {joint: P}}
copies:
  legs:
    about: z
    count: 2
    points: {A: [1, 0, 0], B: [2, 0, 0.2]}
    bodies: {arm: {rod: [A, B], mass: 1}}
    joints: {A: {revolute: [ground, arm], axis: y}}
    actuators: {q: {joint: A}}
    sensors: {imu: {acceleration: arm.B, axes: body, gravity: true, axis: z}, r: {reaction: A, axes: body}}
""")
    found = supple.linearize(machine)
    for one, other in (("imu1", "imu2"), ("r1.z", "r2.z")):
        rows = [found.D[found.outputs.index(name)] for name in (one, other)]
        assert_allclose(np.sort(rows[0]), np.sort(rows[1]), atol=1e-12)
        assert np.abs(rows[0]).max() > 0.1
