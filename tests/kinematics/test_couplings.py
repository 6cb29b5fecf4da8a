"""Couplings: joint coordinates tied together, against closed forms and over many turns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError

RATIO = 2.5  # the pinion turns so much faster, the other way round
WHEEL, PINION = 0.02, 0.001  # kg m² about their axles
GEARS = {"coordinates": {"wheel": RATIO, "pinion": 1.0}}


def geared_pair(**coupling):
    """Two wheels on parallel axles, the teeth said by their ratio."""
    return supple.loads(
        f"""
        supple: 1
        name: geared pair
        points: {{A: [0, 0, 0], B: [0.3, 0, 0]}}
        bodies:
          wheel: {{mass: 2, center: [0, 0, 0], inertia: [0.02, {WHEEL}, 0.03]}}
          pinion: {{mass: 0.5, center: [0.3, 0, 0], inertia: [0.001, {PINION}, 0.002]}}
        joints:
          wheel: {{revolute: [ground, wheel], at: A, axis: y, viscous: 0.1}}
          pinion: {{revolute: [ground, pinion], at: B, axis: y, viscous: 0.02}}
        couplings:
          gears: {coupling or GEARS}
        springs:
          twist: {{joint: pinion, stiffness: 3}}
        actuators: {{motor: {{joint: wheel}}}}
        sensors: {{pinion: {{joint: pinion}}}}
        """
    )


INERTIA = WHEEL + RATIO**2 * PINION
DAMPING = 0.1 + RATIO**2 * 0.02
STIFFNESS = 3.0 * RATIO**2


def rack_and_pinion():
    """A pinion of 20 mm drives a rack, whose teeth tie its slide to the pinion's angle."""
    return supple.loads(
        """
        supple: 1
        name: rack and pinion
        points: {A: [0, 0, 0], B: [0, 0, 0.02]}
        bodies:
          pinion: {mass: 0.5, center: [0, 0, 0], inertia: [0.001, 0.001, 0.002]}
          rack: {mass: 3, center: [0, 0, 0.02], inertia: [0.01, 0.01, 0.01]}
        joints:
          pinion: {revolute: [ground, pinion], at: A, axis: y}
          rack: {prismatic: [ground, rack], at: B, axis: x}
        couplings:
          teeth: {coordinates: {rack: 1, pinion: -20 mm}}
        actuators: {motor: {joint: pinion}}
        """
    )


def test_a_coupling_is_counted_and_named():
    report = supple.check(geared_pair())
    assert report.couplings == ("gears",)
    assert (report.mobility, report.gruebler, report.redundant_constraints) == (1, 1, 0)
    assert "gears" in report.summary()


@pytest.mark.parametrize("angle", [0.3, -4.0, 60.0])
def test_coupled_angles_follow_over_many_turns(angle):
    there = supple.assemble(geared_pair(), [angle])
    assert_allclose(there.joint_coordinates["pinion"], -RATIO * angle, rtol=1e-12)


def test_a_geared_pair_carries_the_inertia_of_both_wheels():
    model = supple.local(geared_pair(), [7.0])
    assert_allclose(model.M, [[INERTIA]], rtol=1e-12)
    assert_allclose(model.dM, 0.0, atol=1e-12)
    assert_allclose(model.force, [-STIFFNESS * 7.0], rtol=1e-12)


def test_a_geared_pair_swings_as_one_wheel():
    linear = supple.linearize(geared_pair())
    poles = np.roots([INERTIA, DAMPING, STIFFNESS])
    assert_allclose(np.sort_complex(np.linalg.eigvals(linear.A)), np.sort_complex(poles), rtol=1e-10)


