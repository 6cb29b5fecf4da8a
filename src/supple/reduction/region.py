"""The region of θ a model is made for: boxes, from what the user names and the limits of the mechanism; or a path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.approximation.refinement.box import Box
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import is_list, real_numbers, value_text
from supple.kinematics.rest import rest
from supple.reduction.path import Path
from supple.trajectories.trajectory import Prescribed

Interval = tuple[float, float]


# Units of coordinates, as the text of a region gives them, and the smaller ones that may have been meant.


SMALLER = {"rad": {"deg": math.pi / 180.0}, "m": {"mm": 1e-3, "cm": 1e-2}}
"""unit -> units in which a number is easily written without saying so."""


def spoken(interval: Interval, unit: str) -> str:
    """`95 to 145 rad`, or one value where both are the same."""
    a, b = interval
    return f"{a:.6g} {unit}" if a == b else f"{a:.6g} to {b:.6g} {unit}"


def interval_text(name: str, interval: Interval, unit: str) -> str:
    """`left=95deg:145deg`, as the command line takes it."""
    a, b = interval
    return f"{name}={a:.6g}{unit}" if a == b else f"{name}={a:.6g}{unit}:{b:.6g}{unit}"


# The region: boxes within the limits of the mechanism.


Ranges = Mapping[str, Sequence[float] | float]
Boxes = Ranges | Sequence[Ranges] | None
"""{coordinate: (lower, upper)}, several of them, or None: the limits of actuators and joints. {coordinate: value} holds
one: the model is then one of the other coordinates."""
Region = Boxes | Path | Prescribed | Sequence[Sequence[float]] | NDArray[np.float64]
"""Boxes, or a path: a motion as `trajectory` takes it, or configurations (N, s), one after another."""

_SLACK = 1e-9  # of the limits' width: what was computed may end a little beyond


def region_boxes(mechanism: Mechanism, region: Boxes = None) -> list[Box]:
    """One box, or several, of the coordinates that vary. A coordinate that is not mentioned takes its limits."""
    boxes = []
    for intervals in _each(mechanism, region):
        varied = [pair for pair in intervals.values() if pair[0] < pair[1]]
        if not varied:
            raise InputError(
                "every coordinate is held: there is nothing to vary",
                part="region",
                hint="give one of them an interval; the model at one configuration is that of `supple local`",
            )
        boxes.append(Box(tuple(a for a, _ in varied), tuple(b for _, b in varied)))
    return boxes


def fixed_coordinates(mechanism: Mechanism, region: Boxes = None) -> dict[str, float]:
    """Coordinates that keep one value over the whole region, and that value."""
    each = [{name: a for name, (a, b) in item.items() if a == b} for item in _each(mechanism, region)]
    if any(held != each[0] for held in each):
        raise InputError(
            "its boxes do not hold the same coordinates at the same values", part="region",
            hint="make a model of each box, or let the coordinates vary",
        )  # fmt: skip
    return each[0]


def _each(mechanism: Mechanism, region: Boxes) -> list[dict[str, Interval]]:
    given = [region or {}] if region is None or isinstance(region, Mapping) else region
    if not is_list(given) or not all(isinstance(item, Mapping) for item in given):
        raise InputError(
            f"it is {value_text(region)}", part="region",
            hint="give {coordinate: (lower, upper)}, several of them, a motion, or configurations (N, s)",
        )  # fmt: skip
    if not given:
        raise InputError("the region holds no box", hint="give {coordinate: (lower, upper)}")
    return [_intervals(mechanism, ranges) for ranges in given]


def coordinate_limits(mechanism: Mechanism) -> dict[str, Interval]:
    """Limits of the coordinates that have any, from their actuator or their joint."""
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
    """From where to where each coordinate goes, within its limits; the two are equal where it is held."""
    numbering = rest(mechanism).numbering
    numbering.require_coordinates()
    names, limits = numbering.coordinates, coordinate_limits(mechanism)
    for name in ranges:
        if name not in names:
            raise InputError(
                f'"{name}" is not a coordinate of "{mechanism.name}"', part="region", hint=nearest(name, names)
            )
    intervals = {}
    for name in names:
        if name not in ranges and name not in limits:
            raise InputError(
                f'coordinate "{name}" has no limits in the mechanism, and the region does not give any',
                part="region",
                hint=f"give {name}=LOWER:UPPER, or limits in the file",
            )
        a, b = (float(value) for value in _two(name, ranges.get(name, limits.get(name, ()))))
        if not (np.isfinite(a) and np.isfinite(b) and a <= b):
            raise InputError(f"from {a:g} to {b:g} there is nothing", part=f'region of "{name}"', hint="let it rise")
        intervals[name] = (a, b)
    for name, interval in intervals.items():
        if name in limits:
            _require_within(mechanism, name, interval, limits[name])
    return intervals


def _two(name: str, given: Sequence[float] | float) -> Sequence[float]:
    if isinstance(given, float | int):  # held
        return (given, given)
    ends = real_numbers(f'region of "{name}"', given, finite=False)
    if ends.shape != (2,):
        raise InputError(f"{ends.size} values are no interval", part=f'region of "{name}"', hint="give two")
    return (float(ends[0]), float(ends[1]))


def _require_within(mechanism: Mechanism, name: str, interval: Interval, limits: Interval) -> None:
    slack = _SLACK * (limits[1] - limits[0])
    if limits[0] - slack <= interval[0] and interval[1] <= limits[1] + slack:
        return
    unit = rest(mechanism).numbering.coordinate_units[name]
    far = max(limits[0] - interval[0], interval[1] - limits[1]) > limits[1] - limits[0]  # more than a little too much
    meant = [
        text
        for text, factor in SMALLER[unit].items()
        if far and limits[0] - slack <= factor * interval[0] and factor * interval[1] <= limits[1] + slack
    ]
    hint = (
        f"did you mean {interval_text(name, interval, meant[0])}?"
        if meant
        else "stay within them, or widen them in the file"
    )
    raise InputError(
        f"{spoken(interval, unit)} reaches beyond its limits, {spoken(limits, unit)}",
        part=f'region of "{name}"', hint=hint,
    )  # fmt: skip
