"""A superelement by the modes of its file, in the floating frame that its shapes were given in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Drawing
from supple.description.elastic.superelement_modes import SuperelementModes, modal_arrays
from supple.diagnostics import InputError
from supple.formulations.absolute.superelements.floating_body import FloatingBody, Integrals, about_centre
from supple.formulations.elastic.touched_places import TouchedPlace, touched_places

_AT_NODE = 1e-6  # of the body's size


def modal_body(drawing: Drawing, name: str) -> FloatingBody | None:
    """The body by its modes, small masses on its nodes among it; None where its files are matrices of nodes."""
    described = drawing.mechanism.bodies[name].superelement
    arrays = None if described is None else modal_arrays(described, ("bodies", name, "superelement"))
    if arrays is None:
        return None
    offset = drawing.offsets[name]
    touched = touched_places(drawing, name)
    at = [_node(arrays, place, offset) for place in touched]
    integrals = Integrals(
        arrays.rigid, arrays.coupling, arrays.widening, arrays.turning, arrays.turned, arrays.M
    )  # about the origin of the file
    for node, place in zip(at, touched, strict=True):
        if place.heavy:
            integrals = integrals.with_point(place.mass, place.inertia, arrays.positions[node], arrays.shapes[node])
    kept = sorted({node for node, place in zip(at, touched, strict=True) if place.row})
    found = about_centre(name, integrals, arrays.K, arrays.positions[kept] - offset, arrays.shapes[kept])
    carriers = {
        tuple(place.position.tolist()): kept.index(node) for node, place in zip(at, touched, strict=True) if place.row
    }
    return replace(found, center=found.center - offset, carriers=carriers)


def _node(arrays: SuperelementModes, place: TouchedPlace, offset: Array) -> int:
    """The node of the table at a touched place."""
    distance = np.linalg.norm(arrays.positions - offset - place.position, axis=1)
    nearest = int(np.argmin(distance))
    size = float(np.linalg.norm(np.ptp(arrays.positions, axis=0)))
    if not place.loose and distance[nearest] > _AT_NODE * size:
        listed = ", ".join(f"{x:.6g}" for x in place.position + offset)
        raise InputError(
            f"no node of its modes is at ({listed}) in its axes; the nearest is {distance[nearest]:.4g} m away",
            part=place.part, path=place.path, hint="give the place a node, with the shapes that it moves by",
        )  # fmt: skip
    return nearest
