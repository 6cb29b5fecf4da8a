"""Mechanisms written as tables: what is read back is the same mechanism, and what no table can say is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.formats.khalil_kleinfinger.written import to_tables
from supple.formats.mechanism_file import loads

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["seven-joint", "orthoglide-parallelogram"])
def test_a_machine_of_hinges_and_slides_is_the_same_as_tables(name):
    drawn = supple.load(EXAMPLES / name / "mechanism.yaml")
    tables = loads(to_tables(drawn))
    again = loads(to_tables(tables))
    assert list(tables.actuators) == list(drawn.actuators)
    assert set(tables.sensors) == set(drawn.sensors)
    for theta in drawn.configurations.values():
        one, other, third = (supple.local(machine, theta) for machine in (drawn, tables, again))
        assert_allclose(other.M, one.M, rtol=0.0, atol=1e-12 * np.abs(one.M).max())
        assert_allclose(third.M, one.M, rtol=0.0, atol=1e-12 * np.abs(one.M).max())


MIXED = """
supple: 1
name: mixed
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], P: [0.3, 0.1, 0.2], Q: [0.5, 0.4, 0.2], S: [0.9, 0.4, 0.1], G: [0.9, 0.4, -0.5]}
bodies:
  first: {mass: 2, center: [0.1, 0, 0.1], inertia: [0.03, 0.02, 0.04]}
  second: {rod: [P, Q], mass: 1}
  third: {mass: 0.5, center: [0.7, 0.4, 0.1], inertia: {xx: 0.01, yy: 0.02, zz: 0.02, xy: 0.003}}
  leg: {rod: [G, S], mass: 0.3, inertia: [1e-4, 0.01, 0.01]}
  foot: {mass: 0.4, center: G, inertia: [1e-3, 1e-3, 1e-3]}
frames:
  on_third: {on: third, at: Q, rotation: {about: [1, 2, 3], angle: 0.4}}
  on_second: {on: second, at: Q, rotation: {about: [1, 2, 3], angle: 0.1}}
joints:
  base: {revolute: [first, ground], at: O, axis: [0.2, 0.1, 1], rest: 0.4, viscous: 0.3}
  slide: {prismatic: [first, second], at: P, axis: [0, 1, 1], rest: -0.1, limits: [-0.5, 0.5]}
  swing: {revolute: [second, third], frames: [on_second, on_third], axis: [1, 2, 3]}
  ankle: {revolute: [ground, foot], at: G, axis: x}
  knee: {revolute: [foot, leg], at: G, axis: y}
  tie: {spherical: [leg, third], at: S}
springs: {pull: {between: [S, ground], stiffness: 100, length: 0.2}}
point_masses: {load: {at: Q, mass: 0.2}}
sensors: {foot: {position: foot}, angle: {joint: swing}}
coordinates: [base, slide]
"""


def test_turned_joints_rest_values_frames_and_places():
    drawn = loads(MIXED)
    tables = loads(to_tables(drawn))
    for theta in ({}, {"base": 0.45, "slide": -0.12}):
        one, other = supple.local(drawn, theta), supple.local(tables, theta)
        assert_allclose(other.M, one.M, rtol=0.0, atol=1e-10 * np.abs(one.M).max())  # closure's tolerance
        ours, theirs = supple.assemble(tables, theta), supple.assemble(drawn, theta)
        assert_allclose(ours.frame("on_third").position, theirs.frame("on_third").position, atol=1e-10)
        assert_allclose(ours.frame("on_third").rotation, theirs.frame("on_third").rotation, atol=1e-10)
        assert_allclose(ours.joint_coordinates["swing"], theirs.joint_coordinates["swing"], atol=1e-10)


@pytest.mark.parametrize(
    ("example", "why"),
    [("two-link", "planar"), ("stewart", "universal"), ("flexible-four-bar", "planar|elastic")],
)
def test_what_no_table_can_say_is_refused(example, why):
    with pytest.raises(InputError, match=why):
        to_tables(supple.load(EXAMPLES / example / "mechanism.yaml"))
