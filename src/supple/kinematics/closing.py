"""Closing many positions at once, from a start along the straight segment, and what stops it."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled
from supple.compilation.batches import in_parts
from supple.compilation.native_array import native_array
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.quoting import values_text
from supple.kinematics.closure_kernel import SHORTEST, Start, close_batch
from supple.kinematics.configuration import Configuration
from supple.kinematics.elimination import workspace
from supple.kinematics.householder import last_over_first
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import Rest
from supple.kinematics.rigid_modes import rigid_modes
from supple.kinematics.row_arrays import RowArrays

_DEAD = 0.02  # singularity measure below which a halted closure stands before a dead point
_SHARE = 1e-2  # of a coordinate in the forces that balance without it moving
_FEW = 6  # coordinates, up to which second derivatives along all pairs of them take milliseconds interpreted
_TOGETHER = 30.0  # singular values this close to the smallest vanish together with it


def close_all(position: Rest, theta: Array, origin: Start | None = None, rounds: int = 1) -> tuple[Array, Array, Array]:
    """Poses, measures and how far each θ (N, s) was reached, on all cores; from rest unless an origin is given.

    rounds : how often this is asked for with as many θ
    """
    theta, count = native_array(theta), len(theta)
    X = np.empty((count, *position.X.shape))
    w = np.empty((count, len(position.w)))
    reached = np.empty(count)
    origin = closing_start(position) if origin is None else origin

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        run = compiled(close_batch, count=rounds * (stop - start) * bulk(position.numbering))
        run(position.numbering.arrays, position.selected, origin, theta[piece], X[piece], w[piece], reached[piece])

    in_parts(part, count)
    return X, w, reached


def closing_start(position: Rest) -> Start:
    """Computed once for each mechanism; a rest that is itself a dead point is an error."""
    return position.numbering.mechanism.remembered("start", lambda: _start(position))


def _start(position: Rest) -> Start:
    found = departure(position, position.numbering.arrays, position.X, position.w)
    if found is None:
        raise dead_point(Configuration(position, position.theta, position.X, position.w, np.zeros(())))
    return found


def departure(
    position: Rest, arrays: RowArrays, X: Array, w: Array, *, count: int = 1, shortest: float = SHORTEST
) -> Start | None:
    """A start at poses X (bodies + 1, 12) with measures w, for rows of that mechanism; None at a dead point.

    count    : how many are asked for one after the other
    shortest : step at which a dead point is not approached any further
    """
    sizes = position.numbering.sizes
    nb, d, s = sizes.bodies, sizes.width, sizes.coordinates
    Psi, dPsi, twists = np.zeros((nb + 1, d, s)), np.zeros((nb + 1, d, s * s)), np.zeros((nb + 1, s, 6))
    work = workspace(arrays)
    bulky = count * bulk(position.numbering)
    bulky = 0 if bulky == 1 and s <= _FEW else bulky  # milliseconds, once a mechanism: not worth compiling
    regular, sign = compiled(rigid_modes, count=bulky)(arrays, position.selected, X, work, Psi, dPsi, twists)
    return Start(X, w, Psi, dPsi, sign, last_over_first(work.G, sizes.free), shortest) if regular else None


def bulk(numbering: Numbering) -> int:
    """How many positions of a small mechanism cost as much as one of this: 1 up to some twenty bodies."""
    return max(1, numbering.columns // 60) ** 3


def locked_coordinates(configuration: Configuration) -> list[str]:
    """Coordinates that a (nearly) singular position blocks: those with a share in λ, [Φ_q; A]ᵀ λ ≈ 0."""
    left, sigma, _ = np.linalg.svd(configuration.jacobian())
    numbering = configuration.rest.numbering
    vanishing = np.flatnonzero(sigma[: numbering.columns] <= _TOGETHER * sigma[numbering.columns - 1])
    share = np.linalg.norm(left[numbering.constraints :, vanishing], axis=1)
    return [name for name, part in zip(numbering.coordinates, share, strict=True) if part > _SHARE]


def dead_point(halted: Configuration) -> InputError | NumericalError:
    """The error for a closure that could not follow the segment, naming what locks."""
    position = halted.rest
    names = position.numbering.coordinates
    asked = values_text(names, halted.theta)
    there = position.theta + float(halted.reached) * (halted.theta - position.theta)
    where = values_text(names, there)
    part = f'mechanism "{halted.mechanism.name}" at {asked}'
    if float(halted.singularity) > _DEAD:
        return NumericalError(
            f"closure stopped at {where}, which is not a dead point (singularity {float(halted.singularity):.2g})",
            part=part,
            hint="ask for a configuration closer to rest, or draw the rest closer to it",
        )
    locked = locked_coordinates(halted)
    listed = ", ".join(f'"{name}"' for name in locked)
    what = (
        f"{listed} lock{'s' if len(locked) == 1 else ''}" if locked else "it gains a freedom that no coordinate holds"
    )
    return InputError(
        f"the way from rest meets a dead point at {where} (singularity {float(halted.singularity):.2g}), where {what}",
        part=part,
        hint="ask for a configuration on this side of it, or draw the rest on the branch you want",
    )
