"""Rows of joints, coordinates and measures over the elastic coordinates z, at one configuration.

A row of the rigid mechanism measures between two bodies. Here it measures between two parts: nodes of elastic bodies,
and rigid bodies themselves. A part's axes are those of its body; its displacement is u = `shapes` z (eq. 3).
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.joint_stiffness_over_position import row_scale
from supple.kinematics.primitives import NONE, THEN, A, B, gradient

BODY, FIRST, WIDTH = range(3)  # columns of ElasticArrays.part_i


@kernel
def part_poses(rest, X, poses):
    """Return poses (parts + 1, 12) of all parts, the ground last, from those of the bodies."""
    parts = rest.part_i.shape[0]
    for p in range(parts):
        b = rest.part_i[p, BODY]
        for r in range(3):
            poses[p, r] = X[b, r]
            for c in range(3):
                poses[p, r] += X[b, 3 + 3 * r + c] * rest.part_x[p, c]
        for k in range(3, 12):
            poses[p, k] = X[b, k]
    ground = X.shape[0] - 1
    for k in range(12):
        poses[parts, k] = X[ground, k]


@kernel
def add_term(rest, term, g, row):
    """Add ∂φ/∂z of one term to row (n,), from its gradient g (value, part a (6), part b (6)) [eq. 4]."""
    for side in range(2):
        p = rest.rows_i[term, A if side == 0 else B]
        if p < rest.part_i.shape[0]:
            first, width = rest.part_i[p, FIRST], rest.part_i[p, WIDTH]
            for k in range(rest.column.shape[0]):
                factor = g[1 + 6 * side + rest.column[k]]
                if factor != 0.0:
                    for c in range(width):
                        row[first + c] += factor * rest.shapes[p, k, c]


@kernel
def chosen_rows(rest, chosen, X, C):
    """Compute C (len(chosen), n): the chosen rows at poses X of the bodies. rest : ElasticArrays."""
    poses = np.empty((rest.part_i.shape[0] + 1, 12))
    part_poses(rest, X, poses)
    g = np.empty(13)
    for i in range(chosen.shape[0]):
        C[i] = 0.0
        term = chosen[i]
        while term != NONE:
            gradient(rest.rows_i, rest.rows_f, term, poses, g)
            add_term(rest, term, g, C[i])
            term = rest.rows_i[term, THEN]
        if rest.tables.of_row[chosen[i]] != NONE:
            scale = row_scale(rest, chosen[i], poses)
            for c in range(C.shape[1]):
                C[i, c] *= scale


@kernel(purpose="rows of elastic bodies")
def rows_batch(rest, chosen, X, C):
    """Compute the rows at many configurations: X (N, bodies + 1, 12), C (N, rows, n)."""
    for k in range(X.shape[0]):
        chosen_rows(rest, chosen, X[k], C[k])
