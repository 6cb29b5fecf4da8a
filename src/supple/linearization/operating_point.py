"""The forces of the actuators that a motion needs, or why no forces hold a state."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.quoting import item_list
from supple.kinematics.rest import rest

_MISSING = 1e-8  # of the largest force, or of what a unit of motion does, along any coordinate: what may be missing


def holding_inputs(mechanism: Mechanism, theta: Array, needed: Array, B: Array, size: Array) -> Array:
    """u (N, inputs) of least norm with B u = Q: needed Q (N, s), B (N, s, inputs).

    size : (N, s) of the forces along each coordinate. A missing one is judged against the largest of them all, angles
           in rad and lengths in sizes of the mechanism: along a vertical axis the weight of an arm is rounding, and so
           is the stiffness against it
    """
    u = np.einsum("nai,ni->na", np.linalg.pinv(B), needed) if B.shape[2] else np.zeros((len(B), 0))
    missing = np.abs(needed - np.einsum("nia,na->ni", B, u))
    numbering = rest(mechanism).numbering
    unit = numbering.theta_scale
    largest = (np.maximum(size, np.abs(needed)) * unit).max(axis=1, initial=0.0)
    wrong = missing * unit > _MISSING * largest[:, None]
    if not wrong.any():
        return np.asarray(u)
    n, i = (int(item) for item in np.argwhere(wrong)[0])
    names = numbering.coordinates
    where = item_list([f"{name}={value:.6g}" for name, value in zip(names, theta[n], strict=True)])
    where += f" (state {n} of {len(theta)})" if len(theta) > 1 else ""
    said = "N m" if numbering.turns[i] else "N"
    who = (
        "it has no actuators"
        if not B.shape[2]
        else f"its actuators ({item_list(list(mechanism.actuators))}) cannot give it"
    )
    raise InputError(
        f'"{names[i]}" needs {needed[n, i]:.6g} {said} at {where} to move as asked, and {who}',
        part=f'mechanism "{mechanism.name}"',
        hint="linearize at its equilibrium, ask for accelerations it can have, or give the inputs",
    )


def force_size(mechanism: Mechanism, M: Array, dforce: Array, accelerations: Array, rates: Array) -> Array:
    """What a unit of motion changes the forces by, and what accelerations and products of rates need: (N, s)."""
    unit = rest(mechanism).numbering.theta_scale
    fast = np.abs(rates / unit).max(axis=1, initial=0.0)[:, None] ** 2 * unit
    return np.asarray(np.abs(dforce) @ unit + np.einsum("nij,nj->ni", np.abs(M), np.abs(accelerations) + fast))
