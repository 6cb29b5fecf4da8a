"""Beams divided into elements, joined where their positions coincide, and assembled into the matrices of a body."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.formulations.elastic.beam_element import SectionRates, beam_matrices, in_body_axes, on_arms
from supple.formulations.elastic.body_matrices import NEAR, PLANAR_COLUMNS
from supple.geometry.inertia import part_mass
from supple.geometry.rotation import tilde


class Span(NamedTuple):
    """One beam of a body, in body axes.

    start, end : (3,) positions of its end nodes
    axes       : (3, 3), columns are the beam's axes: along it, section y, section z
    offset     : (3,) from the line between the end nodes to the beam's axis, bridged by rigid arms at both ends
    first, last: (10,) the `SectionRates` at both ends
    shear      : Timoshenko's theory
    """

    start: Array
    end: Array
    axes: Array
    first: Array
    last: Array
    elements: int = 4
    shear: bool = False
    offset: Array = np.zeros(3)


class BeamMesh(NamedTuple):
    """Nodes and elements.

    nodes (n, 3); elements (e, 2) node numbers; ends (e, 2, 3) of the elements' axes; t (e, 2) fractions of the beam;
    beams (e,) index of the beam
    """

    nodes: Array
    elements: Integers
    ends: Array
    t: Array
    beams: Integers


def extent(spans: Sequence[Span]) -> float:
    """Return the size of the body: the diagonal of the box around its beams."""
    return float(np.linalg.norm(np.ptp(np.array([place for span in spans for place in span[:2]]), axis=0)))


def mesh(spans: Sequence[Span], places: Sequence[Array] = ()) -> BeamMesh:
    """Divide every beam, with a node at each of `places` on an axis and at the ends of other beams.

    No element is longer than the beam's length divided by its number of elements. Between two such nodes all elements
    have the same length.
    """
    near = NEAR * extent(spans)
    wanted = [*places, *(place for span in spans for place in span[:2])]
    nodes: list[Array] = []
    shared: list[int] = []  # nodes that another beam may share
    elements, ends, t, beams = [], [], [], []

    def node(position: Array, sharing: bool) -> int:
        if sharing:
            for number in shared:
                if np.linalg.norm(nodes[number] - position) <= near:
                    return number
            shared.append(len(nodes))
        nodes.append(np.asarray(position, float))
        return len(nodes) - 1

    for number, span in enumerate(spans):
        stations, kept = _stations(span, wanted, near)
        axis = span.start + span.offset + np.outer(stations, span.end - span.start)
        at = axis.copy()
        at[0], at[-1] = span.start, span.end
        numbers = [node(position, sharing) for position, sharing in zip(at, kept, strict=True)]
        for i in range(len(stations) - 1):
            elements.append((numbers[i], numbers[i + 1]))
            ends.append((axis[i], axis[i + 1]))
            t.append((stations[i], stations[i + 1]))
            beams.append(number)
    return BeamMesh(np.array(nodes), np.array(elements), np.array(ends), np.array(t), np.array(beams))


def on_axis(span: Span, place: Array, near: float) -> float | None:
    """Return the fraction of the beam's length at which a position lies on its axis, or None."""
    way = span.end - span.start
    length = float(np.linalg.norm(way))
    r = place - span.start - span.offset
    t = float(r @ way) / length**2
    if np.linalg.norm(r - t * way) > near or not -near / length <= t <= 1.0 + near / length:
        return None
    return min(max(t, 0.0), 1.0)


def _stations(span: Span, wanted: Sequence[Array], near: float) -> tuple[Array, list[bool]]:
    """Return the fractions of the length with a node, and those that other beams may share."""
    length = float(np.linalg.norm(span.end - span.start))
    fixed = [0.0, 1.0]
    for place in wanted:
        t = on_axis(span, place, near)
        if t is not None and min(abs(t - other) for other in fixed) * length > near:
            fixed.append(t)
    fixed.sort()
    stations, kept = [0.0], [True]
    for a, b in pairwise(fixed):
        count = max(1, int(np.ceil((b - a) * span.elements - 1e-9)))
        stations += [a + (b - a) * k / count for k in range(1, count)] + [b]
        kept += [False] * (count - 1) + [True]
    return np.array(stations), kept


class ElementData(NamedTuple):
    """Data of the e elements of a mesh.

    length (e,), rates at both ends, shear (e,) for Timoshenko's theory, axes (e, 3, 3) and arms (e, 2, 3) from the
    nodes to the ends, in body axes
    """

    length: Array
    rates: SectionRates
    shear: NDArray[np.bool_]
    axes: Array
    arms: Array


