"""Andrews' squeezer: accelerations at the consistent start of the Test Set for IVP Solvers.

Seven bodies in the plane, one motor, one spring; three chains meet in a common pin F. Angles as published: β turns
K1, Θ folds K2 on it, γ, δ, ε turn K3, K5, K7 about their supports, Φ and Ω fold K4 and K6 on them.
"""

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


# Test Set for IVP Solvers (Mazzia, Magherini 2008), problem `andrews`, as in CRAN's deTestSet: SI units, states in the
# order of NAMES. The start is printed there with thirty digits; the end is the reference solution at t = 0.03 s:
# angles, speeds, accelerations and multipliers.
PARAMETERS = {
    "m1": 0.04325, "m2": 0.00365, "m3": 0.02373, "m4": 0.00706, "m5": 0.0705, "m6": 0.00706, "m7": 0.05498,
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "c0": 4530.0,
    "i1": 2.194e-06, "i2": 4.41e-07, "i3": 5.255e-06, "i4": 5.667e-07, "i5": 1.169e-05, "i6": 5.667e-07,
    "i7": 1.912e-05, "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "l0": 0.07785,
    "ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02, "ta": 0.02308, "tb": 0.00916, "u": 0.04,
    "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04, "fa": 0.01421, "mom": 0.033,
}  # fmt: skip
START = np.array([
    -0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256, -0.22266839016588588,
    1.2305474445498212,
])  # fmt: skip
ACCELERATIONS = np.array([
    14222.443919954114, -10666.832939965585, 0.0, 0.0, 0.0, 0.0, 0.0,
])  # fmt: skip
END = np.array([
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303,
    0.5347301163226948, 1.048080741042263, 1139.920302151208, -1424.379294994111, 11.03291221937134,
    19.29337464421385, 0.5735699284790808, -19.29337464421385, 0.3231791658026955, -24631.76316945196,
    51850.37701610329, 324102.5686413781, 566749.3645176213, 16743.62929479361, -566749.3645176222, 9826.520791458423,
    199.175333373191, -29.75531228015052, 23.06654119098399, 31.45271365475927, 22.64249232082739, 11.61740700019673,
])  # fmt: skip


@pytest.fixture(scope="module")
def published():
    return Published(PARAMETERS, START, ACCELERATIONS, END)


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
