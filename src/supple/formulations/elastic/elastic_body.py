"""Elastic bodies of a mechanism: arrays in body axes from beams or imported matrices, and their natural frequency."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from supple.array_types import Array
from supple.description.drawing import Drawing
from supple.description.elastic.cross_section import SectionProperties
from supple.description.elastic.placed_beam import PlacedBeam, placed_beams
from supple.description.elastic.superelement_modes import modal_arrays
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formulations.elastic.beam_mesh import BeamMesh, Span, assemble_beams, extent, mesh, on_axis
from supple.formulations.elastic.body_matrices import NEAR, PLANAR_COLUMNS, CarriedPart, ElasticBody
from supple.formulations.elastic.superelement_body import superelement_body
from supple.formulations.elastic.touched_places import TouchedPlace, touched_places
from supple.kinematics.numbering import Numbering

_MADE: WeakValueDictionary[tuple[str, bytes], ElasticBody] = WeakValueDictionary()
"""Bodies of beams by name and a digest of their data, while some mechanism uses them."""


def elastic_body(drawing: Drawing, name: str) -> ElasticBody:
    """Return mass and stiffness of a body of beams or a superelement, with a node at every connected position."""
    described = drawing.mechanism.bodies[name].superelement
    if described is not None:
        path = ("bodies", name, "superelement")
        if modal_arrays(described, path) is not None:
            raise InputError(
                "the body is given by its modes and has no mesh", part=part_name(("bodies", name)), path=path,
                hint="use mass and stiffness matrices of its nodes",
            )  # fmt: skip
        return superelement_body(drawing, name, touched_places(drawing, name))
    return _body_of_beams(drawing, name)


def mesh_of(numbering: Numbering, name: str) -> ElasticBody:
    """Return the mesh of an elastic body, created once."""
    return numbering.mechanism.compute_once(f"mesh {name}", lambda: elastic_body(numbering.drawing, name))


def section_rates(E: Any, G: Any, rho: Any, section: SectionProperties) -> list[Any]:
    """Return the ten `SectionRates` of a section of a material."""
    return [
        E * section.area,
        G * section.torsion,
        E * section.Iy,
        E * section.Iz,
        G * section.area * section.shear_y,
        G * section.area * section.shear_z,
        rho * section.area,
        rho * section.polar,
        rho * section.Iy,
        rho * section.Iz,
    ]


def beam_span(beam: PlacedBeam) -> Span:
    """Return stiffness and mass of a beam per metre, at both ends."""
    E, G, rho = beam.material.youngs_modulus, beam.material.G, beam.material.density
    # What a planar table leaves out does not act in the plane.
    ends = [np.nan_to_num(section_rates(E, G, rho, section)) for section in beam.sections]
    shear = beam.theory == "timoshenko"
    return Span(beam.places[0], beam.places[1], beam.axes, ends[0], ends[1], beam.elements, shear, beam.arm)


class MeshedBeams(NamedTuple):
    """The divided beams of a body, the connected positions, and the nodes that carry them."""

    spans: list[Span]
    mesh: BeamMesh
    touched: list[TouchedPlace]
    carriers: list[int]


def meshed_beams(drawing: Drawing, name: str) -> MeshedBeams:
    """Return the beams of a body with a node at every connected position."""
    spans = [beam_span(beam) for beam in placed_beams(drawing, name)]
    touched = touched_places(drawing, name)
    anchors = [_anchor(drawing, name, spans, place) for place in touched]
    found = mesh(spans, anchors)
    carriers = [int(np.argmin(np.linalg.norm(found.nodes - anchor, axis=1))) for anchor in anchors]
    return MeshedBeams(spans, _move_nodes(found, touched, carriers), touched, carriers)


def weighted_beams(drawing: Drawing, name: str, weights: Array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return Σ w K and Σ w M of the beams of a body, with one of the `weights` (beams,) per beam.

    The matrices are over the degrees of freedom of the mesh, without point masses.
    """
    found = meshed_beams(drawing, name)
    least = 1e-14 * float(weights.max())  # the shape of a sheared beam is a ratio of its stiffnesses
    weighted = [
        item._replace(first=max(w, least) * item.first, last=max(w, least) * item.last)
        for item, w in zip(found.spans, weights.tolist(), strict=True)
    ]
    matrices = assemble_beams(weighted, found.mesh, drawing.mechanism.planar)
    return matrices.K, matrices.M


