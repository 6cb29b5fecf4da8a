"""Constants of the equivalent rigid link system of a mechanism, computed once (docs/theory/rigid-link-system.md).

Bodies are rigid links placed by the joint coordinates q of the spanning tree. Every node of an elastic body, and every
rigid body as one node, has a displacement u about them (translation and rotation, in world axes).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array, Integers
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formulations.elastic.body_matrices import CarriedPart, ElasticBody
from supple.formulations.elastic.elastic_body import mesh_of
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.part_rows import PartRows
from supple.formulations.rigid_link_system.node_shapes import (
    MassPoints,
    NodalInertia,
    beam_points,
    nodal_inertia,
    rigid_points,
)
from supple.formulations.rigid_link_system.tree_freedoms import LinkRows, TreeFreedoms, link_rows, tree_freedoms
from supple.geometry.inertia import MassProperties
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import rest


class JointHolding(NamedTuple):
    """Constraints of u: numbers of the ideal rows, and of the compliant rows with stiffness and damping.

    θ is constrained by u at the motor side of every actuated joint, by an ideal row or that of its drive.
    coupling : (soft, s) dependence of a row on the deflections of drives, which are the rows of θ
    parts    : (soft,) joint or coupling of each row
    """

    ideal: Integers
    soft: Integers
    stiffness: Array
    damping: Array
    coupling: Array
    parts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RigidLinkSystem:
    """Constants of a mechanism; `numbering` has its bodies and rows.

    tree       : q
    first_node : (nb,) number of the first node of each body; node_body (N,): body of each node
    meshes     : of elastic bodies, None for rigid ones
    kept       : (n_u,) indices of the existing ones of 6 N displacements: all in space, three per node in the plane
    stiffness  : (6 N, 6 N) K of the bodies in body axes
    gravity    : (3,) in world axes
    """

    numbering: Numbering
    tree: TreeFreedoms
    first_node: Integers
    node_body: Integers
    meshes: tuple[ElasticBody | None, ...]
    kept: Integers
    inertia: NodalInertia = field(repr=False)
    stiffness: sp.csr_array = field(repr=False)
    rows: LinkRows = field(repr=False)
    holding: JointHolding = field(repr=False)
    gravity: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def nodes(self) -> int:
        """Number of nodes N of all bodies."""
        return len(self.node_body)

    @property
    def theta_rows(self) -> range:
        """Rows of the coordinates θ."""
        first = self.numbering.constraints
        return range(first, first + len(self.numbering.coordinates))

    @property
    def loop_rows(self) -> Integers:
        """Rows of joints that close loops, and of couplings."""
        numbering = self.numbering
        cut = [row for name in numbering.topology.cut for row in range(numbering.rows)[numbering.joint_rows[name]]]
        return np.array([*cut, *numbering.coupling_rows.values()], dtype=np.int64)


def rigid_link_system(mechanism: Mechanism) -> RigidLinkSystem:
    """Return the constants, computed once per mechanism; refuse unsupported parts by name."""
    return mechanism.compute_once("rigid link system", lambda: _build(mechanism))


def _build(mechanism: Mechanism) -> RigidLinkSystem:
    numbering = rest(mechanism).numbering
    _require_beams(mechanism)
    _require_coordinates(numbering)
    tree = tree_freedoms(numbering)
    masses = mass_properties(numbering.drawing)
    meshes = [mesh_of(numbering, name) if mechanism.bodies[name].elastic else None for name in numbering.bodies]
    counts = np.array([1 if mesh is None else len(mesh.nodes) for mesh in meshes], dtype=np.int64)
    first_node = np.cumsum(counts) - counts
    count = int(counts.sum())
    points = [_points(numbering, name, mesh, masses[name])
              for name, mesh in zip(numbering.bodies, meshes, strict=True)]  # fmt: skip
    columns = numbering.arrays.column
    kept = (6 * np.arange(count)[:, None] + columns).ravel()
    rows = PartRows(numbering, _as_nodes(numbering, meshes), (), ())
    gravity = np.zeros(3)
    if mechanism.gravity is not None:
        gravity = numbering.drawing.vector(mechanism.gravity, ("gravity",), "gravity")
    return RigidLinkSystem(
        numbering, tree, first_node, np.repeat(np.arange(len(meshes)), counts), tuple(meshes), kept,
        nodal_inertia(points, first_node, count), _stiffness(meshes, first_node, count),
        link_rows(rows, first_node, numbering.rows), _collect_holding(numbering, rows), gravity,
    )  # fmt: skip


def _points(
    numbering: Numbering, name: str, mesh: ElasticBody | None, properties: MassProperties
) -> tuple[MassPoints, ...]:
    if mesh is None:
        return (rigid_points(properties),)
    return (beam_points(numbering.drawing, name), *(_make_mass_points(mesh, part) for part in mesh.parts))


def _make_mass_points(mesh: ElasticBody, part: CarriedPart) -> MassPoints:
    place = mesh.nodes[part.node]
    return rigid_points(MassProperties(part.mass, place + part.arm, part.inertia), part.node, place)


def _stiffness(meshes: list[ElasticBody | None], first_node: Integers, count: int) -> sp.csr_array:
    """Return K of all bodies over their nodes."""
    rows, columns, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for mesh, first in zip(meshes, first_node, strict=True):
        if mesh is not None:
            K = mesh.K.tocoo()
            at = 6 * (first + mesh.node) + mesh.component
            rows.append(at[K.coords[0]])
            columns.append(at[K.coords[1]])
            values.append(K.data)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sp.coo_array(entries, shape=(6 * count, 6 * count)).tocsr()


def _as_nodes(numbering: Numbering, meshes: list[ElasticBody | None]) -> list[BodyCoordinates]:
    """Return the bodies with nodal displacements as coordinates, for the rows between them."""
    width, found, start = len(numbering.arrays.column), [], 0
    none = np.zeros((0, 0))
    for name, mesh in zip(numbering.bodies, meshes, strict=True):
        size = width if mesh is None else mesh.size
        found.append(BodyCoordinates(name, start, np.zeros(size), none, none, none, mesh))
        start += size
    return found


def _collect_holding(numbering: Numbering, rows: PartRows) -> JointHolding:
    mechanism = numbering.mechanism
    first, last = numbering.constraints, numbering.constraints + len(numbering.coordinates)
    soft = {row: (item.stiffness, item.damping) for row, item in rows.soft.items()}
    parts = {row: item.part for row, item in rows.soft.items()}
    moved: dict[tuple[str, str], int] = {}
    for name, joint in mechanism.joints.items():
        for direction, table in joint.elasticity(mechanism.plane).tables.items() if joint.yields else ():
            raise InputError(
                f'the stiffness "{direction}" is a table over "{table.over}", but a rigid link system needs constants',
                part=part_name(("joints", name)), path=("joints", name, "stiffness"),
                hint="use a number, or another formulation",
            )  # fmt: skip
        for coordinate, drive in joint.drives(mechanism.plane).items():
            row = moved[name, coordinate] = numbering.measures["joint", name, coordinate]
            if not first <= row < last:
                raise InputError(
                    "the drive moves a joint coordinate that is not in coordinates:, so nothing holds its motor",
                    part=part_name(("joints", name)), path=("joints", name, "drive"),
                    hint="list it under coordinates:, drive it by an actuator, or leave the drive out",
                )  # fmt: skip
            soft[row], parts[row] = (float(drive.stiffness), float(drive.damping)), name
    numbers = sorted(soft)
    coupling = np.zeros((len(numbers), last - first))
    for i, row in enumerate(numbers):
        for coordinate, factor in rows.soft[row].drives.items() if row in rows.soft else ():
            coupling[i, moved[rows.soft[row].part, coordinate] - first] = factor
    values = np.array([soft[row] for row in numbers]).reshape(-1, 2)
    ideal = np.array([row for row in range(last) if row not in soft], dtype=np.int64)
    owners = tuple(parts[row] for row in numbers)
    return JointHolding(ideal, np.array(numbers, dtype=np.int64), values[:, 0], values[:, 1], coupling, owners)


def _require_beams(mechanism: Mechanism) -> None:
    for name, body in mechanism.bodies.items():
        if body.superelement is not None:
            raise InputError(
                "a rigid link system supports beams and rigid bodies, not superelements",
                part=part_name(("bodies", name)), path=("bodies", name, "superelement"),
                hint="describe it by beams, or use another formulation",
            )  # fmt: skip


def _require_coordinates(numbering: Numbering) -> None:
    if len(numbering.coordinates) == 0:
        raise InputError(
            "no coordinates determine the positions of the links", part=f'mechanism "{numbering.mechanism.name}"',
            hint="list as many coordinates: as the mobility, or add actuators",
        )  # fmt: skip


def actuator_rows(numbering: Numbering) -> list[int]:
    """Return the row that each actuator acts along."""
    mechanism = numbering.mechanism
    return [numbering.measures[key_of(mechanism, item)] for item in mechanism.actuators.values()]
