"""The mechanism as arrays: conversion of names to numbers.

Rows come in this order: the joints of the spanning tree (body by body), the joints that close loops, couplings, the
coordinates θ, then every other measure (actuators, springs, dampers, sensors, joint coordinates, and angles that are
followed because some row counts their turns), last the further terms of rows that are sums. Bodies come parents first;
the ground is the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.description import measure
from supple.description.drawing import Drawing, Path
from supple.description.mechanism import GROUND, Mechanism
from supple.description.topology import Topology, topology
from supple.diagnostics import InputError, unknown_name
from supple.kinematics.measures import Measures, PrimitiveTerm, Row
from supple.kinematics.primitives import (
    ALONG,
    ANGLE,
    FACTOR,
    KIND,
    KINDS,
    LENGTHS,
    NONE,
    OFFSET,
    PA,
    PB,
    ROW_WIDTH,
    SCALE,
    THEN,
    TURNS,
    ZERO,
    A,
    B,
    U,
    V,
    W,
    row_value,
    value,
)
from supple.kinematics.row_arrays import ROWS, RowArrays, RowSizes
from supple.kinematics.sensed import Key
from supple.results.units import assign_units


@dataclass(frozen=True, eq=False)
class Numbering:
    """Numbers of all names, and the arrays of the rows."""

    mechanism: Mechanism
    coordinates: tuple[str, ...]
    drawing: Drawing
    topology: Topology
    bodies: tuple[str, ...]
    joint_rows: dict[str, slice]
    coupling_rows: dict[str, int]
    measures: dict[Key, int]
    arrays: RowArrays
    drawn: Array = field(repr=False)  # (bodies + 1, 12) poses as drawn
    as_drawn: Array = field(repr=False)  # values of all measures there

    @cached_property
    def sizes(self) -> RowSizes:
        return RowSizes(*(int(size) for size in self.arrays.sizes))

    @property
    def columns(self) -> int:
        """Number n of velocities of all bodies."""
        return self.sizes.bodies * self.sizes.width

    @property
    def constraints(self) -> int:
        """Number m of rows of all joints and couplings."""
        return self.sizes.joint_rows

    @property
    def rows(self) -> int:
        """Number of constraints and measures."""
        return self.sizes.rows

    def require_coordinates(self) -> None:
        """Raise an `InputError` if there are no coordinates θ."""
        if not self.coordinates:
            raise InputError(
                f"no coordinates: the number of actuators, {len(self.mechanism.actuators)}, differs from the mobility",
                part=f'mechanism "{self.mechanism.name}"',
                path=("coordinates",),
                hint="list as many coordinates: as the mobility that `supple check` prints; a mechanism of mobility 0 "
                "has no θ: use `modes`, `frf`, `deflection`, `compliance` or `simulate`",
            )

    def angles(self) -> NDArray[np.bool_]:
        """Return (all rows,) whether a measure is an angle, which may exceed a turn."""
        return self.arrays.rows_i[:, KIND] == ANGLE

    @cached_property
    def turns(self) -> NDArray[np.bool_]:
        """Whether each coordinate of θ is an angle, (s,)."""
        return self.angles()[self.constraints : self.constraints + len(self.coordinates)]

    @property
    def theta_scale(self) -> Array:
        """Units of the coordinates of θ, (s,): 1 rad, or the mechanism's extent in m."""
        return np.where(self.turns, 1.0, self.arrays.extent)

    @property
    def coordinate_units(self) -> dict[str, str]:
        """Unit of each coordinate of θ, rad or m."""
        return assign_units(self.coordinates, self.turns)

    def place(self, reference: str, path: Path = ()) -> tuple[int, Array, Array]:
        """Return body index, position and axes on that body of a named frame, `body.point` or joint's point."""
        frame = self.drawing.find_frame(reference, path)
        return self.body_index(frame.body), frame.pose.position, frame.pose.axes

    def body_index(self, name: str) -> int:
        """Return the number of a body; the ground is the last."""
        if name not in self._index:
            raise unknown_name("body", name, self.bodies)
        return self._index[name]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate((*self.bodies, GROUND))}


def terms(arrays: RowArrays, row: int) -> Iterator[int]:
    """Iterate over the rows of the terms that a row is the sum of, itself first."""
    while row != NONE:
        yield row
        row = int(arrays.rows_i[row, THEN])


Led = Mapping[str, tuple[str, measure.Row]]
"""Coordinates that are measures of a point relative to the ground: name -> the point, and the row of the measure."""


