"""The frequency that an elastic body has by its own: the unit in which bands are counted.

Displacements of second degree over the body, u = e_k x_i x_j with the rotations φ = ½ curl u, bend, twist and stretch
it in the simplest ways. The lowest of their frequencies, the body free, is an upper bound of its lowest one. The space
of these fields is the same in all axes, so the bound is the body's alone, and follows every change of units.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from supple.formulations.elastic.body_matrices import Array, ElasticBody

_ALIKE = 1e-9  # of the largest mass: fields that are the same on the nodes of the mesh, or rigid motions there
_STILL = 1e-13  # of the largest ω²: rounding


def natural_frequency(body: ElasticBody) -> float:
    """√λ/2π in Hz, λ the lowest eigenvalue of (QᵀKQ, QᵀMQ), Q without rigid motions; 0 where there is none.  (14a)"""
    return body.remembered("natural frequency", lambda: _natural_frequency(body))


def _natural_frequency(body: ElasticBody) -> float:
    size = body.extent
    if not size > 0.0:
        return 0.0
    unit = sp.diags_array(np.where(body.component < 3, size, 1.0))  # displacements in sizes, rotations in radians
    K, M = (unit @ matrix @ unit for matrix in (body.K, body.M))
    T = body.rigid_motions() / unit.diagonal()[:, None]
    T /= np.abs(T).max(axis=0)
    momentum = M @ T
    Q = _second_degree(body, size)
    try:
        Q -= T @ la.solve(T.T @ momentum, momentum.T @ Q, assume_a="pos")
    except la.LinAlgError:  # it has no mass in some motion, which is refused where its modes are computed
        return 0.0
    masses, directions = la.eigh(Q.T @ (M @ Q))
    kept = masses > _ALIKE * masses.max(initial=0.0)
    W = Q @ (directions[:, kept] / np.sqrt(masses[kept]))
    squares = la.eigvalsh(W.T @ (K @ W)) if kept.any() else np.zeros(0)
    moving = squares[squares > _STILL * squares.max(initial=0.0)]
    return float(np.sqrt(moving.min())) / (2.0 * np.pi) if len(moving) else 0.0


def _second_degree(body: ElasticBody, size: float) -> Array:
    """Fields (degrees, 18), in the plane (degrees, 6), over X from the middle of the nodes, in units of the size."""
    X = (body.nodes - body.nodes.mean(axis=0)) / size
    axes = (0, 1) if body.width == 3 else (0, 1, 2)
    columns = []
    for i, j in combinations_with_replacement(axes, 2):
        weight = 1.0 if i == j else np.sqrt(2.0)  # other axes then mix the fields by a rotation
        for k in axes:
            full, slope = np.zeros((len(X), 6)), np.zeros((len(X), 3))
            full[:, k] = weight * X[:, i] * X[:, j]
            slope[:, i] += weight * X[:, j]
            slope[:, j] += weight * X[:, i]
            full[:, 3:] = 0.5 * np.cross(slope, np.eye(3)[k])
            columns.append(full[body.node, body.component])
    return np.array(columns).T