def element_data(spans: Sequence[Span], found: BeamMesh) -> ElementData:
    """Return the data of all elements, interpolated along their beams."""
    t, beams = found.t, found.beams
    first, last = (np.array([span[i] for span in spans])[beams] for i in (3, 4))  # (e, 10)
    rates = SectionRates(*np.moveaxis((1.0 - t)[..., None] * first[:, None] + t[..., None] * last[:, None], 2, 0))
    return ElementData(
        np.linalg.norm(found.ends[:, 1] - found.ends[:, 0], axis=1),
        rates,
        np.array([span.shear for span in spans])[beams],
        np.array([span.axes for span in spans])[beams],
        found.ends - found.nodes[found.elements],
    )


class Assembled(NamedTuple):
    """Matrices of a body of beams for the displacements of its nodes in body axes, (u, φ) or in the plane (ux, uy, φ).

    turning : M W_k for k = x, y, z, or z alone in the plane
    turned : W_jᵀ M W_k for the pairs j <= k
    """

    K: sp.csr_array
    M: sp.csr_array
    turning: tuple[sp.csr_array, ...]
    turned: tuple[sp.csr_array, ...]


def assemble_beams(
    spans: Sequence[Span], found: BeamMesh, planar: bool, parts: Sequence[tuple[int, float, Array, Array]] = ()
) -> Assembled:
    """Assemble all beams and small rigid parts: (node, mass, inertia, arm from the node)."""
    length, rates, shear, axes, arms = element_data(spans, found)
    K, M = (in_body_axes(matrices, axes) for matrices in beam_matrices(length, rates, shear))
    turns = [np.kron(np.eye(4), tilde(np.eye(3)[k])) for k in ((2,) if planar else (0, 1, 2))]
    put = _Places(found, planar, arms, parts)
    none, masses = np.zeros((0, 6, 6)), put.masses
    return Assembled(
        put.whole(K, none),
        put.whole(M, masses),
        tuple(put.whole(M @ turn, masses @ turn[:6, :6]) for turn in turns),
        tuple(
            put.whole(j.T @ M @ k, j[:6, :6].T @ masses @ k[:6, :6]) for j, k in combinations_with_replacement(turns, 2)
        ),
    )


def stiffness_and_mass(
    spans: Sequence[Span], found: BeamMesh, planar: bool, parts: Sequence[tuple[int, Any, Any, Array]] = ()
) -> tuple[sp.csr_array, sp.csr_array]:
    """Assemble K and M only; complex data carry a slope as the imaginary part."""
    length, rates, shear, axes, arms = element_data(spans, found)
    K, M = (in_body_axes(matrices, axes) for matrices in beam_matrices(length, rates, shear))
    put = _Places(found, planar, arms, parts)
    return put.whole(K, np.zeros((0, 6, 6))), put.whole(M, put.masses)


class _Places:
    """Positions of elements and parts in the matrices of their body."""

    def __init__(
        self, found: BeamMesh, planar: bool, arms: Array, parts: Sequence[tuple[int, Any, Any, Array]]
    ) -> None:
        self.found, self.planar, self.arms = found, planar, arms
        self.nodes = np.array([node for node, *_ in parts], dtype=np.int64)
        self.masses = np.array([part_mass(*part[1:3]) for part in parts]).reshape(-1, 6, 6)
        self.part_arms = np.array([part[3] for part in parts]).reshape(-1, 3)

    def whole(self, of_elements: Array, of_parts: Array) -> sp.csr_array:
        count = len(self.found.nodes)
        blocks = _scatter_blocks(on_arms(of_elements, self.arms), self.found.elements, count, self.planar)
        if len(of_parts):
            blocks = blocks + _scatter_blocks(
                _on_arm(of_parts, self.part_arms), self.nodes[:, None], count, self.planar
            )
        return sp.csr_array(blocks)


def _scatter_blocks(blocks: Array, nodes: Integers, count: int, planar: bool) -> sp.csr_array:
    """Sum blocks (e, 6 k, 6 k) of k nodes each, nodes (e, k), into one matrix."""
    k = nodes.shape[1]
    kept = PLANAR_COLUMNS if planar else np.arange(6)
    take = (6 * np.arange(k)[:, None] + kept).ravel()
    columns = (nodes[:, :, None] * len(kept) + np.arange(len(kept))).reshape(len(nodes), -1)
    n = columns.shape[1]
    rows, cols = np.repeat(columns, n, axis=1), np.tile(columns, (1, n))
    size = count * len(kept)
    values = blocks[:, take[:, None], take]
    return sp.coo_array((values.ravel(), (rows.ravel(), cols.ravel())), shape=(size, size)).tocsr()


def _on_arm(matrices: Array, arms: Array) -> Array:
    """Return matrices (e, 6, 6) of parts for their node: u_part = u + φ × arm."""
    A = np.broadcast_to(np.eye(6), matrices.shape).copy()
    A[:, :3, 3:] = -np.array([tilde(arm) for arm in arms]).reshape(-1, 3, 3)
    return np.swapaxes(A, 1, 2) @ matrices @ A
