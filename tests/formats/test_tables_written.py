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
    [("two-link", "planar"), ("stewart", "universal")],
)
def test_what_no_table_can_say_is_refused(example, why):
    with pytest.raises(InputError, match=why):
        to_tables(supple.load(EXAMPLES / example / "mechanism.yaml"))


@pytest.mark.parametrize("name", ["flexible-four-bar", "serial-flexible"])
def test_elastic_machines_go_to_tables_and_back(name):
    """Beams, masses on them, elastic joints and gearboxes, loops, bodies of the file: the same frequencies."""
    machine = supple.load(EXAMPLES / name / "mechanism.yaml")
    text = to_tables(machine)
    tables = loads(text)
    assert "beams: |" in text
    assert list(tables.actuators) == list(machine.actuators)
    assert tables.elastic_names == machine.elastic_names
    ours, theirs = (supple.modes(each, count=6).frequencies_hz for each in (tables, machine))
    assert_allclose(ours, theirs, rtol=1e-9)
    ours, theirs = (supple.local(each, rigid=True).M for each in (tables, machine))
    assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * np.abs(theirs).max())


BENT = """
supple: 1
name: bent arm
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], A: [0, 0, 0.3], B: [0.2, 0, 0.5], C: [0.2, 0.1, 0.8]}
materials: {steel: {youngs_modulus: 210e9, density: 7800}}
sections: {flat: {rectangle: [30 mm, 10 mm]}, round: {tube: [10 mm, 8 mm]}}
bodies:
  post:
    beams:
      - {from: B, to: A, section: flat, material: steel, elements: 2, up: y}
      - {from: O, to: A, section: round, material: steel, elements: 3}
  fore: {beam: [B, C], section: round, material: steel}
  hand: {mass: 2, center: [0.22, 0.1, 0.85], inertia: [2e-3, 3e-3, 4e-3], rotation: {about: [1, 1, 0], angle: 0.4}}
joints:
  O: {revolute: [ground, post], axis: z, rest: 0.3, stiffness: {x: 1e6, y: 3e6, rx: 2e4, ry: 5e4, x.ry: 1e4},
      elastic_damping: {x: 10}}
  B: {revolute: [post, fore], axis: [0, 1, 1], drive: {stiffness: 4e3, damping: 2}}
  C: {weld: [fore, hand], stiffness: {x: 2e6, z: 4e6, ry: 1e4}, axis: [1, 0, 1]}
point_masses: {load: {at: A, mass: 1.5, inertia: 1e-3}}
couplings: {belt: {coordinates: {O: 20 mm, B: 50 mm}, stiffness: 3e5}}
springs: {pull: {between: [ground.C, B], stiffness: 100, length: 0.1}}
sensors: {tip: {position: hand}}
actuators: {lift: {joint: O, limits: [-1, 1], force_limits: [-40, 40]}}
"""


def test_what_an_elastic_machine_says_besides_stays():
    machine = loads(BENT)
    tables = loads(to_tables(machine))
    assert tables.actuators["lift"].limits == (-1.0, 1.0)
    assert tables.actuators["lift"].force_limits == (-40.0, 40.0)
    for at in (0.3, -0.6):
        # Under loads the second order of an elastic joint's rotations counts, and it depends on where its axes rest.
        for preload, accuracy in ((False, 1e-9), (True, 5e-7)):
            ours, theirs = (
                supple.modes(each, [at], count=8, preload=preload).frequencies_hz for each in (tables, machine)
            )
            assert_allclose(ours, theirs, rtol=accuracy)
        ours, theirs = (supple.local(each, [at], internal_modes=4, preload=False) for each in (tables, machine))
        for name in ("M", "K", "damping", "force"):
            found, wanted = getattr(ours, name), getattr(theirs, name)
            assert_allclose(np.abs(found), np.abs(wanted), rtol=0.0, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("written", "other", "why"),
    [
        ("O: {revolute: [ground, post]", "O: {revolute: [post, ground]", "order of its two bodies"),
        ("fore: {beam: [B, C], section: round", "fore: {beam: [B, C], section: [round, flat]", "it tapers"),
        ("elements: 2, up: y}", "elements: 2, up: y, theory: timoshenko}", "Timoshenko"),
        ("elements: 2, up: y}", "elements: 2, up: y, offset: [1 mm, 0]}", "offset"),
        ("from: O, to: A, section", "from: A, to: [0, 0.1, 0.3], section", "neither end|branch"),
        ("- {from: O", "- {from: A, to: [0, 0.1, 0.3], section: flat, material: steel}\n      - {from: O", "branch"),
        ("O: {revolute: [ground, post], axis: z", "O: {revolute: [ground, post], at: [0, 0, 0.1], axis: z", "away"),
        ("O: {revolute: [ground, post], axis: z", "O: {revolute: [ground, post], at: [0, 0, 0.1], axis: x", "neither"),
        ("B: {revolute: [post, fore], axis: [0, 1, 1], drive: {stiffness: 4e3, damping: 2}}", "B: {weld: [post, fore]}",
         "elastic body of a table by a hinge"),
    ],
)  # fmt: skip
def test_what_no_table_can_say_of_beams_is_refused(written, other, why):
    assert written in BENT
    text = BENT.replace(written, other, 1)
    if "weld: [post" in other:
        text = text.replace("couplings: {belt: {coordinates: {O: 20 mm, B: 50 mm}, stiffness: 3e5}}\n", "")
    with pytest.raises(InputError, match=why):
        to_tables(loads(text))
