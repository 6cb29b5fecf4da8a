"""Mass and stiffness of a mechanism as functions of chosen parameters, with exact derivatives.

In the coordinates z of the mechanism of the file (docs/theory/elastic-rest.md),

    K(p) = Λ + Σ_b ΔK_b(p) + Σ_r k_r(p) C_rᵀC_r,    M(p) = 1 + Σ_b ΔM_b(p)                       (updating, eqs. 1-3)

Stiffnesses of joints, drives and springs enter row by row. The matrices of a body, over the shapes that it was
condensed to, follow from the properties of its beams per metre. Only the rows depend on the posture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.joints.elasticity import StiffnessTable
from supple.description.mass_properties import mass_slope, point_inertia_slope
from supple.description.mechanism import Mechanism
from supple.description.quantities.dual import Dual
from supple.diagnostics import InputError
from supple.formulations.elastic.beam_mesh import Span, stiffness_and_mass
from supple.formulations.elastic.elastic_body import MeshedBeams, meshed_beams, section_rates
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, HeldRows, elastic_rest
from supple.formulations.elastic_rest.joint_stiffness_under_load import load_tables, with_stiffness
from supple.identification.updating.written_numbers import VALUES, Numbers, WrittenNumber, at_path
from supple.kinematics.measures import component_keys, key_of

_STEP = 1e-40  # complex step: its error is below rounding


class BodyChange(NamedTuple):
    """Changes of a body's matrices over its z from those of the file, and their slopes (k, size, size)."""

    K: Array
    M: Array
    dK: Array
    dM: Array


