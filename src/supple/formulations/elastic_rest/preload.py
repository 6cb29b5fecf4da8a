"""Stiffness of the forces in the mechanism at rest: gravity, applied forces, springs and all reactions.

There is one geometric stiffness (`load_stiffness`): of the internal forces of every element, of rows with their forces
λ and of forces on arms. This module evaluates it for the loads at θ (docs/theory/elastic-rest.md, eqs. 10-14b).
Follower forces and moments have no potential, so that their stiffness is not symmetric.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleWarning
from supple.diagnostics.errors import user_level
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.formulations.elastic_rest.geometric_stiffness_at_rest import CarriedLoads, load_stiffness
from supple.formulations.elastic_rest.loads import (
    EVERY,
    Loads,
    carries_loads,
    forces_along,
    input_rows,
    load_vectors,
    loads_at,
)
from supple.formulations.elastic_rest.static_response import static_response
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration


class UnheldLoads(InputError):
    """Loads act on a free motion, so that there is no equilibrium at rest."""


def preload_stiffness(rest: ElasticRest, configuration: Configuration, kinds: Collection[str] = EVERY) -> Array:
    """Return the symmetric part of K_g (n, n) at one configuration, with constant actuator forces that hold it at rest.

    kinds : kinds of loads, see `loads_at`; K_g is linear in them
    """
    K = rest_force_stiffness(rest, configuration, kinds=kinds)
    return 0.5 * (K + K.T)


def rest_force_stiffness(
    rest: ElasticRest,
    configuration: Configuration,
    inputs: Array | None = None,
    *,
    holding: bool = True,
    kinds: Collection[str] = EVERY,
) -> Array:
    """Return K_g (n, n) including the part without a potential.

    inputs  : forces of the actuators and then at the loaded `displacements`, default none
    holding : the actuators add the forces that hold θ, of least norm; constant forces along θ balance the rest
    """
    loads = loads_at(rest, configuration, kinds)
    forces = row_forces_at_rest(rest, configuration, loads, inputs, holding=holding)
    carried = CarriedLoads(
        resting_frames(rest, configuration, loads)[None], np.zeros((1, rest.size)), forces[None], loads.nodal
    )
    return load_stiffness(rest, configuration.X, carried, np.eye(rest.size), potential=False)[0]


def resting_frames(rest: ElasticRest, configuration: Configuration, loads: Loads) -> Array:
    """Return accelerations (bodies, d + axes²) of frames with the weight as inertia force: -g in body axes."""
    d = len(rest.arrays.column)
    axes = 1 if d == 3 else 3
    found = np.zeros((len(rest.bodies), d + axes * axes))
    for b in range(len(rest.bodies)):
        found[b, : d - axes] = -(configuration.X[b, 3:].reshape(3, 3).T @ loads.gravity)[: d - axes]
    return found


def row_forces_at_rest(
    rest: ElasticRest, configuration: Configuration, loads: Loads, inputs: Array | None, *, holding: bool
) -> Array:
    """Return λ (rows,) with θ fixed, for which V + Σ λ φ is stationary; springs, drives and inputs act as -force.

    For rows whose stiffness follows a table it is the multiplier of the scaled row.
    """
    forces = forces_at_rest(rest, configuration, loads)
    if not forces.any():  # also where nothing holds it, as a body that floats
        found = np.zeros(len(rest.arrays.rows_i))
        for row, force in loads.along.items():
            found[row] = -force
        return found
    every = _reactions(rest, configuration.X[None], forces[None])[0]
    return forces_of_rows(rest, loads, every, inputs, holding=holding)


def _reactions(rest: ElasticRest, X: Array, forces: Array) -> Array:
    """Return λ (N, p, rows) under forces (N, p, z) at poses X (N, bodies + 1, 12), with θ fixed."""
    try:
        return static_response(rest, X, forces)[1]
    except InputError as error:
        raise UnheldLoads(
            "the loads act on a motion that no joint, coordinate or spring constrains, so there is no equilibrium",
            part=f'mechanism "{rest.numbering.mechanism.name}"',
            hint="constrain it, or omit the stiffness of forces at rest: --no-preload (preload=False)",
        ) from error


def batch_row_forces(rest: ElasticRest, X: Array, w: Array) -> Array:
    """Return λ (N, rows) of `row_forces_at_rest` at poses X (N, bodies + 1, 12) with measures w (N, ...).

    The actuators hold θ.
    """
    along, pushed = forces_along(rest, w), pushed_rows(rest)
    rows = np.flatnonzero(along.any(axis=0))
    forces = np.empty((len(X), 1 + len(pushed), rest.size))
    forces[:, 0] = load_vectors(rest, X)
    if len(rows):
        forces[:, 0] += np.einsum("nr,nrz->nz", along[:, rows], rows_over_coordinates(rest, rows, X))
    if len(pushed):
        forces[:, 1:] = rows_over_coordinates(rest, pushed, X)
    if not forces.any():
        return -along
    every = _reactions(rest, X, forces)
    found = np.empty(along.shape)
    for k, (one, own) in enumerate(zip(every, along, strict=True)):
        loads = Loads(forces[k, 0], np.zeros(3), [], {int(row): float(own[row]) for row in rows})
        found[k] = forces_of_rows(rest, loads, one, None, holding=True)
    return found


def pushed_rows(rest: ElasticRest) -> NDArray[np.int64]:
    """Return the rows of inputs; empty if a force along a locked coordinate is that coordinate's multiplier."""
    pushed, first = input_rows(rest), rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    return pushed[:0] if np.isin(pushed, theta).all() else pushed


def forces_at_rest(rest: ElasticRest, configuration: Configuration, loads: Loads) -> Array:
    """Return (1 + pushed rows, z): the sum of the loads, followed by a unit of each input."""
    return np.vstack([loads.vector, rows_over_coordinates(rest, pushed_rows(rest), configuration.X[None])[0]])


def forces_of_rows(rest: ElasticRest, loads: Loads, every: Array, inputs: Array | None, *, holding: bool) -> Array:
    """Return λ (rows,) from those of `forces_at_rest`, every (1 + pushed rows, rows), with the holding inputs."""
    pushed, first = pushed_rows(rest), rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    u = np.zeros(len(pushed)) if inputs is None or not len(pushed) else inputs.copy()
    if len(pushed) and holding:
        count = len(rest.numbering.mechanism.actuators)
        missing = every[0, theta] + u @ every[1:, theta]
        u[:count] -= np.linalg.lstsq(every[1 : 1 + count, theta].T, missing, rcond=None)[0]
    found = np.asarray(every[0] + u @ every[1:])
    for row, force in [*loads.along.items(), *zip(pushed.tolist(), u.tolist(), strict=True)]:
        found[row] -= force
    return found


def held_loads(mechanism: Mechanism, what: str) -> bool:
    """Return whether there are loads at rest that are in equilibrium with θ locked, so that they have a stiffness.

    A warning reports loads without equilibrium, whose stiffness `what` then omits. The equilibrium does not depend on θ
    and is checked once, at rest.
    """
    if not carries_loads(mechanism):
        return False

    def refusal() -> str:
        rest, configuration = elastic_rest(mechanism, 0.0), assemble(mechanism)
        try:
            row_forces_at_rest(rest, configuration, loads_at(rest, configuration), None, holding=True)
        except UnheldLoads as error:
            return str(error)
        return ""

    found = mechanism.compute_once("loads that nothing holds", refusal)
    if found:
        warnings.warn(f"{what} without the stiffness of loads: {found}", SuppleWarning, stacklevel=user_level())
    return not found
