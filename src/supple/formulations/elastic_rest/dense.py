"""Dense matrices of the mechanism at one configuration without constraints, for cases that the fast method excludes.

These are motor inertia on coordinates, the stiffness of forces at rest, and all modes at once. The dense method also
verifies the fast one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, null_space, pinvh, solve_triangular

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.compilation.threads import single_blas_thread
from supple.description.joints.joint_kind import directions
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import along_measure, get_coefficients
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import MASSLESS, ElasticRest, HeldRows
from supple.formulations.elastic_rest.energy_modes import diagonalise
from supple.formulations.elastic_rest.preload import preload_stiffness
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed

_DEPENDENT = 1e-13  # of rows of unit length: what depends on the others
_REFINED = 3
_UNSEEN = 1e-9  # of a row's entry where it sees a deflection; less is rounding


class DenseSystem(NamedTuple):
    """M, K (n, n) over z, springs and elastic joints in K, and N (n, free): motions that satisfy the constraints."""

    M: Array
    K: Array
    N: Array


@single_blas_thread()
def dense_system(rest: ElasticRest, configuration: Configuration, held: HeldRows, *, preload: bool) -> DenseSystem:
    """Return the dense system at one configuration (not a batch)."""
    X = configuration.X[None]
    K = elastic_stiffness(rest, configuration, held)
    motors = collect_by_row(rest, "inertia")
    J = rows_over_coordinates(rest, np.array(list(motors), dtype=np.int64), X)[0]
    M = np.eye(rest.size) + J.T @ (np.array(list(motors.values()))[:, None] * J)
    if preload:
        K = K + preload_stiffness(rest, configuration)
    hard = rows_over_coordinates(rest, held.rows[held.compliance == 0.0], X)[0]
    return DenseSystem(M, K, constrained_columns(_admissible(rest, hard), hard, rest.arrays.stiffness))


def _admissible(rest: ElasticRest, hard: Array) -> Array:
    """Return N: all motions that satisfy the rows.

    Deflections of drives with free motors are kept separate, since their large ratio of stiffness to mass would swamp
    that of other motions in a mixture.
    """
    if not len(hard):
        return np.eye(rest.size)
    apart = find_free_motors(rest, hard)
    within = np.setdiff1d(np.arange(rest.size), apart)
    held = null_space(hard[:, within] / np.linalg.norm(hard, axis=1, keepdims=True))
    N = np.zeros((rest.size, held.shape[1] + len(apart)))
    N[within, : held.shape[1]] = held
    N[apart, np.arange(held.shape[1], N.shape[1])] = 1.0
    return N


def constrained_columns(N: Array, hard: Array, stiffness: Array) -> Array:
    """Return N (n, p) with the displacements of its columns along ideal rows removed, along the compliance of bodies.

    A null space satisfies rows to the rounding of their largest entry. The entry of a stiff drive is 1e5 times that of
    a body, which would be 1e-10 of a frequency along the stiffness of others.
    """
    if not len(hard):
        return N
    D = (
        1.0 / (stiffness + 0.01 * stiffness[stiffness > 0.0].min(initial=np.inf))
        if stiffness.any()
        else np.ones(len(N))
    )
    rows = hard / np.sqrt(np.square(hard) @ D)[:, None]
    back = D[:, None] * rows.T @ pinvh((rows * D) @ rows.T, rtol=_DEPENDENT)
    for _ in range(_REFINED):
        N = N - back @ (rows @ N)
    return N


def find_free_motors(rest: ElasticRest, rows: Array) -> NDArray[np.int64]:
    """Return the deflections of drives that some rows (m, n) do not contain: those of free motors."""
    columns = np.array([drive.column for drive in rest.drives.values()], dtype=np.int64)
    units = np.array([np.abs(drive.motion(drive.place)).max() for drive in rest.drives.values()])
    return columns[np.abs(rows[:, columns]).max(axis=0, initial=0.0) <= _UNSEEN * units]


def elastic_stiffness(rest: ElasticRest, configuration: Configuration, held: HeldRows) -> Array:
    """Return Λ + Σ C_iᵀC_i / c_i over the compliant rows, (n, n) over z."""
    soft = held.compliance > 0.0
    C = rows_over_coordinates(rest, held.rows[soft], configuration.X[None])[0]
    return np.diag(rest.arrays.stiffness) + C.T @ (C / held.compliance[soft, None])


@single_blas_thread()
def dense_modes(
    rest: ElasticRest, configuration: Configuration, held: HeldRows, *, preload: bool
) -> tuple[Array, Array]:
    """Return all ω² (k,) ascending and modes (k, n) of unit modal mass at one configuration."""
    M, K, N = dense_system(rest, configuration, held, preload=preload)
    _, vectors = eigh(N.T @ K @ N, N.T @ M @ N)
    # These err by rounding of the largest ω², which may be much more than the lowest: see their energies once more,
    # orthonormal to the last bits, for modes that lie close together are told apart by what is left beside these.
    Z = np.ascontiguousarray((N @ vectors).T)
    for _ in range(2):
        Z = solve_triangular(cholesky(Z @ M @ Z.T, lower=True), Z, lower=True)
    Z = np.ascontiguousarray(Z)
    H = Z @ K @ Z.T
    H = 0.5 * (H + H.T)
    compile_kernel(diagonalise, count=1)(H, Z)
    rising = np.argsort(np.diag(H))
    return np.diag(H)[rising], Z[rising]


def needs_dense(mechanism: Mechanism, *, free_actuators: bool) -> bool:
    """Return whether the fast method does not apply.

    This is so if motor inertia on a free coordinate takes part in the modes, or if a body has no mass, since the fast
    method counts in units of mass.
    """
    key = f"dense modes, free {free_actuators}"
    return mechanism.compute_once(key, lambda: _motors_move(mechanism, free_actuators) or _massless(mechanism))


def _massless(mechanism: Mechanism) -> bool:
    """Return whether a rigid body has no mass and is not welded to one with mass."""
    masses = {name: item.mass for name, item in mass_properties(undeformed(mechanism).numbering.drawing).items()}
    least = MASSLESS * sum(masses.values())
    return any(sum(masses[name] for name in group) <= least for group in welded_groups(mechanism))


def welded_groups(mechanism: Mechanism) -> list[set[str]]:
    """Return groups of bodies that move together: rigid ones with ideal joints that constrain every direction."""
    groups = [{name} for name in mechanism.bodies]
    for joint in mechanism.joints.values():
        ends = [group for group in groups if group & set(joint.bodies)]
        still = len(joint.list_held(mechanism.plane)) == len(directions(mechanism.plane)) and not joint.yields
        if still and len(ends) == 2 and not any(mechanism.bodies[name].elastic for name in joint.bodies):
            groups = [group for group in groups if group not in ends] + [ends[0] | ends[1]]
    return groups


def _motors_move(mechanism: Mechanism, free_actuators: bool) -> bool:
    position = undeformed(mechanism)
    first = position.numbering.constraints
    locked = range(first, first + (0 if free_actuators else len(position.numbering.coordinates)))
    return any(row not in locked for row in _along(mechanism, "inertia"))


def collect_by_row(rest: ElasticRest, what: str) -> dict[int, float]:
    """Return damping or inertia (`what`, a field of `Along`) of the force models along a measure, by its row."""
    return _along(rest.numbering.mechanism, what)


def _along(mechanism: Mechanism, what: str) -> dict[int, float]:
    position = undeformed(mechanism)
    arrays, first = get_coefficients(position).arrays, position.numbering.constraints
    totals = {
        first + measure: getattr(along_measure(arrays, measure), what) for measure in range(len(arrays.uses_start) - 1)
    }
    return {row: total for row, total in totals.items() if total}