def _body_of_beams(drawing: Drawing, name: str) -> ElasticBody:
    """Return the body, or an equal one that another mechanism uses, since members of a family differ in few bodies."""
    beams, planar = meshed_beams(drawing, name), drawing.mechanism.planar
    key = (name, _digest(beams, planar))
    body = _MADE.get(key)
    if body is None:
        _require_connected(name, beams.mesh)
        body = _assembled_body(name, beams, planar)
        _MADE[key] = body
    return body


def _digest(beams: MeshedBeams, planar: bool) -> bytes:
    """Return a digest of all numbers that the matrices of a body depend on."""
    digest = hashlib.sha256(repr((planar, len(beams.spans), len(beams.touched), beams.carriers)).encode())
    for item in (*beams.spans, beams.mesh):
        _feed(digest, item)
    for place in beams.touched:
        _feed(digest, (place.position, float(place.row), place.mass, place.inertia))
    return digest.digest()


def _feed(digest: Any, numbers: Iterable[Any]) -> None:
    for number in numbers:
        array = np.ascontiguousarray(number)
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(array.tobytes())


def _assembled_body(name: str, beams: MeshedBeams, planar: bool) -> ElasticBody:
    spans, found, touched, carriers = beams
    parts = [
        CarriedPart(node, place.mass, place.inertia, place.position - found.nodes[node])
        for node, place in zip(carriers, touched, strict=True)
        if place.heavy
    ]
    matrices = assemble_beams(spans, found, planar, parts)
    components = PLANAR_COLUMNS if planar else np.arange(6)
    count, width = len(found.nodes), len(components)
    rows = [(node, place) for node, place in zip(carriers, touched, strict=True) if place.row]
    return ElasticBody(
        name=name,
        nodes=found.nodes,
        K=matrices.K,
        M=matrices.M,
        turning=matrices.turning,
        turned=matrices.turned,
        width=width,
        node=np.repeat(np.arange(count), width),
        component=np.tile(components, count),
        interface=tuple(sorted({node for node, _ in rows})),
        places={tuple(place.position.tolist()): node for node, place in rows},
        elements=found.elements,
        ends=found.ends,
        beams=found.beams,
        parts=tuple(parts),
    )


def _require_connected(name: str, found: BeamMesh) -> None:
    ends = found.elements.T
    count = len(found.nodes)
    links = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(count, count))
    pieces, piece = connected_components(links, directed=False)
    if pieces > 1:
        loose = int(found.beams[np.flatnonzero(piece[ends[0]] != piece[ends[0, 0]])[0]])
        raise InputError(
            f"beam {loose + 1} is not connected to the first beam, directly or through others",
            part=part_name(("bodies", name)),
            path=("bodies", name, "beams", loose),
            hint="beams are joined at common points; separate beams are separate bodies",
        )


def _move_nodes(found: BeamMesh, touched: list[TouchedPlace], carriers: list[int]) -> BeamMesh:
    """Move nodes that carry one position at the end of a rigid arm to this position."""
    nodes = found.nodes.copy()
    for node in set(carriers):
        places = [place.position for i, place in zip(carriers, touched, strict=True) if i == node and place.row]
        if places and np.ptp(places, axis=0).max() == 0.0:
            nodes[node] = places[0]
    return found._replace(nodes=nodes)


def _anchor(drawing: Drawing, name: str, spans: list[Span], place: TouchedPlace) -> Array:
    """Return the point of the beams that carries a position: the position itself on an axis or at an end of a beam."""
    near = 10.0 * NEAR * extent(spans)
    held = _find_node(spans, place.position, near)
    if held is not None:
        return held
    path = ("bodies", name, "attach")
    for key, target in (drawing.mechanism.bodies[name].attach or {}).items():
        if np.linalg.norm(drawing.on_body(name, key, path) - place.position) <= near:
            held = _find_node(spans, drawing.on_body(name, target, path), near)
            if held is None:
                raise InputError(
                    f'"{key}" is attached to a point that is not on its beams',
                    part=part_name(path),
                    path=(*path, key),
                    hint="attach it to a point on a beam's axis, or to a beam's end",
                )
            return held
    nodes = mesh(spans).nodes
    distance = np.linalg.norm(nodes - place.position, axis=1)
    nearest = nodes[int(np.argmin(distance))]
    if place.loose:
        return nearest
    at, next_to = (", ".join(f"{x:.6g}" for x in drawing.bodies[name].to_world(p)) for p in (place.position, nearest))
    raise InputError(
        f"the point ({at}) is not on a beam of {part_name(('bodies', name))}; "
        f"the nearest node is {distance.min():.4g} m away, at ({next_to})",
        part=place.part,
        path=place.path,
        hint=f'put it on a beam, or hold it by a rigid arm: bodies "{name}", attach: {{PLACE: POINT ON A BEAM}}',
    )


