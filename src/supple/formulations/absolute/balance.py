"""The balance of forces on every body along a known motion: what joints and actuators together must provide.

    Φ_qᵀ λ + Σ_a ∇ℓ_a u_a = M v̇ - Q                                      [Silva, eq. 16, with the sign of λ turned]

in the velocities of the centres of mass (world axes) and the angular velocities (body axes) of all bodies; Q holds
gravity, applied forces, springs, dampers and gyroscopic moments, but no actuators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq

from supple.array_types import Array
from supple.compilation import compiled, kernel
from supple.formulations.absolute.instant import instant_equations
from supple.formulations.absolute.residual import add_gradient, row_gradients
from supple.formulations.absolute.system import Absolute
from supple.formulations.coefficients import DRY, DRY_FORCE, ROLE, dry_measures
from supple.kinematics.measures import key_of
from supple.kinematics.motion import BodyRates
from supple.kinematics.primitives import SCALE
from supple.kinematics.row_arrays import row_sizes

RANK = 1e-10  # what the smallest diagonal entry of a triangular factor may be, against the largest


class Balance(NamedTuple):
    """Equations of all bodies at N instants.

    X         : (N, bodies + 1, 12) poses at the centres of mass
    joints    : (N, m, n) rows Φ_q of the joints
    actuators : (N, a, n) gradients ∇ℓ of all actuators
    frictions : (N, f, n) gradients of the joint coordinates with dry friction
    required  : (N, n) M v̇ - Q, dry friction left out
    """

    X: Array
    joints: Array
    actuators: Array
    frictions: Array
    required: Array


def balance(problem: Absolute, moving: BodyRates) -> Balance:
    """The equations along a batch of configurations with their velocities and accelerations."""
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
    """The least λ with Φ_qᵀ λ = forces: joints (N, m, n), forces (N, n, k) -> (N, m, k).

    scaled : moments count divided by the mechanism's extent; otherwise newtons and newton-metres count alike.
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
    """Poses, velocities and accelerations of the frames of undeformed bodies: (N, F + 1, 12), (N, F, d) twice."""
    frames, column = problem.frames, problem.system.rows.column
    X = frames.poses(moving.configuration.X)
    c = frames.place[:-1]
    R = X[..., :-1, 3:].reshape(*X.shape[:-2], frames.count, 3, 3)
    v, w = (moving.V[..., frames.body, part] for part in (slice(0, 3), slice(3, 6)))
    dv, dw = (moving.dV[..., frames.body, part] for part in (slice(0, 3), slice(3, 6)))
    velocity = v + np.cross(w, c)
    acceleration = dv + np.cross(w, velocity) + np.cross(dw, c)

    def packed(linear: Array, angular: Array) -> Array:
        world = np.einsum("nbij,nbj->nbi", R, linear)
        return np.ascontiguousarray(np.concatenate([world, angular], axis=-1)[..., column])

    return X, packed(velocity, w), packed(acceleration, dw)


def gradients(problem: Absolute, X: Array, rows: list[int]) -> Array:
    """Gradients of measures, by their rows, with respect to the velocities of all bodies: (N, rows, n)."""
    found = np.zeros((len(X), len(rows), problem.frames.count * len(problem.system.rows.column)))
    if rows:
        chosen = np.array(rows, dtype=np.int64)
        compiled(gradient_batch, count=len(X))(problem.system.rows, chosen, X, found)
    return found


def friction_rows(problem: Absolute) -> list[int]:
    """The rows of the measures with dry friction, in the order of `Carried.dry_forces`."""
    return [problem.rest.numbering.constraints + measure for measure in dry_measures(problem.system)]


@kernel
def gradient_batch(rows, chosen, X_all, out):
    """∇ℓ (N, rows, n) at every position."""
    sizes = row_sizes(rows)
    w = np.zeros(sizes.rows - sizes.joint_rows)  # gradients know nothing of turns
    g, J = np.empty(13), np.empty((rows.rows_i.shape[0], 2, sizes.width))
    for n in range(X_all.shape[0]):
        for i in range(chosen.shape[0]):
            row_gradients(rows.rows_i, rows.rows_f, rows.column, chosen[i], X_all[n], w, g, J)
            add_gradient(rows.rows_i, chosen[i], J, out[n, i])
