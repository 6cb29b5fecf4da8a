"""Copies of a group in the drawing: their movement, and the names of their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.actuator import Actuator
from supple.description.body import Beam, Body, Frame, Inertia, PointMass, Rotation, Solid
from supple.description.copies.copies import Copies
from supple.description.coupling import Coupling
from supple.description.joints.elasticity import StiffnessTable, elasticity
from supple.description.joints.joint import Joint
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.load import Damper, Force, Spring
from supple.description.sensor import SENSOR_KINDS, Sensor
from supple.geometry.rotation import axes_from_x, axes_from_z, rotation_about, rotation_vector

# Movement of one copy.


@dataclass(frozen=True)
class Movement:
    """Movement of a copy, x' = A x + t with A a rotation or a reflection, and the suffix of its names.

    The axes R of a body become A R, or A R A for a reflection, so that they stay right-handed; those of a rod follow
    from its points. With the new axes R', components become L times the old ones, L = R'ᵀ A R. Axial vectors (axes of
    hinges, moments) change their sign once more in a reflection, so that angles keep theirs.
    """

    A: Array
    t: Array
    plane: str | None
    suffix: str
    group: Copies
    drawn: Mapping[str, Array]  # points of the group and of the mechanism

    @property
    def mirrored(self) -> bool:
        """Whether the movement is a reflection."""
        return bool(np.linalg.det(self.A) < 0.0)

    def local(self, body: str) -> Array:
        """Return L of a body's axes; A for a body that is not copied, whose axes stay."""
        if body not in self.group.bodies:
            return self.A
        ends = self.group.bodies[body].ends
        if ends is not None and all(end in self.drawn for end in ends):
            x = self.drawn[ends[1]] - self.drawn[ends[0]]
            if x.any():
                return self._rod_axes(self.A @ x).T @ self.A @ self._rod_axes(x)
        return self.A if self.mirrored else np.eye(3)

    def _rod_axes(self, x: Array) -> Array:
        if self.plane is None:
            return axes_from_x(x)
        u, v = x[:2] / np.linalg.norm(x)
        return np.array([[u, -v, 0.0], [v, u, 0.0], [0.0, 0.0, 1.0]])

    def local_at(self, place: str) -> Array:
        """Return L of the frame of a point: the frame's own axes, or those of its body."""
        frame = self.group.frames.get(place)
        if frame is not None and frame.rotation is not None:
            return self.A if self.mirrored else np.eye(3)
        return self.local(frame.on if frame is not None else self._owner(place))

    def _owner(self, place: str) -> str:
        """Return the body that a point lies on, as in the drawing: that of a rod, or of a joint."""
        body, dot, _ = place.partition(".")
        if dot or body in self.group.bodies:
            return body
        for name, part in self.group.bodies.items():
            if part.ends is not None and place in part.ends:
                return name
        for name, joint in self.group.joints.items():
            if place == (name if joint.at is None else joint.at):
                return next((item for item in joint.bodies if item in self.group.bodies), body)
        return body

    # -------------------------------------------------------------------------------------------- names

    def body(self, name: str) -> str:
        """Return the name of a body in this copy."""
        return name + self.suffix if name in self.group.bodies else name

    def pair(self, names: tuple[str, str] | None, of: Callable[[str], str]) -> tuple[str, str] | None:
        """Return a pair of names in this copy."""
        return None if names is None else (of(names[0]), of(names[1]))

    def joint(self, reference: str | None) -> str | None:
        """Return the name of a joint, or `joint.coordinate`, in this copy."""
        if reference is None:
            return None
        name, dot, coordinate = reference.partition(".")
        return (name + self.suffix if name in self.group.joints else name) + dot + coordinate

    def sensor(self, reference: str) -> str:
        """Return the name of a sensor, or `sensor.x`, in this copy."""
        name, dot, part = reference.partition(".")
        return (name + self.suffix if name in self.group.sensors else name) + dot + part

    def named(self, reference: str) -> str:
        """Return the name of a point, a frame, a body, or `body.point` in this copy."""
        group = self.group
        places = (*group.points, *group.frames, *group.bodies)
        return ".".join(item + self.suffix if item in places else item for item in reference.split("."))

    # -------------------------------------------------------------------------------------------- vectors

    def place(self, value: Any) -> Any:
        """Return the name of a point, or its coordinates in the drawing, in this copy."""
        if value is None or isinstance(value, float):
            return value
        return self.named(value) if isinstance(value, str) else self.components(self.A @ self.whole(value) + self.t)

    def along(self, value: Any, turning: bool = False, matrix: Array | None = None) -> Any:
        """Return a direction in this copy; `turning` for an axial vector (a rotation axis)."""
        if value is None:
            return None
        sign = -1.0 if turning and self.mirrored else 1.0
        if isinstance(value, tuple) and isinstance(value[0], str):
            start, end = self.named(value[0]), self.named(value[1])
            return (start, end) if sign > 0.0 else (end, start)
        if isinstance(value, str):
            letters = self.plane or "xyz"
            letter = value[-1:]
            if letter not in letters:  # the plane's normal, or a slip that the drawing tells
                return value
            value = np.eye(3)[letters.index(letter)] * (-1.0 if value.startswith("-") else 1.0)
        return self.components(sign * (self.A if matrix is None else matrix) @ self.whole(value))

    def whole(self, value: Any) -> Array:
        found = np.asarray(value, float)
        return np.append(found, 0.0) if found.size == 2 else found

    def components(self, vector: Array) -> tuple[float, ...]:
        kept = vector[:2] if self.plane else vector
        kept = np.where(np.abs(kept) < 1e-15 * max(1.0, float(np.abs(vector).max())), 0.0, kept)
        return tuple(float(item) for item in kept)

    def rotation(self, value: Rotation | None) -> Rotation | None:
        """Return a rotation from the axes of the drawing in this copy: A R, or A R A for a reflection."""
        R = np.eye(3)
        if value is not None:
            axis = [0.0, 0.0, 1.0] if self.plane else self._axis(value)
            R = rotation_about(axis, value.angle)
        found = rotation_vector(self.A @ R @ self.A if self.mirrored else self.A @ R)
        angle = float(np.linalg.norm(found))
        if self.plane:
            return Rotation(angle=float(found[2])) if angle else None
        return Rotation(about=tuple(found / angle), angle=angle) if angle > 1e-15 else None

    def _axis(self, value: Rotation) -> Array:
        if isinstance(value.about, str) and value.about[-1:] in ("x", "y", "z"):
            return np.eye(3)["xyz".index(value.about[-1])] * (-1.0 if value.about.startswith("-") else 1.0)
        if isinstance(value.about, tuple) and isinstance(value.about[0], str):
            return self.drawn[value.about[1]] - self.drawn[value.about[0]]
        return self.whole(value.about)


