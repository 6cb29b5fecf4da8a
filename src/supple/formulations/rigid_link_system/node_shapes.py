"""Material points of a body, their dependence on its nodes, and mass integrals (rigid-link-system, 2-4, 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array, Integers
from supple.description.drawing import Drawing
from supple.formulations.elastic.beam_element import AXIAL, BENDING, GAUSS, TORSION, bending_shapes, shear_parameter
from supple.formulations.elastic.beam_mesh import ElementData, element_data
from supple.formulations.elastic.elastic_body import meshed_beams
from supple.geometry.inertia import MassProperties
from supple.geometry.rotation import tilde

# Material points: how much mass, where, and how it follows the nodes (rigid-link-system, 2-4).
#
# A point of a section (or of a rigid part on a node) stands at c + s, c on the axis, and is displaced by
#
#     e = N_u û + (N_φ û) × s = N û                                                                            (2)
#
# û the displacements (u, φ) of the nodes in body axes. Sections and parts have their mass at c, and ∫ s sᵀ dm = E.


class MassPoints(NamedTuple):
    """A number p of points, each moved by k nodes.

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
    """Return a rigid part on a node: N_u = (I, -ã), N_φ = (0, I), a from the node to the part's centre."""
    arm = properties.center if node_place is None else properties.center - node_place
    move = np.hstack([np.eye(3), -tilde(arm)])
    turn = np.hstack([np.zeros((3, 3)), np.eye(3)])
    spread = pseudo_inertia(properties.inertia)
    return MassPoints(
        np.array([properties.mass]), properties.center[None], spread[None], move[None], turn[None], np.array([[node]])
    )


def pseudo_inertia(inertia: Array) -> Array:
    """Return E = ½ tr(J) I - J of moments of inertia J (..., 3, 3): J = tr(E) I - E."""
    return 0.5 * np.trace(inertia, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - inertia


def beam_points(drawing: Drawing, name: str) -> MassPoints:
    """Return Gauss points of all elements of a body of beams, exact for (2) and its products."""
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
    """Return N_u and N_φ (e, g, 3, 12) of elements for displacements of their nodes, all in body axes."""
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
    """Return the map (e, 12, 12) from nodal displacements in body axes to element ends in element axes."""
    into = np.zeros((len(data.length), 12, 12))
    back = np.swapaxes(data.axes, 1, 2)
    for end in range(2):
        at = 6 * end
        into[:, at : at + 3, at : at + 3] = into[:, at + 3 : at + 6, at + 3 : at + 6] = back
        into[:, at : at + 3, at + 3 : at + 6] = -back @ np.array([tilde(arm) for arm in data.arms[:, end]])
    return into


# Integrals over the mass of all bodies that the equations are made of, constants in body axes (rigid-link-system, 8).
#
#     m = ∫ dm,  s = ∫ r dm,  S = ∫ r rᵀ dm,  N₁ = ∫ N dm,  R_ij = ∫ r_i N_j dm,  P_ij = ∫ N_iᵀ N_j dm
#
# N_j is row j of N. With N = N_u - s̃ N_φ and E = ∫ s sᵀ dm every integral is a sum over `MassPoints`.


LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_i, _j, _k], LEVI_CIVITA[_i, _k, _j] = 1.0, -1.0
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class NodalInertia(NamedTuple):
    """Mass integrals of nb bodies with N nodes in total, 6 N displacements.

    mass (nb,), first (nb, 3), second (nb, 3, 3) : m, s and S of each body
    moments : (12 nb, 6 N) rows N₁ (3) and R_ij (9, i first) of every body
    M       : (6 N, 6 N) ∫ NᵀN
    turning : ∫ Nᵀ ẽ_m N for m = x, y, z
    squares : ∫ N_iᵀN_j + N_jᵀN_i for the pairs i < j, and ∫ N_iᵀN_i
    """

    mass: Array
    first: Array
    second: Array
    moments: sp.csr_array
    M: sp.csr_array
    turning: tuple[sp.csr_array, ...]
    squares: tuple[sp.csr_array, ...]


