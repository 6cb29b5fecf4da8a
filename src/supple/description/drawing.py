"""Mechanism as drawn: poses of bodies, frames, joints and axes before the loops are closed.

Planar drawings are embedded in space: (u, v) becomes (u, v, 0), the plane's normal is z, and every body
turns about z alone. `Mechanism.plane_axes` gives the transformation to the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.body import Rotation
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import require_known, unknown_name
from supple.diagnostics.errors import fault_at
from supple.geometry.rotation import axes_from_x, rotation_about

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Pose:
    """Position and axes of a frame: x_w = position + axes x_local."""

    position: Array
    axes: Array

    def to_local(self, point: Array) -> Array:
        """Return the coordinates of a world point in this frame."""
        return self.axes.T @ (point - self.position)

    def to_world(self, local: Array) -> Array:
        """Return the world coordinates of a point of this frame."""
        return self.position + self.axes @ local


@dataclass(frozen=True)
class Attached:
    """Frame fixed on a body: its pose in the body's axes."""

    body: str
    pose: Pose


def from_to(value: Any) -> bool:
    """Return whether a direction is given as a pair of points [A, D]."""
    return isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(item, str) for item in value)


class Drawing:
    """Resolver of the names of a mechanism to positions on bodies. Errors carry the path in the file.

    Positions on a body are relative to a point among its joints, `offsets` away from the origin that the user sees.
    Numbers then keep their meaning and their accuracy wherever the mechanism is drawn.
    """

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.points = {name: self.vector(value, ("points", name)) for name, value in mechanism.points.items()}
        self.lengths: dict[str, float] = {}
        self.offsets = {GROUND: np.zeros(3)}
        self.bodies = {GROUND: Pose(np.zeros(3), np.eye(3))}
        for name in mechanism.bodies:
            drawn = self._body_pose(name)
            self.offsets[name] = self._offset(name, drawn)
            self.bodies[name] = Pose(drawn.to_world(self.offsets[name]), drawn.axes)
        self.frames = {name: self._frame(name) for name in mechanism.frames}
        self.joint_points = self._joint_points()

    def vector(self, value: Any, path: Path, what: str = "a position") -> Array:
        """Return components in the drawing as three numbers, after checking the number of components."""
        given = np.asarray(value, float)
        wanted = 2 if self.mechanism.planar else 3
        if given.shape != (wanted,):
            where = f"in the plane {self.mechanism.plane}" if self.mechanism.planar else "in space"
            raise fault_at(
                path,
                f"{what} {where} has {wanted} components, not {given.size}",
                "give two components, or remove plane:" if wanted == 2 else "give three components, or set plane:",
            )
        return given if wanted == 3 else np.append(given, 0.0)

    def direction(self, value: Any, path: Path) -> Array:
        """Return a unit vector in the drawing, given as x, -y, ..., as two points [A, D], or by its components."""
        if isinstance(value, str):
            letter = value.removeprefix("-").removeprefix("+")
            letters = self.mechanism.plane or "xyz"
            if len(letter) != 1 or letter not in letters:
                raise fault_at(
                    path,
                    f'"{value}" is not a direction',
                    f"use one of {', '.join(letters)}, with a leading - for the opposite direction, or components",
                )
            unit = np.eye(3)[letters.index(letter)]
            return -unit if value.startswith("-") else unit
        if from_to(value):
            start, end = (self.place(place, (*path, i)) for i, place in enumerate(value))
            what, hint = (
                f'"{value[0]}" and "{value[1]}" are drawn at the same position',
                "use two points that lie apart",
            )
            vector, least = end - start, 1e-12 * max(1.0, float(np.abs([start, end]).max()))
        else:
            what, hint = "a direction must not be the zero vector", "give a nonzero vector"
            vector, least = self.vector(value, path, "a direction"), 1e-12
        length = np.linalg.norm(vector)
        if length < least:
            raise fault_at(path, what, hint)
        return vector / length

    def rotation(self, value: Rotation | None, path: Path) -> Array:
        """Return the rotation matrix of a `Rotation`; the identity if there is none."""
        if value is None:
            return np.eye(3)
        if self.mechanism.planar:
            axis = np.array([0.0, 0.0, 1.0])
        elif value.about is None:
            raise fault_at(path, "a rotation in space needs an axis", "write {about: z, angle: ...}")
        else:
            axis = self.direction(value.about, (*path, "about"))
        return rotation_about(axis, value.angle)

    def place(self, value: Any, path: Path) -> Array:
        """Return the position in the drawing of a point or frame, or of coordinates."""
        if not isinstance(value, str):
            return self.vector(value, path)
        if value in self.points:
            return self.points[value]
        if value in self.mechanism.frames and value in getattr(self, "frames", {}):
            frame = self.frames[value]
            return self.bodies[frame.body].to_world(frame.pose.position)
        raise unknown_name("point", value, self.points, path=path)

    def own(self, body: str, local: Array) -> Array:
        """Convert body coordinates from the origin that the user sees to the internal origin of the body."""
        return local - self.offsets[body]

    def rod_end(self, body: str, point: Any) -> Array | None:
        """Return the local position of an end point of a rod or beam, from its length; None for other points."""
        ends = self.mechanism.bodies[body].ends if body != GROUND else None
        if ends is None or point not in ends:
            return None
        return self.own(body, np.array([0.0 if point == ends[0] else self.lengths[body], 0.0, 0.0]))

    def on_body(self, body: str, place: Any, path: Path) -> Array:
        """Return the local position on `body` of a point, a frame, or coordinates as drawn."""
        end = self.rod_end(body, place)
        if end is not None:
            return end
        frame = self.frames.get(place) if isinstance(place, str) else None
        if frame is not None and frame.body == body:
            return frame.pose.position
        return self.bodies[body].to_local(self.place(place, path))

    def find_frame(self, reference: str, path: Path) -> Attached:
        """Return the frame that a name refers to: a frame, `body.point`, the origin of a body, or a joint's point."""
        if reference in self.frames:
            return self.frames[reference]
        body, _, point = reference.partition(".")
        if point and body in self.bodies:
            return Attached(body, Pose(self.on_body(body, point, path), np.eye(3)))
        if reference in self.joint_points:
            owner = self.joint_points[reference]
            return Attached(owner, Pose(self.on_body(owner, reference, path), np.eye(3)))
        if reference in self.bodies:
            return Attached(reference, Pose(self.own(reference, np.zeros(3)), np.eye(3)))
        if reference in self.points:
            raise fault_at(
                path,
                f'point "{reference}" is not on a body: no rod ends there and no joint is placed there',
                f"write BODY.{reference} with the name of its body",
            )
        known = [*self.frames, *self.joint_points, *self.mechanism.bodies]
        raise unknown_name("point, frame or body", reference, known, path=path)

    def _body_pose(self, name: str) -> Pose:
        body = self.mechanism.bodies[name]
        path: Path = ("bodies", name)
        if body.ends is None:
            origin = np.zeros(3) if body.at is None else self.place(body.at, (*path, "at"))
            return Pose(origin, self.rotation(body.rotation, (*path, "rotation")))
        kind = "rod" if body.rod is not None else "beam"
        for point in body.ends:
            self._require_point(point, (*path, kind))
        start, end = (self.points[point] for point in body.ends)
        drawn = float(np.linalg.norm(end - start))
        if drawn < 1e-12:
            raise fault_at(
                (*path, kind),
                f'its points "{body.ends[0]}" and "{body.ends[1]}" are drawn at the same position',
                f"draw them apart, since they define the direction of the {kind}",
            )
        self.lengths[name] = drawn if body.length is None else body.length
        axes = axes_from_x(end - start)
        if self.mechanism.planar:  # turn about the normal alone
            x, y = (end - start)[:2] / drawn
            axes = np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]])
        return Pose(start, axes)

    def _require_point(self, name: str, path: Path) -> None:
        """Require that an end of a rod or beam is a point of the drawing; a frame already lies on a body."""
        if name in self.points:
            return
        if name in self.mechanism.frames:
            on = self.mechanism.frames[name].on
            raise fault_at(
                path,
                f'its end "{name}" is a frame of "{on}", not a point of the drawing',
                f'add a point there, and connect this body with "{on}" by a joint if they are different bodies',
            )
        raise unknown_name("point", name, self.points, path=path)

    def _offset(self, name: str, drawn: Pose) -> Array:
        """Return the offset from the drawing's origin to the middle of the body's joints; zero for a placed body."""
        body = self.mechanism.bodies[name]
        if body.ends is not None or body.at is not None:
            return np.zeros(3)
        places = []
        for joint_name, joint in self.mechanism.joints.items():
            place: Any = joint_name if joint.at is None else joint.at
            if name in joint.bodies and joint.frames is None and not isinstance(place, str):
                places.append(self.vector(place, ("joints", joint_name, "at")))
            elif name in joint.bodies and joint.frames is None and place in self.points:
                places.append(self.points[place])
        return drawn.to_local(np.mean(places, axis=0)) if places else np.zeros(3)

    def _frame(self, name: str) -> Attached:
        frame = self.mechanism.frames[name]
        path: Path = ("frames", name)
        require_known("body", frame.on, self.bodies, path=(*path, "on"))
        base = self.bodies[frame.on]
        turn = self.rotation(frame.rotation, (*path, "rotation"))
        if frame.local is not None:
            local = self.own(frame.on, self.vector(frame.local, (*path, "local")))
            return Attached(frame.on, Pose(local, turn))
        place = name if frame.at is None and name in self.points else frame.at
        if place is None:
            position = self.own(frame.on, np.zeros(3))
        else:
            end = self.rod_end(frame.on, place)
            position = base.to_local(self.place(place, (*path, "at"))) if end is None else end
        return Attached(frame.on, Pose(position, base.axes.T @ turn if frame.rotation else np.eye(3)))

    def _joint_points(self) -> dict[str, str]:
        """Return the body of each point of a joint or rod: the first of its bodies that is not the ground."""
        owners: dict[str, str] = {}
        for name, body in self.mechanism.bodies.items():
            ends: Sequence[Any] = body.ends or [end for beam in body.beams or () for end in (beam.start, beam.to)]
            for point in ends:
                if isinstance(point, str) and point in self.points:
                    owners.setdefault(point, name)
        for name, joint in self.mechanism.joints.items():
            place = joint.at if joint.at is not None else name
            if joint.frames is None and isinstance(place, str) and place in self.points:
                first, second = joint.bodies
                owners.setdefault(place, second if first == GROUND else first)
        return owners