def numbering(mechanism: Mechanism, coordinates: tuple[str, ...], led: Led | None = None) -> Numbering:
    """Assign numbers to the mechanism with given θ; errors in names are raised here, with their path.

    led : measures of those coordinates that are neither actuators' nor joints'
    """
    drawing = Drawing(mechanism)
    graph = topology(mechanism)
    found = Measures(mechanism, drawing)
    bodies = graph.order
    columns = 3 if mechanism.planar else 6
    rows: list[Row] = []
    joint_rows: dict[str, slice] = {}
    tree: list[tuple[int, int, int, int, int]] = []
    free = 0
    for joint in [*(graph.parent[body][1] for body in bodies), *graph.cut]:
        joint_rows[joint] = slice(len(rows), len(rows) + len(found.constraints[joint]))
        rows += found.constraints[joint]
    coupling_rows = {name: len(rows) + i for i, name in enumerate(graph.couplings)}
    rows += [found.sum_coupling(name) for name in graph.couplings]
    number = {name: i for i, name in enumerate((*bodies, GROUND))}
    for body in bodies:
        base, joint = graph.parent[body]
        parent = number[base]
        count = len(found.constraints[joint])
        side = 1 if mechanism.joints[joint].bodies[1] == body else 0
        tree.append((parent, joint_rows[joint].start, count, free, side))
        free += columns - count
    tree_rows, constraint_rows = sum(entry[2] for entry in tree), len(rows)
    measures = _number_measures(found, coordinates, rows, led or {})
    followed = _followed_turns(rows, constraint_rows)
    extent = _extent(drawing, rows[:constraint_rows])
    sizes = [len(bodies), columns, tree_rows, constraint_rows, len(coordinates), len(rows), free]
    arrays = RowArrays(
        np.array([*sizes, len(mechanism.actuators)]),
        np.array(tree, dtype=np.int64).reshape(-1, 5),
        _reach(tree, columns, free),
        np.array([0, 1, 5] if mechanism.planar else [0, 1, 2, 3, 4, 5]),
        *_row_arrays(rows, followed, constraint_rows, number, extent),
        extent,
    )
    poses = [drawing.bodies[name] for name in (*bodies, GROUND)]
    drawn = np.array([np.concatenate([pose.position, pose.axes.ravel()]) for pose in poses])
    _apply_rest_values(mechanism, measures, arrays, drawn)
    _apply_couplings(mechanism, coupling_rows, measures, arrays, drawn)
    as_drawn = _measures_as_drawn(arrays, constraint_rows, drawn)
    return Numbering(
        mechanism, coordinates, drawing, graph, bodies, joint_rows, coupling_rows, measures, arrays, drawn, as_drawn
    )


def _number_measures(found: Measures, coordinates: tuple[str, ...], rows: list[Row], led: Led) -> dict[Key, int]:
    """Assign numbers to the rows of θ first, then to each further measure once."""
    measures: dict[Key, int] = {}
    for name in coordinates:
        key, measured = found.relative_to_ground(name, *led[name]) if name in led else found.coordinate(name)
        if key in measures:
            raise InputError(
                f'"{name}" is the same measure as another coordinate',
                part="coordinates",
                path=("coordinates",),
                hint=f'remove "{name}" from coordinates:',
            )
        measures[key] = len(rows)
        rows.append(measured)
    for key, measured in found.list_measures():
        if key not in measures:
            measures[key] = len(rows)
            rows.append(measured)
    return measures


def _reach(tree: list[tuple[int, int, int, int, int]], columns: int, free: int) -> Integers:
    """Return the free columns that move each body: its ancestors' and its own."""
    reach = np.zeros((len(tree) + 1, 1 + free), dtype=np.int64)
    for body, (parent, _, rows, first, _) in enumerate(tree):
        inherited, own = reach[parent, 0], columns - rows
        reach[body, 0] = inherited + own
        reach[body, 1 : 1 + inherited] = reach[parent, 1 : 1 + inherited]
        reach[body, 1 + inherited : 1 + inherited + own] = range(first, first + own)
    return reach


def _extent(drawing: Drawing, constraints: list[Row]) -> float:
    """Return the mechanism's size: the diagonal of the box around all joints, rod ends and frames as drawn."""
    places = [
        drawing.bodies[body].to_world(local)
        for row in constraints
        for term in row
        if term.primitive.kind == ALONG
        for body, local in ((term.a, term.primitive.pa), (term.b, term.primitive.pb))
    ]
    places += [drawing.bodies[frame.body].to_world(frame.pose.position) for frame in drawing.frames.values()]
    for body, length in drawing.lengths.items():
        places += [drawing.bodies[body].to_world(np.array([x, 0.0, 0.0])) for x in (0.0, length)]
    if not places:
        return 1.0
    size = float(np.linalg.norm(np.ptp(np.array(places), axis=0)))
    return size if size > 1e-9 * np.abs(places).max() else 1.0  # all points coincide, to rounding


