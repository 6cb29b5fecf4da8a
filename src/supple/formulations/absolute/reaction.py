"""Reaction of a joint on its second body, from the multipliers of its rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.formulations.absolute.residual import row_gradients
from supple.formulations.absolute.system import Absolute
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.primitives import NONE, THEN, A
from supple.kinematics.row_arrays import row_sizes
from supple.results.result import arrays_repr


class Reaction(NamedTuple):
    """Reaction of a joint on its second body: force (N, 3), N, and moment about the joint (N, 3), N m, world axes."""

    force: Array
    moment: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


def reaction_of(problem: Absolute, X: Array, multipliers: Array, joint: str) -> Reaction:
    """Return the wrench Φ_qᵀ λ of one joint, moved to the joint's position on its second body.

    X : (N, frames + 1, 12) poses of the frames; multipliers : (N, rows), joint rows first
    """
    numbering, frames = problem.rest.numbering, problem.frames
    places = joint_frames(numbering.drawing, joint)
    first, second = (
        frames.at(numbering.body_index(name), place)
        for name, place in zip(numbering.mechanism.joints[joint].bodies, (places.pa, places.pb), strict=True)
    )
    # The ground has no equations: what acts on it is the opposite of what acts on the other body.
    frame, sign = (second, 1.0) if second < frames.count else (first, -1.0)
    wrench = np.zeros((len(X), 6))
    push = np.zeros((len(X), len(problem.system.rows.column)))
    rows = np.arange(numbering.joint_rows[joint].start, numbering.joint_rows[joint].stop)
    compile_kernel(push_batch, count=len(X))(
        problem.system.rows, rows, np.ascontiguousarray(X), np.ascontiguousarray(multipliers), frame, push
    )
    wrench[:, problem.system.rows.column] = sign * push
    force = wrench[:, :3]
    R = X[:, frame, 3:].reshape(-1, 3, 3)
    on_second = places.pb - frames.place[second]
    place = X[:, second, :3] + X[:, second, 3:].reshape(-1, 3, 3) @ on_second
    moment = np.einsum("nij,nj->ni", R, wrench[:, 3:]) - np.cross(place - X[:, frame, :3], force)
    P = numbering.mechanism.plane_axes()
    return Reaction(force @ P.T, moment @ P.T)


@kernel
def push_batch(rows, chosen, X_all, multipliers, frame, out):
    """Compute Φ_qᵀ λ of some rows on one frame, (N, d), at every position."""
    sizes, rows_i = row_sizes(rows), rows.rows_i
    w = np.zeros(sizes.rows - sizes.joint_rows)  # gradients know nothing of turns
    g, J = np.empty(13), np.empty((rows_i.shape[0], 2, sizes.width))
    for n in range(X_all.shape[0]):
        for i in range(chosen.shape[0]):
            row = chosen[i]
            row_gradients(rows_i, rows.rows_f, rows.column, row, X_all[n], w, g, J)
            term = row
            while term != NONE:
                for side in range(2):
                    if rows_i[term, A + side] == frame:
                        for c in range(sizes.width):
                            out[n, c] += multipliers[n, row] * J[term, side, c]
                term = rows_i[term, THEN]
