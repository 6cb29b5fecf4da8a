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
from supple.hardware.state_space import LinearBlock, integrate_block, motor, servo

NAMES = ("lift", "elbow")
THETA = np.array([1.15, 1.0])
STILL = np.zeros(2)
SERVO = integrate_block(servo(1.0, 20.0, 0.7))


def block_of(linear: LinearBlock, *, moves: bool = True, actuator: str = "lift", **facts) -> DriveBlock:
    facts["damping"] = facts.get("damping", 0.0) + linear.damping
    return DriveBlock(actuator, "a", moves, linear.A, linear.B, linear.C, linear.D, linear.E, **facts)


def bank_of(*drives: DriveBlock, delay: float = 0.0) -> DriveBank:
    return DriveBank(Hardware(drives), NAMES, NAMES, dict(zip(NAMES, NAMES, strict=True)), delay=delay)


def exact(block: DriveBlock, x: np.ndarray, c: float, t: float, omega: float = 0.0, slope: float = 0.0) -> np.ndarray:
    """x(t) with the command held and the rate growing evenly, by one exponential."""
    k = block.order
    augmented = np.zeros((k + 2, k + 2))
    augmented[:k, :k], augmented[:k, k], augmented[:k, k + 1] = block.A, block.B * c + block.E * omega, block.E * slope
    augmented[k + 1, k] = 1.0  # time
    return (expm(augmented * t) @ np.concatenate([x, [1.0, 0.0]]))[:k]


def run(bank: DriveBank, commands: np.ndarray, T: float, rates: np.ndarray | None = None) -> list:
    found = []
    for k, c in enumerate(commands):
        bank.send_command(np.array([c, 7.0]))
        found.append(bank.pieces(T, STILL if rates is None else rates[k]))
    return found


@pytest.mark.parametrize(("own", "other"), [(2.3e-3, 0.0), (1.3e-3, 1e-3), (0.0, 0.0), (3e-3, 0.0), (40.5e-3, 0.0)])
def test_a_delayed_servo_is_its_exact_solution(own, other):
    """Commands that arrive between samples, or much later: steps, each exact from when it arrives."""
    T, count, delay = 1e-3, 50, own + other
    block = block_of(SERVO, delay=own)
    bank = bank_of(block, delay=other)
    bank.reset(THETA, STILL)
    commands = np.random.default_rng(1).uniform(-0.2, 0.2, count)
    first, *_, pieces = run(bank, commands, T)
    x, now = np.array([THETA[0], 0.0, 0.0]), 0.0
    for k, c in enumerate(np.concatenate([[0.0], commands])):  # the first was there before
        end = min(k * T + delay, count * T)
        x, now = exact(block, x, c, end - now), end
    assert bank.led == (0,)
    assert_allclose(bank.state.x[0], x, rtol=1e-10, atol=1e-12 * 126.0)
    cuts = [0.0, T] if round(delay / T) == pytest.approx(delay / T) else [0.0, delay % T, T]
    assert_allclose(pieces.times, cuts, atol=1e-12)
    length, course = pieces.times[-1] - pieces.times[-2], pieces.led[-1, ::-1, 0]
    assert_allclose(np.polyval(course, length), x[0], rtol=1e-13)
    assert_allclose(np.polyval(np.polyder(course), length), x[1], atol=1e-10)
    assert_allclose(pieces.accelerations[-1, 1, 0], x[2], rtol=1e-9)
    assert first.forces[0, 0, 1] == (0.0 if other else 7.0)  # without a drive the command is the force
    assert_allclose(pieces.forces[:, 0, 1], 7.0)
    assert not pieces.forces[:, :, 0].any()


def test_cubics_follow_a_fast_drive_within_a_sample():
    """A current of 1 kHz between samples of 10 ms: few pieces, off by less than 1e-4 of the step everywhere."""
    block = block_of(servo(2.0, 1000.0, 0.5), moves=False)
    bank = bank_of(block)
    bank.reset(THETA, STILL)
    (pieces,) = run(bank, np.array([3.0]), 10e-3)
    count = len(pieces.times) - 1
    assert count < 100  # equal ones would be 250
    times = np.linspace(0.0, 10e-3, 997)
    place = np.clip(np.searchsorted(pieces.times, times, side="right") - 1, 0, count - 1)
    found = [np.polyval(pieces.forces[p, ::-1, 0], t - pieces.times[p]) for p, t in zip(place, times, strict=True)]
    wanted = [block.C @ exact(block, np.zeros(2), 3.0, t) for t in times]
    assert_allclose(found, wanted, atol=1e-4 * 6.0)


