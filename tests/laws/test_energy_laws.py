"""Mass, potential, damping and work of the local model against what they mean for the moving bodies."""

import numpy as np
import pytest
from differences import CLOSE, along, gradient, largest
from drawn_parts import COORDINATES, by_coordinate, skew
from numpy.testing import assert_allclose
from world_axes import WorldAxes

import supple
from supple.kinematics.closure import assemble
from supple.parameterization.local_model import local


def motors(parts):
    """Reference to a joint's coordinate, and inertia times gear squared."""
    for name, joint in parts["joints"].items():
        kind = next(key for key in COORDINATES if key in joint)
        for coordinate, motor in by_coordinate(joint.get("motor"), kind):
            single = len(COORDINATES[kind]) == 1
            yield name if single else f"{name}.{coordinate}", motor["inertia"] * motor["gear"] ** 2


def moving_poses(case, theta, rate):
    """Centre and rotation of each body as functions of time along θ + t θ̇, differentiated."""
    bodies = WorldAxes(case.parts).mass
    P = case.mechanism.plane_axes()
    for name, (m, c, J) in bodies.items():

        def pose(thetas, name=name, c=c):
            frame = assemble(case.mechanism, thetas).frame(name)
            R = frame.rotation @ P  # frame axes are written in the world's; the description's are the drawing's
            return np.concatenate([(frame.position + R @ c)[:, None, :], R.transpose(0, 2, 1)], axis=1)

        change = along(pose, theta, rate)
        R = pose(theta[None])[0, 1:].T
        spin = R.T @ change[1:].T
        yield (
            m,
            J,
            change[0],
            0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]),
        )


def test_half_the_rate_times_mass_times_rate_is_the_kinetic_energy_of_the_moving_bodies(any_case):
    rng = np.random.default_rng(1)
    for theta in any_case.thetas(2):
        rate = rng.standard_normal(len(theta))
        energy = sum(0.5 * m * v @ v + 0.5 * w @ J @ w for m, J, v, w in moving_poses(any_case, theta, rate))
        for reference, inertia in motors(any_case.parts):
            joint = along(lambda t, ref=reference: assemble(any_case.mechanism, t).joint_coordinates[ref], theta, rate)
            energy += 0.5 * inertia * joint**2
        assert_allclose(0.5 * rate @ local(any_case.mechanism, theta).M @ rate, energy, rtol=CLOSE)


def test_mass_matrix_is_the_kinetic_energy_of_sensed_velocities_to_rounding(any_case):
    """Four points of every body, sensed, give its velocity and turning exactly; motors through their joints."""
    parts = any_case.parts
    bodies = WorldAxes(parts).mass
    planar = "plane" in parts
    frames, sensors = dict(parts["frames"]), {}
    for name, (_, c, _) in bodies.items():
        for i, arm in enumerate(np.vstack([np.zeros(3), np.eye(3)])):
            if not (planar and i == 3):
                frames[f"{name}_at{i}"] = {"on": name, "local": list((c + arm)[: 2 if planar else 3])}
                sensors[f"{name}_at{i}"] = {"position": f"{name}_at{i}"}
    gears = dict(motors(parts))
    sensors |= {f"motor{i}": {"joint": reference} for i, reference in enumerate(gears)}
    model = local(supple.Mechanism(**parts | {"frames": frames, "sensors": sensors}), any_case.thetas(1)[0])
    letters = parts.get("plane", "xyz")

    def sensed(name, field):
        rows = [getattr(model.outputs[f"{name}.{letter}"], field) for letter in letters]
        return np.array([*rows, np.zeros_like(rows[0])] if planar else rows)

    M = np.zeros_like(model.M)
    for name, (m, _, J) in bodies.items():
        at = {
            i: (sensed(f"{name}_at{i}", "value"), sensed(f"{name}_at{i}", "rigid")) for i in range(3 if planar else 4)
        }
        E = [at[i][0] - at[0][0] for i in (1, 2)]
        R = np.column_stack([*E, np.cross(*E)])
        if planar:
            w = np.vstack([np.zeros((2, len(M))), E[1] @ (at[1][1] - at[0][1])])
        else:
            rates = [at[i][1] - at[0][1] for i in (1, 2, 3)]  # of the axes: ω × e
            w = 0.5 * sum(skew(R[:, i]) @ rates[i] for i in range(3))
        v = at[0][1]
        M += m * v.T @ v + (R.T @ w).T @ J @ (R.T @ w)
    for i, inertia in enumerate(gears.values()):
        a = model.outputs[f"motor{i}"].rigid
        M += inertia * np.outer(a, a)
    # rounding, enlarged by the condition of the closure (below a hundred)
    assert_allclose(model.M, M, atol=1e-12 * largest(M))


def test_mass_matrix_is_symmetric_and_positive_definite(any_case):
    for M in local(any_case.mechanism, any_case.thetas(5)).M:
        assert_allclose(M, M.T, atol=1e-14 * largest(M))  # the same sums in another order
        assert np.linalg.eigvalsh(M)[0] > 0.0


def test_christoffel_symbols_are_the_mass_gradient(any_case):
    model = local(any_case.mechanism, any_case.thetas(5))
    for G, dM in zip(model.christoffel, model.dM, strict=True):
        assert_allclose(G + G.transpose(1, 0, 2), dM, atol=1e-13 * largest(dM))  # a few roundings
        assert_allclose(G, G.transpose(0, 2, 1), atol=1e-14 * largest(G))


