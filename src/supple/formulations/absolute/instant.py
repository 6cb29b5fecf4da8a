"""Accelerations and reactions at an instant, and the equilibrium of all bodies along a known motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.formulations.absolute.iteration import iteration_matrix, residual, row_of, rows_at, solve_right_side
from supple.formulations.absolute.residual import add_gradient, bias, body_forces, measure_forces, rate, row_gradients
from supple.formulations.absolute.step import NO_STEP, State, unit_of
from supple.formulations.absolute.step_work import step_work
from supple.formulations.absolute.system import Absolute
from supple.formulations.coefficients import DRY, DRY_FORCE, ROLE, dry_measures
from supple.integration.ldl import factorise
from supple.kinematics.measures import key_of
from supple.kinematics.motion import BodyRates
from supple.kinematics.primitives import SCALE
from supple.kinematics.row_arrays import row_sizes

# Accelerations and reactions by a rank-revealing solve.
#
#     [M   -Φ_qᵀ] [v̇]   [     Q     ]
#     [Φ_q    0 ] [λ] = [θ̈_p - Φ̇_q v]
#
# With redundant constraints λ is not unique; the one of least norm is taken, moments divided by the mechanism's extent.
# Rigid mechanisms are solved by singular values, unless they are large. Large mechanisms, and those that deform, may
# have thousands of unknowns. For them the sparse factor of the iteration matrix is taken, with ε I on the rows scaled
# to those units, and the iteration
#
#     [M   Φ_qᵀ] [ δv̇]   [Q + Φ_qᵀ λ - M v̇   ]
#     [Φ_q  -ε ] [-δλ] = [θ̈_p - Φ̇_q v - Φ_q v̇]
#
# from λ = 0, which never leaves the range of Φ_q and so ends at the least λ. Rows of elastic joints have their λ from
# Φ.


_RANK = 1e-10
_MANY = 240  # velocities of a rigid mechanism from which the sparse iteration is sooner done
SWEEPS, CONVERGED = 40, 1e-12


class Instant(NamedTuple):
    """Accelerations (N, frames, d) and multipliers (N, rows)."""

    acceleration: Array
    multipliers: Array


def instant(problem: Absolute, X: Array, V: Array, w: Array, u: Array, target_accelerations: Array) -> Instant:
    """Compute accelerations and multipliers at N states.

    X (N, frames + 1, 12), V (N, frames, d), inputs u (N, actuators)
    """
    count, bodies, d = V.shape
    n, joints = bodies * d, problem.rest.numbering.constraints
    extent = problem.rest.numbering.arrays.extent
    measure = np.concatenate([np.arange(joints), problem.system.driven])
    unit = extent / problem.system.rows.rows_f[measure, SCALE]  # moments are divided by the extent
    if problem.elastic or n > _MANY:
        found = Instant(np.zeros(V.shape), np.zeros((count, len(measure))))
        led = np.zeros((count, len(measure) - joints))
        led[:, : target_accelerations.shape[1]] = target_accelerations
        states = BodyStates(X, V, w, u, led)
        compile_kernel(sparse_batch, count=count * n)(problem.steps, states, unit, found)
        if problem.elastic or all(np.isfinite(part).all() for part in found):
            return found
    M, J, Q, second = instant_equations(problem, X, V, w, u)
    rows = J.shape[1]
    second = -second
    second[:, joints:] += target_accelerations
    # Unknowns scaled so that forces weigh alike: λ = unit λ̂ for moments, and lengths by the extent.
    column = np.tile(np.where(problem.system.rows.column < 3, extent, 1.0), bodies)
    acceleration, multipliers = np.empty((count, n)), np.empty((count, rows))
    for k in range(count):
        acceleration[k], multipliers[k] = _solve(M[k], J[k], Q[k], second[k], unit, column)
    return Instant(acceleration.reshape(V.shape), multipliers)


class BodyStates(NamedTuple):
    """States of N instants: poses, velocities, measures, inputs, and accelerations of the prescribed coordinates."""

    X: Array
    V: Array
    w: Array
    u: Array
    led: Array


@kernel(purpose="accelerations and reactions of elastic bodies")
def sparse_batch(problem, states, unit, found):
    """Solve the iteration above at every state."""
    system = problem.system
    joints, compliance = row_sizes(system.rows).joint_rows, system.compliance
    work = step_work(system, problem.pattern)
    right_side, values = work.right_side, work.values
    count, nb, d = states.V.shape
    aims, seconds = np.zeros(system.driven.shape[0]), np.empty(values.shape[0])
    for n in range(count):
        X, V, acceleration, multipliers = states.X[n], states.V[n], found.acceleration[n], found.multipliers[n]
        state = State(X, V, acceleration, acceleration, multipliers, states.w[n])
        residual(system, state, states.u[n], aims, work)
        for i in range(values.shape[0]):
            row = row_of(joints, system.driven, i)
            if i < joints and compliance[i] > 0.0:
                multipliers[i] = -values[i] / compliance[i]
            seconds[i] = -bias(system.rows, row, X, V, work)
            if i >= joints:
                seconds[i] += states.led[n, i - joints]
        iteration_matrix(system, problem.iteration, state, (0.0, NO_STEP), work)
        soften(problem.iteration.at_multiplier, compliance, unit, work.matrix)
        factorise(problem.pattern, work.matrix, work.L, work.D, work.solving, work.filled)
        for _ in range(SWEEPS):
            residual(system, state, states.u[n], aims, work)
            for i in range(values.shape[0]):
                row = row_of(joints, system.driven, i)
                left = seconds[i] - rate(system.rows.rows_i, row, work.gradients, acceleration)
                right_side[nb * d + i] = 0.0 if i < joints and compliance[i] > 0.0 else left
            solve_right_side(problem, X, work)
            change, largest = 0.0, 0.0
            for b in range(nb):
                for c in range(d):
                    length = unit_of(system.rows, system.rows.column[c])
                    acceleration[b, c] += right_side[b * d + c]
                    change = max(change, abs(right_side[b * d + c]) / length)
                    largest = max(largest, abs(acceleration[b, c]) / length)
            for i in range(values.shape[0]):
                multipliers[i] -= right_side[nb * d + i]
            if change <= CONVERGED * largest:
                break


@kernel(inline=True)
def soften(at_multiplier, compliance, unit, A_):
    """Set ε of every row equal in the units in which λ is compared; the largest keeps its value."""
    largest = 0.0
    for i in range(at_multiplier.shape[0]):
        if not (i < compliance.shape[0] and compliance[i] > 0.0):
            largest = max(largest, -A_[at_multiplier[i]] * unit[i] * unit[i])
    for i in range(at_multiplier.shape[0]):
        if not (i < compliance.shape[0] and compliance[i] > 0.0):
            A_[at_multiplier[i]] = -largest / (unit[i] * unit[i])


def _solve(M: Array, J: Array, Q: Array, second: Array, unit: Array, column: Array) -> tuple[Array, Array]:
    """Return v̇ = v_p + N z with J v_p = second, Nᵀ M v̇ = Nᵀ Q, and the least λ with Jᵀ λ = M v̇ - Q."""
    Js = J * column
    U, sigma, Vt = np.linalg.svd(Js)
    rank = int((sigma > _RANK * sigma[0]).sum()) if sigma.size and sigma[0] > 0.0 else 0
    particular = column * (Vt[:rank].T @ ((U[:, :rank].T @ second) / sigma[:rank]))
    N = column[:, None] * Vt[rank:].T
    if N.shape[1]:
        z = np.linalg.lstsq(N.T @ M @ N, N.T @ (Q - M @ particular), rcond=1e-13)[0]
        acceleration = particular + N @ z
    else:
        acceleration = particular
    force = column * (M @ acceleration - Q)
    scaled = np.linalg.lstsq((Js * unit[:, None]).T, force, rcond=_RANK)[0]
    return acceleration, unit * scaled


class InstantEquations(NamedTuple):
    """Equations at N states.

    M (N, n, n) with the inertia along measures, joint and prescribed rows J (N, rows, n), forces Q (N, n), second rates
    of the rows at v̇ = 0 (N, rows)
    """

    M: Array
    J: Array
    Q: Array
    second: Array


def instant_equations(problem: Absolute, X: Array, V: Array, w: Array, u: Array) -> InstantEquations:
    """Compute the equations at each of N states of a rigid mechanism, as in `instant`."""
    assert not problem.elastic
    count, n = len(V), V.shape[1] * V.shape[2]
    rows = problem.rest.numbering.constraints + len(problem.system.driven)
    M, J = np.zeros((count, n, n)), np.zeros((count, rows, n))
    found = InstantEquations(M, J, np.zeros((count, n)), np.zeros((count, rows)))
    compile_kernel(dense_batch, count=count)(problem.system, problem.pattern, X, V, w, u, found)
    return found


@kernel(purpose="accelerations and reactions")
def dense_batch(system, pattern, X_all, V_all, w_all, u_all, found):
    """Compute the equations at every state."""
    rows, nb, d = system.rows, V_all.shape[1], V_all.shape[2]
    joints = row_sizes(rows).joint_rows
    work = step_work(system, pattern)
    rest, aims = np.zeros((nb, d)), np.zeros(system.driven.shape[0])
    along = np.zeros(nb * d)
    for n in range(X_all.shape[0]):
        X, V, M, J = X_all[n], V_all[n], found.M[n], found.J[n]
        rows_at(system, X, w_all[n], aims, work)
        body_forces(system, X, V, work)
        measure_forces(system, X, V, rest, w_all[n], u_all[n], work)
        for b in range(nb):
            for c in range(d):
                found.Q[n, b * d + c] = work.forces[b, c]
                for e in range(d):
                    k, m = rows.column[c], rows.column[e]
                    if k < 3 and c == e:
                        M[b * d + c, b * d + c] += system.mass[b]
                    elif k >= 3 and m >= 3:
                        M[b * d + c, b * d + e] += system.inertia[b, k - 3, m - 3]
        for measure in range(work.inertia.shape[0]):
            if work.inertia[measure] != 0.0:
                along[:] = 0.0
                add_gradient(rows.rows_i, joints + measure, work.gradients, along)
                for p in range(nb * d):
                    for q in range(nb * d):
                        M[p, q] += work.inertia[measure] * along[p] * along[q]
        for i in range(J.shape[0]):
            row = row_of(joints, system.driven, i)
            add_gradient(rows.rows_i, row, work.gradients, J[i])
            found.second[n, i] = bias(rows, row, X, V, work)


# The balance of forces on every body along a known motion: what joints and actuators together must provide.
#
#     Φ_qᵀ λ + Σ_a ∇ℓ_a u_a = M v̇ - Q                                     [Silva, eq. 16, with the sign of λ turned]
#
# The equations are in the velocities of the centres of mass (world axes) and the angular velocities (body axes) of all
# bodies. Q holds gravity, applied forces, springs, dampers and gyroscopic moments, but no actuators.


RANK = 1e-10  # what the smallest diagonal entry of a triangular factor may be, against the largest


class Balance(NamedTuple):
    """Equations of all bodies at N instants.

    X         : (N, bodies + 1, 12) poses at the centres of mass
    joints    : (N, m, n) rows Φ_q of the joints
    actuators : (N, a, n) gradients ∇ℓ of all actuators
    frictions : (N, f, n) gradients of the joint coordinates with dry friction
    required  : (N, n) M v̇ - Q without dry friction
    """

    X: Array
    joints: Array
    actuators: Array
    frictions: Array
    required: Array


def balance(problem: Absolute, moving: BodyRates) -> Balance:
    """Compute the equations along a batch of configurations with their velocities and accelerations."""
    system, numbering = problem.system, problem.rest.numbering
    X, V, acceleration = centre_motion(problem, moving)
    count, n = len(X), numbering.columns
    quiet = system.uses_f.copy()
    quiet[system.uses_i[:, ROLE] == DRY, DRY_FORCE] = 0.0  # its sign is the caller's to decide
    u = np.zeros((count, len(numbering.mechanism.actuators)))
    w = np.ascontiguousarray(moving.configuration.w)
    M, joints, Q, _ = instant_equations(problem._replace(system=system._replace(uses_f=quiet)), X, V, w, u)
    keys = [key_of(numbering.mechanism, actuator) for actuator in numbering.mechanism.actuators.values()]
    actuators = gradients(problem, X, [numbering.measures[key] for key in keys])
    frictions = gradients(problem, X, friction_rows(problem))
    required = np.einsum("nij,nj->ni", M, acceleration.reshape(count, n)) - Q
    return Balance(X, joints, actuators, frictions, required)


def least_multipliers(problem: Absolute, joints: Array, forces: Array, *, scaled: bool = True) -> Array:
    """Return the least λ with Φ_qᵀ λ = forces: joints (N, m, n), forces (N, n, k) -> (N, m, k).

    scaled : divide moments by the mechanism's extent; otherwise N and N m have equal weight.
    Forces that no λ balances are balanced as far as possible.
    """
    extent = problem.rest.numbering.arrays.extent
    rows = joints.shape[1]
    unit = extent / problem.system.rows.rows_f[:rows, SCALE] if scaled else np.ones(rows)
    # Equations of forces are multiplied by the extent, so that the rank does not depend on the unit of length.
    column = np.where(problem.system.rows.column < 3, extent, 1.0)
    column = np.tile(column, joints.shape[2] // len(column))
    if rows == 0:
        return np.zeros((len(joints), 0, forces.shape[2]))
    found = np.empty((len(joints), rows, forces.shape[2]))
    for n, (matrix, right) in enumerate(zip(joints * unit[:, None] * column, column[:, None] * forces, strict=True)):
        # A complete orthogonal factorisation reveals the rank at a fraction of the cost of singular values.
        found[n] = lstsq(matrix.T, right, cond=RANK, lapack_driver="gelsy", check_finite=False)[0]
    return unit[:, None] * found


def centre_motion(problem: Absolute, moving: BodyRates) -> tuple[Array, Array, Array]:
    """Return poses (N, F + 1, 12), velocities and accelerations (N, F, d) of the frames of undeformed bodies."""
    frames, column = problem.frames, problem.system.rows.column
    X = frames.poses(moving.configuration.X)
    c = frames.place[:-1]
    R = X[..., :-1, 3:].reshape(*X.shape[:-2], frames.count, 3, 3)
    v, w = (moving.V[..., frames.body, part] for part in (slice(0, 3), slice(3, 6)))
    dv, dw = (moving.dV[..., frames.body, part] for part in (slice(0, 3), slice(3, 6)))
    velocity = v + np.cross(w, c)
    acceleration = dv + np.cross(w, velocity) + np.cross(dw, c)

    def pack(linear: Array, angular: Array) -> Array:
        world = np.einsum("nbij,nbj->nbi", R, linear)
        return np.ascontiguousarray(np.concatenate([world, angular], axis=-1)[..., column])

    return X, pack(velocity, w), pack(acceleration, dw)


def gradients(problem: Absolute, X: Array, rows: list[int]) -> Array:
    """Return gradients of measures, by their rows, with respect to the velocities of all bodies: (N, rows, n)."""
    found = np.zeros((len(X), len(rows), problem.frames.count * len(problem.system.rows.column)))
    if rows:
        chosen = np.array(rows, dtype=np.int64)
        compile_kernel(gradient_batch, count=len(X))(problem.system.rows, chosen, X, found)
    return found


def friction_rows(problem: Absolute) -> list[int]:
    """Return the rows of the measures with dry friction, in the order of `Carried.dry_forces`."""
    return [problem.rest.numbering.constraints + measure for measure in dry_measures(problem.system)]


@kernel
def gradient_batch(rows, chosen, X_all, out):
    """Compute ∇ℓ (N, rows, n) at every position."""
    sizes = row_sizes(rows)
    w = np.zeros(sizes.rows - sizes.joint_rows)  # gradients know nothing of turns
    g, J = np.empty(13), np.empty((rows.rows_i.shape[0], 2, sizes.width))
    for n in range(X_all.shape[0]):
        for i in range(chosen.shape[0]):
            row_gradients(rows.rows_i, rows.rows_f, rows.column, chosen[i], X_all[n], w, g, J)
            add_gradient(rows.rows_i, chosen[i], J, out[n, i])
