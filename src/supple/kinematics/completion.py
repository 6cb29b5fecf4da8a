"""Completing a rough position until every loop closes, with the least change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.kinematics.closure_kernel import unwrapped, update
from supple.kinematics.jacobian import scaled_jacobian
from supple.kinematics.numbering import Numbering

Array = NDArray[np.float64]

_GAP = 1e-10  # of the extent: what counts as closed
_LONGEST = 0.3  # one correction: rad, or extents


def close_drawing(found: Numbering, X: Array, targets: dict[int, float]) -> Array:
    """The closest assembled position: Gauss-Newton with the least change of X, which is moved in place.

    x = -Φ_q⁺ Φ, no step longer than _LONGEST, until the gaps vanish. `targets` are coordinates, by number,
    that must come to a given value.
    """
    constraints = found.constraints
    if constraints == 0 and not targets:
        return X
    rows = [*range(constraints), *(constraints + i for i in targets)]
    smallest = np.inf
    stalled = 0
    for _ in range(200):
        J, values = scaled_jacobian(found, X)
        phi = _residual(found, values, targets)[rows]
        gap = float(np.abs(phi).max())
        if gap < _GAP:
            return X
        stalled = 0 if gap < 0.9 * smallest else stalled + 1
        smallest = min(smallest, gap)
        if stalled > 12:
            break
        x = np.asarray(np.linalg.lstsq(J[rows], -phi, rcond=1e-8)[0], dtype=float)
        longest = float(np.abs(x).max())
        x *= min(1.0, _LONGEST / longest) if longest > 0.0 else 1.0
        move(found, X, x)
    raise _does_not_close(found, X, targets)


def _residual(found: Numbering, values: Array, targets: dict[int, float]) -> Array:
    residual = values.copy()
    for i, target in targets.items():
        row = found.constraints + i
        scale = found.arrays.rows_f[row, -1]
        gap = values[row] * scale - target
        residual[row] = (unwrapped(gap, 0.0) if found.angles()[row] else gap) / scale
    return residual


def move(found: Numbering, X: Array, x: Array) -> None:
    """Move all bodies by scaled velocities x (n,), in place."""
    sizes, _, _, column, _, _, extent = found.arrays
    padded = np.zeros((int(sizes[0]) + 1, int(sizes[1]), 1))
    padded[:-1, :, 0] = x.reshape(int(sizes[0]), int(sizes[1]))
    update(sizes, column, extent, X, padded)


def _does_not_close(found: Numbering, X: Array, targets: dict[int, float]) -> InputError:
    _, values = scaled_jacobian(found, X)
    gaps = {}
    for joint, rows in found.joint_rows.items():
        size = np.abs(values[rows])
        gaps[joint] = float(size.max()) if size.size else 0.0
    worst = max(gaps, key=lambda name: gaps[name])
    loops = [loop for loop in found.topology.loops if worst in loop]
    loop = f" loop {'-'.join(loops[0])}" if loops else ""
    extent = found.arrays.extent
    scale, unit = (1e3, "mm") if extent < 1e3 else (1.0, "m")
    gap = f"gap {gaps[worst] * extent * scale:.3g} {unit} > {_GAP * extent * scale:.1g} {unit}"
    what = loop.strip() or "the mechanism"
    if targets:
        close_drawing(found, found.drawn.copy(), {})  # a loop that never closes is the worse fault, and is told
        listed = ", ".join(f"{found.coordinates[i]} = {value:.6g}" for i, value in targets.items())
        return InputError(
            f'{what} does not close with {listed} ({gap} at joint "{worst}")',
            part="rest",
            path=("rest",),
            hint="give values within reach, or draw it closer to them",
        )
    return InputError(
        f"{what} does not close ({gap})",
        part=f'joint "{worst}"',
        path=("joints", worst),
        hint="check the lengths and frames around the loop, or draw it closer to where it closes",
    )
