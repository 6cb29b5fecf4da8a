"""Coordinates z of bodies with unit mass and diagonal stiffness (docs/theory/elastic-rest.md, eqs. 1-2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formulations.absolute.superelements.superelement_arrays import FloatingBody, modal_body
from supple.formulations.elastic.body_matrices import ElasticBody, required_node
from supple.formulations.elastic.condensation import CondensedBody, condense
from supple.formulations.elastic.elastic_body import mesh_of, natural_frequency
from supple.geometry.rotation import tilde
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import rest

# A superelement by its modes among the bodies of vibrations: its rigid motions and modes as condensed coordinates.
#
#     Φ = (T, S):   ΦᵀMΦ, ΦᵀMW_kΦ and ΦᵀW_jᵀMW_kΦ from the integrals of its file  (docs/theory/elastic-bodies.md, 7)
#
# About the centre of mass, with P = ∫ρ XXᵀ from the inertia and D = ∫ρ X Sᵀ from the parts of J and H that are linear
# in q.


_AXES = np.eye(3)
_PAIRS = [(j, k) for j in range(3) for k in range(3) if j <= k]


def modal_mesh(body: FloatingBody) -> ElasticBody:
    """Return the connected nodes with lumped masses, for the description of modes; motions are those of Φ."""
    count = len(body.nodes)
    share = np.concatenate([np.full(3, body.mass), np.full(3, np.trace(body.inertia) / 3.0)]) / count
    none = sp.csr_array((6 * count, 6 * count))
    return ElasticBody(
        name=body.name,
        nodes=body.nodes,
        K=none,
        M=sp.csr_array(sp.diags_array(np.tile(share, count))),
        turning=(none,) * 3,
        width=6,
        node=np.repeat(np.arange(count), 6),
        component=np.tile(np.arange(6), count),
        interface=tuple(range(count)),
        places={(key[0], key[1], key[2]): node for key, node in body.carriers.items()},
    )


def lowest_hz(body: FloatingBody) -> float:
    """Return the lowest frequency of its modes in their own frame, Hz."""
    squares = np.linalg.eigvals(np.linalg.solve(body.M, body.K)).real
    moving = squares[squares > 1e-13 * squares.max(initial=0.0)]
    return float(np.sqrt(moving.min())) / (2.0 * np.pi) if len(moving) else 0.0


def modal_condensed(body: FloatingBody) -> CondensedBody:
    """Return the body in coordinates (ξ, q): a twist at the centre of mass, and the modes."""
    n, count = body.size, len(body.nodes)
    T = np.zeros((count, 6, 6))
    T[:] = np.eye(6)
    T[:, :3, 3:] = -np.array([tilde(place) for place in body.nodes - body.center])
    basis = np.concatenate([T, body.shapes], axis=2).reshape(6 * count, 6 + n)
    rigid = np.zeros((6, 6))
    rigid[:3, :3], rigid[3:, 3:] = body.mass * np.eye(3), body.inertia
    coupling = np.vstack([body.momentum, body.spin])
    K = np.zeros((6 + n, 6 + n))
    K[6:, 6:] = body.K
    M = np.block([[rigid, coupling], [coupling.T, body.M]])
    to_centre = np.eye(6)
    to_centre[:3, 3:] = -tilde(body.center)
    turning, turned = _compute_turning(body)
    motions = np.vstack([to_centre, np.zeros((n, 6))])
    return CondensedBody(
        name=body.name,
        K=K,
        M=M,
        basis=basis,
        interface=tuple(range(count)),
        nodes=body.nodes,
        width=6,
        band=np.inf,
        error=0.0,
        internal_hz=np.zeros(0),
        rigid_motions=motions,
        lumped=M[:3],
        rigid_mass=to_centre.T @ rigid @ to_centre,
        rigid_coupling=to_centre.T @ M[:6],
        turning_rigid=np.array([to_centre.T @ matrix[:6] for matrix in turning]),
        turning=turning,
        turned=turned,
        by_nodes=False,
    )


def _compute_turning(body: FloatingBody) -> tuple[Array, Array]:
    """Return ΦᵀMW_kΦ (3, nc, nc), and ΦᵀW_jᵀMW_kΦ (6, nc, nc) for j <= k."""
    m, C, n = body.mass, body.momentum, body.size
    P = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    D = _products(body)
    trace = np.einsum("iia->a", D)
    wide = np.einsum("jk,a->jka", np.eye(3), trace) - np.einsum("kja->jka", D)  # ∫ρ (e_j × X)·(e_k × S)
    spins = [tilde(e) for e in _AXES]
    # e_j × (e_a × X) = L_ja X
    L = [[np.outer(_AXES[a], _AXES[j]) - (j == a) * np.eye(3) for a in range(3)] for j in range(3)]
    turning, turned = np.zeros((3, 6 + n, 6 + n)), np.zeros((6, 6 + n, 6 + n))
    for k, G in enumerate(turning):
        G[:3, :3] = m * spins[k]
        G[3:6, 3:6] = [[_AXES[k] @ P @ np.cross(_AXES[j], _AXES[i]) for j in range(3)] for i in range(3)]
        G[:3, 6:], G[6:, :3] = spins[k] @ C, C.T @ spins[k]
        G[3:6, 6:], G[6:, 3:6] = wide[:, k], -wide[:, k].T
        G[6:, 6:] = body.turning[k]
    for (j, k), G in zip(_PAIRS, turned, strict=True):
        G[:3, :3] = m * spins[j].T @ spins[k]
        G[3:6, 3:6] = [[np.sum((L[j][a].T @ L[k][b]) * P) for b in range(3)] for a in range(3)]
        G[:3, 6:] = spins[j].T @ spins[k] @ C
        G[6:, :3] = (spins[k].T @ spins[j] @ C).T
        G[3:6, 6:] = [np.einsum("mn,mna->a", L[j][a].T @ spins[k], D) for a in range(3)]
        G[6:, 3:6] = np.transpose([np.einsum("mn,mna->a", L[k][b].T @ spins[j], D) for b in range(3)])
        G[6:, 6:] = body.turned[j, k]
    return turning, turned


def _products(body: FloatingBody) -> Array:
    """Return D (3, 3, n), ∫ρ X_i S_j: its symmetric part from the change of J, the other part from H₀."""
    found = np.zeros((3, 3, body.size))
    trace = np.einsum("jja->a", body.widening) / 4.0
    for i in range(3):
        found[i, i] = trace - 0.5 * body.widening[i, i]
        j, k = (i + 1) % 3, (i + 2) % 3
        both, difference = -body.widening[j, k], body.spin[i]
        found[j, k], found[k, j] = 0.5 * (both + difference), 0.5 * (both - difference)
    return found


# Bodies in z, rigid or elastic.


@dataclass(frozen=True, eq=False)
class BodyCoordinates:
    """Coordinates z of one body, `start` to `stop` of those of the mechanism.

    stiffness : (size,) its part of Λ
    shapes    : (degrees, size) displacements of all nodes (a rigid body has one, at its origin), in body axes
    rigid     : (size, d) z of the body's rigid motions, of unit velocity and rotation about its origin
    to_condensed : (condensed, size) its condensed coordinates for each of z
    deflections : number of deflections of drives, the last of z
    """

    name: str
    start: int
    stiffness: Array = field(repr=False)
    shapes: Array = field(repr=False)
    rigid: Array = field(repr=False)
    to_condensed: Array = field(repr=False)
    mesh: ElasticBody | None = None
    condensed: CondensedBody | None = field(default=None, repr=False)
    deflections: int = 0

    @property
    def size(self) -> int:
        return len(self.stiffness)

    @property
    def stop(self) -> int:
        return self.start + self.size

    def of_node(self, node: int) -> Array:
        """Return the displacement of one node, (d, size)."""
        return self.shapes if self.mesh is None else self.shapes[self.mesh.columns(node)]

    def node_at(self, place: Array) -> tuple[int, Array]:
        """Return the node of a position, and the node's position: for a rigid body its origin."""
        if self.mesh is None:
            return 0, np.zeros(3)
        node = required_node(self.mesh, place)
        return node, self.mesh.nodes[node]


