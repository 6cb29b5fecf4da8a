"""Frames of a joint on its two bodies, from the drawing, and the primitives that measure between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Drawing, Path, from_to
from supple.description.joints.joint import Joint
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.measure import LETTERS, MeasureTerm
from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import part_name
from supple.geometry.rotation import axes_from_z
from supple.kinematics.primitives import ALONG, ANGLE, DISTANCE, DOT

# The measures of joints and sensors as primitives between the frames on two bodies.


_ZERO = np.zeros(3)


class Primitive(NamedTuple):
    """One scalar measure between body a and body b; vectors in the axes of their bodies.

    pa, pb  : points of the measure. An angle does not depend on them, except on an elastic body, where a node rotates
    swapped : bodies a and b are exchanged (a measure relative to the second body)
    """

    kind: int
    u: Array = _ZERO
    v: Array = _ZERO
    w: Array = _ZERO
    pa: Array = _ZERO
    pb: Array = _ZERO
    swapped: bool = False


class JointFrames(NamedTuple):
    """A frame on each of two bodies: position and axes (columns), in that body's axes."""

    pa: Array
    Ea: Array
    pb: Array
    Eb: Array

    def measure(self, term: MeasureTerm) -> Primitive:
        """Return the primitive of a term, without its factor."""
        require_known("measure", term.measure, _PRIMITIVES)
        return _PRIMITIVES[term.measure](self, term)

    def along(self, term: MeasureTerm) -> Primitive:
        """Return the separation of the two origins along an axis of the first frame."""
        return Primitive(ALONG, u=self.Ea[:, term.axis], pa=self.pa, pb=self.pb)

    def right_angle(self, term: MeasureTerm) -> Primitive:
        """Return the product of an axis of the first frame with an axis of the second."""
        first, second = map(LETTERS.index, term.axes)
        return Primitive(DOT, u=self.Ea[:, first], w=self.Eb[:, second], pa=self.pa, pb=self.pb)

    def turn(self, term: MeasureTerm) -> Primitive:
        """Return the angle about an axis of the first frame, from the next of its axes to that of the second frame."""
        one, two = (term.axis + 1) % 3, (term.axis + 2) % 3
        return Primitive(ANGLE, u=self.Ea[:, one], v=self.Ea[:, two], w=self.Eb[:, one], pa=self.pa, pb=self.pb)

    def tilt(self, term: MeasureTerm) -> Primitive:
        """Return the angle of the second frame about an axis of its own, relative to the first frame's last axis."""
        one, two = (term.axis + 1) % 3, (term.axis + 2) % 3
        u, v, w = self.Eb[:, two], self.Eb[:, one], self.Ea[:, two]
        return Primitive(ANGLE, u=u, v=v, w=w, pa=self.pb, pb=self.pa, swapped=True)


_PRIMITIVES: dict[str, Callable[[JointFrames, MeasureTerm], Primitive]] = {
    "along": JointFrames.along,
    "right angle": JointFrames.right_angle,
    "turn": JointFrames.turn,
    "tilt": JointFrames.tilt,
    "distance": lambda frames, term: point_distance(frames.pa, frames.pb),
}


def point_distance(pa: Array, pb: Array) -> Primitive:
    """Return the distance between a point on each of two bodies."""
    return Primitive(DISTANCE, pa=pa, pb=pb)


def component(direction: Array, point: Array) -> Primitive:
    """Return the position of a point of body b along a direction fixed in body a, from its origin."""
    return Primitive(ALONG, u=direction, pb=point)


# The frames, from the drawing.


_OFF_AXIS = 1e-6  # largest cosine between two axes drawn at right angles; more is an error, less is rounding


