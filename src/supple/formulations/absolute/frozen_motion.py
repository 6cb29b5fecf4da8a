"""Rigid motions of a mechanism with frozen deformation, as velocities of all frames.

    [Φ_q; A] Ψ_j = (0, e_j)                                                                      [Brüls 2004, eq. 11]

The rows are those between the frames, in twists of bodies that keep their present shape. Joints are ideal and drives
have no compliance. Redundant joints, which a deformed body does not satisfy, are met in the least-squares sense.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.formulations.absolute.beams.space_frame import in_world
from supple.geometry.vectors import cross, minus, plus
from supple.kinematics.elimination import Workspace, add_to_first, eliminate_tree, householder, solve, workspace
from supple.kinematics.motion import lengths
from supple.kinematics.primitives import NONE, SCALE, THEN, A, gradient, in_body
from supple.kinematics.row_arrays import RowArrays, row_sizes


class MassDamping(NamedTuple):
    """Arguments of the kernels below.

    alpha  : 1/s, for all mass; values of materials are stored with their elements
    rows   : of the mechanism, between bodies: order of their elimination
    placed : the same rows between the frames that carry them
    body   : (F,) the body of each frame, the number of bodies for stored coordinates
    lead   : (bodies + 1,) the frame whose axes and origin the twist of a body refers to
    """

    alpha: float
    rows: RowArrays
    placed: RowArrays
    body: Integers
    lead: Integers


class MassDampingWork(NamedTuple):
    """Work arrays of one evaluation.

    elimination : of the rows; unit (rows, s), solved (rows, s) : right sides and workspace
    Psi    : (bodies + 1, d, s) twists of the bodies, in the axes of their leading frames
    rates  : (s,) θ̇; field, moving, force : (F, d) a rigid motion of the frames, P v, and M_α P v
    """

    elimination: Workspace
    unit: Array
    solved: Array
    Psi: Array
    rates: Array
    field: Array
    moving: Array
    force: Array


@kernel(inline=True)
def mass_damping_work(damping, frames):
    """Return reusable work arrays, or None without mass-proportional damping."""
    if damping is None:
        return None
    sizes = row_sizes(damping.rows)
    rows, s, d = sizes.joint_rows + sizes.coordinates, sizes.coordinates, sizes.width
    return MassDampingWork(
        workspace(damping.rows),
        np.zeros((rows, s)),
        np.zeros((rows, s)),
        np.zeros((sizes.bodies + 1, d, s)),
        np.zeros(s),
        np.zeros((frames, d)),
        np.zeros((frames, d)),
        np.zeros((frames, d)),
    )


@kernel
def frozen_rows(damping, X, work):
    """Compute scaled gradients of joint and coordinate rows with respect to twists of bodies of constant shape."""
    rows, placed, lead = damping.rows, damping.placed, damping.lead
    sizes, column, extent, J = row_sizes(rows), rows.column, rows.extent, work.J
    g = np.empty(13)
    for i in range(sizes.joint_rows + sizes.coordinates):
        inverse = 1.0 / rows.rows_f[i, SCALE]
        term = i
        while term != NONE:
            gradient(placed.rows_i, placed.rows_f, term, X, g)
            for side in range(2):
                f, own, at = placed.rows_i[term, A + side], lead[rows.rows_i[term, A + side]], 1 + 6 * side
                force = in_world(X, f, (g[at], g[at + 1], g[at + 2]))
                arm = (X[f, 0] - X[own, 0], X[f, 1] - X[own, 1], X[f, 2] - X[own, 2])
                moment = plus(in_world(X, f, (g[at + 3], g[at + 4], g[at + 5])), cross(arm, force))
                force, moment = in_body(X, own, force), in_body(X, own, moment)
                for c in range(sizes.width):
                    k = column[c]
                    J[term, side, c] = inverse * (extent * force[k] if k < 3 else moment[k - 3])
            if term != i and i < sizes.tree_rows:
                add_to_first(rows.rows_i, i, term, J)
            term = rows.rows_i[term, THEN]


@kernel
def frozen_modes(damping, X, work):
    """Compute Ψ in work.Psi; return whether the rows determine the motion."""
    rows, unit, elimination = damping.rows, work.unit, work.elimination
    sizes = row_sizes(rows)
    mc, s, others = sizes.joint_rows, sizes.coordinates, sizes.joint_rows + sizes.coordinates - sizes.tree_rows
    frozen_rows(damping, X, elimination)
    eliminate_tree(rows, elimination)
    rank = householder(elimination.G, others, sizes.free, elimination.tau, elimination.pivots)[0]
    for j in range(s):
        unit[mc + j, j] = 1.0 / rows.rows_f[mc + j, SCALE]
    solve(rows, elimination, unit, s, work.Psi, work.solved)
    lengths(rows, work.Psi, s)
    return rank == sizes.free


@kernel
def rigid_field(damping, X, Psi, rates, field):
    """Write the velocities Ψ θ̇ of all frames to field (F, d): ẋ in world axes, ω in frame axes."""
    body, lead, column = damping.body, damping.lead, damping.rows.column
    bodies, twist = lead.shape[0] - 1, np.zeros(6)
    for f in range(body.shape[0]):
        b = body[f]
        for c in range(column.shape[0]):
            field[f, c] = 0.0
        if b == bodies:
            continue
        own = lead[b]
        for c in range(column.shape[0]):
            total = 0.0
            for j in range(rates.shape[0]):
                total += Psi[b, c, j] * rates[j]
            twist[column[c]] = total
        v, w = in_world(X, own, (twist[0], twist[1], twist[2])), in_world(X, own, (twist[3], twist[4], twist[5]))
        v = plus(v, cross(w, minus((X[f, 0], X[f, 1], X[f, 2]), (X[own, 0], X[own, 1], X[own, 2]))))
        w = in_body(X, f, w)
        for c in range(column.shape[0]):
            k = column[c]
            field[f, c] = v[k] if k < 3 else w[k - 3]
