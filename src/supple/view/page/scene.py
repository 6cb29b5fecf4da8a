"""Objects of the page: bodies, joints, actuators, springs, frames, ground and gravity, fixed on bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.elastic.cross_section import SECTION_SHAPES, CrossSection
from supple.description.elastic.placed_beam import placed_beams
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.formulations.elastic.beam_element import BENDING, bending_shapes, shear_parameter
from supple.formulations.elastic.beam_mesh import element_data
from supple.formulations.elastic.elastic_body import meshed_beams
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.geometry.rotation import tilde
from supple.kinematics.numbering import Numbering
from supple.modal_analysis.ports import motion_between_nodes
from supple.view.page.encoding import page_array
from supple.view.sketch_places import SketchPlaces, body_kinds, sketch_places


def scene(numbering: Numbering, rest: ElasticRest | None) -> dict[str, Any]:
    """Return all objects; positions are in m in the axes of their bodies, and the ground is the last body."""
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


def _parts(
    numbering: Numbering, rest: ElasticRest | None, places: SketchPlaces, b: int, name: str
) -> list[dict[str, Any]]:
    """Return a body as beams with their sections, as a solid around its places, or as its nodes."""
    mechanism, drawing = numbering.mechanism, numbering.drawing
    body = None if rest is None else rest.bodies[b]
    points = places.bodies[name]
    if body is not None and body.mesh is not None:
        assert rest is not None
        if not len(body.mesh.elements):
            around = _solid(numbering, None, name, body.mesh.nodes[list(body.mesh.interface)], np.zeros(3))
            return [*list_stations(rest, body), {**around, "faint": True}]
        return [*list_stations(rest, body), *_arms(numbering, rest, name, points)]
    if mechanism.bodies[name].all_beams:
        described = mechanism.bodies[name].all_beams
        return [
            {
                "kind": "beam", "at": page_array(beam.ends), "axes": page_array(beam.axes),
                "sections": [outline(mechanism.section(section)) for section in description.sections],
            }
            for beam, description in zip(placed_beams(drawing, name), described, strict=True)
        ]  # fmt: skip
    return [_solid(numbering, rest, name, points, np.zeros(3))] if len(points) else []


def _solid(numbering: Numbering, rest: ElasticRest | None, body: str, points: Array, about: Array) -> dict[str, Any]:
    """Return a rigid solid around some places, which moves with the body `about` a place."""
    return {
        "kind": "solid", "points": page_array(points), "about": about,
        "motion": _motion(numbering, rest, body, about), "carrier": _carrier(numbering, rest, body, about),
    }  # fmt: skip


def _arms(numbering: Numbering, rest: ElasticRest, name: str, points: Array) -> list[dict[str, Any]]:
    """Return rigid arms from the nodes of a body to distant places on it."""
    found, mesh = [], rest.bodies[numbering.body_index(name)].mesh
    assert mesh is not None
    for point in points:
        node = mesh.node_at(point)
        if node is not None and np.linalg.norm(point - mesh.nodes[node]) > 1e-6 * mesh.extent:
            found.append(_solid(numbering, rest, name, np.array([mesh.nodes[node], point]), point))
    return found


def _joint(numbering: Numbering, rest: ElasticRest | None, places: SketchPlaces, name: str) -> dict[str, Any]:
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
    return None if found is None else page_array(found)


def _carrier(numbering: Numbering, rest: ElasticRest | None, body: str, position: Array) -> dict[str, Any] | None:
    """Return the node of an elastic body that carries a place, and the arm from it; None for a rigid body."""
    number = numbering.body_index(body)
    mesh = None if rest is None or number == len(numbering.bodies) else rest.bodies[number].mesh
    node = None if mesh is None else mesh.node_at(position)
    return None if mesh is None or node is None else {"node": node, "arm": position - mesh.nodes[node]}


def _place_names(numbering: Numbering) -> list[str]:
    """Return the names of places, as in `Configuration.frames`."""
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


# Motion and strain of elastic bodies along their beams, over their coordinates z: constants in body axes.
#
# Between the nodes of an element displacements follow its shape functions (docs/theory/elastic-bodies.md, 3-4), so that
# the drawing shows the computed deformation; the energy per metre of beam is half the square of `strain` z.


_SAMPLES = 4  # stations on an element, including both ends
_CLOUD = 400  # largest number of nodes of a superelement that are drawn


def node_motions(body: BodyCoordinates) -> Array:
    """Return displacements and rotations of the nodes of an elastic body, (nodes, 6, size)."""
    assert body.mesh is not None
    found = np.zeros((len(body.mesh.nodes), 6, body.size))
    found[body.mesh.node, body.mesh.component] = body.shapes
    return found


def list_stations(rest: ElasticRest, body: BodyCoordinates) -> list[dict[str, Any]]:
    """Return stations along each beam with motion, strain and neighbouring nodes; for a superelement its nodes."""
    assert body.mesh is not None
    if not len(body.mesh.elements):
        step = max(1, len(body.mesh.nodes) // _CLOUD)
        chosen = np.arange(0, len(body.mesh.nodes), step)
        moved = page_array(node_motions(body)[chosen], "f4")
        return [
            {
                "kind": "cloud",
                "at": page_array(body.mesh.nodes[chosen]),
                "motion": moved,
                "nodes": page_array(chosen, "i4"),
            }
        ]
    drawing = rest.numbering.drawing
    placed = placed_beams(drawing, body.name)
    described = drawing.mechanism.bodies[body.name].all_beams
    at, motion, strain = _stations(rest, body)
    xi, count = np.linspace(0.0, 1.0, _SAMPLES), len(body.mesh.elements)
    between = np.repeat(body.mesh.elements, _SAMPLES, axis=0).reshape(count, _SAMPLES, 2)
    arms = body.mesh.ends - body.mesh.nodes[body.mesh.elements]
    found = []
    for number, (beam, description) in enumerate(zip(placed, described, strict=True)):
        own = body.mesh.beams == number
        sections = [outline(drawing.mechanism.section(name)) for name in description.sections]
        found.append(
            {
                "kind": "beam",
                "at": page_array(at[own].reshape(-1, 3)),
                "motion": page_array(motion[own].reshape(-1, 6, body.size), "f4"),
                "strain": page_array(strain[own].reshape(-1, 6, body.size), "f4"),
                "axes": page_array(beam.axes),
                "sections": sections,
                "nodes": page_array(between[own].reshape(-1, 2), "i4"),
                "xi": page_array(np.tile(xi, int(own.sum())), "f4"),
                "ways": page_array(np.repeat(np.diff(body.mesh.ends[own], axis=1)[:, 0], _SAMPLES, axis=0), "f4"),
                "arms": page_array(np.repeat(arms[own], _SAMPLES, axis=0), "f4"),
            }
        )
    return found


def _stations(rest: ElasticRest, body: BodyCoordinates) -> tuple[Array, Array, Array]:
    """Return places (e, k, 3), motions (e, k, 6, size) in body axes, and √stiffness times strains (e, k, 6, size)."""
    assert body.mesh is not None
    mesh = body.mesh
    spans, found, *_ = meshed_beams(rest.numbering.drawing, body.name)
    length, rates, shear, axes, arms = element_data(spans, found)
    xi = np.linspace(0.0, 1.0, _SAMPLES)
    at = mesh.ends[:, :1] + xi[None, :, None] * (mesh.ends[:, 1:] - mesh.ends[:, :1])
    ends = node_motions(body)[mesh.elements]  # (e, 2, 6, size)
    lever = np.array([[-tilde(arm) for arm in pair] for pair in arms])
    ends[:, :, :3] += lever @ ends[:, :, 3:]
    turn = np.swapaxes(axes, 1, 2)[:, None]
    local = np.concatenate([turn @ ends[:, :, :3], turn @ ends[:, :, 3:]], axis=2)
    local = local.reshape(len(length), 12, body.size)
    stiff = dict(zip(rates._fields, np.moveaxis(rates.at(xi), 2, 0), strict=True))  # (e, k)
    motion = np.zeros((len(length), len(xi), 6, body.size))
    strain = np.zeros_like(motion)
    L = length[:, None, None]
    for degree, stiffness in ((0, stiff["EA"]), (3, stiff["GJ"])):
        first, last = local[:, None, degree], local[:, None, 6 + degree]
        motion[:, :, degree] = (1.0 - xi)[None, :, None] * first + xi[None, :, None] * last
        strain[:, :, degree] = np.sqrt(np.nan_to_num(stiffness))[..., None] * (last - first) / L
    for (degrees, sign), EI, GA, (deflection, rotation), slope in zip(
        BENDING, (stiff["EIz"], stiff["EIy"]), (stiff["GAy"], stiff["GAz"]), ((1, 5), (2, 4)), (1.0, -1.0), strict=True
    ):
        EI, GA = np.nan_to_num(EI), np.nan_to_num(GA)
        shapes = bending_shapes(xi, length, shear_parameter(EI, GA, length, shear))
        moved, turned, bent, sheared = (np.einsum("eik,i,eiz->ekz", N, sign, local[:, degrees]) for N in shapes)
        motion[:, :, deflection], motion[:, :, rotation] = moved, slope * turned
        strain[:, :, rotation] = np.sqrt(EI)[..., None] * bent
        strain[:, :, deflection] = np.sqrt(np.where(shear[:, None], GA, 0.0))[..., None] * sheared
    back = axes[:, None]
    motion = np.concatenate([back @ motion[:, :, :3], back @ motion[:, :, 3:]], axis=2)
    return at, motion, strain


def place_motion(rest: ElasticRest, number: int, position: Array) -> Array | None:
    """Return the motion (6, size) of a place on a body over its z; None if the mesh has no node for it."""
    body = rest.bodies[number]
    if body.mesh is None:
        found, arm = np.zeros((6, body.size)), position
        found[rest.arrays.column] = body.shapes
    else:
        node = body.mesh.node_at(position)
        if node is None:
            return motion_between_nodes(body, position, rest.arrays.column)
        found, arm = node_motions(body)[node], position - body.mesh.nodes[node]
    found = found.copy()
    found[:3] -= tilde(arm) @ found[3:]
    return found


# Outlines of cross-sections, which the page sweeps along beams.
#
# A shape is drawn from its dimensions; a table of constants is drawn as the rectangle with the same radii of gyration.


def outline(section: CrossSection) -> dict[str, list[list[float]]]:
    """Return points (y, z) in m around the section, and around its hole if there is one."""
    lengths = section.lengths
    drawn = SECTION_SHAPES[section.kind].outline if lengths else None
    if drawn is None:
        found = section.properties()
        height = float(np.sqrt(12.0 * found.Iy / found.area))
        width = height if np.isnan(found.Iz) else float(np.sqrt(12.0 * found.Iz / found.area))
        return {"outer": [[y * 0.5 * width, z * 0.5 * height] for y, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))]}
    loops = drawn(*lengths)
    return {"outer": loops[0]} | ({"inner": loops[1]} if len(loops) > 1 else {})
