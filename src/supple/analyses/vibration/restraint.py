"""What holds a mechanism at a frequency: rows that are ideal, and rows with a dynamic stiffness κ(ω).

    κ = k (1 + iη) + iω (βk + c) - ω² J

Springs and elastic joints give k, dampers c, motors J; η and β are those of the mechanism's damping.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.formulations.elastic_rest.dense import acting
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, Held

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Restraint(NamedTuple):
    """Rows of the numbering: `hard` are held ideally; `soft` with stiffness k, damping c and inertia J (soft,)."""

    hard: Integers
    soft: Integers
    k: Array
    c: Array
    J: Array

    def held(self) -> Held:
        """Ideal rows and springs, as modes take them."""
        springs = self.k > 0.0
        rows = np.concatenate([self.hard, self.soft[springs]])
        return Held(rows, np.concatenate([np.zeros(len(self.hard)), 1.0 / self.k[springs]]))


def restraint(rest: ElasticRest, *, locked: set[int]) -> Restraint:
    """All joints, and the coordinates θ whose rows are `locked`."""
    first, compliance = rest.numbering.constraints, rest.arrays.compliance
    joints = np.arange(first)
    hard = np.concatenate([joints[compliance[:first] == 0.0], np.array(sorted(locked), dtype=np.int64)])
    dampers, motors = acting(rest, "damping"), acting(rest, "inertia")
    soft = np.flatnonzero(compliance > 0.0).tolist()
    soft = sorted({*soft, *dampers, *motors, *rest.dampers} - locked)
    stiffness = [1.0 / compliance[row] if compliance[row] > 0.0 else 0.0 for row in soft]
    damping = [dampers.get(row, 0.0) + rest.dampers.get(row, 0.0) for row in soft]
    inertia = [motors.get(row, 0.0) for row in soft]
    return Restraint(hard, np.array(soft, dtype=np.int64), *(np.array(x, float) for x in (stiffness, damping, inertia)))