def _followed_turns(rows: list[Row], constraints: int) -> dict[tuple[int, int], int]:
    """Return the measure that counts the turns of an angle, by row and index of the term; it is added if missing.

    A measure that is an angle counts its own turns. In constraints and in sums angles are terms, and the angle alone is
    followed beside them.
    """
    followed: dict[tuple[int, int], int] = {}
    alone: dict[int, PrimitiveTerm] = {}
    between: dict[tuple[str, str], list[int]] = {}
    for i, row in enumerate(rows):
        if i >= constraints and len(row) == 1 and row[0].primitive.kind == ANGLE and row[0].factor == 1.0:
            alone[i] = row[0]
            between.setdefault((row[0].a, row[0].b), []).append(i)
    for i, row in enumerate(tuple(rows)):
        for place, term in enumerate(row):
            if term.primitive.kind != ANGLE:
                continue
            same = (k for k in between.get((term.a, term.b), ()) if _same_measure(term, alone[k]))
            at = i if i in alone else next(same, None)
            if at is None:
                at = len(rows)
                alone[at] = term._replace(factor=1.0)
                between.setdefault((term.a, term.b), []).append(at)
                rows.append((alone[at],))
                followed[at, 0] = at
            followed[i, place] = at
    return followed


def _same_measure(term: PrimitiveTerm, other: PrimitiveTerm) -> bool:
    """Return whether two terms between the same bodies are the same measure."""
    vectors = zip(term.primitive[1:-1], other.primitive[1:-1], strict=True)
    return all(np.array_equal(one, two) for one, two in vectors)


def _row_arrays(
    rows: list[Row], followed: dict[tuple[int, int], int], constraints: int, number: dict[str, int], extent: float
) -> tuple[Integers, Array]:
    """Return the arrays of the rows, in order; further terms of a row come behind all rows."""
    count = sum(len(row) for row in rows)
    rows_i, rows_f = np.full((count, 5), NONE, dtype=np.int64), np.zeros((count, ROW_WIDTH))
    free = len(rows)
    for i, row in enumerate(rows):
        places = [i, *range(free, free + len(row) - 1)]
        free += len(row) - 1
        scale = max(abs(term.factor) * (extent if term.primitive.kind in LENGTHS else 1.0) for term in row)
        for place, (at, (factor, primitive, a, b)) in enumerate(zip(places, row, strict=True)):
            if primitive.kind not in KINDS:
                raise InputError(f"unknown kind of measure {primitive.kind}", hint=f"use one of {KINDS}")
            rows_i[at, [KIND, A, B]] = primitive.kind, number[a], number[b]
            if (i, place) in followed:
                rows_i[at, TURNS] = followed[i, place] - constraints
            vectors = {U: primitive.u, V: primitive.v, W: primitive.w, PA: primitive.pa, PB: primitive.pb}
            for column, vector in vectors.items():
                rows_f[at, column : column + 3] = vector
            rows_f[at, SCALE], rows_f[at, FACTOR] = scale, factor
        rows_i[places[:-1], THEN] = places[1:]
    return rows_i, rows_f


def _apply_rest_values(mechanism: Mechanism, measures: dict[Key, int], arrays: RowArrays, drawn: Array) -> None:
    """Set offsets that give joint coordinates the `rest` values of the file at the drawing."""
    for key, row in measures.items():
        if key[0] == "joint":
            rest_value = mechanism.joints[key[1]].value("rest", key[2], mechanism.plane)
            if rest_value is not None:
                arrays.rows_f[row, OFFSET] = rest_value - sum(
                    value(arrays.rows_i, arrays.rows_f, term, drawn) for term in terms(arrays, row)
                )


def _apply_couplings(
    mechanism: Mechanism, rows: dict[str, int], measures: dict[Key, int], arrays: RowArrays, drawn: Array
) -> None:
    """Set offsets by which the sum of factor times coordinate vanishes as drawn, or at its value."""
    for name, row in rows.items():
        coupling = mechanism.couplings[name]
        if coupling.value is None:
            at = sum(value(arrays.rows_i, arrays.rows_f, term, drawn) for term in terms(arrays, row))
        else:
            at = coupling.value
            for reference, factor in coupling.coordinates.items():
                coordinate = mechanism.coupled_coordinate(reference)
                if coordinate is not None:
                    at -= factor * arrays.rows_f[measures["joint", *coordinate], OFFSET]
        arrays.rows_f[row, OFFSET] = -at


def _measures_as_drawn(arrays: RowArrays, constraints: int, drawn: Array) -> Array:
    """Return the values of all measures as drawn; angles are within half a turn of their zeros (stored in ZERO)."""
    rows_i, rows_f = arrays.rows_i, arrays.rows_f
    measures = range(constraints, int(arrays.sizes[ROWS]))
    zeros = rows_f[measures, OFFSET]
    turning = np.flatnonzero(rows_i[:, TURNS] != NONE)
    rows_f[turning, ZERO] = zeros[rows_i[turning, TURNS]]
    return np.array([row_value(rows_i, rows_f, row, drawn, zeros) for row in measures])
