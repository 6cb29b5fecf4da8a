"""Bodies in coordinates z of unit mass and diagonal stiffness (docs/theory/elastic-rest.md, eqs. 1-2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi

import numpy as np
from scipy.linalg import eigh

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.parts import part_name
from supple.formulations.absolute.superelements.floating_modes import modal_body
from supple.formulations.elastic.body_matrices import ElasticBody, required_node
from supple.formulations.elastic.condensation import CondensedBody, condense
from supple.formulations.elastic.elastic_body import mesh_of
from supple.formulations.elastic.natural_frequency import natural_frequency
from supple.formulations.elastic_rest.modal_body import lowest_hz, modal_condensed, modal_mesh
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import rest


@dataclass(frozen=True, eq=False)
class BodyCoordinates:
    """One body in z: its coordinates are `start` to `stop` of the mechanism's.

    stiffness : (size,) its part of Λ
    shapes    : (degrees, size) displacements of all nodes (a rigid body has one, at its origin), in body axes
    rigid     : (size, d) z of the body's rigid motions, of unit velocity and turn about its origin
    to_condensed : (condensed, size) its condensed coordinates for each of z
    deflections : how many of z, the last ones, are deflections of drives
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
        """Displacement of one node, (d, size)."""
        return self.shapes if self.mesh is None else self.shapes[self.mesh.columns(node)]

    def node_at(self, place: Array) -> tuple[int, Array]:
        """The node that a place belongs to, and where that is: a rigid body's only one is its origin."""
        if self.mesh is None:
            return 0, np.zeros(3)
        node = required_node(self.mesh, place)
        return node, self.mesh.nodes[node]


def own_band(mechanism: Mechanism) -> float:
    """Hz: the lowest natural frequency that one of the elastic bodies has by its own; 1 where none is elastic.

    What is computed in bands of this unit does not depend on the units of the file, nor on how large, heavy or fast the
    mechanism is.
    """

    def lowest() -> float:
        names = [name for name in rest(mechanism).numbering.bodies if mechanism.bodies[name].elastic]
        found = [_own_hz(rest(mechanism).numbering, name) for name in names]
        return min((hertz for hertz in found if hertz > 0.0), default=1.0)

    return mechanism.remembered("own band", lowest)


def _own_hz(numbering: Numbering, name: str) -> float:
    modal = modal_body(numbering.drawing, name)
    return natural_frequency(mesh_of(numbering, name)) if modal is None else lowest_hz(modal)


def rigid_coordinates(name: str, inertia: Array, floor: Array, start: int) -> BodyCoordinates:
    """z = Lᵀ q with M = L Lᵀ; floor (d,): the least mass and inertia it is given."""
    d = len(inertia)
    scale = np.sqrt(floor)
    values, directions = np.linalg.eigh(inertia / np.outer(scale, scale))
    if values[0] < 1.0:  # along directions without mass alone
        inertia = (directions * np.maximum(values, 1.0)) @ directions.T * np.outer(scale, scale)
    L = np.linalg.cholesky(inertia)
    shapes = np.asarray(np.linalg.inv(L).T, dtype=np.float64)
    return BodyCoordinates(name, start, np.zeros(d), shapes, np.array(L.T, dtype=np.float64), shapes)


def elastic_coordinates(numbering: Numbering, name: str, band: float, start: int) -> BodyCoordinates:
    """Free modes of the condensed body: its rigid motions first, exactly, then its vibrations.

    Coordinates are counted in units in which each has unit mass: metres, radians and internal coordinates are not to be
    compared, and what is left of them after rounding would depend on the body's size.
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
            "its mass matrix is singular: it leaves motions of the body and its interfaces without kinetic energy",
            part=part_name(("bodies", name)), path=("bodies", name),
            hint="give the nodes of its interfaces rotary inertia (lumped masses have none), or more nodes a mass",
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
