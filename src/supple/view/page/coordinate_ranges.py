"""The range of each coordinate on the page: its limits, or a range about rest where it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.kinematics.closing import close_all
from supple.kinematics.configuration import Configuration
from supple.kinematics.coordinate_limits import within_limits
from supple.kinematics.rest import Rest

_TURN, _SLIDE = 1.0, 0.15  # about rest where no limits are given: rad, and of the mechanism's size


@dataclass(frozen=True)
class Range:
    """Of one coordinate, rad or m; `limited` if the file says so."""

    name: str
    unit: str
    low: float
    high: float
    limited: bool

    def data(self, at_rest: float) -> dict[str, Any]:
        return {
            "name": self.name, "unit": self.unit, "low": self.low, "high": self.high, "limited": self.limited,
            "rest": at_rest,
        }  # fmt: skip


def ranges(position: Rest) -> list[Range]:
    """Of every coordinate, in the order of θ."""
    numbering, mechanism = position.numbering, position.numbering.mechanism
    found = []
    for i, name in enumerate(numbering.coordinates):
        turns = bool(numbering.angles()[numbering.constraints + i])
        half = _TURN if turns else _SLIDE * numbering.arrays.extent
        given = _limits(mechanism, name)
        low, high = given or (float(position.theta[i]) - half, float(position.theta[i]) + half)
        found.append(Range(name, "rad" if turns else "m", float(low), float(high), given is not None))
    return found


def _limits(mechanism: Any, name: str) -> tuple[float, float] | None:
    """Of the actuator, or of the joint that it drives, or of the joint itself."""
    actuator = mechanism.actuators.get(name)
    if actuator is not None and actuator.limits is not None:
        return tuple(actuator.limits)
    reference = name if actuator is None else actuator.joint
    found = None if reference is None else mechanism.joint_coordinate(reference)
    return None if found is None else mechanism.joints[found[0]].value("limits", found[1], mechanism.plane)


def sampled_postures(position: Rest, count: int) -> Configuration:
    """The mechanism at rest, and at some postures within all limits: without a pattern, but always the same."""
    found, theta = ranges(position), position.theta[None]
    X, w = position.X[None].copy(), position.w[None].copy()
    if found:
        low, high = np.array([item.low for item in found]), np.array([item.high for item in found])
        others = low + np.random.default_rng(1).random((count, len(found))) * (high - low)
        poses, measures, reached = close_all(position, others)
        inside = (reached >= 1.0) & within_limits(position.numbering, measures)
        theta, X = np.concatenate([theta, others[inside]]), np.concatenate([X, poses[inside]])
        w = np.concatenate([w, measures[inside]])
    return Configuration(position, theta, X, w, np.ones(len(X)))
