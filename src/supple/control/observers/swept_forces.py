"""What rates do beyond first order: centrifugal and Coriolis forces, and accelerations that sensors see.

At θ and δ, with v = (θ̇, 0) and what is odd in v (damping, friction) taken off,

    Q(v) = ½ [τ(v) + τ(-v)] - τ(0) = Γ[v, v],    ψ(v) = ½ [y(v) + y(-v)] - y(0)

Both are quadratic forms: Σ_{i <= j} Q_ij θ̇_i θ̇_j. A linear model about rest knows nothing of them; with the products of
wanted rates as inputs that are known it does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.array_types import Array
from supple.equations.dry_friction import FRICTION_SPEED
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, outputs_along
from supple.results.linear_model import LinearModel


def pairs(s: int) -> list[tuple[int, int]]:
    """(i, j), i <= j: the order of the products θ̇_i θ̇_j."""
    return [(i, j) for i in range(s) for j in range(i, s)]


def with_swept_forces(model: ReducedModel, linear: LinearModel) -> tuple[LinearModel, tuple[str, ...]]:
    """The model about rest with products of rates as further inputs, and their names."""
    assert linear.second_order is not None
    s = model.layout.theta
    eta = np.array([linear.at["states"][name] for name in linear.coordinates])
    u = np.array(list(linear.at["inputs"].values()))
    forces, seen, by_acceleration = _quadratic(model, eta, u)
    M, P3 = linear.second_order.M, linear.second_order.P3
    accelerations = -np.linalg.solve(M, forces)
    B = np.vstack([np.zeros_like(forces), accelerations])
    coordinates = linear.coordinates
    names = tuple(f"{coordinates[i]}.rate {coordinates[j]}.rate" for i, j in pairs(s))
    return replace(
        linear, B=np.hstack([linear.B, B]), D=np.hstack([linear.D, seen + by_acceleration @ accelerations]),
        inputs=(*linear.inputs, *names), second_order=linear.second_order._replace(P3=np.hstack([P3, -forces])),
    ), names  # fmt: skip


def _quadratic(model: ReducedModel, eta: Array, u: Array) -> tuple[Array, Array, Array]:
    """Q (n, p) and ψ (o, p) of all pairs, by polarization, and ∂y/∂η̈ (o, n), in which y is linear."""
    n, s = model.layout.size, model.layout.theta
    couples = pairs(s)
    rates = [np.zeros(n)]
    for i, j in couples:
        v = np.zeros(n)
        v[i] = 1.0
        v[j] = 1.0
        rates += [v, -v]
    v = np.array(rates)
    count = len(v)
    states = np.tile(eta, (count + n, 1))
    tau = model.inverse(states[:count, :s], v, np.zeros((count, n)), delta=states[:count, s:])
    v, a = np.vstack([v, np.zeros((n, n))]), np.vstack([np.zeros((count, n)), np.eye(n)])
    y = outputs_along(model, ObservedMotion(states, v, a, np.tile(u, (count + n, 1)), FRICTION_SPEED))
    by_acceleration = (y[count:] - y[0]).T
    whole = [0.5 * (part[1:count:2] + part[2:count:2]) - part[0] for part in (tau, y)]
    own = {i: whole_at for whole_at, (i, j) in enumerate(couples) if i == j}
    for at, (i, j) in enumerate(couples):
        if i != j:
            for part in whole:
                part[at] -= part[own[i]] + part[own[j]]
    return whole[0].T, whole[1].T, by_acceleration
