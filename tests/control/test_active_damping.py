"""Filters that damp modes: where the poles go, what is left of the motion."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.control.controllers.active_damping import acceleration_feedback, positive_position_feedback, slow_series
from supple.control.feedforward.reference import Reference
from supple.control.laws.affine_matrices import Ports
from supple.control.laws.linear_law import closed_poles, linear_law
from supple.diagnostics import InputError
from supple.results.linear_model import LinearModel

OMEGA, OWN, T = 2 * np.pi * 6.0, 0.01, 1e-3


def oscillator() -> LinearModel:
    """q̈ + 2 ζ ω q̇ + ω² q = f, with q and q̈ measured."""
    A = np.array([[0.0, 1.0], [-(OMEGA**2), -2 * OWN * OMEGA]])
    B = np.array([[0.0], [1.0]])
    C = np.array([[1.0, 0.0], A[1]])
    return LinearModel(A, B, C, np.array([[0.0], [1.0]]), ("q", "q.rate"), ("f",), ("strain", "acceleration"), {})


def led(omega: float = OMEGA) -> LinearModel:
    """A velocity servo of 20 Hz leads θ, which shakes an oscillator: δ̈ + 2 ζ ω δ̇ + ω² δ = -θ̈; the tip is at θ + 2 δ."""
    w, z = 2 * np.pi * 20.0, 0.7
    names = ("theta", "delta", "theta.rate", "delta.rate", "theta.acceleration")
    A = np.zeros((5, 5))
    A[0, 2] = A[1, 3] = A[2, 4] = 1.0
    A[3] = [0.0, -(omega**2), 0.0, -2 * OWN * omega, -1.0]
    A[4, [2, 4]] = -(w**2), -2 * z * w
    B = np.zeros((5, 1))
    B[4] = w**2
    C = np.array([[0.0, 0.0, 0.0, 0.0, 1.0]]) + 2.0 * A[3]
    return LinearModel(A, B, C, np.zeros((1, 1)), names, ("lift",), ("tip",), {})


def mode(poles):
    """The pole nearest to that of the oscillator alone; those of filters are further away."""
    return poles[np.abs(poles - OMEGA * (1j - OWN)).argmin()]


@pytest.mark.parametrize(("plant", "sensor"), [(oscillator(), "acceleration"), (led(), "tip")])
def test_acceleration_feedback_adds_the_damping_that_is_asked_for(plant, sensor):
    """To first order: half as much asked for leaves a quarter of the error."""
    errors = []
    for asked in (0.004, 0.002):
        controller = acceleration_feedback(plant, [sensor], 6.0, sample_time=T, damping=asked)
        pole = mode(closed_poles(plant, [linear_law(controller.law)]))
        before = mode(plant.eigenvalues)
        errors.append(abs(pole - (before - asked * abs(before))))
    assert errors[0] < 0.1 * 0.004 * OMEGA
    assert_allclose(errors[1] / errors[0], 0.25, rtol=0.15)


def test_positive_position_feedback_damps_and_feeds_back_with_a_positive_sign():
    controller = positive_position_feedback(oscillator(), ["strain"], 6.0, sample_time=T, damping=0.05)
    matrices = controller.law.at()
    assert matrices.C[0, 1] > 0.0
    assert matrices.C[0, 2] == 0.0
    pole = mode(closed_poles(oscillator(), [linear_law(controller.law)]))
    assert -pole.real / abs(pole) > 0.05


def test_what_the_motion_does_to_a_sensor_is_not_fed_back():
    """tip = θ̈ + 2 δ̈ with δ = -θ̈ / ω² - ..., so y = θ̈ (1 + terms of s²) for slow motions."""
    plant = led()
    motion = Reference(("theta",), np.array([0.0, 1.0]), np.array([[0.0, 0.0, 1.5]]).reshape(1, 3, 1))
    ports = Ports(("tip",), ("theta",), ("lift",), T)
    assert_allclose(slow_series(plant, ports)[:, 0, 0], [0.0, 0.0, 1.0, 0.0], atol=1e-9)
    controller = acceleration_feedback(plant, ["tip"], 6.0, sample_time=T, motion=motion)

    class CommandQuantity:
        def __getitem__(self, name):
            return 3.0  # what a tip shows that accelerates with the motion, 2 · 1.5 m/s²

        def array(self, names):
            return np.array([self[name] for name in names])

    assert_allclose([controller.step(T * k, CommandQuantity()) for k in range(5)], 0.0, atol=1e-12)


def test_gains_over_a_region_are_those_at_every_place():
    """The mode runs from 5.5 to 6.5 Hz over the region; everywhere it gets its damping."""

    def plant(theta):
        return led(2 * np.pi * (6.0 + 0.5 * theta[0]))

    law = acceleration_feedback(plant, ["tip"], 6.0, sample_time=T, damping=0.1, region={"theta": (-1.0, 1.0)},
                                tolerance=1e-5).law  # fmt: skip
    assert law.scheduled_by == ("theta",)
    for theta in (-0.9, 0.1, 0.8):
        exact = acceleration_feedback(plant([theta]), ["tip"], 6.0 + 0.5 * theta, sample_time=T, damping=0.1).law
        here = closed_poles(plant([theta]), [linear_law(law, [theta])])
        there = closed_poles(plant([theta]), [linear_law(exact)])
        assert_allclose(mode(here), mode(there), rtol=1e-3)


def test_a_loop_that_would_be_unstable_is_refused():
    with pytest.raises(InputError, match="the linear loop is unstable"):
        acceleration_feedback(led(), ["tip"], 6.0, sample_time=T, damping=3.0)
    with pytest.raises(InputError, match='"nose"'):
        acceleration_feedback(led(), ["nose"], 6.0, sample_time=T)
