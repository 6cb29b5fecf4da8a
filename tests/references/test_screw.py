"""A screw as in its closed forms, in time and among modes: a nut on a fixed spindle, a spindle that drives a slide.

With p = h/(2π), the advance for a radian, the inertia that is turned is J + m p², gravity along the axis asks for the
torque m g p, and an axial stiffness k is k p² about the axis.
"""

from __future__ import annotations

from math import tau

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

PITCH = 0.01  # m for a turn
P = PITCH / tau
G = 9.81

NUT = """
supple: 1
name: nut on a fixed spindle
gravity: [0, 0, -9.81]
points: {S: [0.1, 0.2, 0.3], P: [0.3, 0.2, 0.3]}
bodies: {nut: {mass: 2, center: [0.15, 0.2, 0.35], inertia: [0.01, 0.02, 0.03]}}
joints: {S: {screw: [ground, nut], axis: z, pitch: 10 mm}}
frames: {tip: {on: nut, at: P}}
actuators: {turn: {joint: S}}
sensors: {tip: {position: tip}, height: {position: tip, axis: z}}
"""
NUT_INERTIA = 0.03 + 2.0 * 0.05**2 + 2.0 * P**2

SPINDLE = """
supple: 1
name: spindle and slide
gravity: [0, 0, -9.81]
points: {R: [0, 0, 0], G: [0.1, 0, 0.05], S: [0, 0, 0.1]}
bodies:
  spindle: {mass: 1, center: [0, 0, 0.2], inertia: [0.01, 0.01, 2e-4]}
  slide: {mass: 3, center: [0.05, 0.02, 0.1], inertia: [0.01, 0.01, 0.01]}
joints:
  R: {revolute: [ground, spindle], axis: z}
  G: {prismatic: [ground, slide], axis: z}
  S: {screw: [spindle, slide], axis: z, pitch: -10 mm}
actuators: {turn: {joint: R}}
sensors: {height: {joint: G}}
"""
SPINDLE_INERTIA = 2e-4 + 3.0 * P**2
SPRING = "springs: {s: {joint: G, stiffness: 5e4}}\n"
NUT_SPRING = "springs: {s: {joint: S, stiffness: 0.2}}\n"


def turned_pitch(text: str, sign: str) -> supple.Mechanism:
    return supple.loads(text.replace("pitch: ", f"pitch: {sign}"))


@pytest.mark.parametrize(
    ("text", "inertia", "mass"), [(NUT, NUT_INERTIA, 2.0), (SPINDLE, SPINDLE_INERTIA, 3.0)], ids=["tree", "loop"]
)
class TestDynamics:
    def test_it_falls_through_many_turns(self, text, inertia, mass):
        run = supple.simulate(supple.loads(text), until=2.0 if inertia > 0.01 else 0.5)
        t = run.time
        expected = -0.5 * mass * G * P / inertia * t**2
        assert abs(expected[-1]) > 1.5
        assert_allclose(run.coordinates["turn"], expected, atol=1e-5 * abs(expected[-1]))

    def test_linear_model(self, text, inertia, mass):
        spring, stiffness = (NUT_SPRING, 0.2) if mass == 2.0 else (SPRING, 5e4 * P**2)
        found = supple.linearize(supple.loads(text + spring), {"turn": 20.0})
        assert_allclose(found.A, [[0.0, 1.0], [-stiffness / inertia, 0.0]], rtol=1e-9, atol=1e-9)
        assert_allclose(found.B, [[0.0], [1.0 / inertia]], rtol=1e-9, atol=1e-12)

    def test_its_torque_holds_the_weight(self, text, inertia, mass):
        mechanism = supple.loads(text)
        still = supple.trajectory(mechanism, {"time": np.linspace(0.0, 1.0, 7), "turn": np.full(7, 33.0)})
        assert_allclose(supple.inverse(mechanism, still).forces["turn"], mass * G * P, rtol=1e-9)


def test_a_thread_of_the_other_hand_goes_the_other_way():
    left = supple.assemble(turned_pitch(NUT, "-"), {"turn": 9.0}).frame("tip").position
    assert_allclose(left[2], 0.3 - P * 9.0, atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 25.0])
def test_modes_on_an_elastic_bearing(angle):
    """½ k z² with the spindle free to turn and to shift by z: M of (θ, z) is [[J + m p², m p], [m p, m + m_s]]."""
    k = 4e6
    text = SPINDLE.replace(
        "R: {revolute: [ground, spindle], axis: z}", f"R: {{revolute: [ground, spindle], axis: z, elastic: {{z: {k}}}}}"
    )
    mechanism = supple.loads(text)
    locked = supple.modes(mechanism, {"turn": angle}, count=1)
    assert_allclose(locked.frequencies_hz[0], np.sqrt(k / 4.0) / tau, rtol=1e-9)
    M = np.array([[SPINDLE_INERTIA, 3.0 * P], [3.0 * P, 4.0]])
    free = supple.modes(mechanism, {"turn": angle}, count=2, free_actuators=True)
    expected = np.sqrt(k / (M[1, 1] - M[0, 1] ** 2 / M[0, 0])) / tau
    assert_allclose(free.frequencies_hz[1], expected, rtol=1e-9)


def test_modes_on_an_elastic_drive():
    """The motor held, the spindle turns against it: ω² = k / (J + m p²)."""
    text = SPINDLE.replace(
        "R: {revolute: [ground, spindle], axis: z}", "R: {revolute: [ground, spindle], axis: z, drive: {stiffness: 50}}"
    )
    found = supple.modes(supple.loads(text), {"turn": 25.0}, count=1)
    assert_allclose(found.frequencies_hz[0], np.sqrt(50.0 / SPINDLE_INERTIA) / tau, rtol=1e-6)


def test_a_mirror_image_has_the_other_hand():
    text = """
supple: 1
points: {O: [0, 0, 0]}
bodies: {base: {mass: 1, center: O, inertia: [1, 1, 1]}}
joints: {O: {prismatic: [ground, base], axis: x}}
copies:
  side:
    mirror: y
    points: {S: [0, 0.2, 0]}
    bodies: {nut: {mass: 1, center: S, inertia: [1, 1, 1]}}
    joints: {S: {screw: [base, nut], axis: y, pitch: 10 mm}}
actuators: {slide: {joint: O}, one: {joint: S1}, two: {joint: S2}}
"""
    found = supple.loads(text)
    assert found.joints["S1"].pitch == -found.joints["S2"].pitch == PITCH
    here = supple.assemble(found, {"slide": 0.0, "one": 9.0, "two": 9.0})
    one, two = (here.frame(name).position for name in ("nut1", "nut2"))
    assert_allclose(one * [1, -1, 1], two, atol=1e-12)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{screw: [ground, nut], axis: z}", '"pitch" is missing'),
        ("{revolute: [ground, nut], axis: z, pitch: 1 mm}", '"pitch": a revolute joint does not'),
        ("{screw: [ground, nut], axis: z, pitch: 1 s}", '"1 s" is a time'),
        ("{screw: [ground, nut], pitch: 1 mm}", "no axis; give a direction: axis: z"),
        ("{screw: [ground, nut], axis: z, pitch: 1 mm, elastic: {z: 1}}", 'screw joint is free in direction "z"'),
    ],
)
def test_what_is_wrong_is_said(said, message):
    text = NUT.replace("{screw: [ground, nut], axis: z, pitch: 10 mm}", said)
    with pytest.raises(supple.InputError, match=message) as caught:
        supple.check(supple.loads(text))
    assert caught.value.line == 7