def own_band(mechanism: Mechanism) -> float:
    """Return the lowest natural frequency of any elastic body, Hz; 1 if none is elastic.

    With bands in this unit, results do not depend on the units of the file, nor on size, mass or speed of the
    mechanism.
    """

    def lowest() -> float:
        names = [name for name in rest(mechanism).numbering.bodies if mechanism.bodies[name].elastic]
        found = [_own_hz(rest(mechanism).numbering, name) for name in names]
        return min((hertz for hertz in found if hertz > 0.0), default=1.0)

    return mechanism.compute_once("own band", lowest)


def _own_hz(numbering: Numbering, name: str) -> float:
    modal = modal_body(numbering.drawing, name)
    return natural_frequency(mesh_of(numbering, name)) if modal is None else lowest_hz(modal)


def rigid_coordinates(name: str, inertia: Array, floor: Array, start: int) -> BodyCoordinates:
    """Return z = Lᵀ q with M = L Lᵀ; floor (d,): least mass and inertia of the body."""
    d = len(inertia)
    scale = np.sqrt(floor)
    values, directions = np.linalg.eigh(inertia / np.outer(scale, scale))
    if values[0] < 1.0:  # along directions without mass alone
        inertia = (directions * np.maximum(values, 1.0)) @ directions.T * np.outer(scale, scale)
    L = np.linalg.cholesky(inertia)
    shapes = np.asarray(np.linalg.inv(L).T, dtype=np.float64)
    return BodyCoordinates(name, start, np.zeros(d), shapes, np.array(L.T, dtype=np.float64), shapes)


