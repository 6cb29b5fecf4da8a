"""Material points of a body: how much mass, where, and how it follows the nodes (rigid-link-system, 2-4).

A point of a section (or of a rigid part on a node) stands at c + s, c on the axis, and is displaced by

    e = N_u û + (N_φ û) × s = N û                                                                              (2)

û the displacements (u, φ) of the nodes in body axes. Sections and parts have their mass at c, and ∫ s sᵀ dm = E.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.description.drawing import Drawing
from supple.formulations.elastic.beam_element import (
    AXIAL,
    BENDING,
    GAUSS,
    TORSION,
    bending_shapes,
    shear_parameter,
)
from supple.formulations.elastic.beam_mesh import ElementData, element_data
from supple.formulations.elastic.elastic_body import meshed_beams
from supple.geometry.inertia import MassProperties
from supple.geometry.rotation import tilde


class MassPoints(NamedTuple):
    """p points, each moved by k nodes.

    mass  : (p,) kg
    place : (p, 3) c, from the body's origin
    spread: (p, 3, 3) E, kg m²
    move, turn : (p, 3, 6 k) N_u and N_φ
    nodes : (p, k) of the body
    """

    mass: Array
    place: Array
    spread: Array
    move: Array
    turn: Array
    nodes: Integers


def rigid_points(properties: MassProperties, node: int = 0, node_place: Array | None = None) -> MassPoints:
    """A rigid part on a node: N_u = (I, -ã), N_φ = (0, I), a from the node to the part's centre."""
    arm = properties.center if node_place is None else properties.center - node_place
    move = np.hstack([np.eye(3), -tilde(arm)])
    turn = np.hstack([np.zeros((3, 3)), np.eye(3)])
    spread = pseudo_inertia(properties.inertia)
    return MassPoints(
        np.array([properties.mass]), properties.center[None], spread[None], move[None], turn[None], np.array([[node]])
    )


def pseudo_inertia(inertia: Array) -> Array:
    """E = ½ tr(J) I - J of moments of inertia J (..., 3, 3): J = tr(E) I - E."""
    return 0.5 * np.trace(inertia, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - inertia


def beam_points(drawing: Drawing, name: str) -> MassPoints:
    """Gauss points of all elements of a body of beams, exact for (2) and its products."""
    spans, mesh, _, _ = meshed_beams(drawing, name)
    data = element_data(spans, mesh)
    points, weights = np.polynomial.legendre.leggauss(GAUSS)
    xi = 0.5 * (points + 1.0)
    weight = 0.5 * weights[None] * data.length[:, None]  # (e, g)
    move, turn = _element_shapes(data, xi)
    place = (1.0 - xi)[None, :, None] * mesh.ends[:, None, 0] + xi[None, :, None] * mesh.ends[:, None, 1]
    rA, rIx, rIy, rIz = np.moveaxis(data.rates.at(xi), 2, 0)[6:]
    shear = data.shear[:, None]
    inertia = np.zeros((*rA.shape, 3, 3))  # of a section, in its axes; bending has none without shear
    inertia[..., 0, 0], inertia[..., 1, 1] = rIx, np.where(shear, rIy, 0.0)
    inertia[..., 2, 2] = np.where(shear, rIz, 0.0)
    axes = data.axes[:, None]
    spread = axes @ (weight[..., None, None] * pseudo_inertia(inertia)) @ np.swapaxes(axes, -1, -2)
    count = weight.size
    return MassPoints(
        (rA * weight).ravel(), place.reshape(count, 3), spread.reshape(count, 3, 3), move.reshape(count, 3, 12),
        turn.reshape(count, 3, 12), np.repeat(mesh.elements, len(xi), axis=0),
    )  # fmt: skip


def _element_shapes(data: ElementData, xi: Array) -> tuple[Array, Array]:
    """N_u and N_φ (e, g, 3, 12) of elements for displacements of their nodes, all in body axes."""
    count, g = len(data.length), len(xi)
    move, turn = np.zeros((count, g, 3, 12)), np.zeros((count, g, 3, 12))
    linear = np.stack([1.0 - xi, xi], axis=-1)
    move[:, :, 0, AXIAL] = linear
    turn[:, :, 0, TORSION] = linear
    _, _, EIy, EIz, GAy, GAz, *_ = np.moveaxis(data.rates.at(xi), 2, 0)
    for row, (degrees, sign), EI, GA in zip((1, 2), BENDING, (EIz, EIy), (GAy, GAz), strict=True):
        v, slope, _, _ = bending_shapes(xi, data.length, shear_parameter(EI, GA, data.length, data.shear))
        move[:, :, row, degrees] = np.swapaxes(v, 1, 2) * sign
        about = 2 if row == 1 else 1  # v' = φz, w' = -φy
        turn[:, :, about, degrees] = np.swapaxes(slope, 1, 2) * sign * (1.0 if row == 1 else -1.0)
    into = _into_element(data)
    axes = data.axes[:, None]
    return axes @ move @ into[:, None], axes @ turn @ into[:, None]


def _into_element(data: ElementData) -> Array:
    """(e, 12, 12): displacements of both nodes in body axes to those of the element's ends in its own."""
    into = np.zeros((len(data.length), 12, 12))
    back = np.swapaxes(data.axes, 1, 2)
    for end in range(2):
        at = 6 * end
        into[:, at : at + 3, at : at + 3] = into[:, at + 3 : at + 6, at + 3 : at + 6] = back
        into[:, at : at + 3, at + 3 : at + 6] = -back @ np.array([tilde(arm) for arm in data.arms[:, end]])
    return into
