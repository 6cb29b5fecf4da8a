"""The forces of the actuators that a motion needs, or why no forces hold a state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.quoting import listed
from supple.kinematics.rest import rest

Array = NDArray[np.float64]

_MISSING = 1e-8  # what may be missing, against what a unit of motion, or the largest force, would do


def holding_inputs(mechanism: Mechanism, theta: Array, needed: Array, B: Array, size: Array) -> Array:
    """u (N, inputs) of least norm with B u = Q: needed Q (N, s), B (N, s, inputs).

    size : (N, s) of the forces along each coordinate, against which a missing one is judged
    """
    u = np.einsum("nai,ni->na", np.linalg.pinv(B), needed) if B.shape[2] else np.zeros((len(B), 0))
    missing = np.abs(needed - np.einsum("nia,na->ni", B, u))
    wrong = missing > _MISSING * np.maximum(size, np.abs(needed))
    if not wrong.any():
        return np.asarray(u)
    n, i = (int(item) for item in np.argwhere(wrong)[0])
    numbering = rest(mechanism).numbering
    names = numbering.coordinates
    where = listed([f"{name}={value:.6g}" for name, value in zip(names, theta[n], strict=True)])
    where += f" (state {n} of {len(theta)})" if len(theta) > 1 else ""
    unit = "N m" if numbering.angles()[numbering.constraints + i] else "N"
    who = (
        "it has no actuators"
        if not B.shape[2]
        else f"its actuators ({listed(list(mechanism.actuators))}) cannot give it"
    )
    raise InputError(
        f'"{names[i]}" needs {needed[n, i]:.6g} {unit} at {where} to move as asked, and {who}',
        part=f'mechanism "{mechanism.name}"',
        hint="linearize at its equilibrium, ask for accelerations it can have, or give the inputs",
    )


def force_size(mechanism: Mechanism, M: Array, dforce: Array, accelerations: Array) -> Array:
    """What a unit of motion changes the forces by, and what the accelerations need: (N, s)."""
    numbering = rest(mechanism).numbering
    first = numbering.constraints
    angles = numbering.angles()[first : first + len(numbering.coordinates)]
    unit = np.where(angles, 1.0, numbering.arrays.extent)
    return np.asarray(np.abs(dforce) @ unit + np.einsum("nij,nj->ni", np.abs(M), np.abs(accelerations)))
