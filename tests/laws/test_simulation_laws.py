"""Motion in time: energy, order of the method, and that it does not matter how a mechanism is written down."""

import copy
import dataclasses

import numpy as np
import pytest
from differences import largest
from moving import forces_of, run_of, start_of
from numpy.testing import assert_allclose
from random_mechanisms import case
from random_parts import rotation
from redrawn import in_space, shuffled, turned

import supple
from supple.formulations.absolute.instant import centre_motion
from supple.kinematics.joint_frames import joint_frames

ROUNDING = 1e-10
"""Of the largest entry: solves with a condition of a thousand or two."""


def accelerations(case, theta, rates, u):
    """θ̈ of the local model."""
    model = supple.local(case.mechanism, theta)
    inertial = np.einsum("ijk,j,k->i", model.christoffel, rates, rates)
    return model, np.linalg.solve(model.M, forces_of(model, rates, u) - inertial)


def test_all_bodies_accelerate_as_the_local_model_says(any_case):
    found = run_of(any_case, until=1e-3, output_step=1e-3)
    theta, rates, u = start_of(any_case)
    second = accelerations(any_case, theta, rates, u)[1]
    here = supple.assemble(any_case.mechanism, theta[None])
    expected = centre_motion(found.bodies.problem, supple.motion(here, rates[None], second[None]))[2][0]
    assert_allclose(found.bodies.instant.acceleration[0], expected, atol=ROUNDING * largest(expected))
    coordinates = [values[0] for values in found.accelerations.values()]
    assert_allclose(coordinates, second, atol=ROUNDING * max(largest(expected), largest(second)))


def test_power_is_the_rate_of_the_energy(any_case):
    """At an instant, to rounding: v·M v̇ of bodies and motors is the power of loads, inputs, dampers and friction."""
    found = run_of(any_case, until=1e-3, output_step=1e-3)
    theta, rates, u = start_of(any_case)
    model, second = accelerations(any_case, theta, rates, u)
    system, V, dV = found.bodies.problem.system, found.bodies.V[0], found.bodies.instant.acceleration[0]
    linear, turning = system.rows.column < 3, system.rows.column >= 3
    rate = float(np.einsum("b,bc,bc->", system.mass, V[:, linear], dV[:, linear]))
    J = system.inertia if turning.sum() == 3 else system.inertia[:, 2:, 2:]
    rate += float(np.einsum("bc,bce,be->", V[:, turning], J, dV[:, turning]))
    for reference, inertia in motors(any_case.parts):
        sensed = any_case.mechanism.replace(sensors={"turn": {"joint": reference}})
        turn = supple.local(sensed, theta).outputs["turn"]
        rate += inertia * (turn.rigid @ rates) * (turn.rigid @ second + rates @ turn.bend @ rates)
    power = forces_of(model, rates, u) @ rates
    assert_allclose(rate, power, atol=ROUNDING * np.abs(forces_of(model, rates, u)) @ np.abs(rates))


def motors(parts):
    """Reference to a joint's coordinate, and inertia times gear squared."""
    for name, joint in parts["joints"].items():
        motor = joint.get("motor", {})
        for coordinate, one in ({"": motor} if "inertia" in motor else motor).items():
            yield f"{name}.{coordinate}" if coordinate else name, one["inertia"] * one["gear"] ** 2


def test_the_balance_of_energy_falls_with_the_square_of_the_step(any_case):
    coarse, fine = (np.abs(run_of(any_case, step=step).energy["balance"]).max() for step in (1e-3, 5e-4))
    # four, but for terms of the next order; where the whole balance is rounding there is nothing to measure
    assert 3.6 < coarse / fine < 4.4 or coarse < 1e-12


def test_positions_and_velocities_are_of_second_order(any_case):
    """Every case carries springs, dampers, motors behind gears, friction, followers; open and closed, with spin."""
    coarse, middle, fine = (run_of(any_case, step=step) for step in (1e-3, 5e-4, 2.5e-4))
    for signal in ("X", "V"):
        first = largest(getattr(coarse.bodies, signal)[-1] - getattr(middle.bodies, signal)[-1])
        second = largest(getattr(middle.bodies, signal)[-1] - getattr(fine.bodies, signal)[-1])
        assert 3.5 < first / second < 4.5, signal


def test_a_fast_gyroscope_is_of_second_order():
    gyroscope = supple.Mechanism(
        gravity=[0, 0, -9.81],
        bodies={
            "ring": {"mass": 0.4, "center": [0, 0, 0], "inertia": [0.01, 0.012, 0.02]},
            "fork": {"mass": 0.3, "center": [0.1, 0, 0], "inertia": [0.008, 0.01, 0.01]},
            "rotor": {"mass": 2.0, "center": [0.2, 0, 0], "inertia": [0.02, 0.011, 0.011]},
        },
        joints={
            "turn": {"revolute": ["ground", "ring"], "at": [0, 0, 0], "axis": "z"},
            "nod": {"revolute": ["ring", "fork"], "at": [0, 0, 0], "axis": "y"},
            "spin": {"revolute": ["fork", "rotor"], "at": [0.2, 0, 0], "axis": "x"},
        },
        coordinates=["turn", "nod", "spin"],
    )
    options = {"until": 0.5, "output_step": 0.1}
    nutating = [
        supple.simulate(gyroscope, step=step, rates={"spin": 150.0}, **options).coordinates["turn"][-1]
        for step in (4e-4, 2e-4, 1e-4)
    ]
    assert 3.8 < (nutating[0] - nutating[1]) / (nutating[1] - nutating[2]) < 4.2
    # with its axis level, and turning at once at the rate Ω = m g r / (J ω), it neither falls nor nods
    rate = 9.81 * (2.0 * 0.2 + 0.3 * 0.1) / (0.02 * 150.0)
    steady = supple.simulate(gyroscope, step=1e-4, rates={"spin": 150.0, "turn": rate}, **options)
    # a step turns the rotor by 0.015 rad: its square is what the method errs by
    assert_allclose(steady.coordinates["turn"], rate * steady.time, rtol=1e-4)
    assert_allclose(steady.coordinates["nod"], 0.0, atol=1e-4)


