"""A tree packed into two flat arrays: links become axes, and welded bodies become one body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.array_types import Array, Integers
from supple.diagnostics import InputError
from supple.formulations.recursive import memory as row
from supple.formulations.recursive.distances import END_POINT, STIFF
from supple.formulations.recursive.memory import (
    BALL,
    DISTANCE_INTEGERS,
    DISTANCE_NUMBERS,
    FLOAT,
    LOAD_INTEGERS,
    LOAD_NUMBERS,
    SCREW,
    SLIDE,
    TURN,
    PackedTree,
    block_place,
    product_place,
)
from supple.formulations.recursive.tree import GROUND, AppliedLoad, AxisElements, Distance, Links, chain
from supple.geometry.inertia import MassProperties, zero_mass
from supple.geometry.rotation import axes_from_z

_INPUTS = {TURN: 2, SLIDE: 1, SCREW: 3, BALL: 4, FLOAT: 7}


@dataclass(frozen=True)
class Seat:
    """Position of a body: the last axis that moves it (-1 for the ground), and its frame in the frame of that axis."""

    axis: int
    position: Array
    rotation: Array

    def place(self, point: Array) -> Array:
        return self.position + self.rotation @ point


@dataclass
class _Axes:
    """Rows of the axes, under construction."""

    integers: list[list[int]]
    numbers: list[Array]
    carried: list[MassProperties]


def seats(links: Links, at_q: Integers, at_v: Integers) -> tuple[list[Seat], Integers, Array]:
    """Return the position of every link, and the rows of all axes."""
    axes = _Axes([], [], [])
    seated: list[Seat] = []
    for i in range(len(links.kind)):
        base = seated[links.parent[i]] if links.parent[i] != GROUND else Seat(GROUND, np.zeros(3), np.eye(3))
        seat = _add_joint(axes, links, i, base, int(at_q[i]), int(at_v[i]))
        seated.append(seat)
        if seat.axis != GROUND:
            center, inertia = seat.place(links.center[i]), seat.rotation @ links.inertia[i] @ seat.rotation.T
            axes.carried[seat.axis] += MassProperties(float(links.mass[i]), center, inertia)
    integers = np.array(axes.integers, dtype=np.int64).reshape(-1, row.INTEGERS)
    return seated, integers, _with_masses(integers, np.array(axes.numbers), axes.carried)


def _add_joint(axes: _Axes, links: Links, i: int, base: Seat, at_q: int, at_v: int) -> Seat:
    """Append the axes of one joint and return the position of its body."""
    position, rotation = base.place(links.position[i]), base.rotation @ links.rotation[i]
    parent, before, turned = base.axis, base.axis, np.eye(3)
    first = len(axes.integers)
    for item in chain(links.kind[i], links.axis[i], links.second_axis[i], bool(links.turned_round[i])):
        number, fixed = len(axes.integers), item.kind in (BALL, FLOAT)
        frame = np.eye(3) if fixed else axes_from_z(item.direction)
        entry = [0] * row.INTEGERS
        entry[row.KIND] = item.kind
        entry[row.PARENT] = parent
        entry[row.BEFORE] = before if fixed else parent
        entry[row.AT_Q] = at_q + (0 if fixed else item.coordinate)
        entry[row.AT_V] = at_v + item.coordinate
        entry[row.FIRST] = first if fixed else number
        numbers = np.zeros(row.NUMBERS)
        numbers[row.PLACE_ROTATION : row.PLACE_ROTATION + 9] = (rotation @ frame).ravel()
        numbers[row.PLACE_POSITION : row.PLACE_POSITION + 3] = position
        numbers[row.PITCH] = links.pitch[i]
        axes.integers.append(entry)
        axes.numbers.append(numbers)
        axes.carried.append(zero_mass())
        position, rotation, turned, parent = np.zeros(3), frame.T, frame, number
    if parent == base.axis:  # a weld: still in the frame of what it is welded to
        R = rotation @ links.mounting_rotation[i].T
        return Seat(base.axis, position - R @ links.mounting_position[i], R)
    R = turned.T @ links.mounting_rotation[i].T
    return Seat(parent, -R @ links.mounting_position[i], R)


def _with_masses(integers: Integers, numbers: Array, carried: list[MassProperties]) -> Array:
    total = np.array([item.mass for item in carried])
    for k in reversed(range(len(carried))):
        if integers[k, row.PARENT] != GROUND:
            total[integers[k, row.PARENT]] += total[k]
    for k, item in enumerate(carried):
        second = 0.5 * np.trace(item.inertia) * np.eye(3) - item.inertia
        numbers[k, row.MASS] = item.mass
        numbers[k, row.CENTER : row.CENTER + 3] = item.center
        numbers[k, row.SECOND_MOMENT : row.SECOND_MOMENT + 6] = second[np.triu_indices(3)]
        numbers[k, row.CARRIED_MASS] = total[k]
        integers[k, row.BODY] = int(item.mass != 0.0 or bool(item.inertia.any()))
    return numbers


def packed_tree(
    links: Links,
    along: AxisElements,
    gravity: Array,
    loads: Sequence[AppliedLoad],
    distances: Sequence[Distance],
    actuated: Integers,
    at_q: Integers,
    at_v: Integers,
    nq: int,
    n: int,
) -> PackedTree:
    """Return the flat arrays that `tables` in memory.py splits."""
    seated, integers, numbers = seats(links, at_q, at_v)
    inputs = 0
    for k in range(n):
        kind, base = int(integers[k, row.KIND]), int(integers[k, row.PARENT])
        integers[k, row.AT_INPUT] = inputs
        if integers[k, row.FIRST] == k:
            inputs += _INPUTS[kind]
            free = base == GROUND or bool(integers[base, row.CARRIES_ORIGIN])
            integers[k, row.CARRIES_ORIGIN] = int(free and kind in (SLIDE, FLOAT) and not distances)
            if kind == FLOAT and base != GROUND:
                integers[k, row.CARRIES_ORIGIN] = 0
        for place, values in zip(
            (row.ARMATURE, row.DAMPING, row.STIFFNESS, row.RELAXED, row.OFFSET, row.DRIVE, row.DRY, row.FRICTION_SPEED),
            along,
            strict=True,
        ):
            numbers[k, place] = values[integers[k, row.AT_V]]
    _refuse(integers, along)
    coordinate_axis = np.empty(n, dtype=np.int64)
    coordinate_axis[integers[:, row.AT_V]] = np.arange(n)
    drives = np.where(actuated >= 0, coordinate_axis[np.maximum(actuated, 0)], n)
    loads_i, loads_f = _loads(seated, loads, n)
    distances_i, distances_f = _distances(seated, distances, actuated, n)
    meet = _meet(integers)
    for column in (row.PARENT, row.BEFORE):
        integers[integers[:, column] == GROUND, column] = n
    of_A, of_B = _results(integers[:, row.AT_V], drives, n)
    header = np.array([n, nq, inputs, len(actuated), len(loads), len(distances), len(of_B)], dtype=np.int64)
    tables = (integers, meet, drives, loads_i, distances_i, of_A, of_B)
    tree_i = np.concatenate([header, *(table.ravel() for table in tables)])
    tree_f = np.concatenate([gravity, numbers.ravel(), loads_f.ravel(), distances_f.ravel()])
    return PackedTree(np.ascontiguousarray(tree_i, dtype=np.int64), np.ascontiguousarray(tree_f, dtype=np.float64))


def _results(at_v: Integers, drives: Integers, n: int) -> tuple[Integers, Integers]:
    """Return the source and target of every entry of A (rows n to 2n) and B."""
    m, k = len(drives), np.arange(n)[:, None]
    column, to = np.arange(2 * n), np.concatenate([at_v, n + at_v])
    of_A = product_place(2 * n, k, column), (n + at_v[:, None]) * 2 * n + to
    driven = np.flatnonzero(drives < n)
    of_B = block_place(n, k, drives[driven]), (n + at_v[:, None]) * m + driven
    return np.stack(of_A, axis=-1).reshape(-1, 2), np.stack(of_B, axis=-1).reshape(-1, 2)


def _refuse(integers: Integers, along: AxisElements) -> None:
    """Refuse springs, offsets, drives and dry friction on rotations of a spherical joint, which have no coordinate."""
    for entry in integers:
        if entry[row.KIND] in (BALL, FLOAT):
            for name in ("stiffness", "offset", "drive", "dry"):
                if getattr(along, name)[entry[row.AT_V]] != 0.0:
                    raise InputError(
                        f"a spherical or free joint has no coordinate for {name} number {entry[row.AT_V]}",
                        part="tree",
                        hint="use a distance between two points, or joints with coordinates",
                    )


def _meet(integers: Integers) -> Integers:
    """Return the last axis that carries both, or n, for all pairs (n, n)."""
    n = len(integers)
    found = np.full((n, n), n, dtype=np.int64)
    for k in range(n):  # parents first: an axis before k meets k where it meets the parent of k
        base = int(integers[k, row.PARENT])
        if base != GROUND:
            found[:k, k] = found[k, :k] = found[:k, base]
        found[k, k] = k
    return found


def _loads(seated: list[Seat], loads: Sequence[AppliedLoad], n: int) -> tuple[Integers, Array]:
    integers, numbers = np.empty((len(loads), LOAD_INTEGERS), dtype=np.int64), np.empty((len(loads), LOAD_NUMBERS))
    for i, load in enumerate(loads):
        seat = _seat(seated, load.link, f"load {i}")
        turn = seat.rotation if load.follows else np.eye(3)
        integers[i] = seat.axis if seat.axis != GROUND else n, int(load.follows)
        numbers[i, :3] = seat.place(np.asarray(load.point, float))
        numbers[i, 3:6], numbers[i, 6:] = turn @ np.asarray(load.force, float), turn @ np.asarray(load.moment, float)
    return integers, numbers


def _distances(seated: list[Seat], distances: Sequence[Distance], actuated: Integers, n: int) -> tuple[Integers, Array]:
    integers = np.empty((len(distances), DISTANCE_INTEGERS), dtype=np.int64)
    numbers = np.empty((len(distances), DISTANCE_NUMBERS))
    for i, distance in enumerate(distances):
        ends = [_seat(seated, distance.first, f"distance {i}"), _seat(seated, distance.second, f"distance {i}")]
        if distance.actuator >= 0 and (distance.actuator >= len(actuated) or actuated[distance.actuator] != -1):
            raise InputError(
                f"actuator {distance.actuator} is not along a distance",
                part=f"distance {i}",
                hint="set its entry in `actuated` to -1",
            )
        integers[i] = *(seat.axis if seat.axis != GROUND else n for seat in ends), distance.actuator
        points = np.asarray(distance.first_point, float), np.asarray(distance.second_point, float)
        for e in range(2):
            numbers[i, END_POINT + 3 * e : END_POINT + 3 * e + 3] = ends[e].place(points[e])
        numbers[i, STIFF:] = distance.stiffness, distance.length, distance.damping, distance.force
    return integers, numbers


def _seat(seated: list[Seat], link: int, part: str) -> Seat:
    if not GROUND <= link < len(seated):
        raise InputError(f"link {link} of {len(seated)} does not exist", part=part, hint="-1 is the ground")
    return seated[link] if link != GROUND else Seat(GROUND, np.zeros(3), np.eye(3))
