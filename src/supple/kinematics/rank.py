"""Rank of the joint rows: mobility, redundant constraints and the joints they involve, singular positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.kinematics.completion import close_drawing, move
from supple.kinematics.jacobian import scaled_jacobian
from supple.kinematics.numbering import Numbering

Array = NDArray[np.float64]

RANK_TOLERANCE = 1e-9  # of the largest singular value
_NUDGE = 0.05  # how far a nearby position is looked for: rad, or extents
_TRIES = 3
_INVOLVED = 1e-6  # share of a joint's rows in a dependence that counts


@dataclass(frozen=True)
class Mobility:
    """Freedom of motion.

    mobility      : n - rank Φ_q in general position (close to rest)
    redundant     : m - rank Φ_q there: constraints that others already impose
    joints        : all joints (and couplings) involved in the redundancy, in the order of the file
    instantaneous : n - rank Φ_q at rest itself; larger than `mobility` where rest is a singular position
    """

    mobility: int
    redundant: int
    joints: tuple[str, ...]
    instantaneous: int

    @property
    def singular(self) -> bool:
        return self.instantaneous > self.mobility


def rank(J: Array) -> int:
    """Number of singular values above RANK_TOLERANCE of the largest."""
    if 0 in J.shape:
        return 0
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > RANK_TOLERANCE * values[0]).sum()) if values[0] > 0.0 else 0


def mobility(found: Numbering, X: Array) -> Mobility:
    """Mobility and redundancy at the position X and close to it.

    A position where the rows lose rank only there is told from a mechanism with redundant constraints by
    moving a little along the instantaneous motions and closing the loops again: the rank in general
    position is the largest found.
    """
    m, n = found.constraints, found.columns
    J = scaled_jacobian(found, X)[:m]
    here = rank(J)
    best, best_J = here, J
    if 0 < here < min(m, n):
        motions = np.linalg.svd(J)[2][here:]
        for seed in range(_TRIES):
            nearby = _nearby(found, X, motions, seed)
            if nearby is not None:
                J_near = scaled_jacobian(found, nearby)[:m]
                near = rank(J_near)
                if near > best:
                    best, best_J = near, J_near
    return Mobility(n - best, m - best, _involved(found, best_J, best), n - here)


@dataclass(frozen=True)
class Dependence:
    """Coordinates that do not tell where the mechanism is, and the bodies that move while they stand still."""

    coordinates: tuple[str, ...]
    bodies: tuple[str, ...]


def dependence(found: Numbering, X: Array) -> Dependence | None:
    """What is wrong with θ if [Φ_q; A] has not rank n in general position (close to X); None if it has."""
    m, n = found.constraints, found.columns
    J = scaled_jacobian(found, X)
    best, best_J = rank(J), J
    if best == n:
        return None
    motions = np.linalg.svd(J[:m])[2][rank(J[:m]) :] if m else np.eye(n)
    for seed in range(_TRIES):
        nearby = _nearby(found, X, motions, seed)
        if nearby is None:
            continue
        J_near = scaled_jacobian(found, nearby)
        near = rank(J_near)
        if near == n:  # X is a dead point of the coordinates, no more
            return None
        if near > best:
            best, best_J = near, J_near
    left, _, right = np.linalg.svd(best_J)
    share = np.linalg.norm(left[m:, best:], axis=1)
    moving = np.linalg.norm(right[best:].reshape(n - best, len(found.bodies), -1), axis=(0, 2))
    return Dependence(
        tuple(name for name, part in zip(found.coordinates, share, strict=True) if part > _INVOLVED),
        tuple(name for name, part in zip(found.bodies, moving, strict=True) if part > _INVOLVED),
    )


def _nearby(found: Numbering, X: Array, motions: Array, seed: int) -> Array | None:
    direction = np.random.default_rng(seed).standard_normal(len(motions)) @ motions
    moved = X.copy()
    move(found, moved, _NUDGE * direction / np.abs(direction).max())
    try:
        return close_drawing(found, moved, {})
    except InputError:  # this way is blocked; others are tried
        return None


def _involved(found: Numbering, J: Array, rank_: int) -> tuple[str, ...]:
    """Joints and couplings with a share in any λ ≠ 0 with Φ_qᵀ λ = 0."""
    if rank_ == J.shape[0]:
        return ()
    share = np.linalg.norm(np.linalg.svd(J)[0][:, rank_:], axis=1)
    joints = [name for name in found.mechanism.joints if share[found.joint_rows[name]].max(initial=0.0) > _INVOLVED]
    return (*joints, *(name for name, row in found.coupling_rows.items() if share[row] > _INVOLVED))
