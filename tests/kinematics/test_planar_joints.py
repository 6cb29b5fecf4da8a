"""Joints in the plane hold bodies as they are drawn, whatever the bodies' own axes are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local


def hinged_pair(kind, coordinates, **options):
    """A rod on a hinge, lying along x, and a second rod that stands on its end."""
    return supple.Mechanism(
        plane="xz",
        points={"O": [0, 0], "A": [1, 0], "B": [1, 0.5]},
        bodies={"base": {"rod": ["O", "A"], "mass": 1.2}, "arm": {"rod": ["A", "B"], "mass": 0.6}},
        joints={"O": {"revolute": ["ground", "base"]}, "link": {kind: ["base", "arm"], "at": "A"} | options},
        coordinates=coordinates,
    )


def in_plane(position):
    assert position[1] == 0.0
    return position[[0, 2]]


def test_a_weld_holds_the_angle_it_is_drawn_at():
    mechanism = hinged_pair("weld", ["O"])
    assert_allclose(in_plane(assemble(mechanism).frame("arm.B").position), [1.0, 0.5], atol=1e-12)
    turned = assemble(mechanism, [0.5 * np.pi])
    assert_allclose(in_plane(turned.frame("arm.B").position), [-0.5, 1.0], atol=1e-12)
    # two rods about O: mL²/3, and Steiner for the one at (1, 0.25)
    expected = 1.2 / 3.0 + 0.6 * (0.5**2 / 12.0 + 1.0 + 0.25**2)
    assert_allclose(local(mechanism, [0.3]).M, [[expected]], rtol=1e-12)


def test_a_translation_keeps_the_angle_it_is_drawn_at():
    mechanism = hinged_pair("translation", ["O", "link.x", "link.z"])
    assert_allclose(rest(mechanism).theta, 0.0, atol=1e-12)
    found = assemble(mechanism, [0.0, 0.2, -0.1])
    assert_allclose(in_plane(found.frame("arm.A").position), [1.2, -0.1], atol=1e-12)
    assert_allclose(in_plane(found.frame("arm.B").position), [1.2, 0.4], atol=1e-12)


def test_a_slide_runs_along_its_axis_as_drawn():
    mechanism = hinged_pair("prismatic", ["O", "link"], axis=[1.0, 1.0])
    found = assemble(mechanism, [0.0, np.sqrt(2.0)])
    assert_allclose(in_plane(found.frame("arm.A").position), [2.0, 1.0], atol=1e-12)
    assert_allclose(in_plane(found.frame("arm.B").position), [2.0, 1.5], atol=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "planar", "free"])
def test_angles_are_those_between_the_bodies_axes(kind):
    names = ["link"] if kind == "revolute" else ["link.x", "link.z", "link.angle"]
    mechanism = hinged_pair(kind, ["O", *names])
    assert_allclose(rest(mechanism).theta[-1], 0.5 * np.pi, atol=1e-12)  # from the base's axis to the arm's
    in_line = assemble(mechanism, np.zeros(1 + len(names)))
    assert_allclose(in_plane(in_line.frame("arm.B").position), [1.5, 0.0], atol=1e-12)


def test_rest_may_call_the_drawn_angle_something_else():
    mechanism = hinged_pair("revolute", ["O", "link"], rest=0.25)
    assert_allclose(rest(mechanism).theta, [0.0, 0.25], atol=1e-12)


def test_angles_turn_from_the_first_axis_of_the_plane_to_the_second():
    for plane in ("xy", "yz", "zx", "yx", "zy", "xz"):
        mechanism = supple.Mechanism(
            plane=plane, points={"O": [0, 0], "P": [1, 0]}, bodies={"bar": {"rod": ["O", "P"], "mass": 1.0}},
            joints={"O": {"revolute": ["ground", "bar"]}}, coordinates=["O"],
        )  # fmt: skip
        tip = assemble(mechanism, [0.3]).frame("P").position
        assert_allclose(tip["xyz".index(plane[0])], np.cos(0.3), atol=1e-15)
        assert_allclose(tip["xyz".index(plane[1])], np.sin(0.3), atol=1e-15)
        R = assemble(mechanism, [0.3]).frame("bar").rotation
        assert_allclose(np.linalg.det(R), 1.0, atol=1e-14)  # right-handed also in planes like yx
        assert_allclose(R @ np.eye(3)["xyz".index(plane[0])], tip, atol=1e-15)
