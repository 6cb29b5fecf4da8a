"""Joint stiffnesses that depend on a coordinate: rows are scaled so that their compliance stays constant.

    k(q) = k_ref s(q)²,    ½ k(q) (C z)² = ½ k_ref (s C z)²,    ∂(s C) = s ∂C + s' ∂q C          (elastic-rest, eq. 5d)

Between the values of a table, k is the monotone cubic of Fritsch and Carlson, which stays within them and is smooth.
Beyond the table k is constant. Angles are counted within half a turn of the middle of the table.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.description.joints.elasticity import LOAD
from supple.diagnostics import InputError, unknown_name
from supple.formulations.yielding_rows import SoftRow
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import ANGLE, KIND, NONE, THEN, A, B, gradient


class StiffnessTables(NamedTuple):
    """Data of T tables.

    of_row (rows,) the table of a row, or NONE; coordinate (T,) the row that it depends on; first (T + 1,) of its
    values; at, stiffness and slope of k (values,); reference (T,) the k of the compliances; middle (T,) of its angles,
    or NaN for lengths
    """

    of_row: Integers
    coordinate: Integers
    first: Integers
    at: Array
    stiffness: Array
    slope: Array
    reference: Array
    middle: Array


def stiffness_tables(numbering: Numbering, rows_i: Integers, soft: dict[int, SoftRow]) -> StiffnessTables:
    """Return the tables of all rows that have one."""
    of_row, first = np.full(len(rows_i), NONE, dtype=np.int64), [0]
    coordinate: list[int] = []
    middle: list[float] = []
    reference: list[float] = []
    knots: list[Array] = []
    for row, item in soft.items():
        if item.table is None:
            continue
        of_row[row] = len(coordinate)
        if item.table.over not in numbering.coordinates:
            if item.table.over == LOAD:
                raise InputError(
                    f'the stiffness "{item.direction}" depends on the load, which differs between configurations',
                    part=f'joint "{item.part}"', path=("joints", item.part, "stiffness"),
                    hint="use modes, frf, deflection or compliance at one configuration, or "
                    "replace the table by a number",
                )  # fmt: skip
            what = f'coordinate of the stiffness "{item.direction}"'
            raise unknown_name(what, item.table.over, numbering.coordinates, part=f'joint "{item.part}"')
        follows = numbering.constraints + numbering.coordinates.index(item.table.over)
        at, values = np.array(item.table.at, dtype=float), np.array(item.table.values, dtype=float)
        coordinate.append(follows)
        middle.append(0.5 * (at[0] + at[-1]) if rows_i[follows, KIND] == ANGLE else np.nan)
        reference.append(item.stiffness)
        knots.append(np.column_stack([at, values, PchipInterpolator(at, values).derivative()(at)]))
        first.append(first[-1] + len(at))
    table = np.vstack([np.zeros((0, 3)), *knots])
    return StiffnessTables(
        of_row, np.array(coordinate, dtype=np.int64), np.array(first, dtype=np.int64),
        table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy(),
        np.array(reference, dtype=float), np.array(middle, dtype=float),
    )  # fmt: skip


@kernel
def within(tables, t, q):
    """Return the value q for table t; angles within half a turn of the middle of the table."""
    middle = tables.middle[t]
    if np.isnan(middle):
        return q
    return q - 2.0 * pi * np.floor((q - middle) / (2.0 * pi) + 0.5)


@kernel
def scale_at(tables, t, given):
    """Return s and s' of table t for a value of its coordinate."""
    first, last, reference = tables.first[t], tables.first[t + 1] - 1, tables.reference[t]
    q = within(tables, t, given)
    k, dk = tables.stiffness[first], 0.0
    if q >= tables.at[last]:
        k = tables.stiffness[last]
    elif q > tables.at[first]:
        i = first
        while q > tables.at[i + 1]:
            i += 1
        h = tables.at[i + 1] - tables.at[i]
        u = (q - tables.at[i]) / h
        rise = tables.stiffness[i + 1] - tables.stiffness[i]
        one, other = tables.slope[i] * h - rise, rise - tables.slope[i + 1] * h
        k = tables.stiffness[i] + u * rise + u * (1.0 - u) * ((1.0 - u) * one + u * other)
        dk = (rise + (1.0 - 2.0 * u) * ((1.0 - u) * one + u * other) + u * (1.0 - u) * (other - one)) / h
    s = np.sqrt(k / reference)
    return s, dk / (2.0 * reference * s)


@kernel
def coordinate_at(rest, row, poses):
    """Return the value of a row at poses of the parts; angles within a turn."""
    g = np.empty(13)
    total, term = 0.0, row
    while term != NONE:
        gradient(rest.rows_i, rest.rows_f, term, poses, g)
        total += g[0]
        term = rest.rows_i[term, THEN]
    return total


@kernel
def row_scale(rest, row, poses):
    """Return s of a row; one without a table."""
    t = rest.tables.of_row[row]
    if t == NONE:
        return 1.0
    s, _ = scale_at(rest.tables, t, coordinate_at(rest, rest.tables.coordinate[t], poses))
    return s


@kernel
def coordinate_rate(rest, row, poses, moving, k):
    """Return the change of a row along motion k of the parts, moving (parts + 1, s, 6) twists in world axes."""
    g = np.empty(13)
    total, term = 0.0, row
    while term != NONE:
        gradient(rest.rows_i, rest.rows_f, term, poses, g)
        for side in range(2):
            p = rest.rows_i[term, A if side == 0 else B]
            for half in range(2):
                for c in range(3):
                    for r in range(3):  # components in the axes of the part
                        total += g[1 + 6 * side + 3 * half + c] * poses[p, 3 + 3 * r + c] * moving[p, k, 3 * half + r]
        term = rest.rows_i[term, THEN]
    return total
