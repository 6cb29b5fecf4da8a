"""Where a drive stands that has come to rest, or moves evenly, at a command."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.hardware.drive_block import DriveBlock


def settled_drive(
    block: DriveBlock, theta: float, rate: float, force: float = 0.0, command: float | None = None
) -> tuple[Array, float]:
    """States x (k,) and command c with which the drive stands at θ and moves on at θ̇.

    A drive that moves has θ_s = θ + force/k, θ̇_s = θ̇ and no further derivatives:

        C x = θ_s,   C A x + C B c = θ̇_s,   C Aʲ x + C Aʲ⁻¹ B c = 0,   j = 2 ... k

    one that pulls has ẋ = 0 = A x + B c + E θ̇ and the force f = C x + D c. With a command that is given, what hangs on
    it gives way: the last of these equations, and of a drive that yields and holds a place of its own accord (a
    position drive) θ_s itself.
    """
    pulls = not block.moves or (command is not None and not block.leads and _holds(block))
    rows = _at_rest(block, rate, force) if pulls else _along(block, theta, rate, force)
    matrix, target = rows
    if command is not None:
        matrix = np.vstack([matrix[: block.order], np.eye(1, block.order + 1, block.order)])
        target = np.concatenate([target[: block.order], [command]])
    found: Array = np.linalg.lstsq(matrix, target, rcond=None)[0].astype(float)
    return found[:-1], float(found[-1])


def _holds(block: DriveBlock) -> bool:
    """Whether a held command brings it to rest: no eigenvalue is zero."""
    return block.order > 0 and bool(np.linalg.matrix_rank(block.A) == block.order)


def _at_rest(block: DriveBlock, rate: float, force: float) -> tuple[Array, Array]:
    """Rows for (x, c)."""
    motion = np.column_stack([block.A, block.B])
    output = np.append(block.C, block.D)
    return np.vstack([motion, output]), np.append(-block.E * rate, force)


def _along(block: DriveBlock, theta: float, rate: float, force: float) -> tuple[Array, Array]:
    """Rows for (x, c)."""
    place = theta + (force / block.stiffness if block.stiffness else 0.0)
    rows, now, felt = [], block.C, 0.0
    for _ in range(block.order + 1):
        rows.append(np.append(now, felt))
        now, felt = now @ block.A, float(now @ block.B)
    target = np.zeros(block.order + 1)
    target[:2] = (place, rate)[: block.order + 1]
    return np.array(rows), target
