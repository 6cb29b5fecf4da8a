"""Completion of a rough drawing: close every loop with the least change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.kinematics.closure_kernel import unwrap_angle, update
from supple.kinematics.far_closure import FAR, approach, joint_gaps, posture_distance
from supple.kinematics.jacobian import measured_values, scaled_jacobian, scaled_values
from supple.kinematics.joint_tree import tree_at_values
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import SCALE
from supple.kinematics.ranked_rows import LARGE, sparse_rows

BRANCH = "check that this is the intended branch; if not, draw the mechanism closer to it"
_GAP = 1e-10  # fraction of the extent below which a gap counts as closed
_ROUNDING = 1e-15  # fraction of the extent: gaps that no correction makes smaller
_TURNED = 0.1  # rad: axes of a closed joint that are further apart point the wrong way
_NO_FURTHER = 1.5  # times the distance of the branch next to the drawing
_ASIDE = 0.35  # rad, or extents: a larger deviation of a measure indicates another branch
_LONGEST = 0.3  # longest correction: rad, or extents


def close_drawing(found: Numbering, X: Array, targets: dict[int, float]) -> Array:
    """Return the closest assembled position: Gauss-Newton with the least change of X, which is moved in place.

    x = -Φ_q⁺ Φ, no step longer than _LONGEST. Gaps below _GAP count as closed; corrections continue as long as they
    halve the gaps, so that the position is exact to rounding. `targets` are prescribed values of coordinates, by
    number.
    """
    constraints = found.constraints
    if constraints == 0 and not targets:
        return X
    rows = [*range(constraints), *(constraints + i for i in targets)]
    smallest, closed = np.inf, None
    stalled = 0
    for _ in range(200):
        phi = _residual(found, X, targets)[rows]
        gap = float(np.abs(phi).max())
        if closed is not None and not gap < 0.5 * smallest:
            X[:] = closed
            return X
        if gap < _ROUNDING:
            return X
        closed = X.copy() if gap < _GAP else None
        stalled = 0 if gap < 0.9 * smallest else stalled + 1
        smallest = min(smallest, gap)
        if stalled > 12:
            break
        x = _least_change(found, X, rows, -phi)
        longest = float(np.abs(x).max())
        x *= min(1.0, _LONGEST / longest) if longest > 0.0 else 1.0
        displace_bodies(found, X, x)
    raise _does_not_close(found, X, targets)


def _least_change(found: Numbering, X: Array, rows: list[int], change: Array) -> Array:
    """Return the smallest x (n,) that changes these rows by the given amount."""
    if found.columns > LARGE:
        sparse = sparse_rows(found, X, found.constraints + len(found.coordinates)).some(rows)
        if sparse.by_joints.certain:
            return sparse.by_joints.transposed_inverse(change)
    return np.asarray(np.linalg.lstsq(scaled_jacobian(found, X)[rows], change, rcond=1e-8)[0], dtype=float)


def _residual(found: Numbering, X: Array, targets: dict[int, float]) -> Array:
    residual = scaled_values(found, X)
    for i, target in targets.items():
        row = found.constraints + i
        scale = found.arrays.rows_f[row, SCALE]
        gap = residual[row] * scale - target
        residual[row] = (unwrap_angle(gap, 0.0) if found.angles()[row] else gap) / scale
    return residual


def displace_bodies(found: Numbering, X: Array, x: Array) -> None:
    """Move all bodies by scaled velocities x (n,), in place."""
    padded = np.zeros((found.sizes.bodies + 1, found.sizes.width, 1))
    padded[:-1, :, 0] = x.reshape(found.sizes.bodies, found.sizes.width)
    update(found.arrays, X, padded)


@dataclass(frozen=True)
class Completion:
    """Change by which the drawing was closed.

    joint, gap    : the joint that is drawn the widest open, in extents or rad; 0 if all are closed
    moved, turned : the body with the largest displacement and the one with the largest rotation: name, and m or rad
    """

    X: Array
    joint: str
    gap: float
    moved: tuple[str, float]
    turned: tuple[str, float]

    @property
    def far(self) -> bool:
        """Whether the gaps exceed those of a rough drawing."""
        return self.gap > FAR

    def __str__(self) -> str:
        (body, distance), (other, angle) = self.moved, self.turned
        return (
            f'the drawing is far from closed (largest gap at joint "{self.joint}"): closing it moved "{body}" by '
            f'{distance:.3g} m and turned "{other}" by {np.degrees(angle):.3g}°'
        )


def complete_drawing(found: Numbering, targets: dict[int, float], near: dict[int, float]) -> Completion:
    """Close the drawing: by the least change if it almost closes, after a damped descent if it is far from closed.

    targets : prescribed values of coordinates, by number
    near    : approximate values of other measures, by number after the constraints, that select the branch
    """
    drawn = joint_gaps(found, found.drawn)
    joint = max(drawn, key=lambda name: drawn[name]) if drawn else ""
    gap = drawn[joint] if drawn else 0.0
    X = _close_on_branch(found, targets, near) if near else _newton(found, found.drawn, targets)
    if X is None or (gap > FAR and not near):
        X = _close_from_far(found, X, targets)
    shift = np.linalg.norm(X[:-1, :3] - found.drawn[:-1, :3], axis=1)
    turns = np.linalg.norm(X[:-1, 3:] - found.drawn[:-1, 3:], axis=1)  # 2 √2 sin φ/2
    turn = 2.0 * np.arcsin(np.clip(turns / np.sqrt(8.0), 0.0, 1.0))
    moved, turned = ((found.bodies[int(np.argmax(by))], float(by.max())) for by in (shift, turn))
    return Completion(X, joint, gap, moved, turned)


def _close_on_branch(found: Numbering, targets: dict[int, float], near: dict[int, float]) -> Array:
    """Return a closed position with some measures near given values.

    The joint tree is set to these values and closed by the least change; if that leads elsewhere, after a descent.
    """
    start = tree_at_values(found, targets | near)
    X = _newton(found, start, targets)
    if X is not None and not _off_branch(found, X, near):
        return X
    start = approach(found, start, targets | near).X
    X = _newton(found, start, targets)
    if X is None:
        raise _does_not_close(found, start, targets)
    for number in _off_branch(found, X, near):
        name = next(key[1] for key, row in found.measures.items() if row == found.constraints + number)
        angle = bool(found.angles()[found.constraints + number])
        unit, factor = ("°", np.degrees(1.0)) if angle else (" m", 1.0)
        raise InputError(
            f'no assembly found with joint "{name}" near {near[number] * factor:.6g}{unit}; the nearest one is at '
            f"{measured_values(found, X)[number] * factor:.6g}{unit}",
            part="rest", path=("rest",), hint="`supple assemble FILE --branches` lists the assemblies that exist",
        )  # fmt: skip
    return X


def _off_branch(found: Numbering, X: Array, near: dict[int, float]) -> list[int]:
    """Return the measures that are not near their values."""
    values, angles = measured_values(found, X), found.angles()[found.constraints :]
    off = {number: values[number] - value for number, value in near.items()}
    size = {n: abs(unwrap_angle(gap, 0.0)) if angles[n] else abs(gap) / found.arrays.extent for n, gap in off.items()}
    return [number for number, gap in size.items() if gap > _ASIDE]


def _close_from_far(found: Numbering, direct: Array | None, targets: dict[int, float]) -> Array:
    """Close a drawing that is far from closed: a descent to the nearest branch, then the least change; or an error.

    If the least change alone closes it too (`direct`), and not much further away, that position is returned.
    """
    near = approach(found, found.drawn, targets)
    X = _newton(found, near.X, targets) if near.closed else None
    if direct is not None:
        if X is None or posture_distance(found, found.drawn, direct) < _NO_FURTHER * posture_distance(
            found, found.drawn, X
        ):
            return direct
        return X
    if X is None and targets:  # close the loops first, then move to the values
        loose = approach(found, found.drawn, {})
        if not loose.closed:
            raise _does_not_close(found, loose.X, {})
        X = _newton(found, loose.X, targets)
    if X is None:
        raise _does_not_close(found, near.X, targets)
    return X


def _newton(found: Numbering, X: Array, targets: dict[int, float]) -> Array | None:
    """Close by the least change, with all axes aligned; None if that fails."""
    try:
        X = close_drawing(found, X.copy(), targets)
    except InputError:
        return None
    return X if max(joint_gaps(found, X).values(), default=0.0) < _TURNED else None


def _does_not_close(found: Numbering, X: Array, targets: dict[int, float]) -> InputError:
    gaps = joint_gaps(found, X)
    worst = max(gaps, key=lambda name: gaps[name])
    path = ("couplings" if worst in found.coupling_rows else "joints", worst)
    loops = [loop for loop in found.topology.loops if worst in loop]
    loop = f" loop {'-'.join(loops[0])}" if loops else ""
    if worst in found.coupling_rows and not loop and not targets:
        return InputError(
            "the coupling cannot be satisfied: other couplings or the joints prevent it",
            part=part_name(path),
            path=path,
            hint="check its factors and its value; without a value, it is as drawn",
        )
    extent = found.arrays.extent
    scale, unit = (1e3, "mm") if extent < 1e3 else (1.0, "m")
    gap = f"gap {gaps[worst] * extent * scale:.3g} {unit} > {_GAP * extent * scale:.1g} {unit}"
    what = loop.strip() or "the mechanism"
    if targets:
        listed = ", ".join(f"{found.coordinates[i]} = {value:.6g}" for i, value in targets.items())
        return InputError(
            f"{what} does not close with {listed} ({gap} at {part_name(path)})",
            part="rest",
            path=("rest",),
            hint="give values within reach, or draw the mechanism closer to them",
        )
    return InputError(
        f"{what} does not close ({gap})",
        part=part_name(path),
        path=path,
        hint="check the lengths and frames around the loop, or draw it closer to a closed position",
    )
