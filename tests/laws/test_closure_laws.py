"""A configuration depends on θ alone: not on the way there, not on its neighbours in a batch."""

import numpy as np
import pytest
from drawn_parts import Pose
from numpy.testing import assert_allclose
from random_mechanisms import case
from redrawn import by_frames
from world_axes import WorldAxes

import supple
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest

CLOSED_TO = 1e-10
"""Metres, or rotation matrix entries: gaps are closed to about 1e-12 of a mechanism of a few metres, and a gap
moves a body by at most its condition, a hundred, times as much."""


def poses_of(found, oracle, n):
    """The poses of one member of a batch, in the drawing's axes."""
    P = found.mechanism.plane_axes()
    poses = {"ground": oracle.drawn["ground"]}
    for body in oracle.bodies:
        frame = found.frame(body)
        poses[body] = Pose(P.T @ frame.position[n], P.T @ frame.rotation[n] @ P)
    return poses


def test_every_joint_is_closed_and_every_coordinate_has_its_value(any_case):
    """By residuals of our own, at the poses that supple found."""
    parts = by_frames(any_case.parts)  # so that the axes of all bodies are told
    oracle = WorldAxes(parts)
    thetas = any_case.thetas(4)
    found = assemble(supple.Mechanism(**parts), thetas)
    assert found.assembled.all()
    for n, theta in enumerate(thetas):
        poses = poses_of(found, oracle, n)
        for pose in poses.values():
            assert_allclose(pose.R.T @ pose.R, np.eye(3), atol=1e-14)  # a product of two rotations, to rounding
        assert_allclose(oracle.constraints(poses)[0], 0.0, atol=CLOSED_TO)
        assert_allclose(oracle.theta(poses)[0], theta, atol=CLOSED_TO)


def test_any_route_leads_to_the_same_configuration(any_case):
    """Drawn anew half-way to another corner of the box, the mechanism assembles to the same places."""
    there, corner = any_case.thetas(2)
    oracle = WorldAxes(any_case.parts)
    half_way = oracle.poses_at(any_case.rest + 0.5 * (corner - any_case.rest))
    moved = supple.Mechanism(**by_frames(any_case.parts, half_way))
    # the new drawing is closed to 1e-9 by our own iteration; rest closes it no worse
    assert_allclose(rest(moved).theta, any_case.rest + 0.5 * (corner - any_case.rest), atol=1e-8)
    first, second = assemble(any_case.mechanism, there), assemble(moved, there)
    for name in any_case.parts["frames"]:
        assert_allclose(second.frame(name).position, first.frame(name).position, atol=CLOSED_TO)
        assert_allclose(second.frame(name).rotation, first.frame(name).rotation, atol=CLOSED_TO)
    for name, value in first.joint_coordinates.items():
        assert_allclose(second.joint_coordinates[name], value, atol=CLOSED_TO)


def test_a_batch_is_its_members_bit_for_bit_in_any_order(any_case):
    thetas = any_case.thetas(80)  # more than one piece on several cores
    batch = assemble(any_case.mechanism, thetas)
    order = np.random.default_rng(7).permutation(len(thetas))
    mixed = assemble(any_case.mechanism, thetas[order])
    assert np.array_equal(batch.X[order], mixed.X)
    assert np.array_equal(batch.w[order], mixed.w)
    for n in (0, 40, 79):
        single = assemble(any_case.mechanism, thetas[n])
        assert np.array_equal(single.X, batch.X[n])
        assert np.array_equal(single.w, batch.w[n])
        for name in any_case.parts["frames"]:
            assert_allclose(single.frame(name).position, batch.frame(name).position[n], atol=1e-15)


def test_singularity_measure_of_a_batch_is_that_of_its_members(any_case):
    thetas = any_case.thetas(4)
    batch = assemble(any_case.mechanism, thetas).singularity
    singles = [float(assemble(any_case.mechanism, theta).singularity) for theta in thetas]
    assert_allclose(batch, singles, rtol=1e-10)  # a singular value to rounding, in a batched routine
    assert (batch > 1e-3).all()


def test_rest_is_assembled_at_its_own_values(any_case):
    at_rest = assemble(any_case.mechanism)
    again = assemble(any_case.mechanism, at_rest.theta)
    for name in any_case.parts["frames"]:
        assert_allclose(again.frame(name).position, at_rest.frame(name).position, atol=CLOSED_TO)
    assert at_rest.coordinates.keys() == dict.fromkeys(any_case.parts["coordinates"]).keys()


