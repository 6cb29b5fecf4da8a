"""The elastic energy of torsion in bodies of beams, as a quadratic form of their coordinates z."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.formulations.elastic.elastic_body import span
from supple.formulations.elastic_rest.elastic_rest import BodyCoordinates, ElasticRest

_GJ = 1  # place of the twisting stiffness among a span's rates


def twists(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """Θ (elements, size): twice the energy of torsion of a body is |Θ z|².                      [elastic-rest, eq. 16a]

    An element of length h about the axis e twists by e·(φ₂ - φ₁), evenly; its stiffness is the mean of GJ at its ends.
    None for superelements and in the plane.
    """
    mesh = body.mesh
    if mesh is None or mesh.width == 3 or not len(mesh.elements):
        return np.zeros((0, body.size))
    spans = [span(beam) for beam in placed_beams(rest.numbering.drawing, body.name)]
    start, end, first, last = (np.array([item[i] for item in spans])[mesh.beams] for i in (0, 1, 3, 4))
    offset = np.array([item.offset for item in spans])[mesh.beams]
    way = end - start
    middle = mesh.ends.mean(axis=1) - start - offset
    t = (np.sum(middle * way, axis=1) / np.sum(way * way, axis=1))[:, None]
    stiffness = ((1.0 - t) * first + t * last)[:, _GJ]
    h = np.linalg.norm(mesh.ends[:, 1] - mesh.ends[:, 0], axis=1)
    turns = np.zeros((len(mesh.nodes), 3, body.size))
    spin = mesh.component > 2
    turns[mesh.node[spin], mesh.component[spin] - 3] = body.shapes[spin]
    axis = (mesh.ends[:, 1] - mesh.ends[:, 0]) / h[:, None]
    twist = np.einsum("ec,ecz->ez", axis, turns[mesh.elements[:, 1]] - turns[mesh.elements[:, 0]])
    return np.asarray(np.sqrt(stiffness / h)[:, None] * twist)