def test_a_motor_feels_its_back_emf():
    """With inductance the rate goes on as it went: a rate that grows evenly is felt exactly from the second sample on.
    Without, the same motor at rest of its current is a viscous force beside that of the voltage."""
    k, R, L, n, T = 0.05, 1.2, 2e-3, 50.0, 1e-3
    block = block_of(motor(k, R, L, k, n), moves=False)
    bank = bank_of(block)
    rates = np.outer(np.arange(1.0, 9.0), [0.3, 0.0])
    bank.reset(THETA, rates[0], np.array([24.0, 0.0]))
    x = bank.state.x[0, :1].copy()
    assert_allclose(x, (24.0 - k * n * rates[0, 0]) / R, rtol=1e-12)
    run(bank, np.full(8, 24.0), T, rates)
    x = exact(block, x, 24.0, T, omega=rates[0, 0])  # nothing is known of the slope yet
    for rate in rates[1:, 0]:
        x = exact(block, x, 24.0, T, omega=rate, slope=300.0)
    assert_allclose(bank.state.x[0, :1], x, rtol=1e-12)
    stiff = motor(k, R, None, k, n)
    current = np.linalg.solve(-block.A, block.B * 24.0 + block.E * 0.3)
    assert_allclose(stiff.D * 24.0 - stiff.damping * 0.3, block.C @ current, rtol=1e-12)


def test_a_drive_that_yields_pulls_towards_where_it_is():
    """k θ_s + c θ̇_s, less what the bank says is to be taken off along θ: nothing where both stand and move alike."""
    block = block_of(SERVO, stiffness=1e6, damping=300.0)
    bank = bank_of(block)
    told = bank.reset(THETA, np.array([0.1, 0.0]))
    assert_allclose(told, [0.1, 0.0], atol=1e-12)  # the command that keeps it moving
    (pieces,) = run(bank, told[:1], 1e-3, np.array([[0.1, 0.0]]))
    assert bank.led == ()
    for t in (0.0, 0.7e-3):
        pull = np.polyval(pieces.forces[0, ::-1, 0], t)
        assert_allclose(pull - bank.stiffness[0] * (THETA[0] + 0.1 * t) - bank.damping[0] * 0.1, 0.0, atol=1e-6)
    bank.reset(THETA, STILL, np.zeros(2), np.array([500.0, 0.0]))  # it carries a load
    (pieces,) = run(bank, np.zeros(1), 1e-3)
    assert_allclose(pieces.forces[0, 0, 0] - bank.stiffness[0] * THETA[0], 500.0, rtol=1e-9)


def test_a_position_drive_that_yields_stands_where_it_is_told():
    bank = bank_of(block_of(servo(1.0, 30.0, 0.8), stiffness=1e5))
    bank.reset(THETA, STILL, np.array([1.2, 0.0]))
    (pieces,) = run(bank, np.array([1.2]), 1e-3)
    assert_allclose(np.polyval(pieces.forces[0, ::-1, 0], [0.0, 0.4e-3, 1e-3]), 1.2e5, rtol=1e-12)


def test_commands_are_limited_in_turn():
    """Dead band, limits, rate, resolution; the rate counts from what was allowed before, not from its rounded value."""
    facts = {"dead_band": 0.1, "limits": (-1.0, 2.0), "rate_limit": 100.0, "resolution": 0.25}
    bank = bank_of(block_of(servo(1.0, None, None), moves=False, **facts))
    bank.reset(THETA, STILL, STILL)
    found = []
    for c in (0.05, 0.45, 5.0, 5.0, 0.4, -3.0):
        bank.pieces(9e-3, STILL)
        found.append(bank.send_command(np.array([c, 0.0]))[0])
    assert_allclose(found, [0.0, 0.25, 1.25, 2.0, 1.0, 0.25])  # allowed: 0, 0.35, 1.25, 2, 1.1, 0.2
    assert bank.send_command(np.array([5.0, 0.0]))[0] == 0.25  # no time has passed


def test_two_leaders_of_one_coordinate_and_a_leader_of_none_are_refused():
    twins = tuple(block_of(SERVO, actuator=name) for name in NAMES)
    with pytest.raises(InputError, match=r"prescribes .* already; give one of them a stiffness"):
        DriveBank(Hardware(twins), NAMES, ("lift",), {"lift": "lift", "elbow": "lift"})
    with pytest.raises(InputError, match="none of lift; make its actuator a coordinate"):
        DriveBank(Hardware(twins), NAMES, ("lift",), {"lift": "lift"})
    with pytest.raises(InputError, match='unknown input "elbow"; did you mean "elbows"'):
        DriveBank(Hardware(twins), ("lift", "elbows"), NAMES, {})