class Trial(NamedTuple):
    """Structure at trial values of the parameters.

    values (k,); springs (rows,) stiffness of the soft rows and slopes (k, rows); bodies : those that change, by index
    columns : deflections of drives: change of their Λ, with slopes (k,)
    knots   : of soft rows with a table, by index: its values (n,) with slopes (k, n)
    """

    values: Array
    springs: Array
    spring_slopes: Array
    bodies: dict[int, BodyChange]
    columns: dict[int, tuple[float, Array]]
    knots: dict[int, tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class CondensedStructure:
    """A mechanism condensed for a band, as a function of chosen parameters.

    held   : rows that are held with locked actuators; soft : the elastic ones among them
    tables : of soft rows that depend on a coordinate or the load, by index
    """

    numbers: Numbers
    rest: ElasticRest
    held: HeldRows
    tables: dict[int, StiffnessTable] = field(default_factory=dict)
    _meshes: dict[str, MeshedBeams] = field(default_factory=dict, repr=False)
    postures: dict[str, Any] = field(default_factory=dict, repr=False)  # models of postures that have a name, made once

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism of the file."""
        return self.numbers.mechanism

    @property
    def soft(self) -> NDArray[np.int64]:
        """Elastic rows (rows,)."""
        return self.held.rows[self.held.compliance > 0.0]

    def at(self, values: Array) -> Trial:
        """Return the structure at trial values of the chosen parameters."""
        count = len(values)
        springs = 1.0 / self.held.compliance[self.held.compliance > 0.0]
        slopes = np.zeros((count, len(springs)))
        order = {int(row): i for i, row in enumerate(self.soft)}
        columns: dict[int, tuple[float, Array]] = {}
        knots = {
            i: (np.array(table.values, float), np.zeros((count, len(table.at)))) for i, table in self.tables.items()
        }
        changed: dict[str, dict[tuple[str, ...], Any]] = {}
        for item, value in zip(self.numbers.followers, self.numbers.at(values), strict=True):
            if not isinstance(value, Dual):
                continue
            if not value.value > 0.0:
                raise InputError(
                    f"must be positive (the search tried {value.value:g})", part=item.name, hint="give bounds"
                )
            if item.section == "joints" and len(item.field) == 4 and item.field[2] == VALUES:
                for row, _ in self._rows(item):
                    of_row = knots[order[row]]
                    of_row[0][int(item.field[3])] = value.value
                    of_row[1][:, int(item.field[3])] = value.slopes
                continue
            if item.section == "joints":
                columns |= self._drives(item, value)
            if item.section == "joints" and item.field[0] == "drive":
                continue
            if item.section in ("joints", "couplings", "springs"):
                for row, own in self._rows(item):
                    if row in order:
                        springs[order[row]] += value.value - own
                        slopes[:, order[row]] += value.slopes
            else:
                changed.setdefault(item.section, {}).update(
                    {(name, *item.field): value for name in item.parts}
                )  # fmt: skip
        bodies = {b: change for b, body in enumerate(self.rest.bodies)
                  if (change := self._body(body, changed, count)) is not None}  # fmt: skip
        return Trial(np.asarray(values, float), springs, slopes, bodies, columns, knots)

    def _rows(self, item: WrittenNumber) -> list[tuple[int, float]]:
        """Return the rows that a stiffness acts along, and its present value."""
        mechanism, found = self.mechanism, []
        for name in item.parts:
            if item.section in ("joints", "couplings"):
                direction = item.field[1] if item.section == "joints" else ""
                found += [
                    (row, which.stiffness)
                    for row, which in self.rest.elastic_rows.items()
                    if (which.part, which.direction) == (name, direction)
                ]
                continue
            spring = mechanism.springs[name]
            keys = component_keys(mechanism, spring) if spring.without_length else [key_of(mechanism, spring)]
            found += [(self.rest.numbering.measures[key], float(spring.stiffness or 0.0)) for key in keys]
        return found

    def _drives(self, item: WrittenNumber, value: Dual) -> dict[int, tuple[float, Array]]:
        """Return the deflections with this stiffness: of `drive`, or of `stiffness` about the joint's own axis."""
        found: dict[int, tuple[float, Array]] = {}
        for drive in self.rest.drives.values():
            if drive.joint not in item.parts:
                continue
            if item.field[0] == "drive":
                matches = len(item.field) < 3 or item.field[1] == drive.coordinate
            else:
                driven = self.mechanism.joints[drive.joint].elasticity(self.mechanism.plane).driven
                matches = driven.get(drive.coordinate) == item.field[1]
            if matches:
                found[drive.column] = (value.value - drive.stiffness) / drive.inertia, value.slopes / drive.inertia
        return found

    def _body(
        self, body: BodyCoordinates, changed: Mapping[str, Mapping[tuple[str, ...], Any]], count: int
    ) -> BodyChange | None:
        if body.mesh is None:
            return self._rigid(body, changed, count)
        mechanism = self.mechanism
        described = mechanism.bodies[body.name]
        used = {name for beam in described.all_beams for name in (beam.material, *beam.sections)}
        points = self._points(body.name, changed)
        touched = any(
            key[0] in used for section in ("materials", "sections") for key in changed.get(section, ())
        )  # fmt: skip
        if not touched and not points:
            return None
        if described.superelement is not None:
            raise InputError(
                "the matrices of a superelement do not depend on these parameters",
                part=f'body "{body.name}"', hint="omit its point masses",
            )  # fmt: skip
        found = self._meshes.setdefault(body.name, meshed_beams(self.rest.numbering.drawing, body.name))
        before = self._matrices(found, [(item.first, item.last) for item in found.spans], {})
        rates = [self._rates(beam, changed, count) for beam in described.all_beams]
        now = self._matrices(found, [tuple(end[0] for end in ends) for ends in rates], points)
        size = body.size
        dK, dM = np.zeros((count, size, size)), np.zeros((count, size, size))
        for k in range(count):
            step = [tuple(end[0] + 1j * _STEP * end[1][k] for end in ends) for ends in rates]
            stepped = {key: value.value + 1j * _STEP * value.slopes[k] for key, value in points.items()}
            if not any(end[1][k].any() for ends in rates for end in ends) and not any(
                value.slopes[k] for value in points.values()
            ):
                continue
            K, M = self._matrices(found, step, stepped)
            dK[k], dM[k] = (_project(body, matrix.imag / _STEP) for matrix in (K, M))
        return BodyChange(_project(body, now[0] - before[0]), _project(body, now[1] - before[1]), dK, dM)

    def _points(self, body: str, changed: Mapping[str, Mapping[tuple[str, ...], Any]]) -> dict[tuple[str, ...], Any]:
        drawing = self.rest.numbering.drawing
        return {
            key: value
            for key, value in changed.get("point_masses", {}).items()
            if drawing.find_frame(self.mechanism.point_masses[key[0]].at, ("point_masses", key[0], "at")).body == body
        }

    def _matrices(self, found: MeshedBeams, rates: Any, points: Mapping[tuple[str, ...], Any]) -> Any:
        spans = [
            Span(*item[:3], first, last, *item[5:]) for item, (first, last) in zip(found.spans, rates, strict=True)
        ]
        parts = []
        for node, place in zip(found.carriers, found.touched, strict=True):
            if place.heavy:
                name = str(place.path[1])
                mass, inertia = place.mass, place.inertia
                for key, given in points.items():
                    if key[0] == name:
                        more = getattr(given, "value", given) - float(
                            at_path(self.mechanism.point_masses[name], key[1:])
                        )
                        if key[1] == "mass":
                            mass = mass + more
                        else:
                            unit = point_inertia_slope(self.rest.numbering.drawing, name, key[2:])
                            inertia = inertia + more * unit
                parts.append((node, mass, inertia, place.position - found.mesh.nodes[node]))
        return stiffness_and_mass(spans, found.mesh, self.mechanism.planar, parts)

    def _rates(self, beam: Any, changed: Mapping[str, Mapping[tuple[str, ...], Any]], count: int) -> Any:
        """Return the properties of a beam per metre at both ends, (10,), and slopes (k, 10)."""
        mechanism = self.mechanism
        material = mechanism.materials[beam.material]
        given = {key[1]: value for key, value in changed.get("materials", {}).items() if key[0] == beam.material}
        E, rho, nu, G = (
            given.get(name, getattr(material, name))
            for name in ("youngs_modulus", "density", "poisson", "shear_modulus")
        )
        G = G if G is not None else E / (2.0 * (1.0 + nu))
        ends = []
        for name in beam.sections:
            section = mechanism.sections[name]
            instead = {
                ".".join(key[1:]) if len(key) > 2 or key[1] in _TABLE else f"{key[1]}.0": value
                for key, value in changed.get("sections", {}).items()
                if key[0] == name
            }
            try:
                found = section_rates(E, G, rho, section.properties(instead))
            except TypeError as error:
                raise InputError(
                    "the parameters of this shape cannot be identified", part=f'section "{name}"',
                    path=("sections", name), hint="describe the section by its area, Iy, Iz and torsion",
                ) from error  # fmt: skip
            value = np.array([item.value if isinstance(item, Dual) else item for item in found])
            slope = np.array([item.slopes if isinstance(item, Dual) else np.zeros(count) for item in found]).T
            ends.append((np.nan_to_num(value), np.nan_to_num(slope)))
        return ends

    def _rigid(
        self, body: BodyCoordinates, changed: Mapping[str, Mapping[tuple[str, ...], Any]], count: int
    ) -> BodyChange | None:
        """Return the change of a rigid body's mass matrix, which is linear in its masses and moments."""
        numbering = self.rest.numbering
        column = numbering.arrays.column
        total, slopes, found = np.zeros((body.size, body.size)), np.zeros((count, body.size, body.size)), False
        pieces: list[tuple[Array, float, Dual]] = []
        for key, value in changed.get("bodies", {}).items():
            if key[0] == body.name:
                unit = mass_slope(numbering.drawing, body.name, key[1:]).spatial()
                pieces.append((unit, float(at_path(self.mechanism.bodies[body.name], key[1:])), value))
        for key, value in self._points(body.name, changed).items():
            point = self.mechanism.point_masses[key[0]]
            place = numbering.drawing.find_frame(point.at, ("point_masses", key[0], "at")).pose.position
            from supple.geometry.inertia import MassProperties

            inertia = (
                point_inertia_slope(numbering.drawing, key[0], key[2:]) if key[1] == "inertia" else np.zeros((3, 3))
            )
            unit = MassProperties(float(key[1] == "mass"), place, inertia).spatial()
            pieces.append((unit, float(at_path(point, key[1:])), value))
        for unit, own, value in pieces:
            found = True
            over = body.shapes.T @ unit[np.ix_(column, column)] @ body.shapes
            total += (value.value - own) * over
            slopes += value.slopes[:, None, None] * over
        return BodyChange(np.zeros_like(total), total, np.zeros_like(slopes), slopes) if found else None


_TABLE = ("area", "Iy", "Iz", "torsion", "shear_y", "shear_z")


def structure_of(numbers: Numbers, band: float) -> CondensedStructure:
    """Return the mechanism condensed for [0, band] Hz, with locked actuators."""
    by_load = load_tables(numbers.mechanism)
    _require_known_loads(numbers, by_load)
    rest = elastic_rest(
        with_stiffness(numbers.mechanism, {key: max(item.values) for key, item in by_load.items()}), band
    )
    held = rest.list_held_rows(actuators=True)
    tables = {}
    for i, row in enumerate(held.rows[held.compliance > 0.0]):
        item = rest.elastic_rows.get(int(row))
        table = None if item is None else item.table or by_load.get((item.part, item.direction))
        if table is not None:
            tables[i] = table
    return CondensedStructure(numbers, rest, held, tables)


def _require_known_loads(numbers: Numbers, by_load: Mapping[tuple[str, str], StiffnessTable]) -> None:
    heavy = [item.name for item in numbers.followers if item.section in ("bodies", "point_masses", "sections")
             or item.field[-1] == "density"]  # fmt: skip
    if by_load and heavy:
        (joint, direction), *_ = by_load
        raise InputError(
            f'{joint}.{direction} depends on the load, and "{heavy[0]}" changes loads', part="parameters",
            hint="fit masses and sections first, with a constant stiffness in place of the table",
        )  # fmt: skip


def _project(body: BodyCoordinates, matrix: Any) -> Array:
    """Return ΦᵀAΦ over a body's z; deflections of drives are not shapes."""
    found = body.shapes.T @ (matrix @ body.shapes)
    return 0.5 * (found + found.T)
