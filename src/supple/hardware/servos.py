"""The linear blocks of drives: servos of first and second order, and the electric motor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array


class LinearBlock(NamedTuple):
    """ẋ = A x + B c + E ω, motion C x, or force C x + D c - damping ω; see `DriveBlock`."""

    A: Array
    B: Array
    C: Array
    D: float
    E: Array
    damping: float = 0.0


def servo(gain: float, frequency: float | None, damping: float | None) -> LinearBlock:
    """y = gain c behind a lag: none without a frequency, of first order without a damping ratio.

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


def integrated(block: LinearBlock) -> LinearBlock:
    """The motion whose rate is what a block gives: θ̇_s = C x + D c, with θ_s a state before the others."""
    k = len(block.B)
    A, C = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
    A[0, 1:], A[1:, 1:], C[0] = block.C, block.A, 1.0
    return LinearBlock(A, np.append(block.D, block.B), C, 0.0, np.append(0.0, block.E))


def motor(
    torque_constant: float, resistance: float, inductance: float | None, back_emf: float, gear: float
) -> LinearBlock:
    """Volts to the force on the coordinate, through a gear of `gear` rotor angle for its unit.

    L i̇ = c - R i - k_e n ω,   f = n k_t i;         without inductance  f = n k_t c/R - n² k_t k_e/R ω
    """
    pull = gear * torque_constant
    if inductance is None:
        none = np.zeros(0)
        loss = pull * gear * back_emf / resistance
        return LinearBlock(np.zeros((0, 0)), none, none, pull / resistance, none, loss)
    A, B, E = -resistance / inductance, 1.0 / inductance, -gear * back_emf / inductance
    return LinearBlock(np.array([[A]]), np.array([B]), np.array([pull]), 0.0, np.array([E]))
