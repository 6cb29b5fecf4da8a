"""A mechanism in absolute coordinates, as arrays: what the kernels of the DAE take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.description.mass_properties import mass_properties
from supple.formulations.coefficients import DAMPER, MOTOR, SPRING, carried
from supple.integration.ldl import Pattern, pattern_of
from supple.kinematics.primitives import PA, PB
from supple.kinematics.rest import Rest

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_FILLED = (
    1e-3  # least inertia in the iteration matrix, against the largest: directions without inertia follow constraints
)


class SystemArrays(NamedTuple):
    """The equations.

    sizes   : bodies, columns a body, joint rows, all rows
    mass, inertia : of each body, about its centre of mass
    rows_f, loads_f : points counted from the centres of mass
    speeds  : (dry frictions,) speed at which dry friction is nearly full
    driven  : rows whose value is prescribed
    """

    sizes: Integers
    column: Integers
    rows_i: Integers
    rows_f: Array
    mass: Array
    inertia: Array
    loads_i: Integers
    loads_f: Array
    uses_start: Integers
    uses_i: Integers
    uses_f: Array
    speeds: Array
    driven: Integers


class IterationArrays(NamedTuple):
    """The iteration matrix [[M̂, Φ_qᵀ], [Φ_q, -ε]]: where its entries go.

    solid_mass, solid_inertia : M with directions without inertia filled up
    at_body : (bodies, d, d), at_row : (multipliers, 2, d), at_multiplier : (multipliers,) places of the entries
    links, at_link : measures with a spring, damper or motor, and the places (links, 2, d, 2, d) of their contribution
    """

    solid_mass: Array
    solid_inertia: Array
    at_body: Integers
    at_row: Integers
    at_multiplier: Integers
    links: Integers
    at_link: Integers


class Absolute(NamedTuple):
    """A mechanism ready for simulation; centers are those of mass, in body axes."""

    rest: Rest
    system: SystemArrays
    iteration: IterationArrays
    pattern: Pattern
    centers: Array


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
    rows_f[:, PA : PA + 3] -= centers[arrays.rows_i[:, 1]]
    rows_f[:, PB : PB + 3] -= centers[arrays.rows_i[:, 2]]
    loads_f[:, :3] -= centers[coefficients.loads_i[:, 0]]
    mass = np.array([found[name].mass for name in numbering.bodies])
    inertia = np.array([found[name].inertia for name in numbering.bodies])
    speeds = np.full(len(load.dry_forces), friction_speed)
    sizes = np.array([len(numbering.bodies), arrays.sizes[1], numbering.constraints, arrays.sizes[5]])
    system = SystemArrays(
        sizes, arrays.column, arrays.rows_i, rows_f, mass, inertia, coefficients.loads_i, loads_f,
        coefficients.uses_start, coefficients.uses_i, coefficients.uses_f, speeds,
        np.array([numbering.constraints + i for i in driven], dtype=np.int64),
    )  # fmt: skip
    iteration, pattern = _iteration(system, arrays.extent)
    return Absolute(rest, system, iteration, pattern, centers)


def _iteration(system: SystemArrays, extent: float) -> tuple[IterationArrays, Pattern]:
    bodies, d, constraints, _ = (int(size) for size in system.sizes)
    rows = np.concatenate([np.arange(constraints), system.driven])
    columns = bodies * d
    links = [
        row - constraints
        for row in range(constraints, int(system.sizes[3]))
        if any(
            system.uses_i[n, 0] in (SPRING, DAMPER, MOTOR)
            for n in range(system.uses_start[row - constraints], system.uses_start[row - constraints + 1])
        )
    ]
    entries: set[tuple[int, int]] = {(b * d + c, b * d + e) for b in range(bodies) for c in range(d) for e in range(d)}
    for i, row in enumerate(rows):
        entries |= {(columns + i, b * d + c) for b in system.rows_i[row, 1:3] if b < bodies for c in range(d)}
    for link in links:
        a, b = system.rows_i[constraints + link, 1:3]
        if a < bodies and b < bodies:
            entries |= {(a * d + c, b * d + e) for c in range(d) for e in range(d)}
    table = np.array(sorted(entries), dtype=np.int64)
    pattern, place = pattern_of(columns + len(rows), table[:, 0], table[:, 1])
    at_body = np.array([[[place[b * d + c, b * d + e] for e in range(d)] for c in range(d)] for b in range(bodies)])
    at_row = np.full((len(rows), 2, d), -1, dtype=np.int64)
    for i, row in enumerate(rows):
        for side in (0, 1):
            b = system.rows_i[row, 1 + side]
            if b < bodies:
                at_row[i, side] = [place[columns + i, b * d + c] for c in range(d)]
    at_multiplier = np.array([place[columns + i, columns + i] for i in range(len(rows))], dtype=np.int64)
    at_link = np.full((len(links), 2, d, 2, d), -1, dtype=np.int64)
    for n, link in enumerate(links):
        ends = system.rows_i[constraints + link, 1:3]
        for p in (0, 1):
            for q in (0, 1):
                if ends[p] < bodies and ends[q] < bodies:
                    at_link[n, p, :, q] = [
                        [place[ends[p] * d + c, ends[q] * d + e] for e in range(d)] for c in range(d)
                    ]
    solid_mass, solid_inertia = _filled(system, extent)
    return (
        IterationArrays(
            solid_mass, solid_inertia, at_body.reshape(bodies, d, d), at_row, at_multiplier,
            np.array(links, dtype=np.int64), at_link,
        ),
        pattern,
    )  # fmt: skip


def _filled(system: SystemArrays, extent: float) -> tuple[Array, Array]:
    """Masses and inertias with what is (nearly) zero filled up."""
    largest = float(system.mass.max()) if system.mass.max() > 0.0 else 1.0
    mass = np.maximum(system.mass, _FILLED * largest)
    inertia = np.empty_like(system.inertia)
    for b, J in enumerate(system.inertia):
        moments, axes = np.linalg.eigh(J)
        least = _FILLED * max(float(moments.max()), _FILLED * mass[b] * extent**2)
        inertia[b] = axes @ np.diag(np.maximum(moments, least)) @ axes.T
    return mass, inertia
