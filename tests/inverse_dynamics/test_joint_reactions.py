"""Newton's and Euler's equations hold for every body with the reactions and forces that are reported."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.mass_properties import mass_properties
from supple.formulations.absolute.instant import balance, least_multipliers
from supple.formulations.absolute.system import absolute
from supple.kinematics.joint_frames import joint_frames


class Wrenches:
    """Forces on bodies and moments about the world's origin, collected by body."""

    def __init__(self, configuration):
        self.at = configuration
        self.mechanism = configuration.mechanism
        self.P = self.mechanism.plane_axes()
        count = len(configuration.theta)
        self.force = {name: np.zeros((count, 3)) for name in [*self.mechanism.bodies, "ground"]}
        self.moment = {name: np.zeros((count, 3)) for name in self.force}

    def pose(self, body):
        """Position (N, 3) and rotation (N, 3, 3) that take places on a body, in the drawing's axes, to the world."""
        X = self.at.X[:, self.at.rest.numbering.body_index(body)]
        return X[:, :3] @ self.P.T, self.P @ X[:, 3:].reshape(-1, 3, 3)

    def point(self, body, local):
        position, R = self.pose(body)
        return position + R @ local

    def vector(self, body, local):
        return self.pose(body)[1] @ local

    def push(self, body, point, force, moment=0.0):
        self.force[body] = self.force[body] + force
        self.moment[body] = self.moment[body] + np.cross(point, force) + moment

    def between(self, first, second, point, force, moment=0.0):
        self.push(second, point, force, moment)
        self.push(first, point, -force, -moment)


def reactions(wrenches, found):
    drawing = found.model.configuration.rest.numbering.drawing
    for name, joint in wrenches.mechanism.joints.items():
        first, second = joint.bodies
        place = wrenches.point(second, joint_frames(drawing, name).pb)
        reaction = found.reactions[name]
        wrenches.between(first, second, place, reaction.force, reaction.moment)


def actuators(wrenches, found):
    drawing = found.model.configuration.rest.numbering.drawing
    for name, values in found.forces.items():
        actuator = wrenches.mechanism.actuators[name]
        if actuator.between is not None:
            ends = [drawing.find_frame(place, ()) for place in actuator.between]
            a, b = (wrenches.point(end.body, end.pose.position) for end in ends)
            push = values[:, None] * (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
            wrenches.push(ends[1].body, b, push)
            wrenches.push(ends[0].body, a, -push)
            continue
        joint, coordinate = wrenches.mechanism.joint_coordinate(actuator.joint)
        first, second = wrenches.mechanism.joints[joint].bodies
        frames = joint_frames(drawing, joint)
        slides = coordinate == "slide"
        axis = wrenches.vector(first, frames.Ea[:, 0 if slides and wrenches.mechanism.planar else 2])
        along = values[:, None] * axis
        nothing = np.zeros_like(along)
        place = wrenches.point(second, frames.pb)
        wrenches.between(first, second, place, along if slides else nothing, nothing if slides else along)


def check(found):
    """Σ F = m a_c, Σ M = d/dt(x_c × m v_c + J ω), about the world's origin; gravity is the only other force."""
    configuration = found.model.configuration
    wrenches = Wrenches(configuration)
    reactions(wrenches, found)
    actuators(wrenches, found)
    mechanism, P = wrenches.mechanism, wrenches.P
    gravity = np.zeros(3) if mechanism.gravity is None else P[:, : len(mechanism.gravity)] @ mechanism.gravity
    size = max(np.abs(part).max() for part in wrenches.force.values())
    extent = configuration.rest.numbering.arrays.extent
    for name, properties in mass_properties(configuration.rest.numbering.drawing).items():
        moving, R = found.motion.frame(name), wrenches.pose(name)[1]
        m, x = properties.mass, wrenches.point(name, properties.center)
        r = x - configuration.frame(name).position
        J = R @ properties.inertia @ R.transpose(0, 2, 1)
        w, dw = moving.angular_velocity, moving.angular_acceleration
        a = moving.acceleration + np.cross(dw, r) + np.cross(w, np.cross(w, r))
        spin = np.einsum("nij,nj->ni", J, dw) + np.cross(w, np.einsum("nij,nj->ni", J, w))
        assert_allclose(wrenches.force[name] + m * gravity, m * a, atol=1e-9 * size, err_msg=name)
        about = np.cross(x, m * (a - gravity)) + spin
        assert_allclose(wrenches.moment[name], about, atol=1e-9 * size * extent, err_msg=name)


def hinges(mechanism, names):
    return mechanism.replace(actuators={name: {"joint": name} for name in names})


def test_four_bar_in_the_plane(four_bar):
    for minimize in ("torque", "peak", "multipliers"):
        check(supple.inverse(four_bar, "turn", minimize=minimize, step=0.01))


@pytest.mark.parametrize("name", ["orthoglide", "orthoglide-parallelogram"])
def test_orthoglide(example, name):
    """The parallelograms have twelve redundant constraints and massless bars."""
    courses = {
        axis: {"from": -0.1, "amplitude": size, "frequency": 1}
        for axis, size in zip("xyz", (0.1, 0.05, -0.08), strict=True)
    }
    found = supple.inverse(example(name), supple.Motion(coordinates=courses, duration=1), step=0.02)
    check(found)


def test_platform_on_cylinders(example):
    stewart = example("stewart")
    courses = {f"leg{i}": {"amplitude": 0.02 * (-1) ** i, "frequency": 2} for i in (1, 2, 4)}
    check(supple.inverse(stewart, supple.Motion(coordinates=courses, duration=0.5), step=0.01))


def test_a_linkage_that_moves_against_the_count(example):
    """Bricard's mechanism: one redundant constraint, two hinges driven."""
    bricard = example("bricard")
    (theta,) = bricard.coordinates
    joint = bricard.joint_coordinate(theta)[0]
    other = next(name for name in bricard.joints if name != joint)
    sway = supple.Motion(coordinates={theta: {"amplitude": 0.2, "frequency": 1}}, duration=1)
    check(supple.inverse(hinges(bricard, [joint, other]), sway, step=0.02))


def test_the_balance_closes_with_everything_a_mechanism_can_carry(redundant_case):
    """Joints can balance what is left over after the actuators: springs, dampers, motors, friction, applied forces."""
    mechanism, states = redundant_case
    found = supple.inverse(mechanism, states)
    problem = absolute(found.model.configuration.rest)
    parts = balance(problem, found.motion)
    u = np.column_stack([found.forces[name] for name in mechanism.actuators])
    needed = parts.required + np.einsum("nf,nfi->ni", found.friction, parts.frictions)
    needed = needed - np.einsum("na,nai->ni", u, parts.actuators)
    multipliers = least_multipliers(problem, parts.joints, needed[..., None])[..., 0]
    left = needed - np.einsum("nr,nri->ni", multipliers, parts.joints)
    assert np.abs(left).max() < 1e-9 * max(np.abs(needed).max(), np.abs(u).max())


def test_the_ground_feels_the_weight(four_bar):
    """At rest the ground carries all bars, and no more."""
    still = supple.Motion(coordinates={"A": {"from": 1.0}}, duration=1)
    found = supple.inverse(four_bar, still, step=1.0)
    carried = found.reactions["A"].force + found.reactions["D"].force  # both on the second body: from the ground
    p = four_bar.parameters
    weight = 9.81 * (p["crank_mass"] + p["coupler_mass"] + p["follower_mass"])
    assert_allclose(carried, [[0.0, weight, 0.0]] * 2, atol=1e-9 * weight)
