"""Joint stiffnesses that follow a coordinate: at each posture those of the number that the table gives there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import supple
from supple.diagnostics import InputError, SuppleWarning

ARM = """
supple: 1
name: arm
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], P: [0.5, 0, 0], Q: [0.9, 0, 0.1]}
bodies:
  upper: {rod: [O, P], mass: 2, inertia: [0.002, 0.04, 0.04]}
  fore: {rod: [P, Q], mass: 1, inertia: [0.001, 0.02, 0.02]}
joints:
  O: {revolute: [ground, upper], axis: y, stiffness: {x: 1e6, y: 2e6, z: 1.5e6, rx: 3e3, ry: 4e3, rz: 2e3}}
  P: {revolute: [upper, fore], axis: y, stiffness: {rx: TABLE, ry: 2e3, rz: 900}}
actuators: {a: {joint: O}, b: {joint: P}}
sensors: {tool: {position: Q}, held: {reaction: P}}
damping: {rayleigh: [0, 1e-4]}
"""
AT, VALUES = [-1.0, 0.0, 0.5, 1.5], [1e3, 2e3, 2.5e3, 6e3]
STIFFNESS = PchipInterpolator(AT, VALUES)
ANGLES = (-0.7, 0.1, 1.2)


def arm(stiffness: str = f"{{over: b, at: {AT}, values: {VALUES}}}") -> supple.Mechanism:
    return supple.loads(ARM.replace("TABLE", stiffness))


@pytest.fixture(scope="module")
def following() -> supple.Mechanism:
    return arm()


@pytest.mark.parametrize("b", ANGLES)
def test_at_a_posture_it_is_the_number_of_the_table(following, b):
    number, at = arm(repr(float(STIFFNESS(b)))), {"a": 0.3, "b": b}
    one, other = (supple.modes(item, at, count=5).frequencies_hz for item in (following, number))
    assert one == pytest.approx(other, rel=1e-10)
    one, other = (supple.deflection(item, at) for item in (following, number))
    assert one.of("tool.y") == pytest.approx(other.of("tool.y"), rel=1e-9, abs=1e-15)
    assert one.of("tool.z") == pytest.approx(other.of("tool.z"), rel=1e-9)
    assert one.reactions["P"].moment == pytest.approx(other.reactions["P"].moment, abs=1e-9)
    lines = np.array([5.0, 30.0])
    one, other = (supple.frf(item, at, "tool.y", ["tool.x", "tool.y"], lines).values for item in (following, number))
    assert np.abs(one - other).max() < 1e-9 * np.abs(other).max()
    one, other = (
        supple.local(item, at, constraint_modes=["Q.y"], internal_modes=2, stiffening=True)
        for item in (following, number)
    )
    assert np.abs(one.K - other.K).max() < 1e-8 * np.abs(other.K).max()


def test_batches_are_their_postures(following):
    found = supple.modes(following, [[0.3, b] for b in ANGLES], count=4).frequencies_hz
    for b, frequencies in zip(ANGLES, found, strict=True):
        assert frequencies == pytest.approx(supple.modes(following, [0.3, b], count=4).frequencies_hz, rel=1e-10)


def test_slopes_of_local_models_have_the_slope_of_the_table(following):
    options = {"constraint_modes": ["Q.y"], "internal_modes": 3, "tracking": "subspace", "germ": (0.3, 0.3)}
    for b in ANGLES:
        model = supple.local(following, [0.3, b], **options)
        ahead, behind = (supple.local(following, [0.3, b + step], **options) for step in (1e-4, -1e-4))
        for name, of in (("dK", "K"), ("dM", "M")):
            slope = getattr(model, name)[:, :, 1]
            by_differences = (getattr(ahead, of) - getattr(behind, of)) / 2e-4
            # third derivatives times the square of the step
            assert slope == pytest.approx(by_differences, abs=3e-6 * np.abs(slope).max())


@pytest.mark.slow
def test_a_reduced_model_follows_the_table(following):
    model = supple.reduce(
        following, region={"a": (0.2, 0.4), "b": (0.55, 1.45)}, internal_modes=3, fit="chebyshev", tolerance=1e-4,
        checks=200,
    )  # fmt: skip
    for b in (0.7, 1.3):
        found, wanted = model.evaluate([0.3, b]), supple.local(following, [0.3, b], internal_modes=3)
        assert np.linalg.eigvalsh(found.K[2:, 2:]) == pytest.approx(np.linalg.eigvalsh(wanted.K[2:, 2:]), rel=1e-3)


def test_beyond_the_table_it_stays_and_says_so(following):
    with pytest.warns(SuppleWarning, match=r'joint "P": .*stiffness "rx" covers b from -1 to 1\.5; .*end value'):
        found = supple.modes(following, [0.3, 1.9], count=4).frequencies_hz
    assert found == pytest.approx(supple.modes(arm("6e3"), [0.3, 1.9], count=4).frequencies_hz, rel=1e-10)


def test_an_angle_is_counted_within_a_turn_of_its_table():
    far = arm(f"{{over: b, at: {[x + 2 * np.pi for x in AT]}, values: {VALUES}}}")
    number = arm(repr(float(STIFFNESS(0.1))))
    one, other = (supple.modes(item, [0.3, 0.1], count=4).frequencies_hz for item in (far, number))
    assert one == pytest.approx(other, rel=1e-9)


def test_in_time_a_table_is_refused(following):
    with pytest.raises(InputError, match=r'joint "P": stiffness "rx" .*over "b".*reduced model.*rigid=True'):
        supple.simulate(following, until=0.01)
    assert supple.simulate(following, until=0.01, rigid=True).complete


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("{over: c, at: [0, 1], values: [1e3, 2e3]}", 'unknown coordinate "c" of the table'),
        ("{over: b, at: [1, 0], values: [1e3, 2e3]}", "at must increase, but 0 follows 1"),
        ("{over: b, at: [0, 1, 2], values: [1e3, 2e3]}", "at has 3 entries, but values has 2"),
        ("{over: b, at: [0, 7], values: [1e3, 2e3]}", 'more than one turn of the angle "b"'),
        ("{over: b, at: [0 mm, 7 mm], values: [1e3, 2e3]}", "an angle .rad. is expected"),
        ("{over: b, at: [0, 1], values: [1e3, 2 N]}", r'"2 N" is a force.* torsional stiffness \(N m/rad\)'),
        ("{over: b, at: [0, 1], values: [1e3, 0]}", "above 0"),
    ],
)
def test_what_is_wrong_with_a_table_is_told(table, told):
    with pytest.raises(InputError, match=told):
        supple.check(arm(table))
