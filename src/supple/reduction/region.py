"""The region of θ a model is made for: boxes, from what the user names and the limits of the mechanism; or a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.analyses.trajectory import Prescribed
from supple.approximation.box import Box
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.kinematics.rest import rest
from supple.reduction.path import Path

Interval = tuple[float, float]
Ranges = Mapping[str, Sequence[float]]
Boxes = Ranges | Sequence[Ranges] | None
"""{coordinate: (lower, upper)}, several of them, or None: the limits of actuators and joints."""
Region = Boxes | Path | Prescribed | Sequence[Sequence[float]] | NDArray[np.float64]
"""Boxes, or a path: a motion as `trajectory` takes it, or configurations (N, s), one after another."""


def region_boxes(mechanism: Mechanism, region: Boxes = None) -> list[Box]:
    """One box, or several. A coordinate that is not mentioned takes its limits."""
    if region is None or isinstance(region, Mapping):
        return [_box(mechanism, region or {})]
    boxes = [_box(mechanism, ranges) for ranges in region]
    if not boxes:
        raise InputError("the region holds no box", hint="give {coordinate: (lower, upper)}")
    return boxes


def coordinate_limits(mechanism: Mechanism) -> dict[str, Interval]:
    """Limits of the coordinates that have any, from their actuator or their joint."""
    found: dict[str, Interval] = {}
    for name in rest(mechanism).numbering.coordinates:
        limits = mechanism.actuators[name].limits if name in mechanism.actuators else None
        joint = mechanism.joint_coordinate(name)
        if limits is None and joint is not None:
            limits = mechanism.joints[joint[0]].value("limits", joint[1], mechanism.plane)
        if limits is not None:
            found[name] = (float(limits[0]), float(limits[1]))
    return found


def _box(mechanism: Mechanism, ranges: Ranges) -> Box:
    names, limits = rest(mechanism).numbering.coordinates, coordinate_limits(mechanism)
    if not names:
        raise InputError(
            f"it has no coordinates: {len(mechanism.actuators)} actuators do not match its mobility",
            part=f'mechanism "{mechanism.name}"',
            path=("coordinates",),
            hint="list as many coordinates: as the mobility that `supple check` prints",
        )
    for name in ranges:
        if name not in names:
            raise InputError(
                f'"{name}" is not a coordinate of "{mechanism.name}"', part="region", hint=nearest(name, names)
            )
    lower, upper = [], []
    for name in names:
        if name not in ranges and name not in limits:
            raise InputError(
                f'coordinate "{name}" has no limits in the mechanism, and the region does not give any',
                part="region",
                hint=f"give {name}=LOWER:UPPER, or limits in the file",
            )
        a, b = (float(value) for value in _two(name, ranges.get(name, limits.get(name, ()))))
        if not (np.isfinite(a) and np.isfinite(b) and a < b):
            raise InputError(f"from {a:g} to {b:g} there is nothing", part=f'region of "{name}"', hint="let it rise")
        lower.append(a)
        upper.append(b)
    return Box(tuple(lower), tuple(upper))


def _two(name: str, given: Sequence[float]) -> Sequence[float]:
    if len(given) != 2:
        raise InputError(f"{len(given)} values are no interval", part=f'region of "{name}"', hint="give two")
    return given
