"""Drives on a wheel, whose motion under each of them has a closed form."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import supple

J, ROTOR, GEAR, K, R, L, VOLTS = 0.3, 2e-4, 20.0, 0.06, 1.5, 4e-3, 12.0
INERTIA = J + ROTOR * GEAR**2  # the rotor's own, through the gear
MOTOR = f"motor: {{torque_constant: {K} Nm/A, resistance: {R} Ohm"
T, COUNT, STEP = 1e-3, 60, 1e-4


def wheel(drive: str) -> supple.Mechanism:
    return supple.loads(f"""
supple: 1
name: wheel
plane: xz
points: {{O: [0, 0]}}
bodies: {{wheel: {{mass: 1, center: O, inertia: {J}}}}}
joints: {{O: {{revolute: [ground, wheel], motor: {{inertia: {ROTOR}, gear: {GEAR}}}}}}}
actuators: {{turn: {{joint: O, drive: {{{drive}}}}}}}
sensors: {{angle: {{joint: O}}, rate: {{joint: O, order: 1, noise: 0.01 rad/s}}}}
""")


class Steady:
    def step(self, t, measurement):
        return {"turn": VOLTS}


def course(drive: str) -> tuple[np.ndarray, np.ndarray]:
    """Angle and rate in the loop under a steady command, from rest."""
    options = {"until": COUNT * T, "sample_time": T, "start": {"turn": 0.0}, "step": STEP}
    run = supple.control.closed_loop(wheel(drive), Steady(), **options)
    return run.coordinates["turn"], run.rates["turn"]


def exact(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x at the samples of ẋ = A x + b from zero."""
    size = len(b)
    step = expm(np.block([[A, b[:, None]], [np.zeros((1, size + 1))]]) * T)
    x = [np.append(np.zeros(size), 1.0)]
    for _ in range(COUNT):
        x.append(step @ x[-1])
    return np.array(x)[:, :size]


def test_a_motor_without_inductance_is_a_damped_wheel():
    """ω = c/(k n) (1 - e^(-t/τ)), τ = J R/(n k)²."""
    tau = INERTIA * R / (GEAR * K) ** 2
    t = T * np.arange(COUNT + 1)
    angle, rate = course(MOTOR + "}")
    final = VOLTS / (K * GEAR)
    assert_allclose(rate, final * (1.0 - np.exp(-t / tau)), atol=1e-6 * final)
    assert_allclose(angle, final * (t + tau * (np.exp(-t / tau) - 1.0)), atol=1e-6 * final * t[-1])


def test_a_motor_with_inductance_is_a_second_order_wheel():
    """x = (i, ω): between samples the back-EMF goes on as it went, which is off by a part of T/τ times T R/L."""
    A = np.array([[-R / L, -K * GEAR / L], [K * GEAR / INERTIA, 0.0]])
    wanted = exact(A, np.array([VOLTS / L, 0.0]))[:, 1]
    tau = INERTIA * R / (GEAR * K) ** 2
    found = course(MOTOR + f", inductance: {L} H}}")[1]
    assert_allclose(found, wanted, atol=0.05 * (T / tau) * (T * R / L) * wanted.max())


@pytest.mark.parametrize("kind", ["velocity", "valve"])
def test_what_leads_moves_the_wheel_whatever_it_weighs(kind):
    """ω̈ + 2 ζ ω₀ ω̇ + ω₀² ω = ω₀² g c, delayed by two and a half samples."""
    late, gain, omega = 2.5 * T, 0.05, 2.0 * np.pi * 15.0
    unit = "rad/s/V" if kind == "valve" else ""
    angle, rate = course(f"{kind}: {{gain: {gain} {unit}, frequency: 15 Hz, damping: 0.6, delay: {late} s}}")
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -(omega**2), -1.2 * omega]])
    step, half = (expm(np.block([[A, np.array([[0.0], [0.0], [omega**2 * gain * VOLTS]])], [np.zeros((1, 4))]]) * h)
                  for h in (T, 0.5 * T))  # fmt: skip
    wanted, x = [np.zeros(3)] * 3, half @ [0.0, 0.0, 0.0, 1.0]
    for _ in range(COUNT - 2):
        wanted.append(x[:3])
        x = step @ x
    assert_allclose(angle, np.array(wanted)[:, 0], atol=1e-8)
    assert_allclose(
        rate, np.array(wanted)[:, 1], atol=STEP**2 * omega**2 * gain * VOLTS
    )  # h² times the jump of the jerk
