"""Elements of a sketch: positions fixed on bodies (joints, rod ends, attachments, guides), and shapes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mechanism import GROUND
from supple.kinematics.joint_frames import JointFrames, joint_frames
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import OFFSET


class Attachment(NamedTuple):
    """Named place on a body, in body axes."""

    name: str
    body: str
    position: Array


class SketchPlaces(NamedTuple):
    """All places that a sketch marks.

    bodies : body -> (k, 3) joints, ends of rods and beams, and attachments on it, in its axes
    beams  : body -> (k, 2, 3) ends of its beams, for a body with several
    joints : joint -> its frames on the two bodies
    lines  : (section, name) -> the two ends of a cylinder, spring or damper
    guides : joint -> range of a slider on the ground along its axis on the first body
    """

    bodies: dict[str, Array]
    beams: dict[str, Array]
    joints: dict[str, JointFrames]
    lines: dict[tuple[str, str], tuple[Attachment, Attachment]]
    guides: dict[str, tuple[float, float]]


def sketch_places(numbering: Numbering) -> SketchPlaces:
    """Return the places from the description."""
    drawing, mechanism = numbering.drawing, numbering.mechanism
    on_bodies: dict[str, list[Array]] = {name: [] for name in (GROUND, *mechanism.bodies)}
    for name, length in drawing.lengths.items():
        on_bodies[name] += [np.zeros(3), np.array([length, 0.0, 0.0])]
    beams = {
        name: np.array([beam.places for beam in placed_beams(drawing, name)])
        for name, body in mechanism.bodies.items()
        if body.beams is not None
    }
    for name, of_body in beams.items():
        on_bodies[name] += list(of_body.reshape(-1, 3))
    joints = {
        name: joint_frames(drawing, name)
        for name, joint in mechanism.joints.items()
        if JOINT_KINDS[joint.kind].marker is not None
    }
    for name, frames in joints.items():
        for body, local in zip(mechanism.joints[name].bodies, (frames.pa, frames.pb), strict=True):
            on_bodies[body].append(local)
    lines: dict[tuple[str, str], tuple[Attachment, Attachment]] = {}
    for section in ("actuators", "springs", "dampers", "forces", "sensors"):
        for name, part in getattr(mechanism, section).items():
            found = [(place, drawing.find_frame(place, (section, name))) for place in part.places]
            ends = [Attachment(place, frame.body, frame.pose.position) for place, frame in found]
            for end in ends:
                on_bodies[end.body].append(end.position)
            if len(ends) == 2 and section in ("actuators", "springs", "dampers"):
                lines[section, name] = (ends[0], ends[1])
    tolerance = 1e-6 * numbering.arrays.extent
    bodies = {body: _distinct(found, tolerance) for body, found in on_bodies.items()}
    guides = {
        name: _guide(numbering, name, slide)
        for name, joint in mechanism.joints.items()
        if (slide := joint.slide(mechanism.plane)) and joint.bodies[0] == GROUND
    }
    return SketchPlaces(bodies, beams, joints, lines, guides)


def body_kinds(bodies: tuple[str, ...]) -> dict[str, str]:
    """Return the kind of each body.

    Names that differ only in a number or axis (leg1, rod_x2) are of one kind, unless all of them are.
    """
    stems = {name: re.sub(r"(_?[xyz]?[0-9]+|_[xyz])$", "", name) or name for name in bodies}
    return stems if len(set(stems.values())) > 1 else {name: name for name in bodies}


def _guide(numbering: Numbering, joint: str, slide: str) -> tuple[float, float]:
    """Return the range of a guide: limits of the slide or its actuator, else a short range where it is drawn."""
    mechanism = numbering.mechanism
    limits = [mechanism.joints[joint].value("limits", slide, mechanism.plane)]
    limits += [
        actuator.limits
        for actuator in mechanism.actuators.values()
        if actuator.joint is not None and mechanism.joint_coordinate(actuator.joint) == (joint, slide)
    ]
    for interval in limits:
        if interval is not None:
            offset = numbering.arrays.rows_f[numbering.measures["joint", joint, slide], OFFSET]
            return interval[0] - offset, interval[1] - offset
    return -0.12 * numbering.arrays.extent, 0.12 * numbering.arrays.extent


def _distinct(points: list[Array], tolerance: float) -> Array:
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > tolerance for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


# Shapes: convex outlines of bodies, the zigzag of a spring, the symbol of the ground.


_FLAT = 1e-6  # relative to the largest extent: points on a line, or in a plane


def convex_outline(points: Array) -> Array:
    """Return corners (k, 2 or 3) of the convex outline of points on a line or in a plane.

    On a line these are its two ends. For points in space it is the outline in the plane of best fit.
    """
    centre = points.mean(axis=0)
    _, spread, directions = np.linalg.svd(points - centre, full_matrices=False)
    if len(points) < 2 or spread[0] == 0.0:
        return points[:1]
    if len(points) == 2 or spread[1] < _FLAT * spread[0]:
        along = (points - centre) @ directions[0]
        return points[[int(along.argmin()), int(along.argmax())]]
    return points[_hull_order((points - centre) @ directions[:2].T)]


def convex_triangles(points: Array) -> list[Array]:
    """Return the faces of the convex hull of points in space; empty for points in a plane."""
    if len(points) < 4 or np.linalg.matrix_rank(points - points.mean(axis=0), tol=_FLAT * np.ptp(points)) < 3:
        return []
    from scipy.spatial import ConvexHull

    return [points[face] for face in ConvexHull(points).simplices]


def _hull_order(flat: Array) -> list[int]:
    """Return indices of the convex hull of points in the plane, counter-clockwise (monotone chain)."""
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()

    def half(indices: list[int]) -> list[int]:
        chain: list[int] = []
        for i in indices:
            while len(chain) > 1 and _turn(flat[chain[-2]], flat[chain[-1]], flat[i]) <= 0.0:
                chain.pop()
            chain.append(i)
        return chain[:-1]

    return half(order) + half(order[::-1])


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def zigzag(a: Array, b: Array, width: float, turns: int = 7) -> Array:
    """Return a spring from a to b: straight ends, and a zigzag between them."""
    along = b - a
    if len(a) == 2:
        across = np.array([-along[1], along[0]])
    else:
        across = np.cross(along, np.eye(3)[int(np.abs(along).argmin())])
    length = np.linalg.norm(across)
    if length == 0.0:
        return np.array([a, b])
    across *= width / length
    shares = np.concatenate([[0.0, 0.15], np.linspace(0.15, 0.85, 2 * turns + 1)[1:-1], [0.85, 1.0]])
    sides = np.zeros_like(shares)
    sides[2:-2] = np.where(np.arange(len(shares) - 4) % 2 == 0, 1.0, -1.0)
    return a + np.outer(shares, along) + np.outer(sides, across)


def ground_symbol() -> Any:
    """Return a marker: a triangle on a hatched line, with its tip at the marked place."""
    from matplotlib.path import Path

    strokes = [[(0, 0), (-0.55, -0.75), (0.55, -0.75), (0, 0)], [(-0.9, -0.75), (0.9, -0.75)]]
    strokes += [[(x, -0.75), (x - 0.2, -1.0)] for x in (-0.6, -0.2, 0.2, 0.6)]
    vertices = [point for stroke in strokes for point in stroke]
    codes = [code for stroke in strokes for code in (Path.MOVETO, *[Path.LINETO] * (len(stroke) - 1))]
    return Path(vertices, codes)
