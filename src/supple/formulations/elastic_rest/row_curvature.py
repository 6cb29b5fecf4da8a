"""Second derivatives of one term of a row with respect to displacements of its two parts.

A part's displacement is (u, φ): a translation u in fixed axes (those of its body, undeformed) and a rotation exp φ.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot
from supple.kinematics.primitives import A, B, curvature, gradient


@kernel
def term_curvature(rest, term, poses, H):
    """H (12, 12): D²φ over (u_a, φ_a, u_b, φ_b), all in the axes of their parts.                              [eq. 11]

    `curvature` keeps twists constant in axes that turn with the part; there ẍ = ω × v and ∂_k differs from ∂_j by a
    bracket. Taking both away:  D²_jk = h_jk - φ_v·(ω_k × v_j) + ½ φ_ω·(ω_j × ω_k) for k >= j.
    """
    X = np.empty((2, 12))
    X[0], X[1] = poses[rest.rows_i[term, A]], poses[rest.rows_i[term, B]]
    one_i = rest.rows_i[term : term + 1].copy()
    one_i[0, A], one_i[0, B] = 0, 1
    one_f = rest.rows_f[term : term + 1]
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
    for at in (0, 6):
        along = (g[1 + at], g[2 + at], g[3 + at])
        about = (g[4 + at], g[5 + at], g[6 + at])
        for k in range(3):
            for j in range(3):
                turned = cross(unit[k], unit[j])
                H[at + j, at + 3 + k] -= dot(along, turned)
                if k >= j:
                    H[at + 3 + j, at + 3 + k] -= 0.5 * dot(about, turned)
    for j in range(12):
        for k in range(j):
            H[j, k] = H[k, j]