def test_reactions_do_no_work(any_case):
    """What a joint does to its two bodies adds up to no power: constraints that do not depend on time."""
    found = run_of(any_case, until=1e-3, output_step=1e-3)
    drawing = found.bodies.problem.rest.numbering.drawing
    mechanism, P = any_case.mechanism, any_case.mechanism.plane_axes()

    def velocity_at(body, place):
        if body == "ground":
            return np.zeros(3), np.zeros(3)
        pose, move = found.frame(body), found.frame_motion(body)
        turn = move.angular_velocity[0]
        return move.velocity[0] + np.cross(turn, place - pose.position[0]), turn

    moved = 0.0
    for name, joint in mechanism.joints.items():
        first, second = joint.bodies
        local = P @ (joint_frames(drawing, name).pb + drawing.offsets[second])
        pose = found.frame(second) if second != "ground" else None
        place = local if pose is None else pose.position[0] + pose.rotation[0] @ local
        reaction = found.reaction(name)
        (v_a, w_a), (v_b, w_b) = velocity_at(first, place), velocity_at(second, place)
        power = reaction.force[0] @ (v_b - v_a) + reaction.moment[0] @ (w_b - w_a)
        size = np.abs(reaction.force[0]).sum() + np.abs(reaction.moment[0]).sum()
        assert abs(power) <= 1e-11 * max(size, 1.0), name
        moved = max(moved, largest(v_b, w_b))
    assert moved > 0.01  # the mechanism does move


@pytest.mark.parametrize("name", ["four-bar 2", "two four-bars that share a bar 1", "parallelogram chain 1"])
def test_the_order_of_redundant_joints_does_not_matter(name):
    made = case(name)
    parts = in_space(made.parts)
    runs = [run_of(made, mechanism=supple.Mechanism(**parts))]
    runs += [
        run_of(made, mechanism=supple.Mechanism(**shuffled(parts, np.random.default_rng(seed)))) for seed in range(3)
    ]
    for body in parts["bodies"]:
        first = runs[0].frame(body)
        for other in runs[1:]:
            assert_allclose(other.frame(body).position, first.position, atol=1e-9)
            assert_allclose(other.frame(body).rotation, first.rotation, atol=1e-9)
    assert largest(runs[0].bodies.w[-1] - runs[0].bodies.w[0]) > 1e-3


def without_dry_friction(made):
    parts = copy.deepcopy(made.parts)
    for joint in parts["joints"].values():
        joint.pop("dry", None)
    return dataclasses.replace(made, parts=parts, mechanism=supple.Mechanism(**parts))


@pytest.mark.parametrize("name", ["four-bar 1", "five-bar 2", "slider-crank driven by a cylinder 1", "3-RRR platform"])
def test_a_linkage_moves_alike_in_the_plane_in_space_and_tilted(name):
    """Also where gravity has a part across its plane, which only the redundant constraints feel."""
    made = without_dry_friction(case(name))  # it sets in over a speed in extents of the drawing, which tilt with it
    rng = np.random.default_rng(3)
    spatial = in_space(made.parts)
    for body in spatial["bodies"].values():
        if "rod" not in body:
            body["inertia"] = dict.fromkeys(("xy", "xz", "yz"), 0.0) | dict(
                zip(("xx", "yy", "zz"), body["inertia"], strict=True)
            )
    tilted = turned(spatial, rotation(rng), rng.standard_normal(3))
    first, second = ("xyz".index(letter) for letter in made.parts["plane"])
    across = np.cross(np.eye(3)[first], np.eye(3)[second])
    pulled = spatial | {"gravity": list(np.array(spatial["gravity"]) + 7.0 * across)}
    pulled = turned(pulled, rotation(rng), rng.standard_normal(3))
    planar = run_of(made)
    for parts in (spatial, tilted, pulled):
        other = run_of(made, mechanism=supple.Mechanism(**parts))
        for coordinate, values in planar.coordinates.items():
            assert_allclose(other.coordinates[coordinate], values, atol=1e-9)
        assert_allclose(other.energy["kinetic"], planar.energy["kinetic"], rtol=1e-8)
    assert largest(planar.bodies.w[-1] - planar.bodies.w[0]) > 1e-3


def test_a_run_begins_where_another_ended(closed_case):
    """Started anew from θ and θ̇ in between, the motion is the same but for the error of the method."""
    whole = run_of(closed_case, step=2e-4)
    half = run_of(closed_case, step=2e-4, until=0.04)
    theta, rates = (np.array([values[-1] for values in signals.values()]) for signals in (half.coordinates, half.rates))
    rest = run_of(closed_case, step=2e-4, until=0.06, start=theta, rates=rates)
    error = largest(run_of(closed_case, step=4e-4).bodies.w[-1] - whole.bodies.w[-1])
    assert largest(rest.bodies.w[-1] - whole.bodies.w[-1]) < 3.0 * error
