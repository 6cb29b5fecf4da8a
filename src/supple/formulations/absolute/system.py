"""A mechanism in absolute coordinates, as arrays: what the kernels of the DAE take."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.description.mass_properties import mass_properties
from supple.formulations.coefficients import AT_POINT, BODY, LAW, ROLE, carried
from supple.integration.ldl import Pattern, pattern_of
from supple.kinematics.numbering import terms
from supple.kinematics.primitives import PA, PB, A, B
from supple.kinematics.rest import Rest
from supple.kinematics.row_arrays import RowArrays

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_FILLED = (
    1e-3  # least inertia in the iteration matrix, against the largest: directions without inertia follow constraints
)


class SystemArrays(NamedTuple):
    """The equations.

    rows           : of the mechanism, points counted from the centres of mass
    mass, inertia  : of each body, about its centre of mass
    loads, uses    : as in CoefficientArrays, points counted from the centres of mass
    friction_speed : over which dry friction changes its sign
    driven         : rows whose value is prescribed
    """

    rows: RowArrays
    mass: Array
    inertia: Array
    loads_i: Integers
    loads_f: Array
    uses_start: Integers
    uses_i: Integers
    uses_f: Array
    friction_speed: float
    driven: Integers


class IterationArrays(NamedTuple):
    """The iteration matrix [[M̂, Φ_qᵀ], [Φ_q, -ε]]: where its entries go.

    solid_mass, solid_inertia : M with directions without inertia filled up
    at_body       : (bodies, d, d) places of the entries of M̂
    at_term       : (terms, 2, d) places of the entries of Φ_q: of the terms of its rows, on their two bodies
    at_multiplier : (multipliers,)
    links         : (n, 5) measure, two ends (term and side) of measures that laws act along; at_link : (n, d, d) places
                    of what both ends together contribute to M̂. An end on the ground has none
    """

    solid_mass: Array
    solid_inertia: Array
    at_body: Integers
    at_term: Integers
    at_multiplier: Integers
    links: Integers
    at_link: Integers


MEASURE, TERM, SIDE, OTHER_TERM, OTHER_SIDE = range(5)  # columns of links


class StepProblem(NamedTuple):
    """What a kernel that takes steps is given."""

    system: SystemArrays
    iteration: IterationArrays
    pattern: Pattern


class Absolute(NamedTuple):
    """A mechanism ready for simulation; centers are those of mass, in body axes."""

    rest: Rest
    system: SystemArrays
    iteration: IterationArrays
    pattern: Pattern
    centers: Array

    @property
    def steps(self) -> StepProblem:
        return StepProblem(self.system, self.iteration, self.pattern)


def absolute(rest: Rest, driven: tuple[int, ...] = (), friction_speed: float = 1e-3) -> Absolute:
    """The mechanism in absolute coordinates, with the coordinates of these numbers prescribed."""
    key = f"absolute {driven} {friction_speed}"
    return rest.numbering.mechanism.remembered(key, lambda: _make(rest, driven, friction_speed))


def _make(rest: Rest, driven: tuple[int, ...], friction_speed: float) -> Absolute:
    numbering, load = rest.numbering, carried(rest)
    arrays, coefficients = numbering.arrays, load.arrays
    found = mass_properties(numbering.drawing)
    centers = np.array([*(found[name].center for name in numbering.bodies), np.zeros(3)])
    rows_f, loads_f = arrays.rows_f.copy(), coefficients.loads_f.copy()
    rows_f[:, PA : PA + 3] -= centers[arrays.rows_i[:, A]]
    rows_f[:, PB : PB + 3] -= centers[arrays.rows_i[:, B]]
    loads_f[:, AT_POINT : AT_POINT + 3] -= centers[coefficients.loads_i[:, BODY]]
    mass = np.array([found[name].mass for name in numbering.bodies])
    inertia = np.array([found[name].inertia for name in numbering.bodies])
    system = SystemArrays(
        arrays._replace(rows_f=rows_f), mass, inertia, coefficients.loads_i, loads_f,
        coefficients.uses_start, coefficients.uses_i, coefficients.uses_f, float(friction_speed),
        np.array([numbering.constraints + i for i in driven], dtype=np.int64),
    )  # fmt: skip
    iteration, pattern = _iteration(system, numbering.constraints)
    return Absolute(rest, system, iteration, pattern, centers)


class _End(NamedTuple):
    """A body that a row acts on by one of its terms."""

    term: int
    side: int
    body: int


def _ends(system: SystemArrays, row: int) -> list[_End]:
    """The bodies that a row acts on, without the ground: two, or with several terms more."""
    rows_i, ground = system.rows.rows_i, len(system.mass)
    both = [_End(term, side, int(rows_i[term, (A, B)[side]])) for term in terms(system.rows, row) for side in (0, 1)]
    return [end for end in both if end.body != ground]


def _iteration(system: SystemArrays, constraints: int) -> tuple[IterationArrays, Pattern]:
    bodies, d = len(system.mass), len(system.rows.column)
    rows = [*range(constraints), *system.driven.tolist()]
    columns = bodies * d
    acted = [
        measure
        for measure in range(len(system.uses_start) - 1)
        if (system.uses_i[system.uses_start[measure] : system.uses_start[measure + 1], ROLE] == LAW).any()
    ]
    links = [
        (measure, one, other)
        for measure in acted
        for one, other in combinations_with_replacement(_ends(system, constraints + measure), 2)
    ]

    def block(one: int, other: int) -> list[list[tuple[int, int]]]:
        return [[(one * d + c, other * d + e) for e in range(d)] for c in range(d)]

    entries = {pair for b in range(bodies) for line in block(b, b) for pair in line}
    entries |= {
        (columns + i, end.body * d + c) for i, row in enumerate(rows) for end in _ends(system, row) for c in range(d)
    }
    entries |= {pair for _, one, other in links for line in block(one.body, other.body) for pair in line}
    table = np.array(sorted(entries), dtype=np.int64)
    pattern, place = pattern_of(columns + len(rows), table[:, 0], table[:, 1])

    def places(one: int, other: int) -> list[list[int]]:
        return [[place[pair] for pair in line] for line in block(one, other)]

    at_body = np.array([places(b, b) for b in range(bodies)], dtype=np.int64).reshape(bodies, d, d)
    at_term = np.full((len(system.rows.rows_i), 2, d), -1, dtype=np.int64)
    for i, row in enumerate(rows):
        for end in _ends(system, row):
            at_term[end.term, end.side] = [place[columns + i, end.body * d + c] for c in range(d)]
    iteration = IterationArrays(
        *_filled(system),
        at_body,
        at_term,
        np.array([place[columns + i, columns + i] for i in range(len(rows))], dtype=np.int64),
        np.array([(m, one.term, one.side, other.term, other.side) for m, one, other in links], np.int64).reshape(-1, 5),
        np.array([places(one.body, other.body) for _, one, other in links], dtype=np.int64).reshape(-1, d, d),
    )
    return iteration, pattern


def _filled(system: SystemArrays) -> tuple[Array, Array]:
    """Masses and inertias with what is (nearly) zero filled up."""
    largest = float(system.mass.max()) if system.mass.max() > 0.0 else 1.0
    mass = np.maximum(system.mass, _FILLED * largest)
    inertia = np.empty_like(system.inertia)
    for b, J in enumerate(system.inertia):
        moments, axes = np.linalg.eigh(J)
        least = _FILLED * max(float(moments.max()), _FILLED * mass[b] * system.rows.extent**2)
        inertia[b] = axes @ np.diag(np.maximum(moments, least)) @ axes.T
    return mass, inertia
