"""Configurations: a mechanism assembled at given coordinates θ, one or a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.description.mechanism import Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.jacobian import jacobian_batch
from supple.kinematics.rest import Rest
from supple.results.result import arrays_repr, picture, result_html
from supple.results.table import Table
from supple.results.text import Text, angle, number_text, rotation_text

At = str | Mapping[str, Any] | Sequence[float] | Array | None
"""Ways to specify a posture: the name of a configuration, {coordinate: value}, {point: position or pose},
{"point.x": value}, coordinate values in order (s,), or a batch (N, s).

Values by name may be (N,), positions (N, 3), and strings with units.
"""


class FramePose(NamedTuple):
    """Pose of a frame in the world: position (..., 3) in m and rotation matrix R_wf (..., 3, 3)."""

    position: Array
    rotation: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


class Carriers(Protocol):
    """Frames of a deformed mechanism that carry the points on its bodies.

    place : (frames + 1, 3) undeformed position of each frame in the axes of its body
    rigid : names of the elastic parts that do not deform
    """

    @property
    def place(self) -> Array: ...
    @property
    def rigid(self) -> tuple[str, ...]: ...
    def nearest(self, body: int, place: Array) -> int:
        """Return the frame that carries a point of a body."""
        ...

    def locate_nodes(self, body: int) -> Array:
        """Return the undeformed positions (nodes, 3) of the nodes of a body, in its axes."""
        ...


class Deformed(NamedTuple):
    """Poses of the frames of a deformed mechanism: X (..., frames + 1, 12), the ground last."""

    frames: Carriers
    X: Array


@dataclass(frozen=True, eq=False, repr=False)
class Configuration:
    """A mechanism assembled at given coordinates θ, or a batch of them; returned by `assemble`.

    Attributes
    ----------
    theta : ndarray, shape (s,) or (N, s)
        Coordinates θ, rad or m. For a batch, all other arrays have the same leading axis.
    X : ndarray, shape (..., bodies + 1, 12)
        Position (3, m) and rotation matrix (9, row by row) of every body, the ground last.
    w : ndarray, shape (..., measures)
        Values of all measured coordinates, rad or m; θ comes first.
    reached : ndarray, shape (...)
        Fraction of the segment from rest to θ that the mechanism could follow; 1 if it is assembled.
    deformed : Deformed or None
        Poses of the nodes of elastic bodies, or None if nothing is deformed. In a deformed configuration, `X` holds the
        pose of one node of each body.

    See Also
    --------
    assemble : Assemble a mechanism at a posture.
    motion : Velocities and accelerations of bodies and frames.

    Examples
    --------
    >>> import supple
    >>> configuration = supple.assemble(supple.load("four-bar"), {"crank": "20 deg"})
    >>> configuration.frame("E").position.round(3)
    array([0.714, 0.   , 0.632])
    >>> float(configuration.singularity.round(3))
    0.081
    """

    rest: Rest
    theta: Array
    X: Array
    w: Array
    reached: Array
    deformed: Deformed | None = None

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism that is assembled."""
        return self.rest.numbering.mechanism

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts that are not deformed; all of them in a configuration from `assemble`."""
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
        """Return the data that `--json` prints: poses of all frames, and coordinates."""
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
        """Return a report of one configuration: coordinates, joint coordinates and poses of all frames."""
        numbering = self.rest.numbering
        turns = numbering.angles()[numbering.constraints :]

        def format_row(row: int) -> str:
            return angle(self.w[row]) if turns[row] else number_text(self.w[row], "m")

        out = Text(f"{self.mechanism.name}, singularity {float(self.singularity):.3g} (0 is singular)")
        if self.coordinates:
            out.table(("coordinate", "value"), [(name, format_row(i)) for i, name in enumerate(self.coordinates)])
        rows = [
            (key[1], key[2], format_row(row - numbering.constraints))
            for key, row in numbering.measures.items()
            if key[0] == "joint"
        ]
        if rows:
            out.table(("joint", "coordinate", "value"), rows)
        poses = [
            (name, *(number_text(x) for x in pose.position), rotation_text(pose.rotation))
            for name, pose in self.frames.items()
        ]
        out.table(("frame", "x [m]", "y [m]", "z [m]", "rotation"), poses)
        return out

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """Whether each configuration exists, that is, was reached without meeting a dead point; shape (...)."""
        return self.reached >= 1.0

    @property
    def coordinates(self) -> dict[str, Any]:
        """Coordinates θ by name, rad or m."""
        return {name: self.theta[..., i] for i, name in enumerate(self.rest.numbering.coordinates)}

    @property
    def joint_coordinates(self) -> dict[str, Any]:
        """Coordinates of all joints, rad or m, by `joint` or `joint.coordinate`."""
        found = {}
        for key, row in self.rest.numbering.measures.items():
            if key[0] == "joint":
                single = len(self.mechanism.joints[key[1]].coordinates(self.mechanism.plane)) == 1
                found[key[1] if single else f"{key[1]}.{key[2]}"] = self.w[..., row - self.rest.numbering.constraints]
        return found

    def frame(self, name: str) -> FramePose:
        """Return the pose of a named point in the world.

        Parameters
        ----------
        name : str
            Body, frame, `body.point`, or point of a joint.

        Returns
        -------
        FramePose
            Position (..., 3) in m and rotation matrix (..., 3, 3).

        Raises
        ------
        InputError
            If the mechanism has no body, frame or point of that name.
        """
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
        """Poses of all named points: bodies, frames, and points of joints and rods."""
        drawing = self.rest.numbering.drawing
        names = dict.fromkeys([*self.mechanism.bodies, *drawing.frames, *drawing.joint_points])
        return {name: self.frame(name) for name in names}

    @cached_property
    def singularity(self) -> Array:
        """Singularity measure: smallest over largest singular value of the scaled rows of joints and coordinates.

        It is 0 at a singular configuration. Lengths are in units of the extent of the mechanism. Without coordinates θ
        only the joint rows count, up to the rank that they have in general position.
        """
        numbering = self.rest.numbering
        full = numbering.columns - self.rest.mobility.mobility + len(numbering.coordinates)
        if full == 0:  # free-floating bodies without coordinates cannot lose rank
            return np.ones(self.X.shape[:-2])
        values = np.linalg.svd(self.jacobian(), compute_uv=False)
        return values[..., full - 1] / values[..., 0]

    def jacobian(self) -> Array:
        """Return the scaled Jacobian [Φ_q; A] of joint and coordinate rows, shape (..., rows, n)."""
        numbering = self.rest.numbering
        X = np.ascontiguousarray(self.X.reshape(-1, *self.X.shape[-2:]))
        J = np.empty((len(X), numbering.constraints + len(numbering.coordinates), numbering.columns))
        compile_kernel(jacobian_batch, count=len(X))(numbering.arrays, X, J)
        return J.reshape(*self.X.shape[:-2], *J.shape[1:])

    def each(self) -> Iterator[Configuration]:
        """Iterate over the configurations of a batch; a single configuration yields itself."""
        if self.X.ndim == 2:
            yield self
        else:
            yield from map(self.part, range(len(self.X)))

    def part(self, which: Any) -> Configuration:
        """Return one configuration of a batch by number, or several by slice or mask; None makes a batch of one."""
        deformed = None if self.deformed is None else Deformed(self.deformed.frames, self.deformed.X[which])
        reached = np.asarray(self.reached)[which]
        return Configuration(self.rest, self.theta[which], self.X[which], self.w[which], reached, deformed)

    @property
    def batch(self) -> Configuration:
        """The configuration as a batch; a single configuration becomes a batch of one."""
        return self if self.X.ndim == 3 else self.part(None)

    def plot(self, **options: Any) -> Any:
        """Draw the configuration with matplotlib and return the panels; for the options see `sketch`."""
        return picture("view.sketch.sketch")(self, **options)
