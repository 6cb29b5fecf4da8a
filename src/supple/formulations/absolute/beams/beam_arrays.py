"""Beam elements between frames, as arrays: what the kernels of beams in large motion take.

An element has the constants of `beam_element.beam_matrices`; in its own axes stretch, twist and the two directions of
bending do not couple, so that a row of its mass or stiffness has at most four entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.formulations.elastic.beam_element import (
    SectionRates,
    beam_matrices,
    bending_shapes,
    in_body_axes,
    shear_parameter,
)
from supple.formulations.elastic.beam_mesh import BeamMesh, Span
from supple.formulations.elastic.body_matrices import PLANAR_COLUMNS

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Degrees of freedom of an element's ends, (u, v, w, φx, φy, φz) twice or in the plane (u, v, φ) twice, that each of
# them is coupled with. Two are enough for stretch and twist; the other two places then hold zeros.
_SPACE = np.array([(0, 6, 0, 6), (1, 5, 7, 11), (2, 4, 8, 10), (3, 9, 3, 9), (2, 4, 8, 10), (1, 5, 7, 11)] * 2)
_PLANE = np.array([(0, 3, 0, 3), (1, 2, 4, 5), (1, 2, 4, 5)] * 2)

_BENDING = (  # deflection and slope at both ends, and their signs: v' = φz, w' = -φy
    (np.array([1, 5, 7, 11]), np.array([1.0, 1.0, 1.0, 1.0])),
    (np.array([2, 4, 8, 10]), np.array([1.0, -1.0, 1.0, -1.0])),
)
_GAUSS = 4


class BeamArrays(NamedTuple):
    """e elements between frames with d velocities each, 6 or in the plane 3; a is the number of axes that local
    rotations have, 3 or in the plane 1.

    frames    : (e, 2) the frames at both ends
    arms      : (e, 2, 3) from the frame to the end of the element, in the axes of the frame
    axes      : (e, 3, 3) columns are the element's axes at rest, in the axes of its frames; in the plane the third is
                normal to it
    length    : (e,) at rest, m
    axial     : (e,) EA/L, N/m
    bending   : (e, a, 2, 2) moments at both ends for local rotations of both, N m
    shortening: (e, a, 2, 2) H: local rotations θ shorten the chord by ½ θᵀHθ, m
    coupled   : (2d, 4) which degrees of freedom of the ends the entries of the next three belong to
    mass, stiffness : (e, 2d, 4) rows of the element's matrices at rest, in its axes
    tension   : (e, 2d, 4) rows of its geometric stiffness for a unit tension
    lumps     : (e, 2) ∫ρA(1 - ξ), ∫ρAξ, kg
    sag       : (e, 2, 2) ∫ρAN of the local deflections (y, z) that local rotations of both ends give, kg m
    alpha     : (e,) damping in proportion to mass, 1/s
    beta      : (e,) damping in proportion to stiffness, s
    places    : (e, 2d, 2d) places of an element's entries in the iteration matrix, the upper triangle is used
    """

    frames: Integers
    arms: Array
    axes: Array
    length: Array
    axial: Array
    bending: Array
    shortening: Array
    coupled: Integers
    mass: Array
    stiffness: Array
    tension: Array
    lumps: Array
    sag: Array
    alpha: Array
    beta: Array
    places: Integers


class BodyBeams(NamedTuple):
    """The beams of one body.

    spans, mesh : as `beam_mesh` has them
    first       : the frame of its first node
    alpha, beta : (spans,) damping of each beam in proportion to mass and stiffness
    """

    spans: Sequence[Span]
    mesh: BeamMesh
    first: int
    alpha: Array
    beta: Array


def no_beams(planar: bool) -> BeamArrays:
    """Of a mechanism without beams."""
    d, a = (3, 1) if planar else (6, 3)
    coupled = _PLANE if planar else _SPACE
    return BeamArrays(
        np.zeros((0, 2), np.int64), np.zeros((0, 2, 3)), np.zeros((0, 3, 3)), np.zeros(0), np.zeros(0),
        np.zeros((0, a, 2, 2)), np.zeros((0, a, 2, 2)), coupled,
        np.zeros((0, 2 * d, 4)), np.zeros((0, 2 * d, 4)), np.zeros((0, 2 * d, 4)),
        np.zeros((0, 2)), np.zeros((0, 2, 2)), np.zeros(0), np.zeros(0), np.zeros((0, 2 * d, 2 * d), np.int64),
    )  # fmt: skip


def beam_arrays(bodies: Sequence[BodyBeams], planar: bool) -> BeamArrays:
    """The elements of all bodies; `places` are zero until the iteration matrix is laid out."""
    parts = [_of_body(body, planar) for body in bodies if len(body.mesh.elements)]
    none = no_beams(planar)
    joined = [np.concatenate([of_none, *(part[i] for part in parts)]) for i, of_none in enumerate(none)]
    return BeamArrays(*joined)._replace(coupled=none.coupled)


def _of_body(body: BodyBeams, planar: bool) -> BeamArrays:
    spans, found = body.spans, body.mesh
    t, beams = found.t, found.beams
    first, last = (np.array([getattr(span, end) for span in spans])[beams] for end in ("first", "last"))
    rates = SectionRates(*np.moveaxis((1.0 - t)[..., None] * first[:, None] + t[..., None] * last[:, None], 2, 0))
    length = np.linalg.norm(found.ends[:, 1] - found.ends[:, 0], axis=1)
    shear = np.array([span.shear for span in spans])[beams]
    axes = np.array([span.axes for span in spans])[beams]
    K, M = beam_matrices(length, rates, shear)
    tension = _tension(length, rates, shear)
    if planar:
        own = _planar_axes(axes)
        turn = np.swapaxes(own, 1, 2) @ axes
        K, M, tension = (in_body_axes(item, turn) for item in (K, M, tension))
        axes = own
    ends = np.array([0, 6])
    local = [ends + 3 + axis for axis in ((2,) if planar else (0, 1, 2))]
    bending, shortening = (
        np.stack([item[:, at[:, None], at] for at in local], axis=1) for item in (K, tension)
    )  # rotations at ends that stay on the chord
    lumps = M[:, ends, 0] + M[:, ends, 6]
    sag = np.stack([M[:, ends + 5, 1] + M[:, ends + 5, 7], M[:, ends + 4, 2] + M[:, ends + 4, 8]], axis=1)
    coupled = _PLANE if planar else _SPACE
    d = 3 if planar else 6
    count = len(length)
    return BeamArrays(
        frames=body.first + np.asarray(found.elements, np.int64),
        arms=found.ends - found.nodes[found.elements],
        axes=np.ascontiguousarray(axes),
        length=length,
        axial=K[:, 0, 0].copy(),
        bending=bending,
        shortening=shortening,
        coupled=coupled,
        mass=_rows(M, planar),
        stiffness=_rows(K, planar),
        tension=_rows(tension, planar),
        lumps=lumps,
        sag=sag,
        alpha=np.asarray(body.alpha, float)[beams],
        beta=np.asarray(body.beta, float)[beams],
        places=np.zeros((count, 2 * d, 2 * d), np.int64),
    )


def _tension(length: Array, rates: SectionRates, shear: NDArray[np.bool_]) -> Array:
    """∫ (v'² + w'²) dx over the displacements of both ends: (e, 12, 12)."""
    points, weights = np.polynomial.legendre.leggauss(_GAUSS)
    xi = 0.5 * (points + 1.0)
    _, _, EIy, EIz, GAy, GAz, *_ = np.moveaxis(rates.at(xi), 2, 0)
    found = np.zeros((len(length), 12, 12))
    for (degrees, sign), EI, GA in zip(_BENDING, (EIz, EIy), (GAy, GAz), strict=True):
        _, theta, _, strain = bending_shapes(xi, length, shear_parameter(EI, GA, length, shear))
        slope = theta + strain
        whole = np.einsum("eip,p,ejp->eij", slope, 0.5 * weights, slope) * length[:, None, None]
        found[:, degrees[:, None], degrees] = sign[:, None] * whole * sign
    return found


def _planar_axes(axes: Array) -> Array:
    """Along the element, across it in the plane, and normal to the plane: columns, (e, 3, 3)."""
    along, normal = axes[:, :, 0], np.broadcast_to(np.array([0.0, 0.0, 1.0]), axes[:, :, 0].shape)
    return np.stack([along, np.cross(normal, along), normal], axis=2)


def _rows(matrices: Array, planar: bool) -> Array:
    """Matrices (e, 12, 12) row by row as `coupled` has them: (e, 2d, 4)."""
    if planar:
        kept = np.concatenate([PLANAR_COLUMNS, 6 + PLANAR_COLUMNS])
        matrices = matrices[:, kept[:, None], kept]
    coupled = _PLANE if planar else _SPACE
    found = np.take_along_axis(matrices, np.broadcast_to(coupled, (len(matrices), *coupled.shape)), axis=2)
    twice = coupled[:, 0] == coupled[:, 2]
    found[:, twice, 2:] = 0.0
    return np.ascontiguousarray(found)
