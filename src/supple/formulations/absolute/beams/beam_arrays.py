"""Arrays of beam elements between frames for the kernels of beams in large motion.

An element has the constants of `beam_element.beam_matrices`. In element axes, extension, torsion and the two directions
of bending are not coupled, so that a row of its mass or stiffness has at most four entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.formulations.elastic import beam_element
from supple.formulations.elastic.beam_element import (
    SectionRates,
    beam_matrices,
    bending_shapes,
    in_body_axes,
    shear_parameter,
)
from supple.formulations.elastic.beam_mesh import BeamMesh, Span, element_data
from supple.formulations.elastic.body_matrices import PLANAR_COLUMNS

# Degrees of freedom of an element's ends, (u, v, w, φx, φy, φz) twice or in the plane (u, v, φ) twice, that each of
# them is coupled with. Two are enough for stretch and twist; the other two places then hold zeros.
_SPACE = np.array([(0, 6, 0, 6), (1, 5, 7, 11), (2, 4, 8, 10), (3, 9, 3, 9), (2, 4, 8, 10), (1, 5, 7, 11)] * 2)
_PLANE = np.array([(0, 3, 0, 3), (1, 2, 4, 5), (1, 2, 4, 5)] * 2)

_GAUSS = 4


# Places in a row of BeamArrays.numbers.
LENGTH = 0  # at rest, m
AXIAL = 1  # EA/L, N/m
ALPHA = 2  # damping in proportion to mass, 1/s
BETA = 3  # damping in proportion to stiffness, s
LUMPS = 4  # ∫ρA(1 - ξ), ∫ρAξ, kg
SAG = 6  # ∫ρAN of deflections along y for local rotations of both ends, then along z, kg m
ARMS = 10  # from both frames to the ends of the element, in the axes of the frames, m
AXES = 16  # columns are the element's axes at rest, in the axes of its frames; written row by row
BENDING = 25  # moments at both ends for local rotations of both, (2, 2) for x, y, z or in the plane for z alone, N m
SHORTENING = 37  # H alike: local rotations θ shorten the chord by ½ θᵀHθ, m
NUMBERS = 49


class BeamArrays(NamedTuple):
    """Arrays of e elements between frames with d velocities each, 6 or in the plane 3.

    frames  : (e, 2) the frames at both ends
    numbers : (e, 49) constants of an element, at the positions named above; in the plane the third axis is its normal
    coupled : (2d, 4) degrees of freedom of the ends for the entries of the next three
    mass, stiffness : (e, 2d, 4) rows of the element's matrices at rest, in element axes
    tension : (e, 2d, 4) rows of its geometric stiffness for a unit tension
    places  : (e, 2d, 2d) positions of an element's entries in the iteration matrix, the upper triangle is used
    """

    frames: Integers
    numbers: Array
    coupled: Integers
    mass: Array
    stiffness: Array
    tension: Array
    places: Integers


class BodyBeams(NamedTuple):
    """The beams of one body.

    spans, mesh : as in `beam_mesh`
    first       : the frame of its first node
    alpha, beta : (spans,) mass- and stiffness-proportional damping of each beam
    """

    spans: Sequence[Span]
    mesh: BeamMesh
    first: int
    alpha: Array
    beta: Array


def no_beams(planar: bool) -> BeamArrays:
    """Return the arrays of a mechanism without beams."""
    coupled = _PLANE if planar else _SPACE
    width = len(coupled)
    rows = np.zeros((0, width, 4))
    places = np.zeros((0, width, width), np.int64)
    return BeamArrays(np.zeros((0, 2), np.int64), np.zeros((0, NUMBERS)), coupled, rows, rows, rows, places)


def beam_arrays(bodies: Sequence[BodyBeams], planar: bool) -> BeamArrays:
    """Return the elements of all bodies; `places` are zero until the layout of the iteration matrix is known."""
    parts = [_of_body(body, planar) for body in bodies if len(body.mesh.elements)]
    none = no_beams(planar)
    joined = [np.concatenate([of_none, *(part[i] for part in parts)]) for i, of_none in enumerate(none)]
    return BeamArrays(*joined)._replace(coupled=none.coupled)


def _of_body(body: BodyBeams, planar: bool) -> BeamArrays:
    spans, found = body.spans, body.mesh
    beams, (length, rates, shear, axes, arms) = found.beams, element_data(spans, found)
    K, M = beam_matrices(length, rates, shear)
    tension = _tension(length, rates, shear)
    if planar:
        own = _planar_axes(axes)
        turn = np.swapaxes(own, 1, 2) @ axes
        K, M, tension = (in_body_axes(item, turn) for item in (K, M, tension))
        axes = own
    count, ends = len(length), np.array([0, 6])
    numbers = np.zeros((count, NUMBERS))
    numbers[:, LENGTH], numbers[:, AXIAL] = length, K[:, 0, 0]
    numbers[:, ALPHA], numbers[:, BETA] = np.asarray(body.alpha, float)[beams], np.asarray(body.beta, float)[beams]
    numbers[:, LUMPS : LUMPS + 2] = M[:, ends, 0] + M[:, ends, 6]
    numbers[:, SAG : SAG + 2] = M[:, ends + 5, 1] + M[:, ends + 5, 7]
    numbers[:, SAG + 2 : SAG + 4] = M[:, ends + 4, 2] + M[:, ends + 4, 8]
    numbers[:, ARMS : ARMS + 6] = arms.reshape(count, 6)
    numbers[:, AXES : AXES + 9] = axes.reshape(count, 9)
    for place, axis in enumerate((2,) if planar else (0, 1, 2)):  # rotations of ends that stay on the chord
        local = ends + 3 + axis
        for begin, matrices in ((BENDING, K), (SHORTENING, tension)):
            numbers[:, begin + 4 * place : begin + 4 * place + 4] = matrices[:, local[:, None], local].reshape(count, 4)
    coupled = _PLANE if planar else _SPACE
    return BeamArrays(
        body.first + np.asarray(found.elements, np.int64),
        numbers,
        coupled,
        _rows(M, planar),
        _rows(K, planar),
        _rows(tension, planar),
        np.zeros((count, len(coupled), len(coupled)), np.int64),
    )


def _tension(length: Array, rates: SectionRates, shear: NDArray[np.bool_]) -> Array:
    """Return twice the shortening of the chord due to end displacements, per unit tension, (e, 12, 12).

    ∫ v'² + (2 kGA/EA - 1) γ² dx in both directions of bending; shear γ rotates the section relative to the axis, and
    the strain is measured along the section's normal.   (flexible-motion, 4)
    """
    points, weights = np.polynomial.legendre.leggauss(_GAUSS)
    xi = 0.5 * (points + 1.0)
    EA, _, EIy, EIz, GAy, GAz, *_ = np.moveaxis(rates.at(xi), 2, 0)
    weight = 0.5 * weights * length[:, None]
    found = np.zeros((len(length), 12, 12))
    for (degrees, sign), EI, GA in zip(beam_element.BENDING, (EIz, EIy), (GAy, GAz), strict=True):
        _, theta, _, strain = bending_shapes(xi, length, shear_parameter(EI, GA, length, shear))
        slope = theta + strain
        whole = _square(slope, weight) + _square(strain, weight * (2.0 * GA / EA - 1.0))
        found[:, degrees[:, None], degrees] = sign[:, None] * whole * sign
    return found


def _square(shapes: Array, weight: Array) -> Array:
    """Return ∫ N_iᵀ c N_j (e, 4, 4), with c and the measure in `weight` (e, points)."""
    return np.einsum("eip,ep,ejp->eij", shapes, weight, shapes)


def _planar_axes(axes: Array) -> Array:
    """Return axes along the element, across it in the plane, and normal to the plane: columns, (e, 3, 3)."""
    along, normal = axes[:, :, 0], np.broadcast_to(np.array([0.0, 0.0, 1.0]), axes[:, :, 0].shape)
    return np.stack([along, np.cross(normal, along), normal], axis=2)


def _rows(matrices: Array, planar: bool) -> Array:
    """Return matrices (e, 12, 12) row by row in the layout of `coupled`, (e, 2d, 4)."""
    if planar:
        kept = np.concatenate([PLANAR_COLUMNS, 6 + PLANAR_COLUMNS])
        matrices = matrices[:, kept[:, None], kept]
    coupled = _PLANE if planar else _SPACE
    found = np.take_along_axis(matrices, np.broadcast_to(coupled, (len(matrices), *coupled.shape)), axis=2)
    twice = coupled[:, 0] == coupled[:, 2]
    found[:, twice, 2:] = 0.0
    return np.ascontiguousarray(found)
