"""What is said where a stiffness follows a table beyond its ends."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled, kernel
from supple.diagnostics import SuppleWarning
from supple.formulations.elastic_rest.joint_stiffness_over_position import coordinate_at, within
from supple.formulations.elastic_rest.rows import part_poses
from supple.kinematics.primitives import NONE

if TYPE_CHECKING:
    from supple.formulations.elastic_rest.elastic_rest import ElasticRest

_SAID: dict[str | tuple[str, type[Warning], int], int] = {}  # what `warnings` remembers of this place


def warn_beyond_tables(rest: ElasticRest, X: Array) -> None:
    """A SuppleWarning for each table that some of the poses X (N, bodies + 1, 12) lie beyond: there it is constant."""
    tables = rest.arrays.tables
    if not len(tables.coordinate):
        return
    inside = np.ones(len(tables.coordinate), dtype=np.bool_)
    compiled(inside_batch, count=len(X))(rest.arrays, X, inside)
    for row in np.flatnonzero(tables.of_row != NONE):
        item = rest.elastic_rows[int(row)]
        if not inside[tables.of_row[row]] and item.table is not None:
            # From one place, whoever asks: an analysis asks several times, and it is said once.
            warnings.warn_explicit(
                f'joint "{item.part}": its stiffness "{item.direction}" follows {item.table.over} from '
                f"{item.table.at[0]:g} to {item.table.at[-1]:g}; beyond that it is taken as at the end",
                SuppleWarning, __file__, 1, __name__, _SAID,
            )  # fmt: skip


@kernel(purpose="range of stiffness tables")
def inside_batch(rest, X, inside):
    """inside (T,) of bool becomes False where a table does not reach one of the poses."""
    tables = rest.tables
    poses = np.empty((rest.part_i.shape[0] + 1, 12))
    for n in range(X.shape[0]):
        part_poses(rest, X[n], poses)
        for t in range(inside.shape[0]):
            q = within(tables, t, coordinate_at(rest, tables.coordinate[t], poses))
            least, largest = tables.at[tables.first[t]], tables.at[tables.first[t + 1] - 1]
            slack = 1e-9 * (largest - least)
            inside[t] = inside[t] and least - slack <= q <= largest + slack
