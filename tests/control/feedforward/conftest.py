"""Ralf, its small model, and how much a motion leaves behind."""

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.control.feedforward.reference import reference
from supple.description.motion import Motion

EXAMPLES = Path(__file__).parents[3] / "examples"
BOUNDS = {"velocity": 0.2, "acceleration": 1.0, "jerk": 20.0}


@pytest.fixture(scope="session")
def ralf():
    return supple.load(EXAMPLES / "ralf" / "mechanism.yaml")


@pytest.fixture(scope="session")
def ralf_model(ralf):
    return supple.reduce(ralf, checks=200, internal_modes=2, tolerance=1e-3)


@pytest.fixture(scope="session")
def reach(ralf_model):
    """1 s, as fast as a crane would."""
    ends = {"lift": {"from": 1.15, "to": 1.0}, "elbow": {"from": 1.0, "to": 0.9}}
    return reference(Motion(coordinates={name: one | BOUNDS for name, one in ends.items()}), ralf_model)


@pytest.fixture(scope="session")
def left_behind(ralf_model):
    """RMS of the tip's acceleration in the half second after a reference, m/s², θ led along it."""

    def measured(led):
        times = np.linspace(0.0, led.end + 0.5, round((led.end + 0.5) / 1e-3) + 1)
        run = ralf_model.follow(led.trajectory(times))
        tip = np.stack([run.outputs["tip.x"], run.outputs["tip.z"]], axis=1)
        seen = np.gradient(np.gradient(tip, times, axis=0), times, axis=0)[times > led.end + 2e-3][:-3]
        return float(np.sqrt((seen**2).sum(axis=1).mean()))

    return measured


@pytest.fixture(scope="session")
def four_bar_redundant():
    return supple.load(EXAMPLES / "four-bar-redundant" / "mechanism.yaml")