def elastic_coordinates(numbering: Numbering, name: str, band: float, start: int) -> BodyCoordinates:
    """Return the free modes of the condensed body: first its exact rigid motions, then its vibration modes.

    Coordinates are scaled to unit mass, since metres, radians and internal coordinates cannot be compared, and rounding
    would otherwise depend on the body's size.
    """
    modal = modal_body(numbering.drawing, name)
    mesh = mesh_of(numbering, name) if modal is None else modal_mesh(modal)
    condensed = condense(mesh, 2.0 * pi * band) if modal is None else modal_condensed(modal)
    masses = np.diag(condensed.M)
    unit = 1.0 / np.sqrt(np.where(masses > 0.0, masses, 1.0))
    M, K = (unit[:, None] * matrix * unit for matrix in (condensed.M, condensed.K))
    motions = condensed.rigid_motions / unit[:, None]
    # Rigid motions apart from the rest, so that their stiffness is zero and not rounding.
    inertia = motions.T @ M @ motions
    try:
        L = np.linalg.cholesky(inertia)
        still = np.linalg.solve(L, motions.T).T  # (nc, d), of unit mass
        complement = np.linalg.svd((M @ still).T)[2][len(L) :].T  # motions without momentum
        squares, vectors = eigh(complement.T @ K @ complement, complement.T @ M @ complement)
    except np.linalg.LinAlgError as error:
        raise InputError(
            "the mass matrix is singular: some motions of the body or its interfaces have no kinetic energy",
            part=part_name(("bodies", name)), path=("bodies", name),
            hint="add rotary inertia to the interface nodes (lumped masses have none), or mass to more nodes",
        ) from error  # fmt: skip
    modes = unit[:, None] * np.column_stack([still, complement @ vectors])
    return BodyCoordinates(
        name,
        start,
        np.concatenate([np.zeros(len(L)), squares]),
        condensed.basis @ modes,
        np.vstack([L.T, np.zeros((len(squares), len(L)))]),
        modes,
        mesh,
        condensed,
    )
