"""The forces a motion needs: they give the motion back, and what cannot be driven is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.absolute.instant import centre_motion, instant
from supple.formulations.absolute.system import absolute

OBJECTIVES = ("torque", "peak", "multipliers")


def stacked(found: supple.InverseDynamics) -> np.ndarray:
    return np.column_stack([*found.forces.values()])


def refused(*arguments, **options) -> str:
    with pytest.raises(supple.InputError) as caught:
        supple.inverse(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("minimize", OBJECTIVES)
def test_the_forces_give_the_accelerations_back(redundant_case, minimize):
    mechanism, states = redundant_case
    found = supple.inverse(mechanism, states, minimize=minimize)
    model = supple.local(mechanism, states.theta)
    J, f = model.friction_map, np.array([*model.dry_forces.values()])
    force = (
        np.einsum("nia,na->ni", model.input_map, stacked(found))
        + model.force
        - np.einsum("nijk,nj,nk->ni", model.christoffel, states.rates, states.rates)
        - np.einsum("nij,nj->ni", model.damping, states.rates)
        - np.einsum("nfi,nf->ni", J, f * np.sign(np.einsum("nfi,ni->nf", J, states.rates)))
    )
    back = np.linalg.solve(model.M, force[..., None])[..., 0]
    # M amplifies the rounding of the forces by its condition
    scale = np.abs(np.linalg.inv(model.M)).sum(axis=2).max() * np.abs(stacked(found)).max()
    assert np.abs(back - states.accelerations).max() < 1e-10 * max(1.0, scale)


def test_the_bodies_accelerate_as_the_motion_says(redundant_case):
    """The forces put into the equations of all bodies, with multipliers: another formulation, the same motion."""
    mechanism, states = redundant_case
    found = supple.inverse(mechanism, states)
    problem = absolute(found.model.configuration.rest, friction_speed=1e-9)  # so fast a change of sign is a jump
    X, V, expected = centre_motion(problem, found.motion)
    u = np.zeros((len(X), len(mechanism.actuators)))
    for i, name in enumerate(mechanism.actuators):
        u[:, i] = found.forces[name]
    w = np.ascontiguousarray(found.model.configuration.w)
    forward = instant(problem, X, V, w, u, np.zeros((len(X), 0)))
    assert_allclose(forward.acceleration, expected, atol=1e-7 * np.abs(expected).max())


def test_objectives_are_what_they_say(redundant_case):
    mechanism, states = redundant_case
    u = {name: stacked(supple.inverse(mechanism, states, minimize=name)) for name in OBJECTIVES}
    squares = {name: (part**2).sum(axis=1) for name, part in u.items()}
    peaks = {name: np.abs(part).max(axis=1) for name, part in u.items()}
    for other in OBJECTIVES:
        assert (squares["torque"] <= squares[other] * (1 + 1e-9)).all()
        assert (peaks["peak"] <= peaks[other] * (1 + 1e-7)).all()


def test_one_actuator_for_each_coordinate_leaves_no_choice(example):
    orthoglide = example("orthoglide")
    sine = supple.Motion(coordinates={"x": {"amplitude": -0.05, "frequency": 2}}, duration=1)
    found = {name: stacked(supple.inverse(orthoglide, sine, minimize=name, step=0.01)) for name in OBJECTIVES}
    assert_allclose(found["peak"], found["torque"], atol=1e-8)
    assert_allclose(found["multipliers"], found["torque"], atol=1e-8)


def test_weights_shift_the_work(four_bar):
    even = supple.inverse(four_bar, "turn", step=0.01)
    spared = supple.inverse(four_bar, "turn", step=0.01, weights={"B": 100.0})
    assert np.abs(spared.forces["B"]).max() < 0.1 * even.peak["B"]
    assert spared.peak["A"] > even.peak["A"]
    work = np.einsum("nia,na->ni", spared.model.input_map, stacked(spared))
    assert_allclose(work, even.needed, atol=1e-10 * np.abs(even.needed).max())


def test_standing_still_is_statics(four_bar):
    still = supple.Motion(coordinates={"A": {"from": 1.0}}, duration=1)
    found = supple.inverse(four_bar, still, actuators=["A"], step=0.5)
    assert_allclose(found.forces["A"], -supple.local(four_bar, [1.0]).force[0], rtol=1e-12)


def test_dry_friction_works_against_the_motion_and_not_at_rest():
    text = """\
supple: 1
plane: xz
points: {O: [0, 0], P: [1, 0]}
bodies: {slider: {mass: 2, center: O, inertia: 1}}
joints: {rail: {prismatic: [ground, slider], at: O, axis: x, dry: 3, viscous: 5}}
actuators: {push: {joint: rail}}
motions:
  there: {coordinates: {push: {to: 1, velocity: 1, acceleration: 2, jerk: 20}}}
  back: {coordinates: {push: {to: -1, velocity: 1, acceleration: 2, jerk: 20}}}
