"""A mechanism in other units: every number of its description multiplied by what its dimension asks for."""

from __future__ import annotations

import copy
from typing import NamedTuple

import supple


class Units(NamedTuple):
    """The new lengths, masses and times for one of the old; `of(l, m, t)` is the factor of a dimension."""

    length: float
    mass: float
    time: float

    def of(self, length=0, mass=0, time=0):
        return self.length**length * self.mass**mass * self.time**time


_LENGTH, _MASS, _INERTIA = (1, 0, 0), (0, 1, 0), (2, 1, 0)
_DIMENSIONS = {
    "points": {"*": _LENGTH},
    "materials": {"*": {"youngs_modulus": (-1, 1, -2), "shear_modulus": (-1, 1, -2), "density": (-3, 1, 0)}},
    "sections": {"*": {"rectangle": _LENGTH, "tube": _LENGTH, "circle": _LENGTH, "area": (2, 0, 0), "Iy": (4, 0, 0),
                       "Iz": (4, 0, 0), "torsion": (4, 0, 0)}},
    "bodies": {"*": {"length": _LENGTH, "mass": _MASS, "line_mass": (-1, 1, 0), "center": _LENGTH,
                     "inertia": _INERTIA, "at": _LENGTH}},
    "frames": {"*": {"at": _LENGTH, "local": _LENGTH}},
    "joints": {"*": {"at": _LENGTH, "viscous": (2, 1, -1), "friction": (2, 1, -2), "motor": {"inertia": _INERTIA},
                     "elastic": {"x": (0, 1, -2), "y": (0, 1, -2), "z": (0, 1, -2),
                                 "rx": (2, 1, -2), "ry": (2, 1, -2), "rz": (2, 1, -2)}}},
    "point_masses": {"*": {"mass": _MASS, "inertia": _INERTIA}},
    "gravity": (1, 0, -2),
}  # fmt: skip
_LEFT_OUT = ("parameters", "motions", "scenarios", "description")
_PLAIN = ("name", "plane", "sensors", "damping", "coordinates")


def rescaled(given, units, angles=None):
    """The parts of a mechanism in other units.

    angles : which coordinates are angles (name: bool), where values of coordinates are given; all if left out
    """
    known = {*_DIMENSIONS, *_LEFT_OUT, *_PLAIN, "actuators", "rest", "configurations"}
    assert set(given) <= known, f"no dimensions are known for {set(given) - known}"
    new = {key: _scaled(value, _DIMENSIONS.get(key), units) for key, value in copy.deepcopy(given).items()}
    for key in _LEFT_OUT:
        new.pop(key, None)

    def factor(name):
        return 1.0 if angles is None or angles[name] else units.length

    for name, actuator in new.get("actuators", {}).items():
        if "limits" in actuator:
            actuator["limits"] = [factor(name) * value for value in actuator["limits"]]
    for values in (new.get("rest", {}), *new.get("configurations", {}).values()):
        values.update({name: factor(name) * value for name, value in values.items()})
    return new


def parts_of(mechanism):
    """A mechanism as the parts that make it, and which of its coordinates are angles."""
    from supple.kinematics.rest import rest

    numbering = rest(mechanism).numbering
    first = numbering.constraints
    kinds = numbering.angles()[first : first + len(numbering.coordinates)]
    given = mechanism.model_dump(exclude_none=True, exclude_defaults=True, by_alias=True)
    return given, dict(zip(numbering.coordinates, kinds.tolist(), strict=True))


def rescaled_mechanism(given, units, angles=None):
    return supple.Mechanism(**rescaled(given, units, angles))


def _scaled(value, dimension, units):
    if isinstance(value, dict):
        if isinstance(dimension, tuple):
            return {key: _scaled(item, dimension, units) for key, item in value.items()}
        inner = dimension or {}
        return {key: _scaled(item, inner.get(key, inner.get("*")), units) for key, item in value.items()}
    if not isinstance(dimension, tuple) or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [_scaled(item, dimension, units) for item in value]
    return value * units.of(*dimension)
