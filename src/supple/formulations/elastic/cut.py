"""A beam cut at a position: the nodes and the inertia on one side.

The part on one side of the cut is in equilibrium. The section forces therefore follow from all forces on that part and
from its inertia, for any kind of beam. If an element ends at the position, the side of this element is used; if the
beam begins there, the other side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formulations.efforts import BeamSection
from supple.formulations.elastic.beam_mesh import assemble_beams
from supple.formulations.elastic.body_matrices import ElasticBody
from supple.formulations.elastic.elastic_body import mesh_of, meshed_beams
from supple.geometry.rotation import tilde
from supple.kinematics.numbering import Numbering


class Cut(NamedTuple):
    """One side of a cut.

    nodes   : numbers of the nodes on the side, without that of the cut; element, end : element that ends there, and its
              end
    sign    : factor of forces on the side in the section: -1 for the side before the cut, 1 for that behind it
    to_section : (6, 6) from a force and a moment about the body's origin, in its axes, to those in the section
    mass    : (6, size) rigid motions times the mass of the side, over displacements of the mesh
    turning : (axes, 6, size) the same for M W_k
    """

    mesh: ElasticBody
    nodes: frozenset[int]
    element: int
    end: int
    sign: float
    to_section: Array
    mass: Array
    turning: Array


def cut_at(numbering: Numbering, section: BeamSection, sensor: str) -> Cut:
    """Return the cut of a beam at a position, computed once per sensor."""
    return numbering.mechanism.compute_once(f"cut {sensor}", lambda: _cut(numbering, section, sensor))


def _cut(numbering: Numbering, section: BeamSection, sensor: str) -> Cut:
    drawing = numbering.drawing
    mesh, planar = mesh_of(numbering, section.body), drawing.mechanism.planar
    place = mesh.node_at(section.position)
    assert place is not None  # a sensor touches it
    of_beam = np.flatnonzero(mesh.beams == section.number)
    ending = [(int(e), 1) for e in of_beam if mesh.elements[e, 1] == place]
    starting = [(int(e), 0) for e in of_beam if mesh.elements[e, 0] == place]
    element, end = (ending or starting)[0]
    elements, nodes = _side(mesh, element, int(mesh.elements[element, 1 - end]), place)
    if place in nodes:
        path = ("sensors", sensor)
        raise InputError(
            f'the beams of "{section.body}" form a ring here, so one section force is not determined',
            part=part_name(path), path=path, hint="choose a beam outside the ring",
        )  # fmt: skip
    spans, found, *_ = meshed_beams(drawing, section.body)
    some = found._replace(
        elements=found.elements[elements], ends=found.ends[elements], t=found.t[elements], beams=found.beams[elements]
    )
    parts = [part for part in mesh.parts if part.node in nodes]
    matrices = assemble_beams(spans, some, planar, parts)
    T = np.zeros((mesh.size, 6))
    T[:, [0, 1, 5] if planar else range(6)] = mesh.rigid_motions()
    sign = -1.0 if end else 1.0
    about = np.eye(6)
    about[3:, :3] = -tilde(section.position)  # from the origin to the place
    turned = np.kron(np.eye(2), section.axes.T)
    return Cut(
        mesh, frozenset(nodes), element, end, sign, sign * turned @ about,
        np.asarray(T.T @ matrices.M), np.array([T.T @ turning for turning in matrices.turning]),
    )  # fmt: skip


def _side(mesh: ElasticBody, element: int, start: int, place: int) -> tuple[list[int], set[int]]:
    """Return the elements and nodes that are reached from the far end of an element without passing the cut."""
    elements, nodes, left = {element}, {start}, [start]
    while left:
        at = left.pop()
        for e in np.flatnonzero((mesh.elements == at).any(axis=1)):
            if int(e) in elements:
                continue
            elements.add(int(e))
            other = int(mesh.elements[e].sum()) - at
            if other not in nodes:
                nodes.add(other)
                if other != place:
                    left.append(other)
    return sorted(elements), nodes