def test_mass_gradient_is_the_difference_of_masses(any_case):
    for theta in any_case.thetas(2):
        model = local(any_case.mechanism, theta)
        dM = gradient(lambda t: local(any_case.mechanism, t).M, theta)
        assert_allclose(model.dM, dM, atol=CLOSE * largest(dM, model.M))


@pytest.fixture
def without_moments(any_case):
    """The mechanism with only such loads as have a potential."""
    forces = {
        name: force
        for name, force in any_case.parts["forces"].items()
        if "moment" not in force and "follower" not in force
    }
    return supple.Mechanism(**any_case.parts | {"forces": forces})


def test_force_is_minus_the_gradient_of_the_potential(any_case, without_moments):
    for theta in any_case.thetas(2):
        model = local(without_moments, theta)
        slope = gradient(lambda t: local(without_moments, t).potential, theta)
        assert_allclose(model.force, -slope, atol=CLOSE * largest(slope, model.potential))


def test_gradient_of_a_potential_force_is_symmetric(any_case, without_moments):
    for dforce in local(without_moments, any_case.thetas(3)).dforce:
        # rounding, enlarged by second derivatives of the closure
        assert_allclose(dforce, dforce.T, atol=1e-11 * largest(dforce))


def test_potential_is_that_of_the_moved_masses_springs_and_forces(any_case, without_moments):
    """Differences of V between two configurations, since V is only known up to a constant."""
    oracle = WorldAxes(any_case.parts)
    P = any_case.mechanism.plane_axes()
    g = P @ oracle.vector(any_case.parts["gravity"])
    thetas = any_case.thetas(4)
    found = assemble(any_case.mechanism, thetas)
    V = np.zeros(4)
    for name, (m, c, _) in oracle.mass.items():
        frame = found.frame(name)
        V -= m * (frame.position + frame.rotation @ P @ c) @ g

    def length(part):
        if "between" in part:
            first, second = (found.frame(name).position for name in part["between"])
            return np.linalg.norm(second - first, axis=1)
        return found.joint_coordinates[part["joint"]]

    for spring in any_case.parts["springs"].values():
        V += 0.5 * spring["stiffness"] * (length(spring) - spring.get("rest", spring.get("length"))) ** 2
    for force in any_case.parts["forces"].values():
        if "at" not in force:
            V -= force["force"] * length(force)
        elif "moment" not in force:
            V -= found.frame(force["at"]).position @ P @ oracle.vector(force["force"])
    model = local(without_moments, thetas)
    # sums of some ten terms of the size of V, each to rounding
    assert_allclose(model.potential - model.potential[0], V - V[0], atol=1e-13 * largest(V, model.potential))


def test_force_is_the_power_of_every_load_for_a_unit_rate(any_case):
    """Also of moments and of forces that turn with their body: F·ẋ + M·ω by differences of the poses."""
    oracle = WorldAxes(any_case.parts)
    P = any_case.mechanism.plane_axes()
    rng = np.random.default_rng(2)
    theta = any_case.thetas(1)[0]
    rate = rng.standard_normal(len(theta))
    power = 0.0
    for m, _, v, _ in moving_poses(any_case, theta, rate):
        power += m * v @ P @ oracle.vector(any_case.parts["gravity"])

    def speed(part):
        def length(thetas):
            found = assemble(any_case.mechanism, thetas)
            if "between" in part:
                first, second = (found.frame(name).position for name in part["between"])
                return np.linalg.norm(second - first, axis=1)
            return found.joint_coordinates[part["joint"]]

        return length(theta[None])[0], along(length, theta, rate)

    for spring in any_case.parts["springs"].values():
        value, change = speed(spring)
        power -= spring["stiffness"] * (value - spring.get("rest", spring.get("length"))) * change
    here = assemble(any_case.mechanism, theta)
    for force in any_case.parts["forces"].values():
        if "at" not in force:
            power += force["force"] * speed(force)[1]
            continue
        name = force["at"]
        dx = along(lambda t, name=name: assemble(any_case.mechanism, t).frame(name).position, theta, rate)
        dR = along(lambda t, name=name: assemble(any_case.mechanism, t).frame(name).rotation, theta, rate)
        R = here.frame(name).rotation
        spin = dR @ R.T
        turned = R @ P if force.get("follower") else P
        if "force" in force:
            power += turned @ oracle.vector(force["force"]) @ dx
        if "moment" in force:
            moment = [0.0, 0.0, force["moment"]] if "plane" in any_case.parts else force["moment"]
            power += turned @ np.array(moment) @ [spin[2, 1], spin[0, 2], spin[1, 0]]
    p = local(any_case.mechanism, theta).force
    assert_allclose(p @ rate, power, atol=CLOSE * largest(p))


def test_gradient_of_the_force_is_the_difference_of_forces(any_case):
    """With moments and followers: dforce is then not symmetric."""
    for theta in any_case.thetas(2):
        model = local(any_case.mechanism, theta)
        dforce = gradient(lambda t: local(any_case.mechanism, t).force, theta)
        assert_allclose(model.dforce, dforce, atol=CLOSE * largest(dforce, model.force))
