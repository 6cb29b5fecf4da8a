"""Linear systems ẋ = A x + B u, y = C x + D u, and blocks of one signal put before an input or behind an output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from supple.array_types import Array
from supple.diagnostics import InputError

HIGHEST = 8  # order of an approximant: beyond, its fastest states only make the model stiff


class StateSpace(NamedTuple):
    """A (x, x), B (x, u), C (y, x), D (y, u)."""

    A: Array
    B: Array
    C: Array
    D: Array


def pade(delay: float, order: int) -> StateSpace:
    """exp(-s T) with numerator and denominator of the same order; its magnitude is 1 at every frequency.

    With z = s T/2 and tanh z = z / (1 + z²/(3 + z²/(5 + ...))) cut off after n terms, exp(-2z) = (1 - tanh z)/(1 +
    tanh z) is Padé's approximant. Its ladder are n states without large numbers between them,

        x_1 = u - y_1 - y_2,   x_k = y_{k-1} - y_{k+1},   y_k = T/(2 (2k - 1)) ẋ_k,   output u - 2 y_1

    and at rest x_1 = u, all others are zero. delay : T, s; order : n
    """
    if not (isinstance(order, int) and 1 <= order <= HIGHEST):  # type: ignore[redundant-expr]  # whatever is given
        raise InputError(f"a delay is not approximated to the order {order}", part="pade", hint=f"give 1 to {HIGHEST}")
    Q = np.eye(order, k=1) - np.eye(order, k=-1)
    Q[0, 0] = 1.0
    solved = np.asarray(np.linalg.inv(Q), dtype=np.float64)
    rates = 2.0 / delay * (2.0 * np.arange(order) + 1.0)
    A = -rates[:, None] * solved
    return StateSpace(A, -A[:, :1].copy(), 2.0 * solved[:1], 1.0 - 2.0 * solved[:1, :1])


def before(system: StateSpace, column: int, block: StateSpace) -> StateSpace:
    """The block (one signal) in front of an input; its states come behind those of the system."""
    A, B, C, D = system
    b, d = B[:, [column]], D[:, [column]]
    through, at_once = B.copy(), D.copy()
    through[:, [column]], at_once[:, [column]] = b @ block.D, d @ block.D
    fed = np.zeros((len(block.A), B.shape[1]))
    fed[:, [column]] = block.B
    return StateSpace(
        np.block([[A, b @ block.C], [np.zeros((len(block.A), len(A))), block.A]]),
        np.vstack([through, fed]), np.hstack([C, d @ block.C]), at_once,
    )  # fmt: skip


def behind(system: StateSpace, row: int, block: StateSpace) -> StateSpace:
    """The block (one signal) behind an output; its states come behind those of the system."""
    A, B, C, D = system
    c, d = C[[row]], D[[row]]
    seen = np.hstack([C, np.zeros((len(C), len(block.A)))])
    seen[row] = np.hstack([block.D @ c, block.C])[0]
    at_once = D.copy()
    at_once[row] = (block.D @ d)[0]
    return StateSpace(
        np.block([[A, np.zeros((len(A), len(block.A)))], [block.B @ c, block.A]]),
        np.vstack([B, block.B @ d]), seen, at_once,
    )  # fmt: skip


def first_order_hold(A: Array, B: Array, h: float) -> tuple[Array, Array, Array]:
    """Φ (k, k), Γ₀, Γ₁ (k,) of x⁺ = Φ x + Γ₀ u + Γ₁ u⁺ a time h later, exact where the input is linear in between.

    exp [A B 0; 0 0 1/h; 0 0 0] h  =  [Φ Γ Γ₁; 0 1 1; 0 0 1],   Γ₀ = Γ - Γ₁
    """
    k = len(B)
    block = np.zeros((k + 2, k + 2))
    block[:k, :k], block[:k, k], block[k, k + 1] = A * h, B * h, 1.0
    found = expm(block)
    return found[:k, :k], found[:k, k] - found[:k, k + 1], found[:k, k + 1]
