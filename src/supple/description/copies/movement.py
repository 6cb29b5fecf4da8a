"""How one copy of a group is moved in the drawing: turned, shifted or mirrored; and what its parts are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.body import Rotation
from supple.description.copies.copies import Copies
from supple.geometry.rotation import axes_from_x, rotation_about, rotation_vector


@dataclass(frozen=True)
class Movement:
    """x' = A x + t, A a rotation or a reflection; and how the group's names end in this copy.

    The axes R of a body become A R, or A R A if A is a reflection, so that they stay right-handed; those of a rod
    follow from where it is drawn. With R' for the new ones, components in them become L times the old, L = R'ᵀ A R.
    Vectors of turning (axes of hinges, moments) change their sign once more in a reflection: angles keep theirs.
    """

    A: Array
    t: Array
    plane: str | None
    suffix: str
    group: Copies
    drawn: Mapping[str, Array]  # points of the group and of the mechanism

    @property
    def mirrored(self) -> bool:
        return bool(np.linalg.det(self.A) < 0.0)

    def local(self, body: str) -> Array:
        """L of a body's axes; of one that is not copied, whose axes stay, A."""
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
        """L of the frame that a place stands for: a frame's own axes, or those of its body."""
        frame = self.group.frames.get(place)
        if frame is not None and frame.rotation is not None:
            return self.A if self.mirrored else np.eye(3)
        return self.local(frame.on if frame is not None else self._owner(place))

    def _owner(self, place: str) -> str:
        """The body that a point lies on, as the drawing takes it: that of a rod, or of a joint."""
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
        return name + self.suffix if name in self.group.bodies else name

    def pair(self, names: tuple[str, str] | None, of: Callable[[str], str]) -> tuple[str, str] | None:
        return None if names is None else (of(names[0]), of(names[1]))

    def joint(self, reference: str | None) -> str | None:
        """`joint` or `joint.coordinate`."""
        if reference is None:
            return None
        name, dot, coordinate = reference.partition(".")
        return (name + self.suffix if name in self.group.joints else name) + dot + coordinate

    def sensor(self, reference: str) -> str:
        """`sensor` or `sensor.x`."""
        name, dot, part = reference.partition(".")
        return (name + self.suffix if name in self.group.sensors else name) + dot + part

    def named(self, reference: str) -> str:
        """A point, a frame, a body, or `body.point`."""
        group = self.group
        places = (*group.points, *group.frames, *group.bodies)
        return ".".join(item + self.suffix if item in places else item for item in reference.split("."))

    # -------------------------------------------------------------------------------------------- vectors

    def place(self, value: Any) -> Any:
        """A name, or coordinates in the drawing."""
        if value is None or isinstance(value, float):
            return value
        return self.named(value) if isinstance(value, str) else self.components(self.A @ self.whole(value) + self.t)

    def along(self, value: Any, turning: bool = False, matrix: Array | None = None) -> Any:
        """A direction: a letter, two places, or components; `turning` of what turns about it."""
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
        """Of axes in the drawing: A R, or A R A for a mirror image."""
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