def joint_frames(drawing: Drawing, name: str) -> JointFrames:
    """Return position and axes of the joint on both bodies, each in that body's axes."""
    joint = drawing.mechanism.joints[name]
    path: Path = ("joints", name)
    for body in joint.bodies:
        require_known("body", body, drawing.bodies, part=part_name(path), path=(*path, joint.kind))
    kind, E = JOINT_KINDS[joint.kind], _axes(drawing, joint, path)
    first, second = joint.bodies
    if joint.frames is not None:
        poses = []
        for body, reference in zip(joint.bodies, joint.frames, strict=True):
            frame = drawing.find_frame(reference, (*path, "frames"))
            if frame.body != body:
                raise InputError(
                    f'frame "{reference}" is on "{frame.body}", not on "{body}"',
                    part=part_name(path),
                    path=(*path, "frames"),
                    hint="list the frames in the order of the bodies",
                )
            poses.append(frame.pose)
        a, b = poses
        return JointFrames(a.position, a.axes @ E, b.position, b.axes @ E)
    place: Any = joint.at if joint.at is not None else name
    if joint.at is None and name not in drawing.points and name not in drawing.frames:
        if kind.marker is not None:  # other kinds have no location
            raise InputError(
                f'the joint has no location, and no point "{name}" is defined',
                part=part_name(path),
                path=path,
                hint="give at: POINT, or define this point",
            )
        place = [0.0] * (2 if drawing.mechanism.planar else 3)
    pa, pb = (drawing.on_body(body, place, (*path, "at")) for body in joint.bodies)
    form = joint.form(drawing.mechanism.plane)
    Ra, Rb = drawing.bodies[first].axes, drawing.bodies[second].axes
    if drawing.mechanism.planar and form.turns and form.axis == "z" and not form.rolls:
        own = np.eye(3) if joint.axis is None else Ra.T @ E
        return JointFrames(pa, own, pb, own)  # angles between the bodies' own axes
    return JointFrames(pa, Ra.T @ E, pb, Rb.T @ E)


def _axes(drawing: Drawing, joint: Joint, path: Path) -> Array:
    """Return the joint's axes in the drawing (or in its frames): z is the axis; of two axes x is the second."""
    for field in ("axis", "axes") if joint.frames is not None else ():
        given = getattr(joint, field)
        if from_to(given if field == "axis" else None) or any(from_to(item) for item in given or ()):
            raise InputError(
                "an axis between two points is in the drawing, but frames: require an axis relative to them",
                part=part_name(path),
                path=(*path, field),
                hint="give components in the frames, or use at: instead of frames:",
            )
    if joint.axes is not None:
        first, second = (drawing.direction(axis, (*path, "axes")) for axis in joint.axes)
        if abs(first @ second) > _OFF_AXIS:
            angle = np.degrees(np.arccos(np.clip(first @ second, -1.0, 1.0)))
            raise InputError(
                f"the two axes of a {joint.kind} joint must be at right angles (got {angle:.4g} degrees)",
                part=part_name(path),
                path=(*path, "axes"),
                hint="correct one of the axes",
            )
        return np.column_stack([second, np.cross(first, second), first])
    kind = JOINT_KINDS[joint.kind]
    if drawing.mechanism.planar:
        if joint.form(drawing.mechanism.plane).axis == "z" and not (kind.without_axis and joint.axis is not None):
            if joint.axis is None:
                return np.eye(3)
            if not joint.form(drawing.mechanism.plane).directed:
                raise InputError(
                    f"in a planar mechanism the axis of a {joint.kind} joint is the normal of the plane",
                    part=part_name(path),
                    path=(*path, "axis"),
                    hint="remove axis:",
                )
        elif joint.axis is None:
            raise InputError("the joint has no axis", part=part_name(path), path=path, hint="give a direction: axis: x")
        x, y, _ = drawing.direction(joint.axis, (*path, "axis"))
        return np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]])
    if joint.axis is not None:  # axis of the joint, or of its compliance
        return axes_from_z(drawing.direction(joint.axis, (*path, "axis")))
    if kind.axes:
        raise InputError("the joint has no axis", part=part_name(path), path=path, hint="give a direction: axis: z")
    return np.eye(3)