def nodal_inertia(bodies: Sequence[Sequence[MassPoints]], first_node: Integers, count: int) -> NodalInertia:
    """Return the integrals of all bodies; first_node (nb,): first node of each body among `count`."""
    nb = len(bodies)
    mass, first, second = np.zeros(nb), np.zeros((nb, 3)), np.zeros((nb, 3, 3))
    moments, products = _Sum((12 * nb, 6 * count)), [_Sum((6 * count, 6 * count)) for _ in range(9)]
    for b, groups in enumerate(bodies):
        for points in groups:
            mass[b] += points.mass.sum()
            first[b] += points.mass @ points.place
            second[b] += np.einsum("p,pi,pj->ij", points.mass, points.place, points.place) + points.spread.sum(axis=0)
            columns = (6 * (first_node[b] + points.nodes)[..., None] + np.arange(6)).reshape(len(points.mass), -1)
            moments.add(np.arange(12 * b, 12 * b + 12), columns, _moments(points))
            P = _products(points)
            for i in range(3):
                for j in range(3):
                    products[3 * i + j].add(columns, columns, P[:, i, j])
    of = [[products[3 * i + j].matrix() for j in range(3)] for i in range(3)]
    turning = tuple(of[(m + 2) % 3][(m + 1) % 3] - of[(m + 1) % 3][(m + 2) % 3] for m in range(3))
    squares = tuple(of[i][j] if i == j else of[i][j] + of[j][i] for i, j in PAIRS)
    M = of[0][0] + of[1][1] + of[2][2]
    return NodalInertia(mass, first, second, moments.matrix(), M, turning, squares)


def _moments(points: MassPoints) -> Array:
    """Return m N_u, then m c_i N_u,j + ε_jkl N_φ,k E_il, (p, 12, 6 k)."""
    weighted = points.mass[:, None, None] * points.move
    R = np.einsum("pi,pjn->pijn", points.place, weighted)
    R += np.einsum("jkl,pkn,pil->pijn", LEVI_CIVITA, points.turn, points.spread)
    return np.concatenate([weighted, R.reshape(len(weighted), 9, -1)], axis=1)


def _products(points: MassPoints) -> Array:
    """Return m N_u,iᵀN_u,j + ε_ikl ε_jab E_lb N_φ,kᵀ N_φ,a, (p, 3, 3, 6 k, 6 k)."""
    P = np.einsum("p,pin,pjo->pijno", points.mass, points.move, points.move)
    lever = np.einsum("ikl,pkn->piln", LEVI_CIVITA, points.turn)
    return P + np.einsum("piln,plb,pjbo->pijno", lever, points.spread, lever, optimize=True)


class _Sum:
    """A sparse matrix as a sum of blocks."""

    def __init__(self, shape: tuple[int, int]):
        self.shape = shape
        self.rows: list[Integers] = []
        self.columns: list[Integers] = []
        self.values: list[Array] = []

    def add(self, rows: Integers, columns: Integers, blocks: Array) -> None:
        """Add blocks (p, a, b) at rows (a,) or (p, a), and columns (p, b)."""
        at = np.broadcast_to(rows[..., None] if rows.ndim == 2 else rows[None, :, None], blocks.shape)
        self.rows.append(at.ravel())
        self.columns.append(np.broadcast_to(columns[:, None, :], blocks.shape).ravel())
        self.values.append(blocks.ravel())

    def matrix(self) -> sp.csr_array:
        entries = (np.concatenate(self.rows), np.concatenate(self.columns)) if self.values else (np.zeros(0, int),) * 2
        values = np.concatenate(self.values) if self.values else np.zeros(0)
        return sp.coo_array((values, entries), shape=self.shape).tocsr()
