"""Posture as the user writes it: coordinates, or components of the pose of a point, in space or in the plane.

    {crank: 0.3}   {tool: [0.1, 0, -1.1]}   {tool.z: -1.1, tool.x: 0.2}   {tool: [x, y, z, rx, ry, rz]}

rx, ry, rz are the rotation vector (axis times angle) from the drawing's axes to those of the point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from supple.description.drawing import Drawing, Path
from supple.description.mechanism import GROUND, Mechanism
from supple.description.quantities.dimension import ANGLE, LENGTH, Dimension
from supple.diagnostics import InputError, unknown_name
from supple.diagnostics.errors import fault_at

TURNS = ("rx", "ry", "rz")


class Posture(NamedTuple):
    """Posture by coordinates, or by components of the pose of one point.

    coordinates : values by name
    point        : name of the point as the user wrote it
    place       : name of the point or frame
    components  : values of its pose by axis. Values are not checked, and may have shape (N,)
    """

    coordinates: dict[str, Any]
    point: str
    place: str
    components: dict[str, Any]


def axes_of(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the axes of a pose: positions, then rotations."""
    return ("x", "y", "z", *TURNS) if mechanism.plane is None else (*mechanism.plane, "angle")


def axis_dimension(axis: str) -> Dimension:
    """Return the dimension of a component of a pose."""
    return ANGLE if axis == "angle" or axis in TURNS else LENGTH


def component_dimension(mechanism: Mechanism, name: str) -> Dimension | None:
    """Return the dimension of `place.axis`; None if the name does not end in an axis."""
    axis = name.rpartition(".")[2]
    return axis_dimension(axis) if axis in axes_of(mechanism) and axis != name else None


def expand_poses(mechanism: Mechanism, given: Mapping[str, Any], path: Path = ()) -> dict[str, Any]:
    """Expand every pose into its components: {"tool": [1, 2]} becomes {"tool.x": 1, "tool.z": 2}.

    The last axis of a value counts its components: (c,), or (N, c) for a batch.
    """
    known, axes, found = mechanism.coordinate_names(), axes_of(mechanism), {}
    for name, value in given.items():
        if name in known or np.ndim(value) == 0 or component_dimension(mechanism, name) is not None:
            found[name] = value
            continue
        place_of(mechanism, name, path)
        columns = [*value] if np.ndim(value) == 1 else [*np.moveaxis(np.asarray(value), -1, 0)]
        lengths = (2, 3) if mechanism.planar else (3, 6)
        if len(columns) not in lengths:
            raise fault_at(
                _inside(path, name),
                f'the point "{name}" has {len(columns)} numbers',
                f"give {lengths[0]} for its position ({', '.join(axes[: lengths[0]])}), "
                f"or {lengths[1]} for its pose ({', '.join(axes)})",
            )
        found |= {f"{name}.{axis}": column for axis, column in zip(axes, columns, strict=False)}
    return found


def posture(mechanism: Mechanism, given: Mapping[str, Any], path: Path = ()) -> Posture:
    """Split a posture into coordinates and components of one point; `path` is its location in the file."""
    known = mechanism.coordinate_names()
    coordinates: dict[str, Any] = {}
    components: dict[str, dict[str, Any]] = {}
    for name, value in expand_poses(mechanism, given, path).items():
        if name in known:
            coordinates[name] = value
            continue
        place, _, axis = name.rpartition(".")
        if component_dimension(mechanism, name) is None or not place:
            raise _unknown(mechanism, name, path)
        place_of(mechanism, place, path, name)
        components.setdefault(place, {})[axis] = value
    if len(components) > 1:
        raise fault_at(
            path,
            f"it has components of several points, {' and '.join(components)}",
            "give components of one point, and coordinates",
        )
    if not components:
        return Posture(coordinates, "", "", {})
    ((point, axes),) = components.items()
    turns = [axis for axis in TURNS if axis in axes]
    if turns and len(turns) < 3:
        raise fault_at(
            path,
            f'the rotation of "{point}" is incomplete: only {", ".join(turns)} is given',
            "give rx, ry and rz, the vector of the rotation, or none",
        )
    return Posture(coordinates, point, place_of(mechanism, point, path), axes)


def place_of(mechanism: Mechanism, name: str, path: Path = (), key: str | None = None) -> str:
    """Return the point or frame of a name, which may also be that of a sensor; the ground is refused.

    path, key : location in the file, and the name written there
    """
    sensor = mechanism.sensors.get(name)
    found = name if sensor is None or sensor.place is None else sensor.place
    drawing = mechanism.compute_once("drawing of places", lambda: Drawing(mechanism))
    try:
        body = drawing.find_frame(found, ()).body
    except InputError:
        raise _unknown(mechanism, key or name, path) from None
    if body == GROUND:
        raise fault_at(_inside(path, key or name), f'"{name}" is on the ground', "use a point of a body that moves")
    return found


def watched_place(drawing: Drawing, name: str) -> str:
    """Return the point of a name: the name itself if there is such a point, else that of the sensor of this name."""
    sensor = drawing.mechanism.sensors.get(name)
    if sensor is None or sensor.place is None:
        return name
    try:
        drawing.find_frame(name, ())
    except InputError:
        return sensor.place
    return name


def _inside(path: Path, key: str) -> Path:
    return (*path, key) if path else ()


def _unknown(mechanism: Mechanism, name: str, path: Path) -> InputError:
    """Return the error for a name that is neither a coordinate nor a component of a point."""
    drawing = mechanism.compute_once("drawing of places", lambda: Drawing(mechanism))
    sensors = [key for key, sensor in mechanism.sensors.items() if sensor.place is not None]
    places = dict.fromkeys([*sensors, *drawing.frames, *drawing.joint_points, *mechanism.bodies])
    axes = axes_of(mechanism)
    if name in places:
        return fault_at(
            _inside(path, name),
            f'"{name}" is a point, but has a single number',
            f"give its position as [{', '.join(axes[: 2 if mechanism.planar else 3])}], or {name}.{axes[0]}",
        )
    named = mechanism.coordinate_names()
    each = [f"{place}.{axis}" for place in places for axis in axes] if "." in name else []
    what = "coordinate or point component" if each else f'coordinate of "{mechanism.name}"'
    return unknown_name(what, name, [*named, *each], path=_inside(path, name))
