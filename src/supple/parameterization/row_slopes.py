"""Rows over the elastic coordinates z and their derivatives along the rigid motions of the mechanism."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH, add_term, part_poses
from supple.formulations.elastic_rest.stiffness_tables import coordinate_at, coordinate_rate, scale_at
from supple.kinematics.primitives import NONE, THEN, A, B, gradient, gradient_slope


@kernel
def part_twists(rest, X, twists, moving):
    """Twists (parts + 1, s, 6) of the parts' origins, in world axes, from the bodies'; the ground's are zero."""
    parts = rest.part_i.shape[0]
    moving[parts] = 0.0
    for p in range(parts):
        b = rest.part_i[p, BODY]
        r = np.empty(3)
        for i in range(3):
            r[i] = 0.0
            for c in range(3):
                r[i] += X[b, 3 + 3 * i + c] * rest.part_x[p, c]
        for j in range(moving.shape[1]):
            w = twists[b, j]
            moving[p, j, 0] = w[0] + w[4] * r[2] - w[5] * r[1]
            moving[p, j, 1] = w[1] + w[5] * r[0] - w[3] * r[2]
            moving[p, j, 2] = w[2] + w[3] * r[1] - w[4] * r[0]
            for c in range(3, 6):
                moving[p, j, c] = w[c]


@kernel
def rows_and_slopes(rest, chosen, X, twists, C, dC):
    """C (rows, n) and dC (s, rows, n): the chosen rows and their derivatives with respect to θ."""
    parts, s = rest.part_i.shape[0], dC.shape[0]
    poses = np.empty((parts + 1, 12))
    part_poses(rest, X, poses)
    moving = np.empty((parts + 1, s, 6))
    part_twists(rest, X, twists, moving)
    g = np.empty(13)
    C[:] = 0.0
    dC[:] = 0.0
    for i in range(chosen.shape[0]):
        term = chosen[i]
        while term != NONE:
            a, b = rest.rows_i[term, A], rest.rows_i[term, B]
            gradient(rest.rows_i, rest.rows_f, term, poses, g)
            add_term(rest, term, g, C[i])
            for k in range(s):
                gradient_slope(rest.rows_i, rest.rows_f, term, poses, moving[a, k], moving[b, k], g)
                add_term(rest, term, g, dC[k, i])
            term = rest.rows_i[term, THEN]
        table = rest.tables.of_row[chosen[i]]
        if table != NONE:
            follow_table(rest, table, poses, moving, C[i], dC[:, i])


@kernel
def follow_table(rest, table, poses, moving, row, slopes):
    """row (n,) and slopes (s, n) of a stiffness that follows a coordinate q: s C, and s ∂C + s' ∂q C.   [eq. 5d]"""
    coordinate = rest.tables.coordinate[table]
    scale, change = scale_at(rest.tables, table, coordinate_at(rest, coordinate, poses))
    for k in range(slopes.shape[0]):
        along = change * coordinate_rate(rest, coordinate, poses, moving, k)
        for c in range(row.shape[0]):
            slopes[k, c] = scale * slopes[k, c] + along * row[c]
    for c in range(row.shape[0]):
        row[c] *= scale


@kernel
def rigid_in_z(bodies, twists, slopes, Z, dZ):
    """Rigid modes Z (s, n) and ∂_k of them dZ (s, s, n), first k then the mode, from those of the bodies' frames,
    twists (bodies, d, s) and slopes (bodies, d, s s)."""
    d, s = twists.shape[1], twists.shape[2]
    for b in range(bodies.place.shape[0]):
        first, width = bodies.place[b, FIRST], bodies.place[b, WIDTH]
        for j in range(s):
            for c in range(width):
                total = 0.0
                for e in range(d):
                    total += bodies.rigid[b, c, e] * twists[b, e, j]
                Z[j, first + c] = total
            for k in range(s):
                for c in range(width):
                    total = 0.0
                    for e in range(d):
                        total += bodies.rigid[b, c, e] * slopes[b, e, j * s + k]
                    dZ[k, j, first + c] = total
