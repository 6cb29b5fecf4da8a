"""Motions that no mass takes part in: where the mass matrix is singular, and whose motors would cure it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism

LEAST = 1e-9  # smallest eigenvalue of M scaled to ones on its diagonal; accelerations lose as many digits
_PART = 0.1  # of the largest: what takes part in a motion


def massless_words(mechanism: Mechanism, names: Sequence[str], M: Array) -> str | None:
    """What moves without inertia, in words, of M (n, n) over the coordinates `names`; None: nothing does."""
    scale = 1.0 / np.sqrt(np.diag(M))
    values, vectors = np.linalg.eigh(scale[:, None] * M * scale)
    if not values[0] < LEAST:
        return None
    parts = np.abs(vectors[:, 0])
    taking = ", ".join(name for name, part in zip(names, parts, strict=True) if part > _PART * parts.max())
    idle = [name for name, joint in mechanism.joints.items() if joint.drive is not None and joint.motor is None]
    cure = f"give the motors of {', '.join(idle)} their inertia (motor: {{inertia: ..., gear: ...}})" if idle else ""
    return (
        f"a motion of {taking} has no inertia (smallest eigenvalue of M scaled to ones: {values[0]:.1e}): "
        "accelerations, steps in time and exports of this model are not to be used; "
        f"{cure or 'give what moves so some mass'}, or keep fewer modes"
    )