# The parts of a copy, one function per type of part.


def copied_part(part: Any, by: Movement, name: str) -> Any:
    """Return the copy of a part of the group; `name` is its name in the group."""
    return _MOVES[type(part)](part, by, name)


def _change_part(part: Any, **changes: Any) -> Any:
    """Return the part with some fields changed and validated; fields that were not set stay unset."""
    kept = {name: getattr(part, name) for name in part.model_fields_set}
    changed = {**kept, **{name: value for name, value in changes.items() if value is not None or name in kept}}
    return type(part)(**{_alias(part, name): value for name, value in changed.items()})


def _alias(part: Any, name: str) -> str:
    field = type(part).model_fields.get(name)
    return name if field is None else field.alias or name


def _body(body: Body, by: Movement, name: str) -> Body:
    L = by.local(name)
    changes: dict[str, Any] = {
        "rod": by.pair(body.rod, by.named),
        "beam": by.pair(body.beam, by.named),
        "beams": None if body.beams is None else tuple(_beam(beam, by) for beam in body.beams),
        "center": by.place(body.center),
        "inertia": _inertia(body.inertia, L),
        "up": by.along(body.up) if body.beam is None or body.up is not None else _up(body.beam, by),
        "attach": None if body.attach is None else {by.named(n): by.place(p) for n, p in body.attach.items()},
    }
    if isinstance(body.solid, tuple):
        changes["solid"] = tuple(_solid(solid, by, L) for solid in body.solid)
    elif body.solid is not None:
        changes["solid"] = _solid(body.solid, by, L)
    if body.superelement is not None:
        if by.mirrored:
            raise ValueError("the matrices of a superelement cannot be mirrored")
        named = {by.named(name): interface for name, interface in body.superelement.interfaces.items()}
        changes["superelement"] = _change_part(body.superelement, interfaces=named)
    if body.ends is None:
        origin = by.t if body.at is None else None
        changes["at"] = by.place(body.at) if origin is None else by.components(origin) if origin.any() else None
        changes["rotation"] = by.rotation(body.rotation)
    return _change_part(body, **changes)


