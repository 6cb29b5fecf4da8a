"""Assemblies from scattered starts: Newton's method with bounded steps at a given θ, from anywhere.

    x = -(Φ_q; A)⁺ (Φ, θ(q) - θ_d),   no longer than LONGEST, until it vanishes                     (kinematics, 18)

Unlike closure from rest it follows no branch: each start may end on another one, or nowhere.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.kinematics.closure_kernel import Correction, row_of_terms, unwrapped, update
from supple.kinematics.elimination import factor, solve, workspace
from supple.kinematics.primitives import ANGLE, KIND, NONE, SCALE, THEN
from supple.kinematics.row_arrays import row_sizes

LONGEST = 0.5  # rad, or extents
ITERATIONS = 80
CLOSED = 1e-12  # a correction that leaves nothing to do
SMALL = 1e-2  # a correction after which a position that is not regular may still be one of a family

OPEN, ASSEMBLED, SINGULAR = 0, 1, 2


@kernel
def largest_of(x, bodies, width):
    """The largest scaled velocity of x (bodies + 1, d, 1); nan if one is."""
    largest = 0.0
    for b in range(bodies):
        for c in range(width):
            if not abs(x[b, c, 0]) <= largest:
                largest = abs(x[b, c, 0])
    return largest


@kernel(purpose="assemblies from scattered starts")
def close_scattered(rows, selected, target, w, X_all, status):
    """Each of X_all (N, bodies + 1, 12) moved in place to an assembly at θ = target (s,), and its `status` (N,).

    w : (measures,) at rest, by which turns of geared angles are counted
    """
    sizes, rows_i, rows_f = row_sizes(rows), rows.rows_i, rows.rows_f
    nb, d, mc, s = sizes.bodies, sizes.width, sizes.joint_rows, sizes.coordinates
    work = workspace(rows)
    correction = Correction(np.empty((mc + s, 1)), np.empty((nb + 1, d, 1)), np.empty((mc + s, 1)))
    rho, x = correction.rho, correction.x
    for n in range(X_all.shape[0]):
        X = X_all[n]
        status[n] = OPEN
        size, before = 1.0, 1.0
        for _ in range(ITERATIONS):
            regular, _sign = factor(rows, selected, X, work)
            if not regular:
                status[n] = SINGULAR if size < SMALL else OPEN
                break
            for i in range(mc + s):
                gap = -row_of_terms(rows_i, rows_f, i, work.values, w)
                if i >= mc:
                    gap += target[i - mc]
                    if rows_i[i, KIND] == ANGLE and rows_i[i, THEN] == NONE:
                        gap = unwrapped(gap, 0.0)
                rho[i, 0] = gap / rows_f[i, SCALE]
            solve(rows, work, rho, 1, x, correction.g)
            before, size = size, largest_of(x, nb, d)
            if not size < 1e6:
                break
            if size > LONGEST:
                for b in range(nb):
                    for c in range(d):
                        x[b, c, 0] *= LONGEST / size
            update(rows, X, x)
            if size < CLOSED or (size < 1e-9 and size > 0.5 * before):
                status[n] = ASSEMBLED
                break
