"""Rows between parts: connections of joints, coordinates and measures to the bodies.

A part is a node of an elastic body, a rigid body itself, or the motor side of a drive with compliance
(docs/theory/elastic-rest.md, eqs. 3, 4, 21).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.array_types import Array, Integers
from supple.diagnostics import InputError
from supple.formulations.coefficients import along_measure, get_coefficients
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.yielding_drives import YieldingDrive
from supple.formulations.yielding_rows import SoftRow, yielding_rows
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import ALONG, FACTOR, NONE, PA, PB, ROW_WIDTH, SCALE, THEN, A, B, U
from supple.kinematics.rest import rest


def terms_of(rows_i: Integers, row: int) -> Iterator[int]:
    """Return the terms of a row."""
    while row != NONE:
        yield row
        row = int(rows_i[row, THEN])


class PartRows:
    """Rows of the numbering, of `displacements` and of drive deflections, between parts instead of bodies."""

    def __init__(
        self,
        numbering: Numbering,
        bodies: list[BodyCoordinates],
        displacements: tuple[str, ...],
        drives: tuple[YieldingDrive, ...],
        *,
        rigid: bool = False,
        following: bool = False,
    ):
        self.numbering, self.bodies = numbering, bodies
        self.displacements: dict[str, int] = {}
        self.parts: dict[tuple[int, int, str], Array] = {}  # (body, node, joint of a motor's side): its place
        self.motor_sides: dict[tuple[int, int], str] = {}  # (term, end): the joint whose motor's side is there
        self.drives: dict[int, YieldingDrive] = {}
        soft = yielding_rows(numbering, rigid=rigid, following=following)
        self.rows_i, self.rows_f = soft.rows_i, soft.rows_f
        for name in displacements:
            self._measure(name)
        for drive in drives:
            self._yield(drive, soft.soft)
        ends = [[self._end(term, side) for side in range(2)] for term in range(len(self.rows_i))]
        order = {key: i for i, key in enumerate(self.parts)}
        for term, pair in enumerate(ends):
            for end, key in zip((A, B), pair, strict=True):
                self.rows_i[term, end] = len(order) if key is None else order[key]
        self.compliance = np.zeros(len(self.rows_i))
        self.soft = soft.soft
        if rigid:
            return
        self.compliance[list(self.soft)] = [1.0 / row.stiffness for row in self.soft.values()]
        for row, stiffness in spring_rows(numbering).items():
            self.compliance[row] = 1.0 / stiffness

    def _measure(self, name: str) -> None:
        """Add a row: the position of a point along an axis."""
        kind, body, unit, place = displacement(self.numbering, name)
        self.displacements[name] = len(self.rows_i)
        row = np.zeros(ROW_WIDTH)
        row[FACTOR] = 1.0
        row[U : U + 3], row[PB : PB + 3], row[SCALE] = unit, place, self.numbering.arrays.extent
        self._append(kind, len(self.bodies), body, row)

    def _yield(self, drive: YieldingDrive, soft: dict[int, SoftRow]) -> None:
        """Connect the joint's rows to the motor side, and add a row for the deflection between it and the body.

        Rows that the joint stiffness couples with this row have it as an additional term.
        """
        numbering = self.numbering
        rows = [*range(numbering.joint_rows[drive.joint].start, numbering.joint_rows[drive.joint].stop)]
        rows += [row for key, row in numbering.measures.items() if key[:2] == ("joint", drive.joint)]
        self.motor_sides.update(
            {(term, drive.side): drive.joint for row in rows for term in terms_of(self.rows_i, row)}
        )
        kind, constants = drive.row(numbering.arrays.extent)
        self.drives[len(self.rows_i)] = drive
        self.motor_sides[len(self.rows_i), drive.side] = drive.joint
        self._append(kind, drive.body, drive.body, constants)
        for row in rows:
            factor = soft[row].drives.get(drive.coordinate, 0.0) if row in soft else 0.0
            if factor == 0.0:
                continue
            *_, last = terms_of(self.rows_i, row)
            self.rows_i[last, THEN] = len(self.rows_i)
            self.motor_sides[len(self.rows_i), drive.side] = drive.joint
            constants = constants.copy()
            constants[[FACTOR, SCALE]] = factor if drive.side == 1 else -factor, self.rows_f[row, SCALE]
            self._append(kind, drive.body, drive.body, constants)

    def _append(self, kind: int, a: int, b: int, constants: Array) -> None:
        self.rows_i = np.vstack([self.rows_i, [[kind, a, b, NONE, NONE]]])
        self.rows_f = np.vstack([self.rows_f, constants])

    def _end(self, term: int, side: int) -> tuple[int, int, str] | None:
        """Return body and node of one end of a term, with its position relative to the node."""
        body, at = int(self.rows_i[term, (A, B)[side]]), (PA, PB)[side]
        if body == len(self.bodies):
            return None
        node, place = self.bodies[body].node_at(self.rows_f[term, at : at + 3])
        key = (body, node, self.motor_sides.get((term, side), ""))
        self.parts.setdefault(key, place)
        self.rows_f[term, at : at + 3] -= place
        return key

    def part_i(self) -> Integers:
        found = [(body, self.bodies[body].start, self.bodies[body].size) for body, _, _ in self.parts]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    def part_x(self) -> Array:
        return np.array(list(self.parts.values())).reshape(-1, 3)

    def shapes(self) -> Array:
        d = len(self.numbering.arrays.column)
        widest = max(body.size for body in self.bodies)
        found = np.zeros((len(self.parts), d, widest))
        for i, ((body, node, joint), place) in enumerate(self.parts.items()):
            found[i, :, : self.bodies[body].size] = self.bodies[body].of_node(node)
            for drive in self.drives.values():
                if joint == drive.joint:
                    moved = drive.motion(place)[self.numbering.arrays.column]
                    found[i, :, drive.column - self.bodies[body].start] = moved
        return found


def displacement(numbering: Numbering, name: str) -> tuple[int, int, Array, Array]:
    """Return the kind of measure, body, axis and position of `point.axis`."""
    place, _, letter = name.rpartition(".")
    letters = numbering.mechanism.plane or "xyz"
    if not place or len(letter) != 1 or letter not in letters:
        raise InputError(
            f'"{name}" is not a displacement', hint=f"write POINT.AXIS with an axis of {', '.join(letters)}"
        )
    body, position, _ = numbering.place(place)
    if body == len(numbering.bodies):
        raise InputError(f'"{place}" is on the ground and does not move', hint="name a point on a body")
    return ALONG, body, np.eye(3)[letters.index(letter)], position


def spring_rows(numbering: Numbering) -> dict[int, float]:
    """Return the measures of springs, and their total stiffness."""
    load = get_coefficients(rest(numbering.mechanism))
    load.require_linear("a flexible model")
    stiffness = {
        numbering.constraints + measure: -along_measure(load.arrays, measure).slope
        for measure in range(len(load.arrays.uses_start) - 1)
    }
    return {row: value for row, value in stiffness.items() if value > 0.0}
