"""Rows that are sums, in the equations of all bodies: a screw and a pair of gears against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

PITCH, MASS, INERTIA, RATIO = 0.05, 2.0, 0.004, 2.5
WHEEL, PINION = 0.02, 0.001


@pytest.fixture(scope="module")
def screw():
    """A nut that falls on a vertical screw."""
    return supple.Mechanism(
        gravity=[0, 0, -9.81], points={"O": [0, 0, 0]},
        bodies={"nut": {"mass": MASS, "center": "O", "inertia": [0.01, 0.01, INERTIA]}},
        joints={"O": {"screw": ["ground", "nut"], "axis": "z", "pitch": PITCH}}, coordinates=["O"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def gears():
    """A wheel that hangs in a carrier drives a pinion in another: the teeth touch four bodies."""
    return supple.Mechanism(
        points={"A": [0, 0, 0], "B": [0.3, 0, 0]},
        bodies={
            "first": {"mass": 1, "center": "A", "inertia": [0.1, 0.1, 0.1]},
            "second": {"mass": 1, "center": "B", "inertia": [0.1, 0.1, 0.1]},
            "wheel": {"mass": 2, "center": "A", "inertia": [0.02, WHEEL, 0.03]},
            "pinion": {"mass": 0.5, "center": "B", "inertia": [0.001, PINION, 0.002]},
        },
        joints={
            "P": {"weld": ["ground", "first"], "at": "A"}, "Q": {"weld": ["ground", "second"], "at": "B"},
            "wheel": {"revolute": ["first", "wheel"], "at": "A", "axis": "y"},
            "pinion": {"revolute": ["second", "pinion"], "at": "B", "axis": "y"},
        },
        couplings={"teeth": {"coordinates": {"wheel": RATIO, "pinion": 1.0}}},
        actuators={"motor": {"joint": "wheel"}},
    )  # fmt: skip


def test_a_nut_falls_on_its_screw_over_many_turns(screw):
    """φ̈ = -m g h / (J + m h²), h = pitch / 2π."""
    found = supple.simulate(screw, until=2.0, step=1e-3, output_step=0.1)
    h, t = PITCH / (2.0 * np.pi), np.asarray(found.time)
    expected = -0.5 * MASS * 9.81 * h / (INERTIA + MASS * h**2) * t**2
    assert expected[-1] < -10 * 2 * np.pi
    assert_allclose(
        found.coordinates["O"], expected, atol=1e-9 * abs(expected[-1])
    )  # a parabola, exact but for rounding
    assert_allclose(found.frame("nut").position[:, 2], h * expected, atol=1e-9 * h * abs(expected[-1]))
    assert np.abs(found.energy["balance"]).max() < 1e-8 * found.energy["kinetic"][-1]


def test_gears_turn_together_over_many_turns(gears):
    """α = u / (J₁ + i² J₂)."""
    u = 0.3
    found = supple.simulate(gears, until=3.0, step=1e-3, output_step=0.1, inputs={"motor": u})
    expected = 0.5 * u / (WHEEL + RATIO**2 * PINION) * np.asarray(found.time) ** 2
    assert expected[-1] > 5 * 2 * np.pi
    assert_allclose(found.coordinates["motor"], expected, atol=1e-9 * expected[-1])
