"""What stands between a sensor of forces and the rest of its mechanism: the part that is cut off, and what acts on it.

Wrenches of joint rows, of loads and of inertia on that part, summed about the sensor and turned into its axes
(docs/theory/outputs.md, eqs. 5-12).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled
from supple.description.mechanism import GROUND
from supple.formulations.efforts import inside, section_of
from supple.formulations.elastic.cut import Cut, cut_at
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.load_stiffness import row_scales
from supple.formulations.elastic_rest.loads import Loads
from supple.formulations.elastic_rest.rows import BODY, part_poses
from supple.geometry.rotation import skew
from supple.kinematics.configuration import Configuration
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.primitives import PA, PB, A, B, gradient


class LoadPattern(NamedTuple):
    """A load: over z (N, z), forces along rows by row (N,) each, accelerations of z (N, z), velocities times turns of
    their body (N, axes, z), and whether it is that of all loads at rest."""

    r: Array
    along: dict[int, Array]
    inertia: Array | None = None
    turned: Array | None = None
    loads: bool = False


class Watched(NamedTuple):
    """One sensor: the body it looks at, which ends of terms act there, and its cut, if it is a section."""

    sensor: str
    body: int
    ends: tuple[tuple[int, int, int], ...]  # row, term, side
    cut: Cut | None
    components: tuple[int, ...]
    place: Array  # of a joint, on its second body


def all_watched(rest: ElasticRest) -> list[Watched]:
    """Of all sensors of forces inside, made once."""
    mechanism = rest.numbering.mechanism
    names = dict.fromkeys(item.sensor for item in inside(rest.numbering.drawing).efforts)
    key = f"watched {rest.band} {tuple(rest.displacements)} {rest.elastic}"
    return mechanism.remembered(key, lambda: [_watched(rest, name) for name in names])


def _watched(rest: ElasticRest, sensor: str) -> Watched:
    """What a sensor looks at."""
    numbering, arrays = rest.numbering, rest.arrays
    described = numbering.mechanism.sensors[sensor]
    efforts = inside(numbering.drawing).efforts
    components = tuple(item.component for item in efforts if item.sensor == sensor)
    if described.record.inside == "reaction":
        names = numbering.mechanism.joints[described.said].bodies
        body = numbering.body_index(names[1] if names[1] != GROUND else names[0])
        chosen = range(numbering.joint_rows[described.said].start, numbering.joint_rows[described.said].stop)
        place = joint_frames(numbering.drawing, described.said).pb
        return Watched(sensor, body, _ends(rest, chosen, body, None), None, components, place)
    section = section_of(numbering.drawing, sensor)
    cut, body = cut_at(numbering, section, sensor), numbering.body_index(section.body)
    heads = range(len(arrays.rows_i))
    return Watched(sensor, body, _ends(rest, heads, body, cut), cut, components, section.position)


def _ends(rest: ElasticRest, rows: range, body: int, cut: Cut | None) -> tuple[tuple[int, int, int], ...]:
    """Row, term and side of all that acts on a body, or on the side of a cut."""
    arrays, found = rest.arrays, []
    further = {term for row in range(len(arrays.rows_i)) for term in rest.terms(row)[1:]}
    for row in rows:
        if row in further:
            continue
        for term in rest.terms(row):
            for side, at in ((0, PA), (1, PB)):
                part = int(arrays.rows_i[term, (A, B)[side]])
                if part == len(arrays.part_i) or arrays.part_i[part, BODY] != body:
                    continue
                place = arrays.part_x[part] + arrays.rows_f[term, at : at + 3]
                if cut is None or cut.mesh.node_at(place) in cut.nodes:
                    found.append((row, term, side))
    return tuple(found)


def row_wrenches(rest: ElasticRest, X: Array, watched: list[Watched]) -> list[Array]:
    """Force and moment about the body's origin, in its axes, of a unit force along every row: (6, rows) a sensor."""
    arrays = rest.arrays
    poses, g = np.empty((len(arrays.part_i) + 1, 12)), np.empty(13)
    compiled(part_poses, count=1)(arrays, X, poses)
    run = compiled(gradient, count=1)
    known: dict[int, Array] = {}
    found, scales = [], row_scales(rest, X)
    for item in watched:
        pull = np.zeros((6, len(arrays.rows_i)))
        for row, term, side in item.ends:
            if term not in known:
                run(arrays.rows_i, arrays.rows_f, term, poses, g)
                known[term] = g.copy()
            force, moment = known[term][1 + 6 * side : 4 + 6 * side], known[term][4 + 6 * side : 7 + 6 * side]
            place = arrays.part_x[int(arrays.rows_i[term, (A, B)[side]])]
            pull[:3, row] += force
            pull[3:, row] += moment + np.cross(place, force)
        found.append(pull * scales)
    return found


def direct_wrenches(
    rest: ElasticRest, here: Configuration, item: Watched, pattern: LoadPattern, loads: Loads, k: int
) -> Array:
    """What acts on the side of a cut beside rows: weight, forces at places, inertia. (6,), as `row_wrenches`."""
    found = np.zeros(6)
    if item.cut is None:
        return found
    if pattern.loads:
        down = here.X[item.body, 3:].reshape(3, 3).T @ loads.gravity
        T = item.cut.mesh.rigid_motions()
        translations = 2 if item.cut.mesh.width == 3 else 3
        found += item.cut.mass @ (T[:, :translations] @ down[:translations])
        for push in loads.nodal:
            if push.body != item.body:
                continue
            place = push.arm if rest.bodies[item.body].mesh is None else item.cut.mesh.nodes[push.node] + push.arm
            if item.cut.mesh.node_at(place) in item.cut.nodes:
                found += np.concatenate([push.force, push.moment + np.cross(place, push.force)])
    if pattern.inertia is not None:
        found -= inertia_wrench(rest, item, pattern.inertia[k])
        if pattern.turned is not None:
            of_body = rest.bodies[item.body]
            for m, turning in enumerate(item.cut.turning):
                found -= turning @ _nodes(item.cut, of_body, pattern.turned[k, m])
    return found


def inertia_wrench(rest: ElasticRest, item: Watched, acceleration: Array) -> Array:
    """Force and moment (6,) of the side's mass for accelerations of z; none of a joint."""
    if item.cut is None:
        return np.zeros(6)
    return np.asarray(item.cut.mass @ _nodes(item.cut, rest.bodies[item.body], acceleration))


def _nodes(cut: Cut, body: BodyCoordinates, z: Array) -> Array:
    """Displacements of the mesh of a body, which may be taken as rigid."""
    own = z[body.start : body.stop]
    return np.asarray(body.shapes @ own if body.mesh is not None else cut.mesh.rigid_motions() @ (body.shapes @ own))


def to_sensor(rest: ElasticRest, here: Configuration, item: Watched) -> Array:
    """(6, 6) from a wrench about the body's origin in its axes to what the sensor shows."""
    if item.cut is not None:
        return item.cut.to_section
    numbering = rest.numbering
    described = numbering.mechanism.sensors[item.sensor]
    first, second = (numbering.body_index(name) for name in numbering.mechanism.joints[described.said].bodies)
    R = here.X[item.body, 3:].reshape(3, 3)
    place, sign = item.place, 1.0
    if item.body == first and second == len(numbering.bodies):  # on the ground: the opposite of what acts on the first
        place, sign = R.T @ (item.place - here.X[first, :3]), -1.0
    about = np.eye(6)
    about[3:, :3] = -skew(place)
    own = described.own_axes and second != len(numbering.bodies)
    return sign * np.kron(np.eye(2), np.eye(3) if own else R) @ about
