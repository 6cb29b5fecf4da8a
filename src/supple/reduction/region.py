"""Region of θ for a reduction: boxes from user ranges and the limits of the mechanism, or a path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.approximation.refinement.box import Box
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import is_list, real_numbers, value_text
from supple.kinematics.rest import rest
from supple.reduction.path import Path
from supple.trajectories.trajectory import Prescribed

Interval = tuple[float, float]


# Units of coordinates, and the smaller units that a user may have meant.


SMALLER = {"rad": {"deg": math.pi / 180.0}, "m": {"mm": 1e-3, "cm": 1e-2}}
"""{unit: smaller units that are easily forgotten, with their factor}."""


def interval_words(interval: Interval, unit: str) -> str:
    """Return `95 to 145 rad`, or one value if both ends are equal."""
    a, b = interval
    return f"{a:.6g} {unit}" if a == b else f"{a:.6g} to {b:.6g} {unit}"


def interval_text(name: str, interval: Interval, unit: str) -> str:
    """Return `left=95deg:145deg`, as the command line accepts it."""
    a, b = interval
    return f"{name}={a:.6g}{unit}" if a == b else f"{name}={a:.6g}{unit}:{b:.6g}{unit}"


# The region: boxes within the limits of the mechanism.


Ranges = Mapping[str, Sequence[float] | float]
Boxes = Ranges | Sequence[Ranges] | None
"""{coordinate: (lower, upper)}, several such mappings, or None: the limits of actuators and joints.

{coordinate: value} fixes a coordinate; the model then has the other coordinates.
"""
Region = Boxes | Path | Prescribed | Sequence[Sequence[float]] | NDArray[np.float64]
"""Boxes, or a path: a motion in any form that `trajectory` accepts, or configurations (N, s) in order."""

_SLACK = 1e-9  # of the limits' width: allowed excess of computed values


def region_boxes(mechanism: Mechanism, region: Boxes = None) -> list[Box]:
    """Return the boxes of the varying coordinates. Coordinates that are not given take their limits."""
    boxes = []
    for intervals in _each(mechanism, region):
        varied = [pair for pair in intervals.values() if pair[0] < pair[1]]
        if not varied:
            raise InputError(
                "every coordinate is fixed, so nothing varies",
                part="region",
                hint="give a range for one of them; use `supple local` for the model at one configuration",
            )
        boxes.append(Box(tuple(a for a, _ in varied), tuple(b for _, b in varied)))
    return boxes


def fixed_coordinates(mechanism: Mechanism, region: Boxes = None) -> dict[str, float]:
    """Return the coordinates with one value over the whole region, and these values."""
    each = [{name: a for name, (a, b) in item.items() if a == b} for item in _each(mechanism, region)]
    if any(held != each[0] for held in each):
        raise InputError(
            "the boxes do not fix the same coordinates at the same values", part="region",
            hint="reduce each box separately, or let the coordinates vary",
        )  # fmt: skip
    return each[0]


def _each(mechanism: Mechanism, region: Boxes) -> list[dict[str, Interval]]:
    given = [region or {}] if region is None or isinstance(region, Mapping) else region
    if not is_list(given) or not all(isinstance(item, Mapping) for item in given):
        raise InputError(
            f"{value_text(region)} is not a region", part="region",
            hint="give {coordinate: (lower, upper)}, several such mappings, a motion, or configurations (N, s)",
        )  # fmt: skip
    if not given:
        raise InputError("the region has no box", hint="give {coordinate: (lower, upper)}")
    return [_intervals(mechanism, ranges) for ranges in given]


def coordinate_limits(mechanism: Mechanism) -> dict[str, Interval]:
    """Return the limits of the coordinates that have any, from their actuator or joint."""
    intervals: dict[str, Interval] = {}
    for name in rest(mechanism).numbering.coordinates:
        limits = mechanism.actuators[name].limits if name in mechanism.actuators else None
        joint = mechanism.joint_coordinate(name)
        if limits is None and joint is not None:
            limits = mechanism.joints[joint[0]].value("limits", joint[1], mechanism.plane)
        if limits is not None:
            intervals[name] = (float(limits[0]), float(limits[1]))
    return intervals


def _intervals(mechanism: Mechanism, ranges: Ranges) -> dict[str, Interval]:
    """Return the range of each coordinate, within its limits; both ends are equal for a fixed coordinate."""
    numbering = rest(mechanism).numbering
    numbering.require_coordinates()
    names, limits = numbering.coordinates, coordinate_limits(mechanism)
    for name in ranges:
        require_known(f'coordinate of "{mechanism.name}"', name, names, part="region")
    intervals = {}
    for name in names:
        if name not in ranges and name not in limits:
            raise InputError(
                f'coordinate "{name}" has neither limits in the mechanism nor a range in the region',
                part="region",
                hint=f"give {name}=LOWER:UPPER, or add limits to the file",
            )
        a, b = (float(value) for value in _ends(name, ranges.get(name, limits.get(name, ()))))
        if not (np.isfinite(a) and np.isfinite(b) and a <= b):
            raise InputError(
                f"the range {a:g} to {b:g} is empty or not finite", part=f'region of "{name}"',
                hint="give a finite lower value below the upper one",
            )  # fmt: skip
        intervals[name] = (a, b)
    for name, interval in intervals.items():
        if name in limits:
            _require_within(mechanism, name, interval, limits[name])
    return intervals


def _ends(name: str, given: Sequence[float] | float) -> Sequence[float]:
    if isinstance(given, float | int):  # fixed
        return (given, given)
    ends = real_numbers(f'region of "{name}"', given, finite=False)
    if ends.shape != (2,):
        raise InputError(
            f"expected two values (got {ends.size})", part=f'region of "{name}"', hint="give (lower, upper)"
        )
    return (float(ends[0]), float(ends[1]))


def _require_within(mechanism: Mechanism, name: str, interval: Interval, limits: Interval) -> None:
    slack = _SLACK * (limits[1] - limits[0])
    if limits[0] - slack <= interval[0] and interval[1] <= limits[1] + slack:
        return
    unit = rest(mechanism).numbering.coordinate_units[name]
    far = max(limits[0] - interval[0], interval[1] - limits[1]) > limits[1] - limits[0]  # a unit may be wrong
    meant = [
        text
        for text, factor in SMALLER[unit].items()
        if far and limits[0] - slack <= factor * interval[0] and factor * interval[1] <= limits[1] + slack
    ]
    hint = (
        f"did you mean {interval_text(name, interval, meant[0])}?"
        if meant
        else "stay within the limits, or widen them in the file"
    )
    raise InputError(
        f"{interval_words(interval, unit)} exceeds the limits {interval_words(limits, unit)}",
        part=f'region of "{name}"', hint=hint,
    )  # fmt: skip
