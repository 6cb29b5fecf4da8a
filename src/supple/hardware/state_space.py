"""Linear systems ẋ = A x + B u, y = C x + D u, and the single-signal blocks of drives and instruments.

A single-signal block can be connected to an input or an output of a system.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.hardware.instrument import Instrument

HIGHEST = 8  # largest order of an approximant: higher ones only add fast states that make the model stiff


class StateSpace(NamedTuple):
    """State-space model with A (x, x), B (x, u), C (y, x), D (y, u)."""

    A: Array
    B: Array
    C: Array
    D: Array


def pade(delay: float, order: int) -> StateSpace:
    """Return the Padé approximant of exp(-s T), with magnitude 1 at every frequency.

    With z = s T/2 and tanh z = z / (1 + z²/(3 + z²/(5 + ...))) truncated after n terms, exp(-2z) = (1 - tanh z)/(1 +
    tanh z) is the Padé approximant with equal orders of numerator and denominator. Its ladder has n states without
    large numbers between them,

        x_1 = u - y_1 - y_2,   x_k = y_{k-1} - y_{k+1},   y_k = T/(2 (2k - 1)) ẋ_k,   output u - 2 y_1

    and at rest x_1 = u, all others are zero.

    delay : T, s
    order : n
    """
    if not (isinstance(order, int) and 1 <= order <= HIGHEST):  # type: ignore[redundant-expr]  # whatever is given
        raise InputError(f"the order must be 1 to {HIGHEST} (got {order})", part="pade", hint=f"give 1 to {HIGHEST}")
    Q = np.eye(order, k=1) - np.eye(order, k=-1)
    Q[0, 0] = 1.0
    solved = np.asarray(np.linalg.inv(Q), dtype=np.float64)
    rates = 2.0 / delay * (2.0 * np.arange(order) + 1.0)
    A = -rates[:, None] * solved
    return StateSpace(A, -A[:, :1].copy(), 2.0 * solved[:1], 1.0 - 2.0 * solved[:1, :1])


def connect_input(system: StateSpace, column: int, block: StateSpace) -> StateSpace:
    """Return the system with a single-signal block at an input; its states follow those of the system."""
    A, B, C, D = system
    b, d = B[:, [column]], D[:, [column]]
    through, at_once = B.copy(), D.copy()
    through[:, [column]], at_once[:, [column]] = b @ block.D, d @ block.D
    into_block = np.zeros((len(block.A), B.shape[1]))
    into_block[:, [column]] = block.B
    return StateSpace(
        np.block([[A, b @ block.C], [np.zeros((len(block.A), len(A))), block.A]]),
        np.vstack([through, into_block]), np.hstack([C, d @ block.C]), at_once,
    )  # fmt: skip


def connect_output(system: StateSpace, row: int, block: StateSpace) -> StateSpace:
    """Return the system with a single-signal block at an output; its states follow those of the system."""
    A, B, C, D = system
    c, d = C[[row]], D[[row]]
    outputs = np.hstack([C, np.zeros((len(C), len(block.A)))])
    outputs[row] = np.hstack([block.D @ c, block.C])[0]
    at_once = D.copy()
    at_once[row] = (block.D @ d)[0]
    return StateSpace(
        np.block([[A, np.zeros((len(A), len(block.A)))], [block.B @ c, block.A]]),
        np.vstack([B, block.B @ d]), outputs, at_once,
    )  # fmt: skip


def first_order_hold(A: Array, B: Array, h: float) -> tuple[Array, Array, Array]:
    """Return Φ (k, k), Γ₀, Γ₁ (k,) of x⁺ = Φ x + Γ₀ u + Γ₁ u⁺ after a time h, exact for an input linear in between.

    exp [A B 0; 0 0 1/h; 0 0 0] h  =  [Φ Γ Γ₁; 0 1 1; 0 0 1],   Γ₀ = Γ - Γ₁
    """
    k = len(B)
    block = np.zeros((k + 2, k + 2))
    block[:k, :k], block[:k, k], block[k, k + 1] = A * h, B * h, 1.0
    found = expm(block)
    return found[:k, :k], found[:k, k] - found[:k, k + 1], found[:k, k + 1]


# The linear blocks of drives: servos of first and second order, and the electric motor.


class LinearBlock(NamedTuple):
    """Linear block ẋ = A x + B c + E ω with the motion C x, or the force C x + D c - damping ω; see `DriveBlock`."""

    A: Array
    B: Array
    C: Array
    D: float
    E: Array
    damping: float = 0.0


def servo(gain: float, frequency: float | None, damping: float | None) -> LinearBlock:
    """Return y = gain c behind a lag: none without a frequency, first-order without a damping ratio.

    ẏ = ω (g c - y)                 ÿ + 2 ζ ω ẏ + ω² y = ω² g c                 ω = 2π frequency
    """
    if frequency is None:
        none = np.zeros(0)
        return LinearBlock(np.zeros((0, 0)), none, none, gain, none)
    omega = 2.0 * np.pi * frequency
    if damping is None:
        return LinearBlock(np.array([[-omega]]), np.array([gain * omega]), np.ones(1), 0.0, np.zeros(1))
    A = np.array([[0.0, 1.0], [-(omega**2), -2.0 * damping * omega]])
    return LinearBlock(A, np.array([0.0, gain * omega**2]), np.array([1.0, 0.0]), 0.0, np.zeros(2))


def integrate_block(block: LinearBlock) -> LinearBlock:
    """Return the block whose motion has the output of a block as its rate: θ̇_s = C x + D c, with θ_s as first state."""
    k = len(block.B)
    A, C = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
    A[0, 1:], A[1:, 1:], C[0] = block.C, block.A, 1.0
    return LinearBlock(A, np.append(block.D, block.B), C, 0.0, np.append(0.0, block.E))


def motor(
    torque_constant: float, resistance: float, inductance: float | None, back_emf: float, gear: float
) -> LinearBlock:
    """Return the block from volts to the force on the coordinate, through a gear of `gear` rotor angle per unit.

    L i̇ = c - R i - k_e n ω,   f = n k_t i;         without inductance  f = n k_t c/R - n² k_t k_e/R ω
    """
    pull = gear * torque_constant
    if inductance is None:
        none = np.zeros(0)
        loss = pull * gear * back_emf / resistance
        return LinearBlock(np.zeros((0, 0)), none, none, pull / resistance, none, loss)
    A, B, E = -resistance / inductance, 1.0 / inductance, -gear * back_emf / inductance
    return LinearBlock(np.array([[A]]), np.array([B]), np.array([pull]), 0.0, np.array([E]))


# The low-pass of an instrument, in continuous time and sampled.


def low_pass_matrices(instrument: Instrument) -> tuple[Array, Array]:
    """Return A (k, k) and B (k,) of ẋ = A x + B u, the reading x[0]; k is 0, 1 or 2."""
    block = servo(1.0, instrument.frequency, instrument.damping)
    return block.A, block.B


def sampled_low_pass(instrument: Instrument, sample_time: float) -> tuple[Array, Array, Array]:
    """Return Φ, Γ₀, Γ₁ of x⁺ = Φ x + Γ₀ u + Γ₁ u⁺, exact for an input linear between samples."""
    return first_order_hold(*low_pass_matrices(instrument), sample_time)
