"""Loops: all of q from the independent θ, at one position (docs/theory/rigid-link-system.md, 16-18).

    C_q q̇ = 0,  E q̇ = θ̇        q̇ = Γ θ̇,   q̈ = Γ θ̈ + γ,   (C_q; E) γ = (F_l; -Ė q̇),   F_l = -Ċ_q q̇             (16)

C are the rows of joints that close loops, and of couplings. Where θ are coordinates of the tree's joints, E picks q_i,
and Γ = (I; -C_qd⁻¹C_qi), γ = (0; C_qd⁻¹F_l). A distance between bodies, or a coordinate of a joint that closes a loop,
has its own row in E.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import NumericalError
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem
from supple.kinematics.primitives import SCALE

_SINGULAR = 1e-9  # of the largest singular value, lengths in extents


class LoopPartition(NamedTuple):
    """C_q (loops, n) and E (s, n) as one matrix of scaled rows and columns, its pseudo-inverse; Γ (n, s)."""

    inverse: Array
    loops: int
    Gamma: Array
    scale: Array

    def bias(self, twice: Array) -> Array:
        """γ (n,) from the second rates of C and θ for q̈ = 0, (loops + s,)."""
        return np.asarray(-self.inverse @ (twice / self.scale))


def partition(system: RigidLinkSystem, rigid: Array) -> LoopPartition:
    """rigid : (rows, n) ∂φ/∂q of all rows."""
    chosen = np.concatenate([system.loop_rows, np.array(system.theta_rows, dtype=np.int64)])
    scale = system.numbering.arrays.rows_f[chosen, SCALE]
    unit = np.array([system.numbering.arrays.extent if item.slides else 1.0 for item in system.tree.freedoms])
    matrix = rigid[chosen] / scale[:, None] * unit
    U, sigma, V = np.linalg.svd(matrix, full_matrices=False)
    if matrix.shape[0] < matrix.shape[1] or sigma[-1] <= _SINGULAR * sigma[0]:
        raise NumericalError(
            "its joint coordinates are not determined by θ: the configuration is singular",
            part=f'mechanism "{system.numbering.mechanism.name}"', hint="choose a configuration away from it",
        )  # fmt: skip
    inverse = unit[:, None] * ((V.T / sigma) @ U.T)
    loops = len(system.loop_rows)
    return LoopPartition(inverse, loops, inverse[:, loops:] / scale[loops:], scale)
