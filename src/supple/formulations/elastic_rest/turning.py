"""What a turn of a body's frame does to its displacements, as momentum and as kinetic energy, over z.

    W_k (u, φ) = (e_k × u, e_k × φ) of every point that has mass;   ΦᵀMW_kΦ and ΦᵀW_kᵀMW_lΦ

A rigid body's mass is at its centre c, which moves by u + φ × c; counted from the body's origin its turn is
(e_k × u + φ × (e_k × c), e_k × φ) (docs/theory/parameterization.md, eq. 17).
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from supple.array_types import Array
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.geometry.rotation import tilde


def turning_in_z(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """ΦᵀMW_kΦ in z, (axes, size, size)."""
    if body.condensed is not None:
        T = body.to_condensed
        return np.array([T.T @ axis @ T for axis in body.condensed.turning])
    M = body.rigid.T @ body.rigid
    return np.array([body.shapes.T @ M @ W @ body.shapes for W in _turns(rest, M)])


def turned_twice_in_z(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """ΦᵀW_kᵀMW_lΦ in z, (axes, axes, size, size)."""
    if body.condensed is not None:
        T, axes = body.to_condensed, len(body.condensed.turning)
        found = np.empty((axes, axes, body.size, body.size))
        pairs = combinations_with_replacement(range(axes), 2)
        for (j, k), matrix in zip(pairs, body.condensed.turned, strict=True):
            found[j, k] = T.T @ matrix @ T
            found[k, j] = found[j, k].T
        return found
    M = body.rigid.T @ body.rigid
    turned = [W @ body.shapes for W in _turns(rest, M)]
    return np.array([[one.T @ M @ other for other in turned] for one in turned])


def _turns(rest: ElasticRest, M: Array) -> list[Array]:
    """W_k of a rigid body whose twist has the mass matrix M (d, d), counted from its origin."""
    column = rest.arrays.column
    center = _center(M)
    found = []
    for axis in (2,) if len(column) == 3 else (0, 1, 2):
        W = np.zeros((6, 6))
        W[:3, :3] = W[3:, 3:] = tilde(np.eye(3)[axis])
        W[:3, 3:] = -tilde(np.cross(np.eye(3)[axis], center))
        found.append(W[np.ix_(column, column)])
    return found


def _center(M: Array) -> Array:
    """Centre of mass from the mass matrix (d, d) of a body's twist."""
    if len(M) == 3:
        return np.array([M[2, 1], -M[2, 0], 0.0]) / M[0, 0]
    return np.array([M[5, 1], M[3, 2], M[4, 0]]) / M[0, 0]
