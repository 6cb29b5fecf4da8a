"""A disturbance observer: its poles, and a payload that it does not know of."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control.controllers.disturbance_observer import (
    disturbance_observer,
    estimated_disturbance,
    estimated_payload,
    third_order_gains,
)

T = 2e-3


def arm(payload: float):
    link = {"mass": 10.0, "inertia": 2.0}
    return supple.Mechanism(
        name="arm", plane="xz", gravity=[0, -9.81], points={"S": [0, 0], "E": [0, -1], "T": [0, -2]},
        bodies={"upper": {**link, "center": [0, -0.5]}, "lower": {**link, "center": [0, -1.5]}},
        point_masses={"tool": {"at": "lower.T", "mass": 1.0 + payload}},
        joints={"shoulder": {"revolute": ["ground", "upper"], "at": "S", "viscous": 1.0},
                "elbow": {"revolute": ["upper", "lower"], "at": "E"}},
        actuators={"shoulder": {"joint": "shoulder"}, "elbow": {"joint": "elbow"}},
        sensors={"tip": {"position": "lower.T"}},
    )  # fmt: skip


def move(t):
    """From rest at 0 to (0.5, -0.4) in 0.5 s, by a quintic."""
    tau, goal = min(t / 0.5, 1.0), np.array([0.5, -0.4])
    shape = tau**3 * (10 - 15 * tau + 6 * tau**2)
    rate = 30 * tau**2 * (1 - tau) ** 2 / 0.5
    acceleration = 60 * tau * (1 - tau) * (1 - 2 * tau) / 0.25
    return goal * shape, goal * rate, goal * acceleration


def test_all_poles_of_the_estimate_are_where_they_are_asked_for():
    beta = np.array([0.8])
    gains = np.array([float(part[0]) for part in third_order_gains(beta, T)])
    F = np.array([[1.0, T, 0.5 * T**2], [0.0, 1.0, T], [0.0, 0.0, 1.0]])
    error = F - np.outer(gains, F[0])
    assert_allclose(np.poly(error), np.poly([0.8] * 3), atol=1e-12)


@pytest.fixture(scope="module")
def controller():
    model = supple.reduce(arm(0.0), region={"shoulder": (-1, 1), "elbow": (-1, 1)}, tolerance=1e-4, store=False)
    return disturbance_observer(model, move, sample_time=T, frequencies=10.0, observer_frequencies=60.0)


@pytest.mark.slow
def test_a_payload_is_found_and_cancelled(controller):
    """Half a tool's mass too much: the arm comes to rest where it is wanted, and the mass is known."""
    plant = arm(0.5)
    run = supple.control.closed_loop(plant, controller, until=1.5, sample_time=T)
    found = [run.coordinates[name][-1] for name in controller.coordinates]
    assert_allclose(found, [0.5, -0.4], atol=1e-4)
    assert_allclose(estimated_payload(controller, arm(0.0), "tip"), 0.5, rtol=0.02)
    # the weight of 0.5 kg along each coordinate, from the difference of both models
    unknown = supple.local(plant, found).force - supple.local(arm(0.0), found).force
    assert_allclose(list(estimated_disturbance(controller, arm(0.0)).values()), unknown, rtol=0.02)
