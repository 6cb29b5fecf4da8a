"""A mechanism as lines that follow the poses of its bodies and the displacements of their nodes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.formulations.elastic.body_matrices import ElasticBody
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.rest import rest
from supple.view.house_style import INK, PALETTE
from supple.view.mode_sketch import element_curves, rigid_arms
from supple.view.sketch_places import body_kinds, sketch_places
from supple.view.sketch_shapes import convex_outline

_SAMPLES = 6  # places on an element


class MovingLines:
    """What is drawn anew in every picture of a movie: a stroke (k, 2 or 3) for each line, always the same ones.

    colors, widths : of the strokes; the last stroke are the joints, which are marked
    """

    def __init__(self, mechanism: Mechanism):
        self.mechanism, self.numbering = mechanism, rest(mechanism).numbering
        self.dimension = 2 if mechanism.planar else 3
        self.places = sketch_places(self.numbering)
        self.meshes = meshes_of(mechanism)
        self.outlines = {name: self._outline(name) for name in self.numbering.bodies if name not in self.meshes}
        kinds = body_kinds(tuple(mechanism.bodies))
        order = list(dict.fromkeys(kinds.values()))
        self._colors = {name: PALETTE[order.index(kind) % len(PALETTE)] for name, kind in kinds.items()}
        self.colors: list[str] = []
        self.widths: list[float] = []

    def _outline(self, name: str) -> list[Array]:
        """Of a rigid body, in its axes: its beams, or the outline of its places."""
        if name in self.places.beams:
            return list(self.places.beams[name])
        points = self.places.bodies[name]
        if len(points) < 2:
            return []
        found = convex_outline(points)
        return [found if len(found) < 3 else np.vstack([found, found[:1]])]

    def strokes(self, X: Array, nodes: Mapping[str, Array]) -> list[Array]:
        """Those at poses X (bodies, 12), with nodes (nodes, 6) of elastic bodies displaced in body axes."""
        found: list[Array] = []
        self.colors, self.widths = [], []
        for b, name in enumerate(self.numbering.bodies):
            mesh = self.meshes.get(name)
            lines = self.outlines[name] if mesh is None else _bent(mesh, nodes.get(name))
            for line in lines:
                self._add(found, self._world(X, b, line), self._colors[name], 2.4)
        for (section, _), ends in self.places.lines.items():
            points = [self._at(X, nodes, end.body, end.position) for end in ends]
            self._add(found, np.array(points), INK, 3.2 if section == "actuators" else 1.2)
        marks = [
            self._at(X, nodes, self.mechanism.joints[name].bodies[1], frames.pb)
            for name, frames in self.places.joints.items()
        ]
        self._add(found, np.array(marks).reshape(-1, self.dimension), INK, 0.0)
        return found

    def _add(self, found: list[Array], stroke: Array, color: str, width: float) -> None:
        found.append(stroke)
        self.colors.append(color)
        self.widths.append(width)

    def _at(self, X: Array, nodes: Mapping[str, Array], body: str, place: Array) -> Array:
        """A place on a body, on an elastic one as the node next to it goes."""
        mesh, U = self.meshes.get(body), nodes.get(body)
        if mesh is not None and U is not None:
            node = mesh.node_at(place)
            if node is None:
                node = int(np.argmin(np.linalg.norm(mesh.nodes - place, axis=1)))
            place = place + U[node, :3] + np.cross(U[node, 3:], place - mesh.nodes[node])
        return self._world(X, self.numbering.body_index(body), place[None])[0]

    def _world(self, X: Array, b: int, local: Array) -> Array:
        if b == len(self.numbering.bodies):
            return local[:, : self.dimension]
        return (X[b, :3] + local @ X[b, 3:].reshape(3, 3).T)[:, : self.dimension]


def meshes_of(mechanism: Mechanism) -> dict[str, ElasticBody]:
    """Of every elastic body."""
    if not any(body.elastic for body in mechanism.bodies.values()):
        return {}
    bodies = elastic_rest(mechanism, own_band(mechanism)).bodies
    return {body.name: body.mesh for body in bodies if body.mesh is not None}


def _bent(mesh: ElasticBody, U: Array | None) -> list[Array]:
    """Lines of an elastic body in its axes: along its elements, or through the nodes of what is no beam."""
    moved = np.zeros((len(mesh.nodes), 6)) if U is None else U
    if not len(mesh.elements):
        outline = convex_outline(mesh.nodes)
        at = [int(np.argmin(np.linalg.norm(mesh.nodes - corner, axis=1))) for corner in outline]
        points = mesh.nodes[at] + moved[at, :3]
        return [points if len(points) < 3 else np.vstack([points, points[:1]])]
    return [*element_curves(mesh, moved, _SAMPLES), *rigid_arms(mesh, moved)]
