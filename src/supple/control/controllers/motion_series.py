"""What a linear plant does, and is told, where its θ follows a slow motion: a series in the motion's rates.

With ẋ = A x + B u and θ = E x = θ_d(t), x = Σ S_k θ_d^(k) and u = Σ R_k θ_d^(k):

    A S_k + B R_k = S_{k-1},   E S_k = 1 for k = 0, 0 otherwise

and of samples, x⁺ = F x + G u, with e^{sT} = 1 + sT + ...:  (F - 1) S_k + G R_k = Σ_{j ≥ 1} T^j / j! S_{k-j}. Drives,
delays and holds are in A and B, so that R says what has to be commanded beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.laws.law_ports import ORDERS
from supple.diagnostics import NumericalError

_LEFT = 1e-7  # of 1: how far E S₀ may be from it


class MotionSeries(NamedTuple):
    """S (4, N, s) and R (4, a, s)."""

    states: Array
    inputs: Array


def motion_series(A: Array, B: Array, E: Array, step: float | None = None) -> MotionSeries:
    """Of ẋ = A x + B u, or with a step of x⁺ = A x + B u; E (s, N) tells θ. Of more inputs than θ the least."""
    (N, a), s = B.shape, len(E)
    own = A if step is None else A - np.eye(N)
    solve = _solver(np.block([[own, B], [E, np.zeros((s, a))]]), np.append(_sizes(A, B), np.ones(a)))
    states, inputs = np.zeros((ORDERS, N, s)), np.zeros((ORDERS, a, s))
    for k in range(ORDERS):
        if step is None:
            below = states[k - 1] if k else np.zeros((N, s))
        else:
            below = sum((step**j / factorial(j) * states[k - j] for j in range(1, k + 1)), np.zeros((N, s)))
        found = solve(np.vstack([below, np.eye(s) * (k == 0)]))
        states[k], inputs[k] = found[:N], found[N:]
    if np.abs(E @ states[0] - np.eye(s)).max(initial=0.0) > _LEFT:
        raise NumericalError(
            "the actuators cannot hold every coordinate of the motion where it is wanted", part="state feedback",
            hint="follow a motion of as many coordinates as there are actuators",
        )  # fmt: skip
    return MotionSeries(states, inputs)


def _solver(whole: Array, columns: Array) -> Callable[[Array], Array]:
    """Solutions of a linear system with unknowns of these sizes, refined once; of many the least."""
    scaled = whole * columns
    rows = np.abs(scaled).max(axis=1)
    rows[rows == 0.0] = 1.0
    scaled = scaled / rows[:, None]
    inverse = np.linalg.pinv(scaled, rcond=1e-13)

    def solve(right: Array) -> Array:
        wanted = right / rows[:, None]
        found = inverse @ wanted
        found += inverse @ (wanted - scaled @ found)
        return np.asarray(columns[:, None] * found)

    return solve


def _sizes(A: Array, B: Array) -> Array:
    """A size of each state that inputs of 1 give within some time of the plant, so that units do not decide."""
    scale = max(float(np.abs(np.linalg.eigvals(A)).max(initial=0.0)), 1e-12)
    reached = np.abs(B).sum(axis=1)
    found = reached.copy()
    for _ in range(len(A)):
        reached = np.abs(A) @ reached / scale
        found = np.maximum(found, reached)
    return np.where(found > 0.0, found, 1.0)
