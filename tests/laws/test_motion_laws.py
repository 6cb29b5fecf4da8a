"""Velocities and accelerations of bodies and frames against differences along a motion, and their energy."""

import numpy as np
from differences import CLOSE, STEP, along, largest
from numpy.testing import assert_allclose
from world_axes import WorldAxes

import supple
from supple.kinematics.closure import assemble
from supple.kinematics.motion import motion
from supple.parameterization.local_model import local


def random_motion(case):
    rng = np.random.default_rng(31)
    theta = case.thetas(1, seed=31)[0]
    return theta, rng.standard_normal(len(theta)), rng.standard_normal(len(theta))


def test_velocities_of_frames_are_differences_of_their_places(any_case):
    theta, rates, _ = random_motion(any_case)
    moving = motion(assemble(any_case.mechanism, theta), rates)
    for name in any_case.parts["frames"]:
        dx = along(lambda t, n=name: assemble(any_case.mechanism, t).frame(n).position, theta, rates)
        dR = along(lambda t, n=name: assemble(any_case.mechanism, t).frame(n).rotation, theta, rates)
        R = assemble(any_case.mechanism, theta).frame(name).rotation
        spin = dR @ R.T
        found = moving.frame(name)
        assert_allclose(found.velocity, dx, atol=CLOSE * max(1.0, largest(dx)))
        omega = [spin[2, 1], spin[0, 2], spin[1, 0]]
        assert_allclose(found.angular_velocity, omega, atol=CLOSE * max(1.0, largest(omega)))


def test_accelerations_of_frames_are_differences_of_their_velocities(any_case):
    theta, rates, accelerations = random_motion(any_case)
    mechanism = any_case.mechanism
    times = STEP * np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])[:, None]
    thetas = theta + times * rates + 0.5 * times**2 * accelerations
    moving = motion(assemble(mechanism, thetas), rates + times * accelerations)
    here = motion(assemble(mechanism, theta), rates, accelerations)
    weights = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / (60.0 * STEP)
    for name in any_case.parts["frames"]:
        found = here.frame(name)
        a, dw = (weights @ part for part in moving.frame(name)[:2])
        # the curvature of the motion grows with the cube of the condition of the closure, and so does the error
        assert_allclose(found.acceleration, a, atol=CLOSE * max(1.0, largest(a)))
        assert_allclose(found.angular_acceleration, dw, atol=CLOSE * max(1.0, largest(dw)))


def test_kinetic_energy_of_the_velocities_is_that_of_the_mass_matrix_to_rounding(any_case):
    theta, rates, _ = random_motion(any_case)
    joints = {
        name: {key: value for key, value in joint.items() if key != "motor"}
        for name, joint in any_case.parts["joints"].items()
    }
    mechanism = supple.Mechanism(**any_case.parts | {"joints": joints})
    configuration = assemble(mechanism, theta)
    moving = motion(configuration, rates)
    P = mechanism.plane_axes()
    energy = 0.0
    for name, (m, c, J) in WorldAxes(any_case.parts).mass.items():
        R = configuration.frame(name).rotation @ P
        v, w, *_ = moving.frame(name)
        v = v + np.cross(w, R @ c)
        energy += 0.5 * m * v @ v + 0.5 * (R.T @ w) @ J @ (R.T @ w)
    assert_allclose(0.5 * rates @ local(mechanism, configuration).M @ rates, energy, rtol=1e-12)  # sums to rounding


def test_power_of_the_inertia_forces_is_the_change_of_kinetic_energy(any_case):
    """d/dt(½ θ̇ᵀMθ̇) = θ̇ᵀ(Mθ̈ + Γ[θ̇,θ̇]): what Γ takes or gives is what M's change stores."""
    theta, rates, accelerations = random_motion(any_case)
    model = local(any_case.mechanism, theta)
    stored = rates @ model.M @ accelerations + 0.5 * np.einsum("ijk,i,j,k", model.dM, rates, rates, rates)
    given = rates @ model.inertia_forces(rates, accelerations)
    # rounding of sums of s³ terms
    assert_allclose(
        given, stored, atol=1e-12 * max(largest(model.M), largest(model.dM)) * max(1.0, rates @ rates) ** 1.5
    )
