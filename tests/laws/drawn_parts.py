"""A mechanism's dictionary of parts read anew: where bodies, frames and joints are drawn, and what they weigh.

Nothing here uses supple: it is the description read from its documentation, for the laws to compare with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

GROUND = "ground"


def skew(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def turn(w):
    """exp(w̃)."""
    angle = np.linalg.norm(w)
    if angle == 0.0:
        return np.eye(3)
    N = skew(np.asarray(w) / angle)
    return np.eye(3) + np.sin(angle) * N + 2.0 * np.sin(0.5 * angle) ** 2 * (N @ N)


def turn_vector(R):
    """The rotation vector of R (below half a turn)."""
    axial = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = np.linalg.norm(axial), 0.5 * (np.trace(R) - 1.0)
    angle = np.arctan2(sine, cosine)
    return axial if sine < 1e-12 else axial * angle / sine


def frame_about(z):
    """Right-handed axes with the third along z, and the first near the axis z is farthest from."""
    z = np.asarray(z, float) / np.linalg.norm(z)
    x = np.cross(z, np.cross(np.eye(3)[np.argmin(np.abs(z))], z))
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


class Pose(NamedTuple):
    """x_world = x + R x_body."""

    x: np.ndarray
    R: np.ndarray

    def of(self, local):
        return self.x + self.R @ local


class Spot(NamedTuple):
    """A frame on a body: place p and axes E in body axes."""

    body: str
    p: np.ndarray
    E: np.ndarray


class Rigid(NamedTuple):
    """Mass, centre, inertia about the centre; body axes."""

    m: float
    c: np.ndarray
    J: np.ndarray


class DrawnParts:
    """Poses as drawn, frames, joints and masses; planar drawings lie in the plane z = 0 of their own axes.

    drawn  : body -> Pose;  spots : frame -> Spot;  joints : joint -> (kind, Spot, Spot);  mass : body -> Rigid
    """

    def __init__(self, parts: dict[str, Any]):
        self.parts = parts
        self.planar = parts.get("plane") is not None
        self.points = {name: self.vector(value) for name, value in parts.get("points", {}).items()}
        self.lengths: dict[str, float] = {}
        self.drawn = {GROUND: Pose(np.zeros(3), np.eye(3))}
        for name, body in parts["bodies"].items():
            self.drawn[name] = self._drawn(name, body)
        self.spots = {name: self._spot(frame) for name, frame in parts.get("frames", {}).items()}
        self.joints = {name: self._joint(name, joint) for name, joint in parts["joints"].items()}
        self.mass = {name: self._mass(name, body) for name, body in parts["bodies"].items()}
        for point_mass in parts.get("point_masses", {}).values():
            self._add_point_mass(point_mass)

    def vector(self, value):
        return np.append(value, 0.0) if self.planar else np.asarray(value, float)

    def place(self, value):
        return self.points[value] if isinstance(value, str) else self.vector(value)

    def direction(self, value):
        if isinstance(value, str):
            sign = -1.0 if value.startswith("-") else 1.0
            letters = self.parts.get("plane") or "xyz"
            return sign * np.eye(3)[letters.index(value.lstrip("-"))]
        vector = self.vector(value)
        return vector / np.linalg.norm(vector)

    def rotation(self, value):
        if value is None:
            return np.eye(3)
        axis = np.array([0.0, 0.0, 1.0]) if self.planar else self.direction(value["about"])
        return turn(axis * value["angle"])

    def _drawn(self, name, body):
        if "rod" not in body:
            return Pose(
                self.place(body.get("at", [0.0] * (2 if self.planar else 3))), self.rotation(body.get("rotation"))
            )
        start, end = (self.place(point) for point in body["rod"])
        self.lengths[name] = body.get("length", np.linalg.norm(end - start))
        along = (end - start) / np.linalg.norm(end - start)
        if self.planar:
            return Pose(start, np.column_stack([along, np.cross([0.0, 0.0, 1.0], along), [0.0, 0.0, 1.0]]))
        return Pose(start, frame_about(along)[:, [2, 0, 1]])

    def local(self, body, place):
        """Place on a body; the ends of a rod are at its length, whatever the drawing says."""
        rod = self.parts["bodies"].get(body, {}).get("rod", ())
        if isinstance(place, str) and place in rod:
            return np.array([self.lengths[body] * (place == rod[1]), 0.0, 0.0])
        pose = self.drawn[body]
        return pose.R.T @ (self.place(place) - pose.x)

    def _spot(self, frame):
        body = frame["on"]
        Q = self.rotation(frame.get("rotation"))
        if "local" in frame:
            return Spot(body, self.vector(frame["local"]), Q)
        E = self.drawn[body].R.T @ Q if "rotation" in frame else np.eye(3)
        return Spot(body, self.local(body, frame["at"]), E)

    def spot(self, reference):
        """A frame, `body.point`, or a body's origin."""
        if reference in self.spots:
            return self.spots[reference]
        body, _, point = reference.partition(".")
        return Spot(body, self.local(body, point) if point else np.zeros(3), np.eye(3))

    def _joint(self, name, joint):
        """Kind and the two spots, axes (x, y, z) with z the joint's axis; a universal joint's second axis is x."""
        kind = next(key for key in KINDS if key in joint)
        first, second = joint[kind]
        if "axes" in joint:
            z, x = (self.direction(axis) for axis in joint["axes"])
            E = np.column_stack([x, np.cross(z, x), z])
        elif self.planar and kind == "prismatic":
            x = self.direction(joint["axis"])
            E = np.column_stack([x, np.cross([0.0, 0.0, 1.0], x), [0.0, 0.0, 1.0]])
        elif "axis" in joint:
            E = frame_about(self.direction(joint["axis"]))
        else:
            E = np.eye(3)
        if "frames" in joint:
            a, b = (self.spots[frame] for frame in joint["frames"])
            return kind, Spot(first, a.p, a.E @ E), Spot(second, b.p, b.E @ E)
        at = joint.get("at", name)
        if isinstance(at, str) and at not in self.points:
            at = [0.0] * (2 if self.planar else 3)
        by_bodies = self.planar and kind in ("revolute", "planar", "free")  # angles are those of the bodies' axes
        return (
            kind,
            *(
                Spot(body, self.local(body, at), np.eye(3) if by_bodies else self.drawn[body].R.T @ E)
                for body in (first, second)
            ),
        )

    def _mass(self, name, body):
        length = self.lengths.get(name, 0.0)
        m = body["mass"] if "mass" in body else body["line_mass"] * length
        center = body.get("center")
        if center is None:
            c = np.array([0.5 * length, 0.0, 0.0])
        elif isinstance(center, float):
            c = np.array([center, 0.0, 0.0])
        else:
            c = self.local(name, center)
        J = body.get("inertia")
        if J is None:
            J = np.diag([0.0, 1.0, 1.0]) * m * length**2 / 12.0
        elif isinstance(J, dict):
            J = np.array([[J[min(a, b) + max(a, b)] for a in "xyz"] for b in "xyz"])
        else:
            J = np.diag([0.0, 0.0, J] if np.isscalar(J) else J)
        return Rigid(m, c, J)

    def _add_point_mass(self, point_mass):
        spot = self.spot(point_mass["at"])
        m, p = point_mass["mass"], spot.p
        old = self.mass[spot.body]
        total = old.m + m
        c = (old.m * old.c + m * p) / total
        J = old.J + point_mass.get("inertia", 0.0) * np.eye(3)
        J = J - old.m * skew(old.c - c) @ skew(old.c - c) - m * skew(p - c) @ skew(p - c)
        self.mass[spot.body] = Rigid(total, c, J)


def by_coordinate(given, kind):
    """(coordinate, value) pairs of a joint's field, which may be written once or by coordinate."""
    if given is None:
        return []
    once = not isinstance(given, dict) or "inertia" in given  # a number, or a motor
    return [(COORDINATES[kind][0], given)] if once else list(given.items())


# what each joint takes away: separations along axes of the first frame, and a relation of the axes
KINDS = {
    "revolute": ((0, 1, 2), "axis"),
    "prismatic": ((0, 1), "all"),
    "cylindrical": ((0, 1), "axis"),
    "universal": ((0, 1, 2), "cross"),
    "spherical": ((0, 1, 2), None),
    "planar": ((2,), "axis"),
    "translation": ((), "all"),
    "weld": ((0, 1, 2), "all"),
    "free": ((), None),
}
COORDINATES = {
    "revolute": ("angle",),
    "prismatic": ("slide",),
    "cylindrical": ("slide", "angle"),
    "universal": ("first", "second"),
    "spherical": (),
    "planar": ("x", "y", "angle"),
    "translation": ("x", "y", "z"),
    "weld": (),
    "free": ("x", "y", "z"),
}
SINGLE = {kind: names[0] for kind, names in COORDINATES.items() if len(names) == 1}