def test_where_closure_stops_our_own_measure_vanishes_too(closed_case):
    """Far outside the box some segments meet dead points; there the rows must be singular, elsewhere closed."""
    far = closed_case.rest + 8.0 * (closed_case.thetas(40, seed=5) - closed_case.rest)
    parts = by_frames(closed_case.parts)
    oracle = WorldAxes(parts)
    found = assemble(supple.Mechanism(**parts), far, failures="mark")
    regular = oracle.measure(oracle.close(oracle.drawn))
    for n in np.flatnonzero(~found.assembled)[:5]:
        # near a fold the measure falls with the root of the distance: a hundredth is 1e-4 of the way
        assert oracle.measure(poses_of(found, oracle, n)) < 1e-2 * regular
        assert 0.0 < found.reached[n] < 1.0
    for n in np.flatnonzero(found.assembled)[:5]:
        poses = poses_of(found, oracle, n)
        gap = oracle.theta(poses)[0] - far[n]
        assert_allclose(oracle.constraints(poses)[0], 0.0, atol=CLOSED_TO)
        assert_allclose(gap, 2.0 * np.pi * np.round(gap / (2.0 * np.pi)), atol=CLOSED_TO)


def test_a_far_configuration_is_the_one_that_small_steps_lead_to(closed_case):
    """Closure takes long steps; it must not land on another branch."""
    parts = by_frames(closed_case.parts)
    oracle = WorldAxes(parts)
    far = closed_case.rest + 6.0 * (closed_case.thetas(6, seed=9) - closed_case.rest)
    found = assemble(supple.Mechanism(**parts), far, failures="mark")
    assert found.assembled.any()  # else the law would go untested
    n = int(np.flatnonzero(found.assembled)[0])
    poses, steps = oracle.close(oracle.drawn), 40
    begin = oracle.theta(poses)[0]
    for k in range(1, steps + 1):
        step = (far[n] - begin) / steps
        poses = oracle.close(oracle.moved(poses, oracle.modes(poses) @ step), begin + k * step)
    reached = poses_of(found, oracle, n)
    for body in oracle.bodies:
        assert_allclose(reached[body].x, poses[body].x, atol=1e-8)  # the condition is worse out here
        assert_allclose(reached[body].R, poses[body].R, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_a_five_bar_is_assembled_exactly_where_its_knees_stay_within_reach(seed):
    """Closed form: along the segment the distance of the knees must stay between difference and sum of the links."""
    rng = np.random.default_rng(seed)
    A, E = np.zeros(2), np.array([rng.uniform(0.3, 1.5), 0.0])
    arm, link, fore, right = rng.uniform(0.3, 1.2, 4)
    side = rng.choice([-1.0, 1.0])

    def knees(angles):
        a, e = np.moveaxis(np.asarray(angles), -1, 0)
        first = A + arm * np.stack([np.cos(a), np.sin(a)], -1)
        return first, E + right * np.stack([np.cos(e), np.sin(e)], -1)

    def tip(angles):
        B, D = knees(angles)
        d = D - B
        span = np.linalg.norm(d, axis=-1, keepdims=True)
        x = (span**2 + link**2 - fore**2) / (2.0 * span)
        across = np.stack([-d[..., 1], d[..., 0]], -1)
        return B + (x * d + side * np.sqrt(link**2 - x**2) * across) / span

    def slack(angles):
        B, D = knees(angles)
        span = np.linalg.norm(D - B, axis=-1)
        return np.minimum(span - abs(link - fore), link + fore - span)

    draws = rng.uniform(-np.pi, np.pi, (1000, 2))
    begin = draws[np.argmax(slack(draws) > 0.1)]
    assert slack(begin) > 0.1
    B, D = knees(begin)
    places = {"A": A, "B": B, "C": tip(begin), "D": D, "E": E}
    bars = {"left": "AB", "upper": "BC", "fore": "DC", "right": "ED"}
    pairs = {"A": "ground left", "B": "left upper", "C": "upper fore", "D": "fore right", "E": "ground right"}
    mechanism = supple.Mechanism(
        plane="xy",
        points={name: list(at) for name, at in places.items()},
        bodies={name: {"rod": list(ends), "mass": 1.0} for name, ends in bars.items()},
        joints={name: {"revolute": pair.split()} for name, pair in pairs.items()},
        coordinates=["A", "E"],
    )
    targets = begin + rng.uniform(-4.0, 4.0, (300, 2))
    found = assemble(mechanism, targets, failures="mark")
    way = begin + np.linspace(0.0, 1.0, 2001)[:, None, None] * (targets - begin)
    least = slack(way).min(axis=0)
    clear = np.abs(least) > 1e-5  # what 2001 samples of the way can tell
    assert np.array_equal(found.assembled[clear], least[clear] > 0.0)
    inside = found.assembled & clear
    assert 5 < inside.sum() < 295
    # near a stretched knee a gap of 1e-12 moves it by its root
    assert_allclose(found.frame("C").position[inside, :2], tip(targets[inside]), atol=1e-7)


@pytest.mark.parametrize("name", ["chain 2", "planar tree 1", "RCCC loop"])
def test_coordinates_not_mentioned_stay_at_rest(name):
    one = case(name)
    reference = one.parts["coordinates"][-1]
    value = one.rest[-1] + 0.5 * one.spread[-1]
    found = assemble(one.mechanism, {reference: value})
    expected = rest(one.mechanism).theta.copy()
    expected[-1] = value
    assert_allclose(found.theta, expected, atol=0.0)
