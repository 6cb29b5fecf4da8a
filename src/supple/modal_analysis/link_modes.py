"""Modes of the equivalent rigid link system, told as those of every other formulation (rigid-link-system, 22-24).

Nothing is condensed. Shapes are turned into the coordinates z of the uncondensed elastic mechanism, so that words,
energies, pictures and the modal assurance criterion are the same.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.formulations.elastic_rest.preload import rest_force_stiffness
from supple.formulations.rigid_link_system.link_terms import rotation_matrix
from supple.formulations.rigid_link_system.small_link_motions import (
    LinkMotions,
    link_free_motions,
    link_modes,
    locked_motions,
)
from supple.kinematics.configuration import Configuration
from supple.modal_analysis.mode_set import ModeSet

UNCONDENSED = 1e12  # Hz: wider than any band


def link_mode_set(
    mechanism: Mechanism, configuration: Configuration, count: int, *, free_actuators: bool, preload: bool
) -> ModeSet:
    """The lowest modes at one configuration or many."""
    rest = elastic_rest(mechanism, UNCONDENSED)
    found = [_modes(rest, one, count, free_actuators, preload) for one in configuration.each()]
    kept = min(len(hertz) for hertz, _ in found)
    frequencies, Z = np.array([hertz[:kept] for hertz, _ in found]), np.array([shapes[:kept] for _, shapes in found])
    if configuration.X.ndim == 2:
        frequencies, Z = frequencies[0], Z[0]
    return ModeSet(configuration, frequencies, Z, rest, rest.held(actuators=not free_actuators))


def _modes(rest: ElasticRest, one: Configuration, count: int, free: bool, preload: bool) -> tuple[Array, Array]:
    motions = link_free_motions(one, preload=preload) if free else locked_motions(one)
    T = over_z(rest, motions)
    if preload:
        motions = motions._replace(K=motions.K + rest_load_stiffness(rest, one, motions, T))
    squares, modes = link_modes(motions, count)
    hertz = np.copysign(np.sqrt(np.abs(squares)) / (2.0 * np.pi), squares)
    return hertz, np.ascontiguousarray((T @ modes).T)


def rest_load_stiffness(
    rest: ElasticRest, one: Configuration, motions: LinkMotions, T: Array, inputs: Array | None = None
) -> Array:
    """(n_i, n_i) what loads at rest add between the u_i: TᵀK_g T, with T (n, n_i) of `over_z`. (rigid-link-system, 24a)

    The equations of the links are linear in u, so that they have none of it; what loads add between θ and θ, and
    between θ and u, they have. inputs : (actuators,) that act; those that hold it if left out
    """
    first = motions.K.shape[0] - motions.held.N.shape[1]
    found = np.zeros_like(motions.K)
    own, K_g = T[:, first:], rest_force_stiffness(rest, one, inputs, holding=inputs is None)
    found[first:, first:] = own.T @ (0.5 * (K_g + K_g.T)) @ own
    return found


def over_z(rest: ElasticRest, motions: LinkMotions) -> Array:
    """z (n, n_i) of the uncondensed mechanism for each of w_i: z = SᵀM û + (rigid motions) q                       (24)

    Deflections of drives are what is left between the coordinate and what the nodes say of it.
    """
    system, state = motions.point.system, motions.point.state
    twists = np.concatenate([state.twists.v, state.twists.w], axis=1) @ motions.over_q  # (nb, 6, n_i)
    hat = np.asarray(rotation_matrix(state).T @ motions.over_u)
    Z = np.zeros((rest.size, hat.shape[1]))
    column = rest.arrays.column
    for b, body in enumerate(rest.bodies):
        first, mesh = 6 * int(system.first_node[b]), system.meshes[b]
        here, twist = slice(body.start, body.stop), twists[b][column]
        if mesh is None:
            Z[here] = body.rigid @ (hat[first + column] + twist)
        else:
            own = hat[first + 6 * mesh.node + mesh.component]
            Z[here] = body.shapes.T @ (mesh.M @ own) + body.rigid @ twist
    first = rest.numbering.constraints
    for drive in rest.drives.values():
        row = rest.numbering.measures["joint", drive.joint, drive.coordinate]
        g = rows_over_coordinates(rest, np.array([row]), state.X[None])[0, 0]
        Z[drive.column] = 0.0
        wanted = np.zeros(Z.shape[1])
        if motions.theta:
            wanted[row - first] = 1.0
        Z[drive.column] = (wanted - g @ Z) / g[drive.column]
    return Z
