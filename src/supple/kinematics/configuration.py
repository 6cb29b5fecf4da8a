"""A configuration: the mechanism assembled at θ, one or a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compiled
from supple.description.mechanism import Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.jacobian import jacobian_batch
from supple.kinematics.rest import Rest
from supple.results.result import arrays_repr, picture, result_html
from supple.results.table import Table
from supple.results.text import Text, angle, number_text, rotation_text

At = str | Mapping[str, Any] | Sequence[float] | Array | None
"""How a caller names θ: a configuration's name, {coordinate: value}, {place: position or pose}, {"place.x": value},
numbers in order, or (N, s) of them; values by name may be (N,), positions (N, 3), and texts with units."""


class FramePose(NamedTuple):
    """Where a frame is in the world: position (..., 3) in m and rotation R_wf (..., 3, 3)."""

    position: Array
    rotation: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


class Carriers(Protocol):
    """Which frames of a deformed mechanism carry the places on its bodies.

    place : (frames + 1, 3) where each stands on its body, in body axes; rigid : elastic parts that do not deform
    """

    @property
    def place(self) -> Array: ...
    @property
    def rigid(self) -> tuple[str, ...]: ...
    def nearest(self, body: int, place: Array) -> int:
        """The frame that carries a place on a body."""
        ...

    def drawn(self, body: int) -> Array:
        """(nodes, 3) where the nodes of a body stand on it as it is drawn, in its axes."""
        ...


class Deformed(NamedTuple):
    """Where the frames of a deformed mechanism are: X (..., frames + 1, 12), the ground last."""

    frames: Carriers
    X: Array


@dataclass(frozen=True, eq=False, repr=False)
class Configuration:
    """A mechanism assembled at θ.

    theta : (s,), or (N, s) for a batch; every other array then has the same leading axis
    X     : (..., bodies + 1, 12) position and rotation of every body, the ground last
    w     : values of every measure, θ first
    reached : how far along the segment from rest the mechanism could follow; 1 where it is assembled
    deformed : where nodes are of what is elastic; None where nothing is deformed. Bodies are then where one of their
               nodes carries them
    """

    rest: Rest
    theta: Array
    X: Array
    w: Array
    reached: Array
    deformed: Deformed | None = None

    @property
    def mechanism(self) -> Mechanism:
        return self.rest.numbering.mechanism

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts that are not deformed in it: all of them, where it is assembled at θ."""
        return self.mechanism.elastic_names if self.deformed is None else self.deformed.frames.rigid

    def __repr__(self) -> str:
        if self.theta.ndim == 2:
            return f'<{len(self.theta)} configurations of "{self.mechanism.name}">'
        at = ", ".join(f"{name}={float(value):.6g}" for name, value in self.coordinates.items())
        return f'<"{self.mechanism.name}" at {at or "rest"}>'

    def _repr_html_(self) -> str:
        units = self.rest.numbering.coordinate_units
        columns = {name: np.atleast_1d(values) for name, values in self.coordinates.items()}
        title = self.mechanism.name
        if self.theta.ndim == 2:
            return result_html("Configurations", title, Table({**columns, "assembled": self.assembled}, units))
        return result_html("Configuration", title, Table(columns, units) if columns else None)

    def data(self) -> dict[str, Any]:
        """What `--json` prints: poses of all frames, and coordinates."""
        return {
            "frames": {
                name: {"position": pose.position, "rotation": pose.rotation} for name, pose in self.frames.items()
            },
            "coordinates": self.coordinates,
            "joint_coordinates": self.joint_coordinates,
            "singularity": self.singularity,
            "rigid": self.rigid,
        }

    def text(self) -> Text:
        """Coordinates, those of the joints, and poses of all frames, at one configuration."""
        numbering = self.rest.numbering
        turns = numbering.angles()[numbering.constraints :]

        def shown(row: int) -> str:
            return angle(self.w[row]) if turns[row] else number_text(self.w[row], "m")

        out = Text(f"{self.mechanism.name}, singularity {float(self.singularity):.3g} (0 is singular)")
        if self.coordinates:
            out.table(("coordinate", "value"), [(name, shown(i)) for i, name in enumerate(self.coordinates)])
        rows = [
            (key[1], key[2], shown(row - numbering.constraints))
            for key, row in numbering.measures.items()
            if key[0] == "joint"
        ]
        if rows:
            out.table(("joint", "coordinate", "value"), rows)
        poses = [
            (name, *(number_text(x) for x in pose.position), rotation_text(pose.rotation))
            for name, pose in self.frames.items()
        ]
        out.table(("frame", "x [m]", "y [m]", "z [m]", "turned by"), poses)
        return out

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """Whether (each of) the configuration(s) exists: reached without meeting a dead point."""
        return self.reached >= 1.0

    @property
    def coordinates(self) -> dict[str, Any]:
        """θ by name."""
        return {name: self.theta[..., i] for i, name in enumerate(self.rest.numbering.coordinates)}

    @property
    def joint_coordinates(self) -> dict[str, Any]:
        """Every coordinate of every joint, as `joint` or `joint.coordinate`."""
        found = {}
        for key, row in self.rest.numbering.measures.items():
            if key[0] == "joint":
                single = len(self.mechanism.joints[key[1]].coordinates(self.mechanism.plane)) == 1
                found[key[1] if single else f"{key[1]}.{key[2]}"] = self.w[..., row - self.rest.numbering.constraints]
        return found

    def frame(self, name: str) -> FramePose:
        """A body, a frame, `body.point` or a joint's point, in the world."""
        require_arguments(Configuration.frame, locals())
        body, local, axes = self.rest.numbering.place(name)
        P = self.mechanism.plane_axes()
        X = self.X
        if self.deformed is not None:
            frames, X = self.deformed
            body = frames.nearest(body, local)
            local = local - frames.place[body]
        x = X[..., body, :3]
        R = X[..., body, 3:].reshape(*X.shape[:-2], 3, 3)
        return FramePose((x + R @ local) @ P.T, P @ (R @ axes) @ P.T)

    @property
    def frames(self) -> dict[str, FramePose]:
        """Every named place: bodies, frames, and points of joints and rods."""
        drawing = self.rest.numbering.drawing
        names = dict.fromkeys([*self.mechanism.bodies, *drawing.frames, *drawing.joint_points])
        return {name: self.frame(name) for name in names}

    @cached_property
    def singularity(self) -> Array:
        """Smallest over largest singular value of the joint and coordinate rows, lengths in extents.

        Without θ the joints alone are judged, by the rank they have in general position.
        """
        numbering = self.rest.numbering
        full = numbering.columns - self.rest.mobility.mobility + len(numbering.coordinates)
        if full == 0:  # bodies that float, and no coordinates: nothing can lose rank
            return np.ones(self.X.shape[:-2])
        values = np.linalg.svd(self.jacobian(), compute_uv=False)
        return values[..., full - 1] / values[..., 0]

    def jacobian(self) -> Array:
        """[Φ_q; A], scaled: (..., rows, n)."""
        numbering = self.rest.numbering
        X = np.ascontiguousarray(self.X.reshape(-1, *self.X.shape[-2:]))
        J = np.empty((len(X), numbering.constraints + len(numbering.coordinates), numbering.columns))
        compiled(jacobian_batch, count=len(X))(numbering.arrays, X, J)
        return J.reshape(*self.X.shape[:-2], *J.shape[1:])

    def each(self) -> Iterator[Configuration]:
        """The configurations of a batch, one by one; a single one gives itself."""
        if self.X.ndim == 2:
            yield self
        else:
            yield from map(self.part, range(len(self.X)))

    def part(self, which: Any) -> Configuration:
        """One of a batch by its number, or some of it; None makes a batch of a single configuration."""
        deformed = None if self.deformed is None else Deformed(self.deformed.frames, self.deformed.X[which])
        reached = np.asarray(self.reached)[which]
        return Configuration(self.rest, self.theta[which], self.X[which], self.w[which], reached, deformed)

    @property
    def batch(self) -> Configuration:
        """The same as a batch, of one where it is a single configuration."""
        return self if self.X.ndim == 3 else self.part(None)

    def plot(self, **options: Any) -> Any:
        """Draw it (matplotlib), see `sketch`; returns the panels."""
        return picture("view.sketch.sketch")(self, **options)