def _find_node(spans: list[Span], position: Array, near: float) -> Array | None:
    """Return the position of the node for a position on an axis: itself, or with an offset the beam's end node."""
    for one in spans:
        for end in (one.start, one.end):
            if np.linalg.norm(position - end) <= near:
                return end
    for one in spans:
        t = on_axis(one, position, near)
        if t is not None:
            length = float(np.linalg.norm(one.end - one.start))
            if one.offset.any() and t * length <= near:
                return one.start
            if one.offset.any() and (1.0 - t) * length <= near:
                return one.end
            return position
    return None


_ALIKE = 1e-9  # of the largest mass: fields that are the same on the nodes of the mesh, or rigid motions there
_STILL = 1e-13  # of the largest ω²: rounding


def natural_frequency(body: ElasticBody) -> float:
    """Return the characteristic frequency of an elastic body, Hz, which is the unit of frequency bands.

    It is √λ/2π, λ the lowest eigenvalue of (QᵀKQ, QᵀMQ), Q without rigid motions; 0 if there is none.  (14a)

    Q contains displacements of second degree over the body, u = e_k x_i x_j with the rotations φ = ½ curl u, the
    simplest bending, torsion and extension. The lowest of their frequencies is an upper bound of the lowest frequency
    of the free body. The space of these fields is the same in all axes, so the value does not depend on axes and
    follows every change of units.
    """
    return body.compute_once("natural frequency", lambda: _natural_frequency(body))


def _natural_frequency(body: ElasticBody) -> float:
    size = body.extent
    if not size > 0.0:
        return 0.0
    unit = sp.diags_array(np.where(body.component < 3, size, 1.0))  # displacements in sizes, rotations in radians
    K, M = (unit @ matrix @ unit for matrix in (body.K, body.M))
    T = body.rigid_motions() / unit.diagonal()[:, None]
    T /= np.abs(T).max(axis=0)
    momentum = M @ T
    Q = _second_degree(body, size)
    try:
        Q -= T @ la.solve(T.T @ momentum, momentum.T @ Q, assume_a="pos")
    except la.LinAlgError:  # it has no mass in some motion, which is refused where its modes are computed
        return 0.0
    masses, directions = la.eigh(Q.T @ (M @ Q))
    kept = masses > _ALIKE * masses.max(initial=0.0)
    W = Q @ (directions[:, kept] / np.sqrt(masses[kept]))
    squares = la.eigvalsh(W.T @ (K @ W)) if kept.any() else np.zeros(0)
    moving = squares[squares > _STILL * squares.max(initial=0.0)]
    return float(np.sqrt(moving.min())) / (2.0 * np.pi) if len(moving) else 0.0


def _second_degree(body: ElasticBody, size: float) -> Array:
    """Return fields (degrees, 18), in the plane (degrees, 6), over the relative position X from the mean node."""
    X = (body.nodes - body.nodes.mean(axis=0)) / size
    axes = (0, 1) if body.width == 3 else (0, 1, 2)
    columns = []
    for i, j in combinations_with_replacement(axes, 2):
        weight = 1.0 if i == j else np.sqrt(2.0)  # other axes then mix the fields by a rotation
        for k in axes:
            full, slope = np.zeros((len(X), 6)), np.zeros((len(X), 3))
            full[:, k] = weight * X[:, i] * X[:, j]
            slope[:, i] += weight * X[:, j]
            slope[:, j] += weight * X[:, i]
            full[:, 3:] = 0.5 * np.cross(slope, np.eye(3)[k])
            columns.append(full[body.node, body.component])
    return np.array(columns).T
