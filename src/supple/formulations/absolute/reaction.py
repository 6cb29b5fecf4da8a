"""What a joint does to its second body, from the multipliers of its rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.formulations.absolute.system import Absolute
from supple.kinematics.joint_frames import joint_frames
from supple.results.result import bundle

Array = NDArray[np.float64]


class Reaction(NamedTuple):
    """What a joint does to its second body: force (N, 3) in N and moment about the joint (N, 3) in N m, world axes."""

    force: Array
    moment: Array

    def __repr__(self) -> str:
        return bundle(self)


def reaction_of(problem: Absolute, X: Array, gradients: Array, multipliers: Array, joint: str) -> Reaction:
    """The wrench Φ_qᵀ λ of one joint, moved to the joint's place on its second body.

    X           : (N, bodies + 1, 12) poses of the centres of mass
    gradients   : (N, rows, n) joint rows Φ_q; multipliers : (N, rows)
    """
    numbering = problem.rest.numbering
    rows, d = numbering.joint_rows[joint], len(problem.system.rows.column)
    first, second = (numbering.body_index(name) for name in numbering.mechanism.joints[joint].bodies)
    # The ground has no equations: what acts on it is the opposite of what acts on the other body.
    body, sign = (second, 1.0) if second < len(numbering.bodies) else (first, -1.0)
    wrench = np.zeros((len(multipliers), 6))
    push = np.einsum("nr,nrc->nc", multipliers[:, rows], gradients[:, rows, body * d : body * d + d])
    wrench[:, problem.system.rows.column] = sign * push
    force = wrench[:, :3]
    R = X[:, body, 3:].reshape(-1, 3, 3)
    on_second = joint_frames(numbering.drawing, joint).pb - problem.centers[second]
    place = X[:, second, :3] + X[:, second, 3:].reshape(-1, 3, 3) @ on_second
    moment = np.einsum("nij,nj->ni", R, wrench[:, 3:]) - np.cross(place - X[:, body, :3], force)
    P = numbering.mechanism.plane_axes()
    return Reaction(force @ P.T, moment @ P.T)