def _up(ends: tuple[Any, Any], by: Movement) -> Any:
    """Return the default direction of a section's height in the copy: like a rod's z axis, moved along."""
    if by.plane is not None:
        return None
    start, end = (by.drawn.get(place) if isinstance(place, str) else by.whole(place) for place in ends)
    if start is None or end is None or not (end - start).any():
        return None  # the drawing reports the error
    return by.along(tuple(axes_from_x(end - start)[:, 2]))


def _beam(beam: Beam, by: Movement) -> Beam:
    offset = beam.offset
    if offset is not None and by.mirrored and by.plane is None:  # y is across x and z, right-handed
        offset = (-offset[0], offset[1])
    up = by.along(beam.up) if beam.up is not None else _up((beam.start, beam.to), by)
    return _change_part(beam, start=by.place(beam.start), to=by.place(beam.to), up=up, offset=offset)


def _solid(solid: Solid, by: Movement, L: Array) -> Solid:
    if solid.box is not None and not _upright(L):
        raise ValueError(
            "the copy of the box is not aligned with the axes of its body; make it a separate body with a weld joint"
        )
    axis = solid.axis
    if axis is None and solid.chosen("cylinder", "tube") and not _upright(L):
        axis = (0.0, 0.0, 1.0)  # as drawn, which a mirror or a rod's axes turn
    return _change_part(solid, center=by.place(solid.center), axis=by.along(axis, matrix=L))


def _upright(L: Array) -> bool:
    """Return whether body axes are unchanged except for their signs."""
    return bool(np.allclose(np.abs(L), np.eye(3), atol=1e-12))


def _inertia(value: Any, L: Array) -> Any:
    """Return an inertia in the new body axes, L J Lᵀ."""
    if value is None or isinstance(value, float) or (isinstance(value, tuple) and _upright(L)):
        return value
    J = L @ (np.diag(value) if isinstance(value, tuple) else value.matrix) @ L.T
    return Inertia(xx=J[0, 0], yy=J[1, 1], zz=J[2, 2], xy=J[0, 1], xz=J[0, 2], yz=J[1, 2])


def _frame(frame: Frame, by: Movement, name: str) -> Frame:
    L = by.local(frame.on)
    rotation = frame.rotation
    if rotation is not None:  # from the drawing's axes with `at`, from the body's with `local`
        rotation = (replace(by, A=L) if frame.local is not None else by).rotation(rotation)
    local = by.along(frame.local, matrix=L)
    return _change_part(frame, on=by.body(frame.on), at=by.place(frame.at), local=local, rotation=rotation)


def _joint(joint: Joint, by: Movement, name: str) -> Joint:
    kind = JOINT_KINDS[joint.kind]
    axes = (joint.axis,) if joint.axes is None else joint.axes
    L = by.A
    if joint.frames is not None:
        L = _same_axes(by, joint.frames, axes)
    turning = kind.axis_turns and by.plane is None  # in the plane an axis is a direction
    moved_axes = tuple(by.along(axis, turning, L) for axis in axes)
    return _change_part(
        joint,
        **moved_stiffness(joint, by, L),
        **{kind.name: by.pair(joint.bodies, by.body)},
        **{item.name: -joint.parameters[item.name] for item in kind.parameters if item.mirrored and by.mirrored},
        at=by.place(joint.at),
        frames=by.pair(joint.frames, by.named),
        axis=None if joint.axes is not None else moved_axes[0],
        axes=None if joint.axes is None else moved_axes,
    )


