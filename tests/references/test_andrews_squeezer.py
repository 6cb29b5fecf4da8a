"""Andrews' squeezer: accelerations at the consistent start of the Test Set for IVP Solvers.

Seven bodies in the plane, one motor, one spring; three chains meet in a common pin F. Angles as published: β turns
K1, Θ folds K2 on it, γ, δ, ε turn K3, K5, K7 about their supports, Φ and Ω fold K4 and K6 on them.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

NAMES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


class Published(NamedTuple):
    parameters: dict
    angles: np.ndarray
    accelerations: np.ndarray
    end: np.ndarray


FILE = Path(__file__).parents[3] / "shared" / "data" / "andrews.json"


@pytest.fixture(scope="module")
def published():
    if not FILE.exists():
        pytest.skip("../shared/data/andrews.json is absent")
    data = json.loads(FILE.read_text())
    values = [float(text) for text in data["initial_values_as_printed"]]
    return Published(
        data["parameters"], np.array(values[:7]), np.array(values[14:21]), np.array(data["reference_t_end"])
    )


def along(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def across(angle):
    """The published angles of K3, K4 and K7 are measured so."""
    return np.array([np.sin(angle), -np.cos(angle)])


def squeezer(p, angles):
    beta, Theta, gamma, Phi, delta, Omega, epsilon = angles
    A, B, C = (np.array([p[f"x{letter}"], p[f"y{letter}"]]) for letter in "abc")
    knee = p["rr"] * along(beta)
    F = knee - p["d"] * along(beta + Theta)
    H = A + p["zt"] * along(delta)
    G = A + p["u"] * across(epsilon)
    points = {"O": np.zeros(2), "A": A, "B": B, "C": C, "knee": knee, "F": F, "H": H, "G": G}
    points["D"] = B + p["sc"] * across(gamma) + p["sd"] * along(gamma)
    centres = {
        "K1": p["ra"] * along(beta),
        "K2": knee - p["da"] * along(beta + Theta),
        "K3": B + p["sa"] * across(gamma) + p["sb"] * along(gamma),
        "K4": H + (p["e"] - p["ea"]) * across(Phi + delta),
        "K5": A + p["ta"] * along(delta) - p["tb"] * across(delta),
        "K6": G + (p["zf"] - p["fa"]) * along(Omega + epsilon),
        "K7": A + p["ua"] * across(epsilon) + p["ub"] * along(epsilon),
    }
    bodies = {
        name: {"mass": p[f"m{name[1]}"], "center": list(center), "inertia": p[f"i{name[1]}"]}
        for name, center in centres.items()
    }
    pins = {
        "beta": ("ground", "K1", "O"), "Theta": ("K1", "K2", "knee"), "gamma": ("ground", "K3", "B"),
        "delta": ("ground", "K5", "A"), "epsilon": ("ground", "K7", "A"), "Phi": ("K5", "K4", "H"),
        "Omega": ("K7", "K6", "G"), "F3": ("K2", "K3", "F"), "F4": ("K2", "K4", "F"), "F6": ("K2", "K6", "F"),
    }  # fmt: skip
    published = dict(zip(("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"), angles, strict=True))
    joints = {}
    for name, (first, second, at) in pins.items():
        joints[name] = {"revolute": [first, second], "at": at}
        if name in published:
            joints[name]["rest"] = published[name]
    return supple.Mechanism(
        name="Andrews' squeezer",
        plane="xy",
        points={name: list(value) for name, value in points.items()},
        bodies=bodies,
        joints=joints,
        frames={"support": {"on": "ground", "at": "C"}},
        springs={"spring": {"between": ["K3.D", "support"], "stiffness": p["c0"], "length": p["l0"]}},
        actuators={"motor": {"joint": "beta"}},
        sensors={name: {"joint": name} for name in published},
        coordinates=["beta"],
    )


def test_the_published_start_closes_all_three_loops(published):
    mechanism = squeezer(published.parameters, published.angles)
    freedom = rest(mechanism).mobility
    assert (freedom.mobility, freedom.redundant) == (1, 0)
    outputs = local(mechanism).outputs
    # the start is consistent to its 30 digits: what closure changes is rounding of places of 1e-2 m
    assert_allclose([outputs[name].value for name in NAMES], published.angles, atol=1e-12)


def test_the_start_accelerates_as_published(published):
    model = local(squeezer(published.parameters, published.angles))
    beta = np.linalg.solve(model.M, model.force + model.input_map @ [published.parameters["mom"]])
    found = np.array([model.outputs[name].rigid @ beta for name in NAMES])  # from rest: no θ̇² terms
    # K1 and K2 are folded at the start, so that F stands still: rounding of 1e-13 of the largest, enlarged there
    assert_allclose(found, published.accelerations, atol=1e-9 * np.abs(published.accelerations).max())


def test_the_spring_does_no_work_at_the_start(published):
    """F stands still with β there: p vanishes."""
    p = published.parameters
    assert_allclose(local(squeezer(p, published.angles)).force, 0.0, atol=1e-9 * p["c0"] * p["l0"])


def test_the_published_end_satisfies_the_equations_of_motion(published):
    """Two and a half turns later: angles, speeds and accelerations are all published."""
    angles, speeds, accelerations = published.end[:7], published.end[7:14], published.end[14:21]
    model = local(squeezer(published.parameters, published.angles), [angles[0]])
    rigid = np.array([model.outputs[name].rigid[0] for name in NAMES])
    bend = np.array([model.outputs[name].bend[0, 0] for name in NAMES])
    # the reference is a numerical integration: its positions close to rounding, its speeds to ten digits
    assert_allclose([model.outputs[name].value for name in NAMES], angles, atol=1e-9 * np.abs(angles).max())
    assert_allclose(rigid * speeds[0], speeds, atol=1e-9 * np.abs(speeds).max())
    drive = model.force + model.input_map @ [published.parameters["mom"]]
    beta = np.linalg.solve(model.M, drive - model.christoffel[:, 0, 0] * speeds[0] ** 2)
    found = rigid * beta + bend * speeds[0] ** 2
    # and its accelerations miss the second derivative of the closure by 1e-7 of the largest
    assert_allclose(found, accelerations, atol=2e-7 * np.abs(accelerations).max())
