"""How elastic bodies move and strain along their beams, over their coordinates z: constants in body axes.

Between the nodes of an element displacements are those of its own shape functions (docs/theory/elastic-bodies.md, 3-4),
so that what is drawn is what is computed; the energy of a metre of beam is half the square of `strain` z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.formulations.elastic.beam_element import BENDING, bending_shapes, shear_parameter
from supple.formulations.elastic.beam_mesh import element_data
from supple.formulations.elastic.elastic_body import meshed_beams
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.geometry.rotation import skew
from supple.modal_analysis.beam_points import motion_between_nodes
from supple.view.page.encoding import table
from supple.view.page.outlines import outline

_SAMPLES = 4  # stations on an element, both ends among them
_CLOUD = 400  # nodes of a superelement that are drawn


def node_motions(body: BodyCoordinates) -> Array:
    """(nodes, 6, size): displacements and turns of the nodes of an elastic body."""
    assert body.mesh is not None
    found = np.zeros((len(body.mesh.nodes), 6, body.size))
    found[body.mesh.node, body.mesh.component] = body.shapes
    return found


def flexing(rest: ElasticRest, body: BodyCoordinates) -> list[dict[str, Any]]:
    """Of each beam: stations along it, their motion and strain, and which nodes they stand between, as runs tell of
    nodes; of a superelement its nodes."""
    assert body.mesh is not None
    if not len(body.mesh.elements):
        step = max(1, len(body.mesh.nodes) // _CLOUD)
        chosen = np.arange(0, len(body.mesh.nodes), step)
        moved = table(node_motions(body)[chosen], "f4")
        return [{"kind": "cloud", "at": table(body.mesh.nodes[chosen]), "motion": moved, "nodes": table(chosen, "i4")}]
    drawing = rest.numbering.drawing
    placed = placed_beams(drawing, body.name)
    described = drawing.mechanism.bodies[body.name].all_beams
    at, motion, strain = _stations(rest, body)
    xi, count = np.linspace(0.0, 1.0, _SAMPLES), len(body.mesh.elements)
    between = np.repeat(body.mesh.elements, _SAMPLES, axis=0).reshape(count, _SAMPLES, 2)
    arms = body.mesh.ends - body.mesh.nodes[body.mesh.elements]
    found = []
    for number, (beam, said) in enumerate(zip(placed, described, strict=True)):
        own = body.mesh.beams == number
        sections = [outline(drawing.mechanism.section(name)) for name in said.sections]
        found.append(
            {
                "kind": "beam",
                "at": table(at[own].reshape(-1, 3)),
                "motion": table(motion[own].reshape(-1, 6, body.size), "f4"),
                "strain": table(strain[own].reshape(-1, 6, body.size), "f4"),
                "axes": table(beam.axes),
                "sections": sections,
                "nodes": table(between[own].reshape(-1, 2), "i4"),
                "xi": table(np.tile(xi, int(own.sum())), "f4"),
                "ways": table(np.repeat(np.diff(body.mesh.ends[own], axis=1)[:, 0], _SAMPLES, axis=0), "f4"),
                "arms": table(np.repeat(arms[own], _SAMPLES, axis=0), "f4"),
            }
        )
    return found


def _stations(rest: ElasticRest, body: BodyCoordinates) -> tuple[Array, Array, Array]:
    """Places (e, k, 3), motions (e, k, 6, size) in body axes, and √stiffness times strains (e, k, 6, size)."""
    assert body.mesh is not None
    mesh = body.mesh
    spans, found, *_ = meshed_beams(rest.numbering.drawing, body.name)
    length, rates, shear, axes, arms = element_data(spans, found)
    xi = np.linspace(0.0, 1.0, _SAMPLES)
    at = mesh.ends[:, :1] + xi[None, :, None] * (mesh.ends[:, 1:] - mesh.ends[:, :1])
    ends = node_motions(body)[mesh.elements]  # (e, 2, 6, size)
    lever = np.array([[-skew(arm) for arm in pair] for pair in arms])
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
    """(6, size): how a place on a body moves over its z; None where the mesh has no node for it."""
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
    found[:3] -= skew(arm) @ found[3:]
    return found