def _same_axes(by: Movement, frames: tuple[str, ...], axes: tuple[Any, ...]) -> Array:
    """Return L of axes given in the frames of two bodies, which must be the same for both."""
    L, other = (by.local_at(frame) for frame in frames)
    if not all(np.allclose(by.along(axis, matrix=L), by.along(axis, matrix=other)) for axis in axes if axis):
        raise ValueError(
            "its two frames rotate differently in the copy; place it with at: in the drawing instead of frames:"
        )
    return L


def _coupling(coupling: Coupling, by: Movement, name: str) -> Coupling:
    """Return the copy of a coupling; angles keep their signs in a mirror image, so factors stay the same."""
    named: dict[str, float] = {}
    for reference, factor in coupling.coordinates.items():
        joint = by.joint(reference)
        if joint == reference and by.sensor(reference) != reference and by.mirrored:
            raise ValueError(
                f"the output of sensor {reference} may change sign in the mirror image; write this coupling without "
                "copies"
            )
        named[by.sensor(reference) if joint is None or joint == reference else joint] = factor
    return _change_part(coupling, coordinates=named)


def _copy_acting(part: Any, by: Movement, name: str = "", **changes: Any) -> Any:
    return _change_part(part, joint=by.joint(part.joint), between=by.pair(part.between, by.named), **changes)


def _force(force: Force, by: Movement, name: str) -> Force:
    L = by.local_at(force.at) if force.follower and force.at is not None else by.A
    moment = force.moment
    if isinstance(moment, float):
        moment = -moment if by.mirrored else moment
    else:
        moment = by.along(moment, True, L)
    vector = force.force if isinstance(force.force, float) else by.along(force.force, matrix=L)
    return _copy_acting(force, by, at=None if force.at is None else by.named(force.at), force=vector, moment=moment)


def _sensor(sensor: Sensor, by: Movement, name: str) -> Sensor:
    kind, measured = SENSOR_KINDS[sensor.kind], sensor.kind_value
    named = (
        by.joint(measured)
        if kind.places == 0
        else by.named(measured)
        if kind.places == 1
        else by.pair(measured, by.named)
    )
    turning = any(term.turns for row in kind.axis.values() for term in row)
    L = by.A
    if sensor.axis is not None and kind.places == 2:
        L = _same_axes(by, sensor.places, (sensor.axis,))
    elif sensor.axis is not None and sensor.own_axes:
        L = by.local_at(sensor.kind_value)
    return _change_part(sensor, **{kind.name: named}, axis=by.along(sensor.axis, turning, L))


def _point_mass(part: PointMass, by: Movement, name: str) -> PointMass:
    return _change_part(part, at=by.named(part.at), inertia=_inertia(part.inertia, by.local_at(part.at)))


_MOVES: dict[type, Callable[[Any, Movement, str], Any]] = {
    tuple: lambda point, by, name: by.place(point),
    Body: _body,
    Frame: _frame,
    Joint: _joint,
    Coupling: _coupling,
    PointMass: _point_mass,
    Spring: _copy_acting,
    Damper: _copy_acting,
    Actuator: _copy_acting,
    Force: _force,
    Sensor: _sensor,
}


# The stiffness of a joint in a copy, where the axes of its directions do not always move with the copy.
#
# Axes across a joint's axis follow from its direction, and those of a weld are the drawing's. With the axes E before
# and E' after, translations are multiplied by Q = E'ᵀ A E, rotations by det(A) Q, and K' = T K Tᵀ.


_ROUNDING = 1e-12
_ASKEW = (
    "the elastic directions are not aligned with the joint's axes in this copy; give all directions that the rotation "
    "mixes a number, none rigid and none a table"
)


