"""Directions: letters, components, and from one place of the drawing to another."""

from __future__ import annotations

import jsonschema
import numpy as np
import pytest

from supple import check, loads, modes
from supple.description.drawing import Drawing
from supple.diagnostics import InputError
from supple.formats.json_schema import mechanism_schema
from supple.formats.yaml_tree import read_tree
from supple.kinematics.joint_frames import joint_frames

DOOR = """
supple: 1
name: door
parameters: {h: 2 m}
points: {A: [0.1, 0.2, 0], D: [0.4, 0.2, h], P: [1, 0, 1]}
bodies: {door: {mass: 3, center: P, inertia: [1, 1, 1]}}
joints: {A: {revolute: [ground, door], axis: AXIS}}
actuators: {turn: {joint: A}}
"""


def door(axis: str, text: str = DOOR):
    return loads(text.replace("AXIS", axis))


def axis_of(mechanism) -> np.ndarray:
    return joint_frames(Drawing(mechanism), "A").Ea[:, 2]


def test_an_axis_leads_from_one_point_to_another():
    expected = np.array([0.3, 0.0, 2.0]) / np.hypot(0.3, 2.0)
    np.testing.assert_allclose(axis_of(door("[A, D]")), expected, atol=1e-15)
    np.testing.assert_allclose(axis_of(door("[D, A]")), -expected, atol=1e-15)
    np.testing.assert_allclose(axis_of(door("[0.3, 0, h]")), expected, atol=1e-15)


def test_the_schema_takes_it():
    jsonschema.validate(read_tree(DOOR.replace("AXIS", "[A, D]"), "text").data, mechanism_schema())


def test_in_the_plane_parameters_are_components_and_other_names_are_places():
    slider = """
supple: 1
plane: xz
parameters: {u: 3, v: 4, B: 1}
points: {A: [0, 0], B: [2, 2]}
bodies: {block: {mass: 1, center: A}}
joints: {A: {prismatic: [ground, block], axis: AXIS}}
actuators: {push: {joint: A}}
"""
    for axis, along in (("[u, v]", (0.6, 0.8)), ("[A, B]", (0.5**0.5, 0.5**0.5)), ("[v/4, 0]", (1, 0))):
        np.testing.assert_allclose(joint_frames(Drawing(door(axis, slider)), "A").Ea[:2, 0], along, atol=1e-15)


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ("[A, F]", 'unknown point "F"'),
        ("[A, A]", '"A" and "A" are drawn at the same position'),
        ("[A, D, P]", '"axis"'),
        ("[A, 2]", '"axis"'),
        ("[A]", '"axis"'),
    ],
)
def test_a_wrong_axis_is_told_with_its_line(axis, message):
    with pytest.raises(InputError, match=message) as raised:
        check(door(axis))
    assert raised.value.line == 7
    assert raised.value.path[:2] == ("joints", "A")


def test_with_frames_an_axis_is_in_theirs():
    text = DOOR.replace(
        "joints: {A: {revolute: [ground, door], axis: AXIS}}",
        """
frames: {F: {on: ground, at: A}, G: {on: door, at: A}}
joints: {A: {revolute: [ground, door], frames: [F, G], axis: [A, D]}}""",
    )
    with pytest.raises(InputError, match=r'joint "A".*frames: .*components in the frames, or use at:'):
        check(loads(text))


# ------------------------------------------------------------------------------------------------ elastic welds

STALK = """
supple: 1
name: stalk
points: {O: [0, 0, 0], P: TIP}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {round: {circle: 12 mm}}
bodies: {stalk: {beam: [O, P], section: round, material: steel}}
joints:
  O: {weld: [ground, stalk], elastic: {x: 2e4, y: 2e4, z: 5e6, rx: 300, ry: 300, rz: 40}, axis: [O, P]}
"""


def test_an_elastic_weld_turns_with_its_axis():
    """Frequencies of a stalk on a soft foot are the same whichever way it is drawn (1e-9: of eigenvalues)."""
    tips = ([0, 0, 0.4], [0.4, 0, 0], [0.24, 0, -0.32], [0.4 / 3, 0.8 / 3, 0.8 / 3])
    found = [modes(loads(STALK.replace("TIP", str(tip))), count=6).frequencies_hz for tip in tips]
    for others in found[1:]:
        np.testing.assert_allclose(others, found[0], rtol=1e-9)
    drawn = modes(loads(STALK.replace("TIP", str(tips[1])).replace(", axis: [O, P]", "")), count=6).frequencies_hz
    assert abs(drawn[0] / found[0][0] - 1.0) > 0.01  # without it the foot keeps the drawing's axes


def test_in_the_plane_the_first_direction_follows_the_axis():
    flat = STALK.replace("name: stalk", "name: stalk\nplane: xz").replace("[0, 0, 0]", "[0, 0]")
    flat = flat.replace("x: 2e4, y: 2e4, z: 5e6, rx: 300, ry: 300, rz: 40", "x: 5e6, z: 2e4, angle: 300")
    found = [
        modes(loads(flat.replace("TIP", str(tip))), count=4).frequencies_hz
        for tip in ([0.4, 0], [0, 0.4], [0.24, 0.32])
    ]
    for others in found[1:]:
        np.testing.assert_allclose(others, found[0], rtol=1e-9)


def test_an_ideal_weld_has_no_axis():
    with pytest.raises(InputError, match=r"weld joint has no single axis; .*only allowed with stiffness"):
        loads(
            STALK.replace("TIP", "[0, 0, 1]").replace(
                "elastic: {x: 2e4, y: 2e4, z: 5e6, rx: 300, ry: 300, rz: 40}, ", ""
            )
        )