"""
    slider = supple.loads(text)
    for name, sign in (("there", 1.0), ("back", -1.0)):
        found = supple.inverse(slider, name)
        path = found.trajectory
        expected = 2.0 * path.accelerations[:, 0] + 5.0 * path.rates[:, 0] + 3.0 * sign
        assert_allclose(found.forces["push"][1:-1], expected[1:-1], atol=1e-9)
        assert_allclose(found.forces["push"][[0, -1]], 0.0, atol=1e-9)  # it stands
    assert found.forces.units == {"push": "N"}


@pytest.mark.parametrize("minimize", OBJECTIVES)
def test_bounds_and_rates_hold_together(four_bar, minimize):
    found = supple.inverse(
        four_bar, "turn", minimize=minimize, bounds={"A": 70, "B": (-65, 80)}, rate_bounds={"C": 1500, "D": 2500}
    )
    assert found.peak["A"] <= 70 * (1 + 1e-9)
    assert found.least["B"] >= -65 * (1 + 1e-9)
    assert found.largest["B"] <= 80 * (1 + 1e-9)
    for name, limit in (("C", 1500), ("D", 2500)):
        assert np.abs(np.diff(found.forces[name]) / np.diff(found.time)).max() <= limit * (1 + 1e-7)
    work = np.einsum("nia,na->ni", found.model.input_map, stacked(found))
    assert_allclose(work, found.needed, atol=1e-8 * np.abs(found.needed).max())


def test_limits_of_the_file_can_be_the_bounds(four_bar):
    actuators = {name: {"joint": name, "force_limits": [-60, 62]} for name in "ABCD"}
    limited = four_bar.replace(actuators=actuators)
    found = supple.inverse(limited, "turn", bounds="limits")
    assert min(found.least.values()) >= -60 * (1 + 1e-9)
    assert max(found.largest.values()) <= 62 * (1 + 1e-9)
    assert max(supple.inverse(limited, "turn").peak.values()) > 62


@pytest.mark.slow
def test_rates_that_cannot_be_kept_say_by_how_much(four_bar):
    said = refused(four_bar, "turn", rate_bounds=600)
    assert said.startswith("rate bounds: ")
    assert " 0.80" in said
    assert "470 N m/s" in said
    assert "raise the bounds" in said
    for minimize in OBJECTIVES:
        assert "rate bounds: " in refused(four_bar, "turn", minimize=minimize, rate_bounds=600, step=0.01)
    assert supple.inverse(four_bar, "turn", rate_bounds=1070).forces  # as reported: 600 + 466, rounded up


def test_too_few_actuators_name_the_coordinate(example):
    orthoglide = example("orthoglide")
    still = supple.Motion(coordinates={"x": {"from": 0}}, duration=1)
    said = refused(orthoglide, still, actuators=["x", "z"])
    for part in ('"x" and "z"', "3 coordinates", '"y" is not driven', "more actuators"):
        assert part in said
    assert '"x" is not driven' in refused(orthoglide, still, actuators=[])


def test_a_singular_position_of_the_actuators_names_its_time(four_bar):
    said = refused(four_bar, "turn", actuators=["D"])
    assert '"D" cannot drive coordinate "A" between 0.425 s and 0.426 s' in said
    there = supple.trajectory(four_bar, "turn").theta[425, 0]  # the follower turns back
    assert abs(supple.local(four_bar, [there]).input_map[0, 3]) < 1e-2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"actuators": ["E"]}, 'actuators: unknown actuator "E"; known: "A"'),
        ({"actuators": ["A", "A"]}, 'actuator "A" is listed twice'),
        ({"minimize": "torqe"}, '"torqe"; did you mean "torque"?'),
        ({"actuators": ["A"], "bounds": {"B": 1}}, 'bounds: "B" is not one of the'),
        ({"bounds": -1}, "-1); give a number above 0"),
        ({"bounds": {"A": (2, 1)}}, "2 is not below 1"),
        ({"bounds": "limit"}, '"limit"; give numbers, or "limits"'),
        ({"rate_bounds": 0}, "0); give a number above 0"),
        ({"weights": {"A": 0}}, 'weight of "A": '),
        ({"weights": {"A": "heavy"}}, "{name: a number} (got {'A': 'heavy'})"),
    ],
)
def test_wrong_options_say_what_to_do(four_bar, options, message):
    assert message in refused(four_bar, "turn", **options)


def test_it_draws_the_forces(four_bar):
    found = supple.inverse(four_bar, "turn", step=0.05)
    (axes,) = found.plot("A", "D").axes
    assert [line.get_label() for line in axes.get_lines()] == ["A", "D"]
    assert axes.get_ylabel() == "force / (N m)"
    assert len(supple.trajectory(four_bar, "turn").plot().axes) == 3