def moved_stiffness(joint: Joint, by: Movement, L: Array) -> dict[str, Any]:
    """Return the fields of the joint's stiffness that change; none if it is the same along the new axes.

    L : transformation of components in the axes in which the joint's own axes are given
    """
    if joint.stiffness is None and joint.elastic is None:
        return {}
    found, T = elasticity(joint, by.plane), _build_transform(joint, by, L)
    soft = np.diag(found.K) != 0.0
    of_soft, of_others = (np.abs(T[:, part]).sum(axis=1) > _ROUNDING for part in (soft, ~soft))
    if (of_soft & of_others).any():
        raise ValueError(_ASKEW)
    K, D = (_transform_matrix(T * of_soft[:, None], matrix) for matrix in (found.K, found.D))
    if K is None and D is None:
        if any(abs(T[i, i]) < 1.0 - _ROUNDING for i, way in enumerate(found.directions) if way in found.tables):
            raise ValueError(_ASKEW)
        return {"stiffness": _rename_coordinates(joint.stiffness, by)} if found.tables else {}
    if found.tables:
        raise ValueError(_ASKEW)
    rigid = [way in joint.list_held(by.plane) and not of_soft[i] for i, way in enumerate(found.directions)]
    matrix = (found.K if K is None else K).tolist()
    for i in np.flatnonzero(rigid):
        matrix[i][i] = None
    changes: dict[str, Any] = {"elastic": None, "stiffness": matrix}
    if joint.elastic_damping is not None:
        changes["elastic_damping"] = (found.D if D is None else D).tolist()
    return changes


def _build_transform(joint: Joint, by: Movement, L: Array) -> Array:
    """Return T (6, 6), in the plane (3, 3)."""
    form, kind = joint.form(by.plane), JOINT_KINDS[joint.kind]
    turned = by.plane is not None and form.turns and form.axis == "z" and not form.rolls
    if turned and joint.frames is None and joint.axis is None:
        Q = by.local(joint.bodies[0])  # there axes are those of the first body
    else:
        axes = [_direction(axis, by) for axis in ((joint.axis,) if joint.axes is None else joint.axes) if axis]
        sign = -1.0 if by.mirrored and kind.axis_turns and by.plane is None else 1.0
        Q = _axes([sign * L @ axis for axis in axes], by.plane).T @ L @ _axes(axes, by.plane)
    hand = -1.0 if by.mirrored else 1.0
    if by.plane is not None:
        T = np.eye(3) * hand
        T[:2, :2] = Q[:2, :2]
        return T
    return np.asarray(np.kron(np.diag([1.0, hand]), Q), dtype=np.float64)


def _axes(axes: list[Array], plane: str | None) -> Array:
    """Return E of the joint's frame in the drawing, or in its frames (`kinematics.joint_frames`)."""
    if len(axes) == 2:
        return np.column_stack([axes[1], np.cross(axes[0], axes[1]), axes[0]])
    if not axes:
        return np.eye(3)
    if plane is not None:
        x, y, _ = axes[0]
        return np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]])
    return axes_from_z(axes[0])


def _direction(axis: Any, by: Movement) -> Array:
    """Return a letter, components, or a direction between points as a unit vector."""
    if isinstance(axis, str):
        vector = np.eye(3)[(by.plane or "xyz").index(axis[-1])] * (-1.0 if axis.startswith("-") else 1.0)
    elif isinstance(axis[0], str):
        unknown = [name for name in axis if name not in by.drawn]
        if unknown:
            raise ValueError(f'its stiffness is copied, but "{unknown[0]}" of its axis is not a point; give components')
        vector = by.drawn[axis[1]] - by.drawn[axis[0]]
    else:
        vector = by.whole(axis)
    return np.asarray(vector / np.linalg.norm(vector))


def _transform_matrix(T: Array, matrix: Array) -> Array | None:
    """Return T K Tᵀ without rounding residues; None if it is unchanged."""
    found = T @ matrix @ T.T
    found = 0.5 * (found + found.T)
    size = np.sqrt(np.outer(np.diag(found), np.diag(found)))
    if np.all(np.abs(found - matrix) <= 1e-11 * size):
        return None
    return np.where(np.abs(found) <= _ROUNDING * size, 0.0, found)


def _rename_coordinates(given: Any, by: Movement) -> Any:
    """Rename the coordinates of tables to those of the copy."""
    return {
        name: item.model_copy(update={"over": _over(item.over, by)}) if isinstance(item, StiffnessTable) else item
        for name, item in given.items()
    }


def _over(name: str, by: Movement) -> str | None:
    return name + by.suffix if name in by.group.actuators else by.joint(name)
