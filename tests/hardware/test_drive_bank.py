"""Drives from sample to sample, against the exact solution of their equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from supple.diagnostics import InputError
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware

OMEGA, ZETA = 2.0 * np.pi * 20.0, 0.7
SERVO = {
    "A": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -(OMEGA**2), -2.0 * ZETA * OMEGA]]),
    "B": np.array([0.0, 0.0, OMEGA**2]), "C": np.array([1.0, 0.0, 0.0]), "D": 0.0, "E": np.zeros(3),
}  # fmt: skip
NAMES = ("lift", "elbow")
THETA = np.array([1.15, 1.0])


def bank_of(*drives: DriveBlock, delay: float = 0.0) -> DriveBank:
    return DriveBank(Hardware(drives), NAMES, NAMES, dict(zip(NAMES, NAMES, strict=True)), delay=delay)


def exact(block: DriveBlock, x: np.ndarray, c: float, t: float, omega: float = 0.0) -> np.ndarray:
    """x(t) with the command and the rate held."""
    k = block.order
    augmented = np.zeros((k + 1, k + 1))
    augmented[:k, :k], augmented[:k, k] = block.A, block.B * c + block.E * omega
    return (expm(augmented * t) @ np.append(x, 1.0))[:k]


def test_a_delayed_servo_is_its_exact_solution():
    """Commands that arrive between samples: the sum of steps, each exact from when it arrives."""
    delay, T = 2.3e-3, 1e-3
    block = DriveBlock("lift", "velocity", True, **SERVO, delay=delay)
    bank = bank_of(block)
    bank.reset(THETA, np.zeros(2))
    commands = np.random.default_rng(1).uniform(-0.2, 0.2, 30)
    for c in commands:
        bank.applied(np.array([c, 7.0]))
        pieces = bank.pieces(T, np.zeros(2))
    x, now = np.array([THETA[0], 0.0, 0.0]), 0.0
    for k, c in enumerate(np.concatenate([[0.0], commands])):  # the first was there before
        end = min(k * T + delay, 30 * T)
        x, now = exact(block, x, c, end - now), end
    assert bank.led == (0,)
    assert_allclose(bank.state.x[0], x, rtol=1e-11, atol=1e-12 * OMEGA)
    assert_allclose(pieces.times, [0.0, 0.3e-3, T], rtol=1e-9)
    length = pieces.times[-1] - pieces.times[-2]
    assert_allclose(np.polyval(pieces.led[:, -1, 0], length), x[0], rtol=1e-13)
    assert_allclose(np.polyval(np.polyder(pieces.led[:, -1, 0]), length), x[1], rtol=1e-9)
    assert_allclose(pieces.accelerations[-1, 1, 0], x[2], rtol=1e-9)
    assert_allclose(pieces.forces[-1, :, 1], 7.0)  # without a drive the command is the force
    assert not pieces.forces[:, :, 0].any()


def test_two_leaders_of_one_coordinate_and_a_leader_of_none_are_refused():
    twins = tuple(DriveBlock(name, "velocity", True, **SERVO) for name in NAMES)
    with pytest.raises(InputError, match="leads already"):
        DriveBank(Hardware(twins), NAMES, ("lift",), {"lift": "lift", "elbow": "lift"})
    with pytest.raises(InputError, match="none of lift"):
        DriveBank(Hardware(twins), NAMES, ("lift",), {"lift": "lift"})
