"""Expansion of `copies`: every copy of a part is added to the mechanism, moved and renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.body import Body
from supple.description.copies.copies import Copies
from supple.description.copies.moved_parts import Movement, copied_part
from supple.description.drawing import Drawing, Path
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics.errors import PARTS, fault_at, quote
from supple.geometry.rotation import rotation_about

Origins = dict[tuple[str, str], Path]
"""(section, name) of a copied part -> path in the file where it is written."""


def with_copies(mechanism: Mechanism) -> tuple[dict[str, Any], Origins]:
    """Return the sections of the mechanism with all copies, and the path where each copy was written."""
    found: dict[str, Any] = {section: dict(getattr(mechanism, section)) for section in Copies.sections}
    origins: Origins = {}
    names: dict[str, tuple[str, ...]] = {}  # coordinate of a group -> its names in the copies
    for group, copies in mechanism.copies.items():
        for by in _movements(mechanism, group, copies):
            for section in Copies.sections:
                for name, part in getattr(copies, section).items():
                    path = ("copies", group, section, name)
                    copied_names = name + by.suffix
                    if copied_names in found[section]:
                        raise fault_at(
                            path,
                            f"its copy {quote(copied_names)} has the same name as another {PARTS[section]}",
                            "choose other suffixes",
                        )
                    found[section][copied_names] = _copy(mechanism, copies, part, by, path)
                    origins[section, copied_names] = path
        for name in (*copies.actuators, *copies.joints):
            names[name] = tuple(name + ending for ending in copies.endings)
    return {**found, **_spread(mechanism, names), "copies": {}}, origins


def _movements(mechanism: Mechanism, group: str, copies: Copies) -> Iterable[Movement]:
    """Yield the movement of each copy from the drawn group; the first copy stays in place."""
    path = ("copies", group)
    # The mechanism's own points define the axis; its bodies may depend on copies.
    bare = Drawing(Mechanism(plane=mechanism.plane, points=mechanism.points, bodies={"none": Body(mass=0.0)}))
    center = np.zeros(3) if copies.through is None else bare.place(copies.through, (*path, "through"))
    matrices: list[tuple[Array, Array]] = []
    for i in range(copies.count or 1):
        A, shift = np.eye(3), np.zeros(3)
        if copies.shift is not None:
            shift = i * bare.vector(copies.shift, (*path, "shift"), "a shift")
        elif i:
            step = 2.0 * np.pi / (copies.count or 1) if copies.angle is None else copies.angle
            A = rotation_about(_axis(bare, copies, path), i * step)
        matrices.append((A, shift))
        if copies.mirror is not None:
            n = bare.direction(copies.mirror, (*path, "mirror"))
            matrices.append((A @ (np.eye(3) - 2.0 * np.outer(n, n)), shift))
    own = {name: bare.vector(value, (*path, "points", name)) for name, value in copies.points.items()}
    endings = dict(zip(copies.endings, matrices, strict=True))
    numbered = all(ending.isdecimal() for ending in endings)
    for ending in sorted(endings, key=int) if numbered else endings:  # the order that their names suggest
        A, shift = endings[ending]
        t = center - A @ center + shift
        yield Movement(A, t, mechanism.plane, ending, copies, {**bare.points, **own})


def _axis(bare: Drawing, copies: Copies, path: Path) -> Array:
    if bare.mechanism.planar:
        if copies.about is not None:
            raise fault_at(
                (*path, "about"),
                "about is not allowed in the plane, where copies rotate about the normal",
                "remove about and set count",
            )
        return np.array([0.0, 0.0, 1.0])
    if copies.about is None:
        raise fault_at(
            path,
            "it is not defined how the parts are repeated",
            "set about: AXIS, mirror: DIRECTION or shift: [x, y, z]",
        )
    return bare.direction(copies.about, (*path, "about"))


def _copy(mechanism: Mechanism, copies: Copies, part: Any, by: Movement, path: Path) -> Any:
    try:
        found = copied_part(part, by, str(path[3]))
    except ValueError as error:
        raise fault_at(path, str(error)) from None
    if path[2] != "joints":
        return found
    name, changes = str(path[3]), {}
    if part.at is None and part.frames is None and name not in copies.points and name in mechanism.points:
        changes["at"] = name  # a point that all copies share
    kind = JOINT_KINDS[part.kind]
    if mechanism.planar and kind.plane is not None and kind.plane.turns:
        changes |= _planar_rest(mechanism, copies, part, by, path)
    return found.model_copy(update=changes)


def _planar_rest(mechanism: Mechanism, copies: Copies, joint: Any, by: Movement, path: Path) -> dict[str, Any]:
    """Return the `rest` of a copied planar joint whose angle is measured from a body that is not copied.

    Angles in the plane are measured between the bodies' axes; every copy keeps the values of the first.
    """
    if by.mirrored:
        if joint.chosen("rest", "limits"):
            raise fault_at(
                path,
                "rest and limits of a planar joint cannot be mirrored, since its angle changes sign",
                "write the mirror image without copies, or set limits on the actuators",
            )
        return {}
    if joint.rest is not None or len(joint.coordinates(mechanism.plane)) > 1:
        return {}
    angles = [_drawn_angle(mechanism, copies, body, by) for body in joint.bodies]
    kept = [body in copies.bodies for body in joint.bodies]
    return {} if kept[0] == kept[1] or not by.A[1, 0] else {"rest": angles[1] - angles[0]}


def _drawn_angle(mechanism: Mechanism, copies: Copies, name: str, by: Movement) -> float:
    body = copies.bodies.get(name) or mechanism.bodies.get(name)
    if name == GROUND or body is None:
        return 0.0
    if body.ends is not None and all(end in by.drawn for end in body.ends):
        x, y, _ = by.drawn[body.ends[1]] - by.drawn[body.ends[0]]
        return float(np.arctan2(y, x))
    return 0.0 if body.rotation is None else body.rotation.angle


def _spread(mechanism: Mechanism, names: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Apply values given for a coordinate of a group under its plain name to every copy."""

    def copied_names(reference: str) -> tuple[str, ...]:
        name, dot, coordinate = reference.partition(".")
        if reference in mechanism.actuators or name in mechanism.joints or name not in names:
            return (reference,)
        return tuple(item + dot + coordinate for item in names[name])

    def each(values: Mapping[str, Any]) -> dict[str, Any]:
        all_of_them = {item: value for key, value in values.items() for item in copied_names(key) if item != key}
        return {**all_of_them, **{key: value for key, value in values.items() if copied_names(key) == (key,)}}

    coordinates = mechanism.coordinates
    return {
        "rest": each(mechanism.rest),
        "configurations": {name: each(theta) for name, theta in mechanism.configurations.items()},
        "coordinates": coordinates and tuple(item for name in coordinates for item in copied_names(name)),
        "motions": {
            name: motion
            if motion.coordinates is None
            else motion.model_copy(update={"coordinates": each(motion.coordinates)})
            for name, motion in mechanism.motions.items()
        },
        "scenarios": {
            name: scenario.model_copy(
                update={
                    "start": scenario.start if isinstance(scenario.start, str) else each(scenario.start),
                    "rates": each(scenario.rates),
                    "inputs": each(scenario.inputs),
                }
            )
            for name, scenario in mechanism.scenarios.items()
        },
    }
