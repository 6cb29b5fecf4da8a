"""An elastic body in a floating frame: a rigid motion, and small displacements linear in a few coordinates.

    x = r + R (X + S q)                                                    (docs/theory/superelements-in-motion.md, 1)

The frame is that of the shapes S. Those of a mesh are its free vibrations, which have neither momentum nor moment of
momentum [Buckens]: the frame then follows the whole body, none of its places in particular. Shapes that were given keep
the frame that they were given in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi

import numpy as np
from numpy.typing import NDArray

from supple.formulations.elastic.body_matrices import PLANAR_COLUMNS
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates, elastic_coordinates
from supple.geometry.rotation import skew
from supple.kinematics.numbering import Numbering

Array = NDArray[np.float64]

BAND = 8.0  # of the body's own frequency: up to where it is condensed exactly, to 1e-6 of ω²

_AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class FloatingBody:
    """A body for n coordinates q of its displacements, in body axes. q counts in metres: its mass is that of the body.

    mass, center, inertia : as a rigid body, undeformed: kg, (3,) m, (3, 3) kg m² about the centre
    momentum  : (3, n) C = ∫ρ S, kg
    spin      : (3, n) H₀ = ∫ρ X̂ × S, X̂ from the centre
    widening  : (3, 3, n) change of the inertia with q, symmetric in its axes: ∫ρ (e_j × X̂)·(e_k × S) and its transpose
    turning   : (3, n, n) N_k = ∫ρ S·(e_k × S)
    turned    : (3, 3, n, n) ½ ∫ρ (e_j × S)·(e_k × S) and its transposes, symmetric in axes and in coordinates
    M, K      : (n, n)
    nodes     : (b, 3) places of the nodes that may be touched, from the origin of the body
    shapes    : (b, 6, n) their displacements and small rotations
    """

    name: str
    mass: float
    center: Array
    inertia: Array = field(repr=False)
    momentum: Array = field(repr=False)
    spin: Array = field(repr=False)
    widening: Array = field(repr=False)
    turning: Array = field(repr=False)
    turned: Array = field(repr=False)
    M: Array = field(repr=False)
    K: Array = field(repr=False)
    nodes: Array = field(repr=False)
    shapes: Array = field(repr=False)

    @property
    def size(self) -> int:
        """n"""
        return len(self.K)


def floating_mesh(numbering: Numbering, name: str, own_hz: float) -> FloatingBody:
    """The body of imported matrices `name`, condensed and in its free vibrations."""
    return floating(elastic_coordinates(numbering, name, BAND * own_hz, 0))


def floating(body: BodyCoordinates) -> FloatingBody:
    """A condensed body in its free vibrations, without its rigid ones."""
    condensed = body.condensed
    assert condensed is not None
    d = condensed.width
    planar = d == 3
    T = condensed.rigid_mass
    mass = float(T[0, 0])
    Z = body.to_condensed[:, d:] * np.sqrt(mass)
    n = Z.shape[1]
    shapes = np.zeros((len(condensed.nodes), 6, n))
    columns = PLANAR_COLUMNS if planar else np.arange(6)
    shapes[:, columns] = Z[: len(condensed.nodes) * d].reshape(-1, d, n)
    rigid, coupling = np.zeros((6, 6)), np.zeros((6, n))
    rigid[np.ix_(columns, columns)] = T
    coupling[columns] = condensed.rigid_coupling @ Z
    axes = (2,) if planar else (0, 1, 2)
    widening, turning, turned = np.zeros((3, 3, n)), np.zeros((3, n, n)), np.zeros((3, 3, n, n))
    pairs = [(j, k) for j in axes for k in axes if j <= k]
    for i, k in enumerate(axes):
        turning[k] = Z.T @ condensed.turning[i] @ Z
        for at, j in zip(np.flatnonzero(columns >= 3), axes, strict=True):
            widening[j, k] = condensed.turning_rigid[i, at] @ Z
    for (j, k), matrix in zip(pairs, condensed.turned, strict=True):
        turned[j, k] = Z.T @ matrix @ Z
        turned[k, j] = turned[j, k].T
    M = mass * np.eye(n)
    K = np.diag(mass * body.stiffness[d : d + n])
    return about_centre(body.name, rigid, coupling, widening, turning, turned, M, K, condensed.nodes, shapes)


def about_centre(
    name: str,
    rigid: Array,
    coupling: Array,
    widening: Array,
    turning: Array,
    turned: Array,
    M: Array,
    K: Array,
    nodes: Array,
    shapes: Array,
) -> FloatingBody:
    """The body from its integrals about its origin: rigid (6, 6) TᵀMT, coupling (6, n) TᵀMS, widening (3, 3, n) the
    turns of T about e_j times M W_k S, turning (3, n, n) SᵀMW_kS, turned (3, 3, n, n) SᵀW_jᵀMW_kS."""
    mass = float(np.trace(rigid[:2, :2])) / 2.0
    first = rigid[3:, :3]  # m c̃
    center = np.array([-first[1, 2] or first[2, 1], first[0, 2] or -first[2, 0], -first[0, 1] or first[1, 0]]) / mass
    c = skew(center)
    C = coupling[:3]
    spin = coupling[3:] - c @ C
    # e_j × X̂ = e_j × X - e_j × c
    wide = widening - np.einsum("ji,kin->jkn", np.cross(_AXES, center), np.stack([skew(e) @ C for e in _AXES]))
    return FloatingBody(
        name, mass, center, rigid[3:, 3:] + mass * (c @ c), C, spin, wide + np.swapaxes(wide, 0, 1), turning,
        0.25 * (turned + np.swapaxes(turned, 0, 1) + np.swapaxes(turned, 2, 3) + turned.transpose(1, 0, 3, 2)),
        M, K, nodes, shapes,
    )  # fmt: skip


def highest_hz(body: FloatingBody) -> float:
    """The highest frequency of the free body, Hz."""
    return float(np.sqrt(np.linalg.eigvals(np.linalg.solve(body.M, body.K)).real.max()) / (2.0 * pi))
