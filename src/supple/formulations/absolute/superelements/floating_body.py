"""An elastic body in a floating frame: a rigid motion, and small displacements linear in a few coordinates.

    x = r + R (X + S q)                                                    (docs/theory/superelements-in-motion.md, 1)

The frame is that of the shapes S. Those of a mesh are its free vibrations, which have neither momentum nor moment of
momentum: the frame then follows the whole body, none of its places in particular. Shapes that were given keep the frame
that they were given in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.formulations.elastic.body_matrices import carrying_node
from supple.geometry.inertia import of_spatial, part_mass
from supple.geometry.rotation import tilde

_AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class FloatingBody:
    """A body for n coordinates q of its displacements, in body axes.

    mass, center, inertia : as a rigid body, undeformed: kg, (3,) m, (3, 3) kg m² about the centre
    momentum  : (3, n) C = ∫ρ S
    spin      : (3, n) H₀ = ∫ρ X̂ × S, X̂ from the centre
    widening  : (3, 3, n) change of the inertia with q, symmetric in its axes: ∫ρ (e_j × X̂)·(e_k × S) and its transpose
    turning   : (3, n, n) N_k = ∫ρ S·(e_k × S)
    turned    : (3, 3, n, n) ∫ρ (e_j × S)·(e_k × S), made symmetric in axes and in coordinates
    M, K      : (n, n)
    nodes     : (b, 3) the nodes that are touched, from the origin of the body; carriers : node of every touched place
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
    carriers: dict[tuple[float, ...], int] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        """n"""
        return len(self.K)

    @property
    def extent(self) -> float:
        """Diagonal of the box around the touched nodes and the centre, m."""
        return float(np.linalg.norm(np.ptp(np.vstack([self.nodes, self.center]), axis=0)))

    def node_at(self, place: Array) -> int | None:
        """The node that carries a touched place, or None if nothing touches the body there."""
        return carrying_node(self.carriers, place, self.extent)


class Integrals(NamedTuple):
    """Of the shapes over the mass, about the body's origin: rigid (6, 6) TᵀMT, coupling (6, n) TᵀMS, widening (3, 3, n)
    the turns of T about e_j times M W_k S, turning (3, n, n) SᵀMW_kS, turned (3, 3, n, n) SᵀW_jᵀMW_kS, M (n, n) SᵀMS.
    """

    rigid: Array
    coupling: Array
    widening: Array
    turning: Array
    turned: Array
    M: Array

    def with_point(self, mass: float, inertia: Array, place: Array, shape: Array) -> Integrals:
        """The same with a small part at a place (3,) that moves by shape (6, n)."""
        T = np.block([[np.eye(3), -tilde(place)], [np.zeros((3, 3)), np.eye(3)]])
        part = part_mass(mass, inertia)
        W = [np.kron(np.eye(2), tilde(e)) for e in _AXES]
        both = np.array([[shape.T @ W[j].T @ part @ W[k] @ shape for k in range(3)] for j in range(3)])
        return Integrals(
            self.rigid + T.T @ part @ T,
            self.coupling + T.T @ part @ shape,
            self.widening + np.array([[T[:, 3 + j] @ part @ W[k] @ shape for k in range(3)] for j in range(3)]),
            self.turning + np.array([shape.T @ part @ W[k] @ shape for k in range(3)]),
            self.turned + both,
            self.M + shape.T @ part @ shape,
        )


def about_centre(name: str, integrals: Integrals, K: Array, nodes: Array, shapes: Array) -> FloatingBody:
    """The body, its integrals taken about its centre of mass instead."""
    rigid, coupling, widening, turning, turned, M = integrals
    whole, C = of_spatial(rigid), coupling[:3]
    center = whole.center
    # e_j × X̂ = e_j × X - e_j × c
    wide = widening - np.einsum("ji,kin->jkn", np.cross(_AXES, center), np.stack([tilde(e) @ C for e in _AXES]))
    even = turned + np.swapaxes(turned, 0, 1)
    return FloatingBody(
        name, whole.mass, center, whole.inertia, C, coupling[3:] - tilde(center) @ C, wide + np.swapaxes(wide, 0, 1),
        turning, 0.25 * (even + np.swapaxes(even, 2, 3)), M, K, nodes, shapes,
    )  # fmt: skip
