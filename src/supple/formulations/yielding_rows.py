"""Rows with compliance: for a joint, sums of its measures, each with its own stiffness; for a coupling, its own row.

    R φ = C λ,   K = Rᵀ C⁻¹ R,   C diagonal                                                  (elastic-rest, eqs. 5a-5c)

Each row of the numbering holds one direction. If directions of a joint are coupled, these rows hold sums of them here,
so that the other parts of a formulation need no matrices. Kinematics with ideal joints does not use this module.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.description.joints.elasticity import StiffnessTable
from supple.diagnostics import InputError
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import FACTOR, KIND, LENGTHS, SCALE, THEN


class SoftRow(NamedTuple):
    """A compliant row: its joint or coupling, and its stiffness and damping.

    It contains a direction ("" for a coupling), k and c along it, the loss factor η, and the factors of the deflections
    of the joint's drives by coordinate. For a stiffness table, k is its largest value.
    """

    part: str
    direction: str
    stiffness: float
    damping: float
    drives: dict[str, float]
    table: StiffnessTable | None = None
    loss: float = 0.0


class YieldingRows(NamedTuple):
    """Terms of all rows (rows_i, rows_f), those of the numbering and additional ones, with the compliant rows."""

    rows_i: Integers
    rows_f: Array
    soft: dict[int, SoftRow]


def yielding_rows(numbering: Numbering, *, rigid: bool = False, following: bool = False) -> YieldingRows:
    """Return the rows of the numbering, with compliant joints as sums along which their stiffness is diagonal.

    rigid     : treat joints and couplings as ideal, so that rows stay unchanged
    following : the caller evaluates stiffness tables (`elastic_rest.joint_stiffness_over_position`); otherwise tables
                are refused
    """
    mechanism, extent = numbering.mechanism, float(numbering.arrays.extent)
    rows_i, rows_f = numbering.arrays.rows_i.copy(), numbering.arrays.rows_f.copy()
    heads = rows_f.copy()
    soft: dict[int, SoftRow] = {}
    for name, joint in mechanism.joints.items():
        if rigid or not joint.yields:
            continue
        first, form = numbering.joint_rows[name].start, joint.form(mechanism.plane)
        at = {way: first + i for i, way in enumerate(form.directions(mechanism.plane))}
        sense = dict(zip(at, form.signs(), strict=True))
        elasticity = joint.elasticity(mechanism.plane)
        for row in elasticity.rows():
            # Counted as the row of its direction counts, which so stays what it is where nothing is coupled.
            sign, head = sense[row.direction], at[row.direction]
            drives = {coordinate: sign * factor for coordinate, factor in row.drives.items() if factor != 0.0}
            table = elasticity.tables.get(row.direction)
            if table is not None and not following:
                raise InputError(
                    f'stiffness "{row.direction}" is a table over "{table.over}", which these equations do not support',
                    part=f'joint "{name}"', path=("joints", name, "stiffness"),
                    hint="use a reduced model, which supports tables, or treat elastic parts as rigid (rigid=True)",
                )  # fmt: skip
            soft[head] = SoftRow(
                name, row.direction, row.stiffness, row.damping, drives, table, float(joint.elastic_loss or 0.0)
            )
            factors = {at[way]: sign * sense[way] * factor for way, factor in row.factors.items()}
            rows_f[head, FACTOR] *= factors.pop(head, 0.0)
            terms = [head, *range(len(rows_i), len(rows_i) + len(factors))]
            rows_i = np.vstack([rows_i, numbering.arrays.rows_i[list(factors)]])
            rows_f = np.vstack([rows_f, heads[list(factors)]])
            rows_f[terms[1:], FACTOR] *= list(factors.values())
            rows_i[terms[:-1], THEN] = terms[1:]
            size = np.abs(rows_f[terms, FACTOR]) * np.where(np.isin(rows_i[terms, KIND], list(LENGTHS)), extent, 1.0)
            rows_f[terms, SCALE] = size.max()
    for name, at_row in () if rigid else numbering.coupling_rows.items():
        coupling = mechanism.couplings[name]
        if coupling.stiffness is not None:
            soft[at_row] = SoftRow(name, "", float(coupling.stiffness), float(coupling.damping or 0.0), {})
    return YieldingRows(rows_i, rows_f, soft)
