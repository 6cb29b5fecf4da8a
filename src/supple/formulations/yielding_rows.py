"""Rows that yield: of a joint sums of what it measures along its directions, each with its own stiffness; a coupling's.

    R φ = C λ,   K = Rᵀ C⁻¹ R,   C diagonal                                                  (elastic-rest, eqs. 5a-5c)

Rows of the numbering hold one direction each. Where directions of a joint are coupled, the same rows hold sums of them
here; nothing else of a formulation knows of a matrix. Kinematics, where joints are ideal, does not need this.
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
    """A row that yields: its joint or coupling, a direction ("" of a coupling), k and c along it, and the factors of
    deflections of the joint's drives in it, by coordinate. With a table, k is the largest of its values. loss : η."""

    part: str
    direction: str
    stiffness: float
    damping: float
    drives: dict[str, float]
    table: StiffnessTable | None = None
    loss: float = 0.0


class YieldingRows(NamedTuple):
    """Terms of all rows (rows_i, rows_f), as the numbering has them and further ones behind; what yields, by row."""

    rows_i: Integers
    rows_f: Array
    soft: dict[int, SoftRow]


def yielding_rows(numbering: Numbering, *, rigid: bool = False, following: bool = False) -> YieldingRows:
    """The rows of the numbering, those of joints with a stiffness as the sums along which it is diagonal.

    rigid     : joints and couplings are taken as ideal, and rows stay as they are
    following : who asks follows stiffnesses that are tables (`elastic_rest.joint_stiffness_over_position`); else they
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
                    f'its stiffness "{row.direction}" follows "{table.over}", and in these equations it cannot',
                    part=f'joint "{name}"', path=("joints", name, "stiffness"),
                    hint="reduce the mechanism, whose model follows the table, or take its elastic parts as rigid",
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
