"""Alignment of the modes of a mechanism with other parameters μ to those at the germ of the first of its family.

Both are described in coordinates z of unit mass, but of different bodies. Those of body b are related by its shapes S
on the same nodes, weighted by the first one's mass, of which the orthogonal part is used:

    T_b = S₁ᵀ M₁ S_μ,   Q_b = (T_b T_bᵀ)^(-1/2) T_b,   Φ_ref(μ) = Φ_ref Q,     Q = diag(Q_b)        (reduction, eq. 14)

Q is orthogonal, so that overlaps stay cosines, depends on μ alone, and is smooth in it. Strains are compared in
coordinates of unit stiffness, Λ^½ z, which are rotated by the same Q: K^½ is a smooth function of K.           (eq. 15)
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest


def carry_over(first: ElasticRest, rest: ElasticRest, vectors: Array) -> Array:
    """Return vectors (..., z) of the first mechanism in the coordinates of another: Φ Q."""
    if first is rest:
        return vectors
    found = np.zeros((*vectors.shape[:-1], rest.size))
    for (one, other), Q in zip(_pairs(first, rest), turns(first, rest), strict=True):
        found[..., other.start : other.stop] = vectors[..., one.start : one.stop] @ Q
    return found


def brought_back(first: ElasticRest, rest: ElasticRest, vectors: Array) -> Array:
    """Return vectors (..., z) of another mechanism in the coordinates of the first: Φ Qᵀ."""
    if first is rest:
        return vectors
    found = np.zeros((*vectors.shape[:-1], first.size))
    for (one, other), Q in zip(_pairs(first, rest), turns(first, rest), strict=True):
        found[..., one.start : one.stop] = vectors[..., other.start : other.stop] @ Q.T
    return found


def stresses_over(first: ElasticRest, rest: ElasticRest, stresses: Array) -> Array:
    """Return stresses (k, z + m) of the first one's reference as another mechanism's, see `stresses_of`.

    [eq. 15]
    """
    if first is rest:
        return stresses
    root, other = np.sqrt(first.arrays.stiffness), np.sqrt(rest.arrays.stiffness)
    strained = stresses[:, : first.size] / np.where(root > 0.0, root, 1.0) * (root > 0.0)
    inside = carry_over(first, rest, strained) * other
    yielding, yields = (np.sqrt(item.list_loaded_rows().compliance) for item in (first, rest))
    acting = stresses[:, first.size :] * yielding / np.where(yields > 0.0, yields, 1.0)
    return np.hstack([inside, acting])


def turns(first: ElasticRest, rest: ElasticRest) -> list[Array]:
    """Return Q_b of every body, (z of the first, z); computed once for each pair."""
    mechanism: Mechanism = rest.numbering.mechanism
    key = f"turned to another {id(first)} {rest.band} {tuple(rest.displacements)}"
    made: tuple[ElasticRest, list[Array]] = mechanism.compute_once(
        key, lambda: (first, [_turn(one, other) for one, other in _pairs(first, rest)])
    )
    return made[1]


def _pairs(first: ElasticRest, rest: ElasticRest) -> list[tuple[BodyCoordinates, BodyCoordinates]]:
    return list(zip(first.bodies, rest.bodies, strict=True))


def _turn(one: BodyCoordinates, other: BodyCoordinates) -> Array:
    a, b, extra = one.size - one.deflections, other.size - other.deflections, one.deflections
    found = np.zeros((one.size, other.size))
    found[a:, b:] = np.eye(extra)
    S, R = one.shapes[:, :a], other.shapes[:, :b]
    if one.mesh is None:
        product = np.linalg.solve(S, R)  # Sᵀ M = S⁻¹
    elif one.condensed is not None and not one.condensed.by_nodes:
        product = one.to_condensed[:, :a].T @ one.condensed.M @ other.to_condensed[:, :b]
    else:
        if S.shape[0] != R.shape[0]:
            raise InputError(
                f"{R.shape[0]} degrees of freedom, but {S.shape[0]} in the first mechanism of the family",
                part=f'body "{other.name}"', hint="vary parameters that do not change the elements",
            )  # fmt: skip
        product = S.T @ (one.mesh.M @ R)
    U, _, Vt = np.linalg.svd(product, full_matrices=False)
    found[:a, :b] = U @ Vt
    return found
