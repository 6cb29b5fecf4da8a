"""The random mechanisms stand beside the laws."""

import sys
from pathlib import Path

import numpy as np
import pytest

import supple

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from random_mechanisms import CASES, case


@pytest.fixture(params=CASES, scope="session")
def redundant_case(request):
    """A random mechanism with an actuator on every joint coordinate, and random states of it."""
    made = case(request.param)
    plane = made.mechanism.plane
    on_joints = {}
    for name, joint in made.mechanism.joints.items():
        names = joint.coordinates(plane)
        for coordinate in names:
            reference = name if len(names) == 1 else f"{name}.{coordinate}"
            on_joints[f"on_{name}_{coordinate}"] = {"joint": reference}
    mechanism = made.mechanism.replace(actuators={**made.mechanism.actuators, **on_joints})
    count, s = 12, len(made.rest)
    rng = np.random.default_rng(17)
    rates, accelerations = rng.standard_normal((2, count, s))
    times, theta = 0.01 * np.arange(count), made.thetas(count, 17)
    return mechanism, supple.Trajectory(mechanism.coordinates, times, theta, rates, accelerations)
