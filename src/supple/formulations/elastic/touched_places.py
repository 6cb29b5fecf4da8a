"""Positions on a body that need a node: joints, loads, sensors and point masses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Drawing, Path
from supple.description.mass_properties import point_inertia
from supple.diagnostics.errors import part_name
from supple.kinematics.joint_frames import joint_frames

_ACTING = ("actuators", "springs", "dampers", "forces", "sensors")


class TouchedPlace(NamedTuple):
    """A connected position on a body.

    position : (3,) in the body's axes
    path     : of the part at this position
    row      : whether constraints, loads or measures act there; otherwise it only carries mass
    loose    : a joint without a position of its own, which uses the nearest node
    mass, inertia : of a point mass: kg, and (3, 3) about its own centre in the body's axes, kg m²
    """

    position: Array
    path: Path
    row: bool = True
    loose: bool = False
    mass: float = 0.0
    inertia: Array = np.zeros((3, 3))

    @property
    def heavy(self) -> bool:
        """Whether it carries a mass or an inertia."""
        return bool(self.mass or self.inertia.any())

    @property
    def part(self) -> str:
        return part_name(self.path) or ""


def touched_places(drawing: Drawing, body: str) -> list[TouchedPlace]:
    """Return all connected positions in the order of the file; positions of several parts occur several times."""
    return [place for on, place in _all(drawing) if on == body]


def _all(drawing: Drawing) -> Iterator[tuple[str, TouchedPlace]]:
    mechanism = drawing.mechanism
    for name, joint in mechanism.joints.items():
        path: Path = ("joints", name)
        drawn = joint.at is not None or name in drawing.points or name in drawing.frames
        loose = joint.frames is None and not drawn
        frames = joint_frames(drawing, name)
        for on, position in zip(joint.bodies, (frames.pa, frames.pb), strict=True):
            yield on, TouchedPlace(position, path, loose=loose)
    for section in _ACTING:
        for name, part in getattr(mechanism, section).items():
            for reference in part.places:
                path = (section, name, part.location_key)
                found = drawing.find_frame(reference, path)
                yield found.body, TouchedPlace(found.pose.position, path)
    for name, carried in mechanism.point_masses.items():
        path = ("point_masses", name, "at")
        found = drawing.find_frame(carried.at, path)
        yield (
            found.body,
            TouchedPlace(found.pose.position, path, False, False, carried.mass, point_inertia(drawing, name)),
        )
