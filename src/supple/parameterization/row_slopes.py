"""Rows over the elastic coordinates z and their derivatives along the rigid motions of the mechanism."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.rows import part_poses, row_over_z
from supple.kinematics.primitives import gradient, gradient_slope


@kernel
def part_twists(part_i, part_x, X, twists, s, found):
    """Twists (parts + 1, s, 6) of the parts' origins, in world axes, from the bodies'; the ground's are zero."""
    parts = part_i.shape[0]
    found[parts] = 0.0
    for p in range(parts):
        b = part_i[p, 0]
        r = np.empty(3)
        for i in range(3):
            r[i] = 0.0
            for c in range(3):
                r[i] += X[b, 3 + 3 * i + c] * part_x[p, c]
        for j in range(s):
            w = twists[b, j]
            found[p, j, 0] = w[0] + w[4] * r[2] - w[5] * r[1]
            found[p, j, 1] = w[1] + w[5] * r[0] - w[3] * r[2]
            found[p, j, 2] = w[2] + w[3] * r[1] - w[4] * r[0]
            for c in range(3, 6):
                found[p, j, c] = w[c]


@kernel
def rows_and_slopes(rest, chosen, X, twists, s, C, dC):
    """C (rows, n) and dC (s, rows, n): the chosen rows and their derivatives with respect to θ."""
    part_i, part_x, shapes, _, column, rows_i, rows_f, _ = rest
    parts = part_i.shape[0]
    poses = np.empty((parts + 1, 12))
    part_poses(part_i, part_x, X, poses)
    moving = np.empty((parts + 1, s, 6))
    part_twists(part_i, part_x, X, twists, s, moving)
    g = np.empty(13)
    for i in range(chosen.shape[0]):
        row = chosen[i]
        a, b = rows_i[row, 1], rows_i[row, 2]
        gradient(rows_i, rows_f, row, poses, g)
        row_over_z(part_i, shapes, column, a, b, g, C[i])
        for k in range(s):
            gradient_slope(rows_i, rows_f, row, poses, moving[a, k], moving[b, k], g)
            row_over_z(part_i, shapes, column, a, b, g, dC[k, i])


@kernel
def rigid_in_z(body_i, rigid, Psi, dPsi, s, Z, dZ):
    """Rigid modes Z (s, n) and ∂_k of them dZ (s, s, n), first k then the mode, from body twists Psi and dPsi."""
    d = Psi.shape[1]
    for b in range(body_i.shape[0]):
        first, width = body_i[b, 0], body_i[b, 1]
        for j in range(s):
            for c in range(width):
                total = 0.0
                for e in range(d):
                    total += rigid[b, c, e] * Psi[b, e, j]
                Z[j, first + c] = total
            for k in range(s):
                for c in range(width):
                    total = 0.0
                    for e in range(d):
                        total += rigid[b, c, e] * dPsi[b, e, j * s + k]
                    dZ[k, j, first + c] = total
