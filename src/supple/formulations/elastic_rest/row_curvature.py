"""Second derivatives of a row with respect to displacements of its two parts.

A part's displacement is (u, φ): a translation u in fixed axes (those of its body, undeformed) and a rotation exp φ.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.geometry.vectors import cross
from supple.kinematics.primitives import NONE, curvature, gradient


@kernel
def row_curvature(rows_i, rows_f, row, poses, H):
    """H (12, 12): D²φ over (u_a, φ_a, u_b, φ_b), all in the axes of their parts.

    `curvature` keeps twists constant in axes that turn with the part; there ẍ = ω × v and ∂_k differs from ∂_j by a
    bracket. Taking both away:  D²_jk = h_jk - φ_v·(ω_k × v_j) + ½ φ_ω·(ω_j × ω_k) for k >= j.
    """
    kind, a, b = rows_i[row, 0], rows_i[row, 1], rows_i[row, 2]
    X = np.empty((2, 12))
    X[0], X[1] = poses[a], poses[b]
    one_i = np.array([[kind, 0, 1, NONE, NONE]])
    one_f = rows_f[row : row + 1]
    twists = np.zeros((2, 12, 6))
    for side in range(2):
        for half in range(2):
            for c in range(3):
                for r in range(3):  # a column of R: the unit vector c of the part, in the world
                    twists[side, 6 * side + 3 * half + c, 3 * half + r] = X[side, 3 + 3 * r + c]
    g = np.empty(13)
    gradient(one_i, one_f, 0, X, g)
    curvature(one_i, one_f, 0, X, twists, 12, np.empty((24, 13)), H)
    unit = np.eye(3)
    for side in range(2):
        at = 6 * side
        along = (g[1 + at], g[2 + at], g[3 + at])
        about = (g[4 + at], g[5 + at], g[6 + at])
        for k in range(3):
            wk = (unit[k, 0], unit[k, 1], unit[k, 2])
            for j in range(3):
                t = cross(wk, (unit[j, 0], unit[j, 1], unit[j, 2]))
                H[at + j, at + 3 + k] -= along[0] * t[0] + along[1] * t[1] + along[2] * t[2]
                if k >= j:
                    H[at + 3 + j, at + 3 + k] -= 0.5 * (about[0] * t[0] + about[1] * t[1] + about[2] * t[2])
    for j in range(12):
        for k in range(j):
            H[j, k] = H[k, j]
