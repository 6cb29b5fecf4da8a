"""Constraints of a mechanism at a frequency: ideal rows, and rows with a dynamic stiffness κ(ω).

    κ = k (1 + iη) + iω (βk + c) - ω² J

Springs, elastic joints and compliant drives give k, dampers and drives c, motors J; η and β are those of the
mechanism's damping.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.formulations.elastic_rest.dense import collect_by_row
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, HeldRows


class Restraint(NamedTuple):
    """Constrained rows of the numbering.

    hard : ideal rows; soft : rows with stiffness k, damping c and inertia J (soft,)
    """

    hard: Integers
    soft: Integers
    k: Array
    c: Array
    J: Array

    def list_held_rows(self) -> HeldRows:
        """Return ideal rows and springs in the form that modes use."""
        springs = self.k > 0.0
        rows = np.concatenate([self.hard, self.soft[springs]])
        return HeldRows(rows, np.concatenate([np.zeros(len(self.hard)), 1.0 / self.k[springs]]))


def restraint(
    rest: ElasticRest, *, locked: set[int], yields: Mapping[int, tuple[float, float]] = MappingProxyType({})
) -> Restraint:
    """Return the rows of all joints, and of the coordinates θ whose rows are `locked`.

    yields : stiffness k and damping c of drives, by row
    """
    first, compliance = rest.numbering.constraints, rest.arrays.compliance
    joints = np.arange(first)
    hard = np.concatenate([joints[compliance[:first] == 0.0], np.array(sorted(locked), dtype=np.int64)])
    dampers, motors = collect_by_row(rest, "damping"), collect_by_row(rest, "inertia")
    soft = np.flatnonzero(compliance > 0.0).tolist()
    soft = sorted({*soft, *dampers, *motors, *rest.dampers, *yields} - locked)
    by_drives = [yields.get(row, (0.0, 0.0)) for row in soft]
    stiffness = [1.0 / compliance[row] if compliance[row] > 0.0 else 0.0 for row in soft]
    stiffness = [k + added for k, (added, _) in zip(stiffness, by_drives, strict=True)]
    damping = [dampers.get(row, 0.0) + rest.dampers.get(row, 0.0) for row in soft]
    damping = [c + added for c, (_, added) in zip(damping, by_drives, strict=True)]
    inertia = [motors.get(row, 0.0) for row in soft]
    return Restraint(hard, np.array(soft, dtype=np.int64), *(np.array(x, float) for x in (stiffness, damping, inertia)))
