"""Rank of the joint rows: mobility, redundant constraints and the joints they involve, singular positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.kinematics.completion import close_drawing, move
from supple.kinematics.numbering import Numbering
from supple.kinematics.ranked_rows import LARGE, RankedRows, ranked

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


def mobility(found: Numbering, X: Array) -> Mobility:
    """Mobility and redundancy at the position X and close to it.

    A position where the rows lose rank only there is told from a mechanism with redundant constraints by
    moving a little along the instantaneous motions and closing the loops again: the rank in general
    position is the largest found.
    """
    m, n = found.constraints, found.columns
    here = best = ranked(found, X, coordinates=False)
    if 0 < here.rank < min(m, n):
        for seed in range(_TRIES):
            nearby = _nearby(found, X, here, seed)
            if nearby is not None:
                near = ranked(found, nearby, coordinates=False)
                if near.rank > best.rank:
                    best = near
                if n > LARGE:  # one position drawn at random tells as much as three, which are costly here
                    break
    return Mobility(n - best.rank, m - best.rank, _involved(found, best), n - here.rank)


@dataclass(frozen=True)
class Dependence:
    """Coordinates that do not tell where the mechanism is, and the bodies that move while they stand still."""

    coordinates: tuple[str, ...]
    bodies: tuple[str, ...]


def dependence(found: Numbering, X: Array) -> Dependence | None:
    """What is wrong with θ if [Φ_q; A] has not rank n in general position (close to X); None if it has."""
    m, n = found.constraints, found.columns
    best = ranked(found, X, coordinates=True)
    if best.rank == n:
        return None
    joints = ranked(found, X, coordinates=False)
    for seed in range(_TRIES):
        nearby = _nearby(found, X, joints, seed)
        if nearby is None:
            continue
        near = ranked(found, nearby, coordinates=True)
        if near.rank == n:  # X is a dead point of the coordinates, no more
            return None
        if near.rank > best.rank:
            best = near
    share = best.dependent()[m:]
    moving = np.linalg.norm(best.moving().reshape(len(found.bodies), -1), axis=1)
    return Dependence(
        tuple(name for name, part in zip(found.coordinates, share, strict=True) if part > _INVOLVED),
        tuple(name for name, part in zip(found.bodies, moving, strict=True) if part > _INVOLVED),
    )


def _nearby(found: Numbering, X: Array, joints: RankedRows, seed: int) -> Array | None:
    direction = joints.motion(seed)
    moved = X.copy()
    move(found, moved, _NUDGE * direction / np.abs(direction).max())
    try:
        return close_drawing(found, moved, {})
    except InputError:  # this way is blocked; others are tried
        return None


def _involved(found: Numbering, joints: RankedRows) -> tuple[str, ...]:
    """Joints and couplings with a share in any λ ≠ 0 with Φ_qᵀ λ = 0."""
    if joints.rank == found.constraints:
        return ()
    share = joints.dependent()
    names = [name for name in found.mechanism.joints if share[found.joint_rows[name]].max(initial=0.0) > _INVOLVED]
    return (*names, *(name for name, row in found.coupling_rows.items() if share[row] > _INVOLVED))
