"""Arrays of the mechanism about θ: bodies in coordinates z of unit mass and diagonal stiffness, rows between parts.

Each body, condensed once, has constant matrices M and K in its own axes. Its coordinates are changed once to z, in
which its mass is the unit matrix and its stiffness Λ is diagonal (zero for its rigid motions). Only rows depend on θ:

    z̈ + Λ z + C(θ)ᵀλ = f(θ),   C(θ) z = diag(c) λ                      (docs/theory/elastic-rest.md, eqs. 1-5)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation.threads import single_blas_thread
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.formulations.elastic_rest.body_coordinates import (
    BodyCoordinates,
    elastic_coordinates,
    own_band,
    rigid_coordinates,
)
from supple.formulations.elastic_rest.joint_stiffness_over_position import StiffnessTables, stiffness_tables
from supple.formulations.elastic_rest.part_rows import PartRows, terms_of
from supple.formulations.elastic_rest.yielding_drives import YieldingDrive, bodies_with_drives, yielding_drives
from supple.formulations.yielding_rows import SoftRow
from supple.geometry.inertia import MassProperties
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import rest

NARROWEST, WIDEST = 2.0**-6, 2.0**20  # bands in units of the mechanism's own: statics, and everything there is
MASSLESS = 1e-8  # of the lightest body's mass and inertia: what one without is given, so that every motion has some
_LEAST = 1e-12  # of the mechanism's mass, however light that body is


class ElasticArrays(NamedTuple):
    """Arguments of the kernels.

    part_i : (parts, 3) BODY, FIRST coordinate and WIDTH, number of coordinates of its body
    part_x : (parts, 3) position on the body, in its axes
    shapes : (parts, d, widest) displacement of the part for each coordinate of its body, in body axes
    stiffness : (n,) Λ
    column : (d,) index of each component in (u, φ)
    rows_i, rows_f : the rows of the rigid mechanism, between parts instead of bodies
    compliance : (rows,) c of elastic joints, and of measures with springs; 0 elsewhere
    tables : of rows whose stiffness depends on a coordinate
    extent : size of the mechanism, m
    """

    part_i: Integers
    part_x: Array
    shapes: Array
    stiffness: Array
    column: Integers
    rows_i: Integers
    rows_f: Array
    compliance: Array
    tables: StiffnessTables
    extent: float


class HeldRows(NamedTuple):
    """Rows that are constrained, ideally or by springs: their numbers and their compliance."""

    rows: Integers
    compliance: Array


@dataclass(frozen=True, eq=False)
class ElasticRest:
    """Linear elastodynamics of a mechanism for any θ.

    bodies : in the order of the numbering
    band   : Hz, for which the bodies were condensed with a relative error of ω² of 1e-6
    """

    numbering: Numbering
    bodies: tuple[BodyCoordinates, ...]
    arrays: ElasticArrays
    band: float
    elastic_rows: dict[int, SoftRow] = field(repr=False)  # row: its part, stiffness and damping
    displacements: dict[str, int] = field(default_factory=dict)  # `place.axis`: row
    drives: dict[int, YieldingDrive] = field(default_factory=dict, repr=False)  # row of the deflection: drive

    @property
    def size(self) -> int:
        """Number n of coordinates z."""
        return len(self.arrays.stiffness)

    @property
    def elastic(self) -> bool:
        """Whether a body, joint, drive or coupling is elastic."""
        return any(body.mesh is not None for body in self.bodies) or bool(self.elastic_rows) or bool(self.drives)

    @property
    def dampers(self) -> dict[int, float]:
        """Damping parallel to the stiffness of elastic joints, couplings and drives, by row."""
        given = {row: drive.damping for row, drive in self.drives.items()}
        given |= {row: soft.damping for row, soft in self.elastic_rows.items()}
        return {row: float(damping) for row, damping in given.items() if damping > 0.0}

    @property
    def losses(self) -> dict[int, float]:
        """Hysteretic damping η k of elastic joints and drives, by row."""
        given = {row: drive.loss * drive.stiffness for row, drive in self.drives.items()}
        given |= {row: soft.loss * soft.stiffness for row, soft in self.elastic_rows.items()}
        return {row: float(lost) for row, lost in given.items() if lost > 0.0}

    @property
    def largest(self) -> int:
        """Number of coordinates z without condensation, an upper limit of the number of modes."""
        meshes = [(body.condensed, body.mesh) for body in self.bodies]
        kept_back = (mesh.size - small.size for small, mesh in meshes if small is not None and mesh is not None)
        return self.size + sum(max(0, more) for more in kept_back)

    @property
    def whole(self) -> bool:
        """Whether a wider band would retain no further modes of the bodies."""
        meshes = [(body.condensed, body.mesh) for body in self.bodies]
        return all(
            small is None or mesh is None or not small.by_nodes or small.size >= mesh.size for small, mesh in meshes
        ) or (self.band >= WIDEST * own_band(self.numbering.mechanism))

    def list_held_rows(self, *, actuators: bool) -> HeldRows:
        """Return the rows of joints and springs, and of the coordinates θ if they are locked, with their compliance."""
        first = self.numbering.constraints
        last = first + len(self.numbering.coordinates)
        springs = np.flatnonzero(self.arrays.compliance[last if actuators else first :] > 0.0)
        rows = np.concatenate([np.arange(last if actuators else first), springs + (last if actuators else first)])
        compliance = self.arrays.compliance[rows]
        if actuators:
            compliance[first:last] = 0.0
        return HeldRows(rows, compliance)

    def list_loaded_rows(self) -> HeldRows:
        """Return these rows with locked actuators, followed by the `displacements`."""
        held = self.list_held_rows(actuators=True)
        extra = np.array(list(self.displacements.values()), dtype=np.int64)
        return HeldRows(np.concatenate([held.rows, extra]), np.concatenate([held.compliance, np.zeros(len(extra))]))

    def terms(self, row: int) -> list[int]:
        """Return the terms of a row."""
        return list(terms_of(self.arrays.rows_i, row))


def rigid_rest(mechanism: Mechanism) -> ElasticRest:
    """Return the arrays with all bodies and joints rigid, computed once."""
    return mechanism.compute_once("rigid rest", lambda: _build(mechanism, 0.0, (), rigid=True))


def elastic_rest(mechanism: Mechanism, band: float, displacements: tuple[str, ...] = ()) -> ElasticRest:
    """Return the mechanism's elastodynamics, with bodies condensed for [0, band] Hz.

    Bands are rounded up to the mechanism's own band times a power of two, so that similar bands share the work; each is
    computed once.

    displacements : additional rows, `point.axis`: the position of a point along an axis of the drawing
    """
    own = own_band(mechanism)
    octaves = np.log2(min(max(band / own, NARROWEST), WIDEST))
    rounded = own * float(2.0 ** np.ceil(octaves - 1e-9))  # a band that was given out comes back as it is
    key = f"elastic rest {rounded} {displacements}"
    return mechanism.compute_once(key, lambda: _build(mechanism, rounded, displacements))


@single_blas_thread()
def _build(mechanism: Mechanism, band: float, displacements: tuple[str, ...], *, rigid: bool = False) -> ElasticRest:
    numbering = rest(mechanism).numbering
    start = 0
    bodies: list[BodyCoordinates] = []
    masses = mass_properties(numbering.drawing)
    floor = mass_floor(numbering, list(masses.values()))
    for name in numbering.bodies:
        if mechanism.bodies[name].elastic and not rigid:
            body = elastic_coordinates(numbering, name, band, start)
        else:
            inertia = masses[name].spatial()[np.ix_(numbering.arrays.column, numbering.arrays.column)]
            body = rigid_coordinates(name, inertia, floor, start)
        bodies.append(body)
        start = body.stop
    bodies, drives = bodies_with_drives(bodies, () if rigid else yielding_drives(numbering))
    rows = PartRows(numbering, bodies, displacements, drives, rigid=rigid, following=True)
    arrays = ElasticArrays(
        rows.part_i(),
        rows.part_x(),
        rows.shapes(),
        np.concatenate([body.stiffness for body in bodies]),
        numbering.arrays.column,
        rows.rows_i,
        rows.rows_f,
        rows.compliance,
        stiffness_tables(numbering, rows.rows_i, rows.soft),
        numbering.arrays.extent,
    )
    return ElasticRest(numbering, tuple(bodies), arrays, band, rows.soft, rows.displacements, rows.drives)


def mass_floor(numbering: Numbering, masses: list[MassProperties]) -> Array:
    """Return the least mass and inertia (d,) of a body without mass.

    They are small relative to the lightest body with mass, since the body may move with that one only, as a frame on a
    small platform does.
    """
    total = sum(item.mass for item in masses) or 1.0
    turned = [float(np.linalg.eigvalsh(item.inertia)[-1]) for item in masses]
    lightest = min((item.mass for item in masses if item.mass > 0.0), default=total)
    size = numbering.arrays.extent**2
    smallest = min((value for value in turned if value > _LEAST * total * size), default=total * size)
    least = np.maximum(MASSLESS * np.array([lightest, smallest]), _LEAST * total * np.array([1.0, 0.1 * size]))
    return np.where(numbering.arrays.column < 3, least[0], least[1])
