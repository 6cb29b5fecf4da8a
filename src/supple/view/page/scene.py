"""What the page draws: bodies, joints, actuators, springs, frames, ground and gravity, all fixed on bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.numbering import Numbering
from supple.view.page.encoding import table
from supple.view.page.flexing import flexing, place_motion
from supple.view.page.outlines import outline
from supple.view.sketch_places import Places, body_kinds, sketch_places


def scene(numbering: Numbering, rest: ElasticRest | None) -> dict[str, Any]:
    """Everything with a place; positions in m in the axes of the body they are on, the ground's being the last."""
    mechanism, places = numbering.mechanism, sketch_places(numbering)
    kinds = body_kinds(tuple(mechanism.bodies))
    order = list(dict.fromkeys(kinds.values()))
    return {
        "bodies": [
            {"name": name, "color": order.index(kinds[name]), "parts": _parts(numbering, rest, places, b, name)}
            for b, name in enumerate(numbering.bodies)
        ],
        "joints": [_joint(numbering, rest, places, name) for name in places.joints],
        "lines": [
            {
                "section": section,
                "name": name,
                "ends": [_end(numbering, rest, end.body, end.position) for end in ends],
            }
            for (section, name), ends in places.lines.items()
        ],
        "guides": [
            {"joint": name, "interval": list(interval), "at": places.joints[name].pa,
             "axis": places.joints[name].Ea[:, 0 if mechanism.planar else 2]}
            for name, interval in places.guides.items() if name in places.joints
        ],
        "places": [_place(numbering, rest, name) for name in _place_names(numbering)],
        "sensors": [
            {**_place(numbering, rest, sensor.place), "name": name}
            for name, sensor in mechanism.sensors.items()
            if sensor.place is not None and _moves(numbering, sensor.place)
        ],
        "gravity": None if mechanism.gravity is None else numbering.drawing.vector(mechanism.gravity, ("gravity",)),
        "axes": mechanism.plane_axes().ravel(),
        "letters": mechanism.plane or "xyz",
    }  # fmt: skip


def _parts(numbering: Numbering, rest: ElasticRest | None, places: Places, b: int, name: str) -> list[dict[str, Any]]:
    """A body as its beams with their sections, as the solid around its places, or as its nodes."""
    mechanism, drawing = numbering.mechanism, numbering.drawing
    body = None if rest is None else rest.bodies[b]
    points = places.bodies[name]
    if body is not None and body.mesh is not None:
        assert rest is not None
        if not len(body.mesh.elements):
            around = _solid(numbering, None, name, body.mesh.nodes[list(body.mesh.interface)], np.zeros(3))
            return [*flexing(rest, body), {**around, "faint": True}]
        return [*flexing(rest, body), *_arms(numbering, rest, name, points)]
    if mechanism.bodies[name].all_beams:
        described = mechanism.bodies[name].all_beams
        return [
            {
                "kind": "beam", "at": table(beam.ends), "axes": table(beam.axes),
                "sections": [outline(mechanism.section(section)) for section in said.sections],
            }
            for beam, said in zip(placed_beams(drawing, name), described, strict=True)
        ]  # fmt: skip
    return [_solid(numbering, rest, name, points, np.zeros(3))] if len(points) else []


def _solid(numbering: Numbering, rest: ElasticRest | None, body: str, points: Array, about: Array) -> dict[str, Any]:
    """A stiff solid around some places, which moves as the body does `about` a place."""
    return {
        "kind": "solid", "points": table(points), "about": about,
        "motion": _motion(numbering, rest, body, about), "carrier": _carrier(numbering, rest, body, about),
    }  # fmt: skip


def _arms(numbering: Numbering, rest: ElasticRest, name: str, points: Array) -> list[dict[str, Any]]:
    """Rigid arms from the nodes of a body to places on it that stand apart."""
    found, mesh = [], rest.bodies[numbering.body_index(name)].mesh
    assert mesh is not None
    for point in points:
        node = mesh.node_at(point)
        if node is not None and np.linalg.norm(point - mesh.nodes[node]) > 1e-6 * mesh.extent:
            found.append(_solid(numbering, rest, name, np.array([mesh.nodes[node], point]), point))
    return found


def _joint(numbering: Numbering, rest: ElasticRest | None, places: Places, name: str) -> dict[str, Any]:
    mechanism, frames = numbering.mechanism, places.joints[name]
    joint = mechanism.joints[name]
    driven = [key for key, item in mechanism.actuators.items() if item.joint and item.joint.partition(".")[0] == name]
    return {
        "name": name,
        "kind": joint.kind,
        "turns": JOINT_KINDS[joint.kind].space.turns,
        "bodies": [numbering.body_index(body) for body in joint.bodies],
        "at": [frames.pa, frames.pb],
        "axes": [frames.Ea.ravel(), frames.Eb.ravel()],
        "motions": [
            _motion(numbering, rest, body, place)
            for body, place in zip(joint.bodies, (frames.pa, frames.pb), strict=True)
        ],
        "carriers": [
            _carrier(numbering, rest, body, place)
            for body, place in zip(joint.bodies, (frames.pa, frames.pb), strict=True)
        ],
        "actuators": driven,
        "elastic": joint.yields,
    }


def _end(numbering: Numbering, rest: ElasticRest | None, body: str, position: Array) -> dict[str, Any]:
    return {
        "body": numbering.body_index(body), "at": position,
        "motion": _motion(numbering, rest, body, position), "carrier": _carrier(numbering, rest, body, position),
    }  # fmt: skip


def _motion(numbering: Numbering, rest: ElasticRest | None, body: str, position: Array) -> Any:
    number = numbering.body_index(body)
    if rest is None or number == len(numbering.bodies):
        return None
    found = place_motion(rest, number, position)
    return None if found is None else table(found)


def _carrier(numbering: Numbering, rest: ElasticRest | None, body: str, position: Array) -> dict[str, Any] | None:
    """The node of an elastic body that carries a place, and the arm from it; None of a rigid body."""
    number = numbering.body_index(body)
    mesh = None if rest is None or number == len(numbering.bodies) else rest.bodies[number].mesh
    node = None if mesh is None else mesh.node_at(position)
    return None if mesh is None or node is None else {"node": node, "arm": position - mesh.nodes[node]}


def _place_names(numbering: Numbering) -> list[str]:
    """As `Configuration.frames` has them."""
    drawing = numbering.drawing
    return list(dict.fromkeys([*numbering.mechanism.bodies, *drawing.frames, *drawing.joint_points]))


def _moves(numbering: Numbering, place: str) -> bool:
    return numbering.place(place)[0] < len(numbering.bodies)


def _place(numbering: Numbering, rest: ElasticRest | None, name: str) -> dict[str, Any]:
    body, position, axes = numbering.place(name)
    owner = "ground" if body == len(numbering.bodies) else numbering.bodies[body]
    return {
        "name": name, "body": body, "at": position, "axes": axes.ravel(),
        "frame": name in numbering.drawing.frames, "motion": _motion(numbering, rest, owner, position),
        "carrier": _carrier(numbering, rest, owner, position),
    }  # fmt: skip
