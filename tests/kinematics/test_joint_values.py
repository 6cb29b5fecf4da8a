"""What a user says of joint coordinates at rest, and how configurations are asked for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest

KINDS = {
    "revolute": ({"axis": "z"}, {"angle": 2.5}),
    "prismatic": ({"axis": [1, 1, 0]}, {"slide": -0.4}),
    "cylindrical": ({"axis": "x"}, {"slide": 0.3, "angle": -1.2}),
    "screw": ({"axis": "y", "pitch": 0.02}, {"angle": 9.0}),
    "universal": ({"axes": ["x", "z"]}, {"first": 0.5, "second": 7.0}),
    "planar": ({"axis": "y"}, {"x": 0.1, "y": -0.2, "angle": 3.5}),
    "translation": ({}, {"x": 1.0, "y": 2.0, "z": 3.0}),
}


def one_joint(kind, values):
    """A body on one joint, drawn off the origin and turned; `values` name the coordinates as drawn."""
    options, all_values = KINDS[kind]
    single = len(all_values) == 1
    given = {} if values is None else {"rest": next(iter(values.values())) if single else values}
    body = {
        "mass": 1.0, "center": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1], "at": [0.3, 0.2, 0.1],
        "rotation": {"about": [1, 2, 3], "angle": 0.7},
    }  # fmt: skip
    names = ["j"] if single else [f"j.{name}" for name in all_values]
    joint = {kind: ["ground", "body"], "at": [0.1, 0.2, 0.3]} | options | given
    return supple.Mechanism(bodies={"body": body}, joints={"j": joint}, coordinates=names)


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_are_zero_as_drawn(kind):
    mechanism = one_joint(kind, None)
    assert_allclose(rest(mechanism).theta, 0.0, atol=1e-15)
    assert_allclose(assemble(mechanism).frame("body").position, [0.3, 0.2, 0.1], atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_have_the_values_given_for_the_drawing(kind):
    values = KINDS[kind][1]
    mechanism = one_joint(kind, values)
    assert_allclose(rest(mechanism).theta, list(values.values()), atol=1e-14)
    assert_allclose(assemble(mechanism).frame("body").position, [0.3, 0.2, 0.1], atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_values_given_for_the_drawing_only_shift_the_coordinates(kind):
    shift = np.array(list(KINDS[kind][1].values()))
    step = np.linspace(0.2, -0.3, len(shift))
    plain = assemble(one_joint(kind, None), step).frame("body")
    named = assemble(one_joint(kind, KINDS[kind][1]), shift + step).frame("body")
    assert_allclose(named.position, plain.position, atol=1e-13)  # sums of a few numbers of one
    assert_allclose(named.rotation, plain.rotation, atol=1e-13)


def slider_crank():
    return supple.Mechanism(
        plane="xy",
        points={"O": [0, 0], "P": [0.2, 0.2], "S": [0.9, 0]},
        bodies={
            "crank": {"rod": ["O", "P"], "length": 0.3, "mass": 1.0},
            "rod": {"rod": ["P", "S"], "length": 0.8, "mass": 1.0},
            "slider": {"mass": 1.0, "center": "S", "inertia": 0.0},
        },
        joints={
            "O": {"revolute": ["ground", "crank"]},
            "P": {"revolute": ["crank", "rod"]},
            "S": {"revolute": ["rod", "slider"]},
            "guide": {"prismatic": ["ground", "slider"], "at": "S", "axis": "x", "rest": 0.9},
        },
        coordinates=["O"],
        rest={"O": 1.1},
        configurations={"low": {"O": -0.5}},
    )


def test_a_rough_drawing_is_completed_to_the_values_given_for_rest():
    assert_allclose(rest(slider_crank()).theta, [1.1], atol=1e-10)
    x = 0.3 * np.cos(1.1) + np.sqrt(0.64 - (0.3 * np.sin(1.1)) ** 2)
    # both to what counts as closed, 1e-10 of the extent
    assert_allclose(assemble(slider_crank()).frame("S").position, [x, 0.0, 0.0], atol=1e-9)


def test_a_coordinate_along_a_guide_counts_from_where_the_drawing_says():
    """The drawing shows the slider at 0.9 and calls it so; the completed slider is elsewhere, and counts from there."""
    found = assemble(slider_crank())
    assert_allclose(found.joint_coordinates["guide"], found.frame("S").position[0], atol=1e-12)


def test_a_configuration_is_asked_for_by_name_by_coordinate_or_in_order():
    expected = assemble(slider_crank(), [-0.5]).X
    for at in ("low", {"O": -0.5}, np.array([-0.5]), (-0.5,)):
        assert np.array_equal(assemble(slider_crank(), at).X, expected)
    assert np.array_equal(assemble(slider_crank(), [[-0.5]]).X, expected[None])
    assert assemble(slider_crank(), np.empty((0, 1))).X.shape == (0, *expected.shape)


@pytest.mark.parametrize(
    ("at", "words"),
    [("lwo", "low"), ({"o": 1.0}, "O"), ([1.0, 2.0], r"give \(1,\) values"), ([np.nan], "not finite"), (0.3, "shape")],
    ids=["name", "coordinate", "count", "nan", "number"],
)
def test_what_cannot_be_asked_for_is_refused_with_what_can(at, words):
    with pytest.raises(InputError, match=words):
        assemble(slider_crank(), at)
