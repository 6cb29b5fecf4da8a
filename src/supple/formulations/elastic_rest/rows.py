"""Rows of joints, coordinates and measures over the elastic coordinates z, at one configuration.

A row of the rigid mechanism measures between two bodies. Here it measures between two parts: nodes of elastic bodies,
and rigid bodies themselves. A part's axes are those of its body; its displacement is u = `shapes` z (eq. 3).
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.kinematics.primitives import gradient


@kernel
def part_poses(part_i, part_x, X, poses):
    """Poses (parts + 1, 12) of all parts, the ground last, from those of the bodies."""
    parts = part_i.shape[0]
    for p in range(parts):
        b = part_i[p, 0]
        for r in range(3):
            poses[p, r] = X[b, r]
            for c in range(3):
                poses[p, r] += X[b, 3 + 3 * r + c] * part_x[p, c]
        for k in range(3, 12):
            poses[p, k] = X[b, k]
    ground = X.shape[0] - 1
    for k in range(12):
        poses[parts, k] = X[ground, k]


@kernel
def row_over_z(part_i, shapes, column, a, b, g, row):
    """row (n,) = ∂φ/∂z from the gradient g (value, part a (6), part b (6)) of a measure."""
    parts, d = part_i.shape[0], column.shape[0]
    for c in range(row.shape[0]):
        row[c] = 0.0
    for side in range(2):
        p = a if side == 0 else b
        if p < parts:
            first, width = part_i[p, 1], part_i[p, 2]
            for k in range(d):
                factor = g[1 + 6 * side + column[k]]
                if factor != 0.0:
                    for c in range(width):
                        row[first + c] += factor * shapes[p, k, c]


@kernel
def chosen_rows(rest, chosen, X, C):
    """C (len(chosen), n): the chosen rows at poses X of the bodies. rest : ElasticArrays."""
    part_i, part_x, shapes, _, column, rows_i, rows_f, _ = rest
    poses = np.empty((part_i.shape[0] + 1, 12))
    part_poses(part_i, part_x, X, poses)
    g = np.empty(13)
    for i in range(chosen.shape[0]):
        row = chosen[i]
        gradient(rows_i, rows_f, row, poses, g)
        row_over_z(part_i, shapes, column, rows_i[row, 1], rows_i[row, 2], g, C[i])


@kernel(purpose="rows of elastic bodies")
def rows_batch(rest, chosen, X, C):
    """The same at many configurations: X (N, bodies + 1, 12), C (N, rows, n)."""
    for k in range(X.shape[0]):
        chosen_rows(rest, chosen, X[k], C[k])
