"""Limits of actuators and joints, against the values of a configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering

_ROUNDING = 1e-9  # relative tolerance of a limit, for errors of closure and arithmetic


class Excess(NamedTuple):
    """A value outside its limits.

    part : actuator or joint, as in messages; unit : rad or m
    """

    part: str
    value: float
    limits: tuple[float, float]
    unit: str

    def __str__(self) -> str:
        least, largest = self.limits
        return f"{self.part} is at {self.value:.6g} {self.unit}, outside its limits [{least:.6g}, {largest:.6g}]"


def outside_limits(numbering: Numbering, w: Array) -> list[Excess]:
    """Return the actuators and joints that are outside their limits in a configuration.

    w : values of every measure (θ first), as in `Configuration.w`
    """
    found = []
    for part, row, limits in list_limits(numbering):
        value = float(w[row - numbering.constraints])
        if not _inside(limits, value):
            found.append(Excess(part, value, limits, "rad" if numbering.angles()[row] else "m"))
    return found


def within_limits(numbering: Numbering, w: Array) -> NDArray[np.bool_]:
    """Return (N,) whether all actuators and joints are within their limits, for w (N, measures)."""
    inside = np.ones(len(w), dtype=bool)
    for _, row, limits in list_limits(numbering):
        inside &= _inside(limits, w[:, row - numbering.constraints])
    return inside


def _inside(limits: tuple[float, float], value: Any) -> Any:
    slack = _ROUNDING * max(abs(limits[0]), abs(limits[1]))
    return (limits[0] - slack <= value) & (value <= limits[1] + slack)


def list_limits(numbering: Numbering) -> list[tuple[str, int, tuple[float, float]]]:
    """Return the actuators and joints that have limits: name for messages, row, and limits."""
    mechanism = numbering.mechanism
    given = []
    for name, actuator in mechanism.actuators.items():
        given.append((f'actuator "{name}"', key_of(mechanism, actuator), actuator.limits))
    for name, joint in mechanism.joints.items():
        names = joint.coordinates(mechanism.plane)
        for coordinate in names:
            part = f'joint "{name}"' if len(names) == 1 else f'joint "{name}.{coordinate}"'
            limits = joint.value("limits", coordinate, mechanism.plane)
            given.append((part, ("joint", name, coordinate), limits))
    return [(part, numbering.measures[key], limits) for part, key, limits in given if limits is not None]
