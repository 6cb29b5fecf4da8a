"""What `check` understands of a mechanism, and what it remarks on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from numpy.testing import assert_allclose

import supple


def parallelogram(*, flat: bool = False, **more: Any) -> supple.Mechanism:
    """Two equal cranks and a coupler as long as the ground; flat, all lie in one line."""
    top = 0.0 if flat else 1.0
    left = 1.0 if flat else 0.0
    return supple.Mechanism(
        name="parallelogram",
        plane="xy",
        points={"A": (0, 0), "B": (left, top), "C": (2 + left, top), "D": (2, 0)},
        bodies={
            "left": supple.Body(rod=("A", "B"), mass=1),
            "top": supple.Body(rod=("B", "C"), mass=1),
            "right": supple.Body(rod=("D", "C"), mass=1),
        },
        joints={
            "A": supple.Joint(revolute=("ground", "left")),
            "B": supple.Joint(revolute=("left", "top")),
            "C": supple.Joint(revolute=("top", "right")),
            "D": supple.Joint(revolute=("ground", "right")),
        },
        **{"actuators": {"motor": supple.Actuator(joint="A")}, **more},
    )


def in_space() -> supple.Mechanism:
    """The same with hinges in space, all parallel."""
    flat = parallelogram()
    return supple.Mechanism(
        name="spatial parallelogram",
        points={name: (*point, 0.0) for name, point in flat.points.items()},
        bodies=flat.bodies,
        joints={name: joint.model_copy(update={"axis": "z"}) for name, joint in flat.joints.items()},
        actuators=flat.actuators,
    )


def slider(**more: Any) -> supple.Mechanism:
    """A bar hinged to a slider: two coordinates."""
    return supple.Mechanism(
        plane="xy",
        points={"S": (0, 0), "P": (0, -1)},
        bodies={
            "cart": more.pop("cart", supple.Body(mass=1, center="S")),
            "bar": more.pop("bar", supple.Body(rod=("S", "P"), mass=1)),
        },
        joints={
            "slide": supple.Joint(prismatic=("ground", "cart"), at="S", axis="x"),
            "S": supple.Joint(revolute=("cart", "bar"), **more.pop("hinge", {})),
        },
        coordinates=more.pop("coordinates", ("slide", "S")),
        **more,
    )


def note(mechanism: supple.Mechanism) -> str:
    """Its only note."""
    (only,) = supple.check(mechanism).notes
    return only


def test_a_planar_four_bar_has_one_freedom_and_no_redundancy():
    found = supple.check(parallelogram())
    assert (found.mobility, found.redundant_constraints, found.gruebler) == (1, 0, 1)
    assert found.notes == ()
    assert len(found.loops) == 1


def test_hinges_in_space_repeat_three_constraints():
    """Rank 17 of 20 rows: parallel hinges close the plane over and over."""
    found = supple.check(in_space())
    assert (found.mobility, found.redundant_constraints, found.gruebler) == (1, 3, -2)
    assert found.redundant_joints == ("A", "B", "C", "D")
    assert found.notes[0].startswith("3 constraints of the joints A, B, C, D are redundant")


def test_the_singularity_is_that_of_the_configuration():
    mechanism = parallelogram()
    assert_allclose(supple.check(mechanism).singularity, supple.assemble(mechanism).singularity, rtol=1e-9)


def test_a_singular_rest_is_told_and_not_taken_for_a_mistake():
    """Lying flat the parallelogram can go on in two ways; close by it has one freedom, which A determines."""
    found = supple.check(parallelogram(flat=True))
    assert (found.mobility, found.instantaneous_mobility, found.singular_at_rest) == (1, 2, True)
    assert found.singularity < 1e-9
    assert found.notes[0].startswith("rest is a singular position: 2 independent motions")


def test_a_dead_point_at_rest_is_told():
    """The slider of a stretched slider-crank cannot start it; the joints themselves are regular there."""
    found = supple.check(
        supple.Mechanism(
            plane="xy",
            points={"O": (0, 0), "P": (1, 0), "S": (3, 0)},
            bodies={
                "crank": supple.Body(rod=("O", "P"), mass=1),
                "rod": supple.Body(rod=("P", "S"), mass=1),
                "piston": supple.Body(mass=1, center="S"),
            },
            joints={
                "O": supple.Joint(revolute=("ground", "crank")),
                "P": supple.Joint(revolute=("crank", "rod")),
                "S": supple.Joint(revolute=("rod", "piston")),
                "slide": supple.Joint(prismatic=("ground", "piston"), at="S", axis="x"),
            },
            actuators={"push": supple.Actuator(joint="slide")},
        )
    )
    assert (found.mobility, found.instantaneous_mobility, found.singular_at_rest) == (1, 1, True)
    assert found.notes[0].startswith('rest is a dead point: "push" cannot move the mechanism from there')


def test_actuators_that_do_not_match_the_mobility_leave_theta_open():
    assert supple.check(slider(coordinates=None)).coordinates == ()
    assert re.search(r"no actuator for a mobility of 2.*list 2 coordinates:", note(slider(coordinates=None)))
    more = {name: supple.Actuator(joint=name) for name in ("A", "B", "C")}
    assert re.search(r"3 actuators for a mobility of 1.*list 1 coordinate:", note(parallelogram(actuators=more)))


def test_a_coordinate_that_nothing_drives_is_told():
    assert 'no actuator drives "S"' in note(slider(actuators={"m": supple.Actuator(joint="slide")}))


def test_more_actuators_than_coordinates_are_told():
    more = {name: supple.Actuator(joint=name) for name in ("A", "B", "C")}
    assert note(parallelogram(actuators=more, coordinates=("A",))).startswith("3 actuators drive 1 coordinate")


@pytest.mark.parametrize("section", ["actuator", "joint"])
def test_limits_that_exclude_rest_are_told(section):
    limits = (2.0, 3.0)
    mechanism = parallelogram()
    if section == "actuator":
        mechanism = mechanism.replace(actuators={"motor": supple.Actuator(joint="A", limits=limits)})
        name = 'actuator "motor"'
    else:
        hinge = supple.Joint(revolute=("ground", "left"), limits=limits)
        mechanism = mechanism.replace(joints={**mechanism.joints, "A": hinge})
        name = 'joint "A"'
    assert note(mechanism) == f"at rest {name} is at 1.5708 rad, outside its limits [2, 3]"


def both() -> dict[str, supple.Actuator]:
    return {name: supple.Actuator(joint=name) for name in ("slide", "S")}


def test_a_motion_without_inertia_is_told():
    massless = supple.Body(rod=("S", "P"), mass=0)
    text = note(slider(bar=massless, actuators=both()))
    assert re.search(r'1 motion of "bar".*no inertia.*mass or an inertia', text)


def test_a_massless_body_that_others_carry_along_is_fine():
    massless = supple.Body(mass=0)
    assert supple.check(slider(cart=massless, actuators=both())).notes == ()


def test_the_rotor_of_a_motor_is_inertia_too():
    massless = supple.Body(rod=("S", "P"), mass=0)
    motor = {"motor": supple.Motor(inertia=1e-4, gear=50)}
    assert supple.check(slider(bar=massless, hinge=motor, actuators=both())).notes == ()


def test_a_body_that_floats_has_six_freedoms():
    floating = supple.Mechanism(
        bodies={"b": supple.Body(mass=1, inertia=(1, 1, 1))}, joints={"j": supple.Joint(free=("ground", "b"))}
    )
    found = supple.check(floating)
    assert (found.mobility, found.singularity) == (6, 1.0)
    assert_allclose(supple.assemble(floating).singularity, 1.0)


def test_an_unphysical_inertia_is_an_error():
    bad = supple.Body(mass=1, center=(0, 0, 0), inertia=(1, 1, 3))
    with pytest.raises(supple.InputError, match="two smaller principal moments"):
        supple.check(supple.Mechanism(bodies={"b": bad}, joints={"j": supple.Joint(free=("ground", "b"))}))


def test_the_summary_is_the_text():
    found = supple.check(parallelogram())
    assert str(found) == found.summary()
    assert found.summary().startswith("parallelogram (planar, xy)\n  bodies         3: left, top, right\n")