def test_a_geared_pair_swings_so_in_time():
    run = supple.simulate(geared_pair(), until=0.2, start=[2.0], tolerance=1e-8)
    poles = np.roots([INERTIA, DAMPING, STIFFNESS])
    share = np.linalg.solve([[1.0, 1.0], poles], [2.0, 0.0])
    expected = (np.exp(np.outer(run.time, poles)) @ share).real
    assert_allclose(run.joint_coordinates["wheel"], expected, atol=1e-5)  # what the steps leave
    assert_allclose(run.joint_coordinates["pinion"], -RATIO * run.joint_coordinates["wheel"], atol=1e-10)


def test_a_geared_pair_spins_up_over_many_turns():
    free = geared_pair().replace(
        springs={},
        joints={
            **geared_pair().joints,
            **{name: geared_pair().joints[name].model_copy(update={"viscous": None}) for name in ("wheel", "pinion")},
        },
    )
    run = supple.simulate(free, until=0.5, inputs={"motor": 5.0})
    expected = 2.5 * run.time**2 / INERTIA
    assert expected[-1] * RATIO > 8.0 * np.pi
    assert_allclose(run.joint_coordinates["wheel"], expected, rtol=1e-9, atol=1e-9)
    assert_allclose(run.joint_coordinates["pinion"], -RATIO * expected, rtol=1e-9, atol=1e-9)


def test_a_geared_pair_behind_a_soft_drive_is_one_wheel_on_a_spring():
    joints = geared_pair().joints
    soft = {**joints["wheel"].model_dump(exclude_none=True), "motor": {"inertia": 1e-4, "gear": 10}}
    machine = geared_pair().replace(springs={}, joints={**joints, "wheel": {**soft, "drive": {"stiffness": 400}}})
    expected = np.sqrt(400.0 / INERTIA) / (2.0 * np.pi)
    assert_allclose(supple.modes(machine).frequencies_hz, [expected], rtol=1e-7)  # of the lowest modes by blocks


def test_a_rack_moves_by_the_radius_and_weighs_on_its_pinion():
    machine = rack_and_pinion()
    assert_allclose(supple.assemble(machine, [30.0]).joint_coordinates["rack"], 0.6, rtol=1e-12)
    assert_allclose(supple.local(machine, [30.0]).M, [[0.001 + 3.0 * 0.02**2]], rtol=1e-12)


def test_a_coupling_may_be_given_its_value():
    machine = geared_pair(coordinates={"wheel": RATIO, "pinion": 1.0}, value=0.5)
    assert_allclose(supple.assemble(machine, [0.0]).joint_coordinates["pinion"], 0.5, rtol=1e-12)


def test_a_second_coupling_that_says_the_same_is_redundant():
    report = supple.check(
        geared_pair().replace(
            couplings={
                "one": {"coordinates": {"wheel": 5, "pinion": 2}},
                "two": {"coordinates": {"wheel": 2.5, "pinion": 1}},
            }
        )
    )
    assert report.redundant_constraints == 1
    assert report.redundant_joints == ("one", "two")


@pytest.mark.parametrize(
    ("coupling", "complaint"),
    [
        ({"coordinates": {"wheel": 1}}, "coordinates"),
        ({"coordinates": {"wheel": 1, "pinion": 0}}, "factor of pinion is 0"),
        ({"coordinates": {"wheel": 1, "rim": 1}}, 'no joint "rim"'),
        ({"coordinates": {"wheel": 1, "wheel.angle": 2}}, "same coordinate"),
        ({"coordinates": {"wheel": "20 mm", "pinion": "3 N"}}, "3 N"),
        ({"coordinates": {"wheel": "20 mm", "pinion": 1}, "value": "1 kg"}, "1 kg"),
    ],
)
def test_a_coupling_that_cannot_be_is_refused(coupling, complaint):
    with pytest.raises(InputError, match=complaint):
        supple.check(geared_pair(**coupling))


def test_trees_refuse_couplings_by_name():
    from supple.formulations.recursive.tree_of_mechanism import tree_of_mechanism

    with pytest.raises(InputError, match="gears"):
        tree_of_mechanism(geared_pair())
