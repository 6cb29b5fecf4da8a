"""A five-bar with two elastic arms, and models of it in two bases."""

from functools import cache

import supple

HOME = {"A": 2.05, "E": 1.12}
REGION = {"A": (2.0, 2.2), "E": (0.95, 1.2)}


@cache
def five_bar():
    arm = {"section": "arm", "material": "metal", "elements": 2}
    return supple.Mechanism(
        name="five-bar", plane="xz", gravity=[0, -9.81],
        materials={"metal": {"youngs_modulus": 7e10, "density": 2700}}, sections={"arm": {"rectangle": [0.02, 0.02]}},
        points={"A": [-0.2, 0], "B": [-0.37, 0.28], "C": [0, 0.7], "D": [0.37, 0.28], "E": [0.2, 0]},
        bodies={
            "ab": {"beam": ["A", "B"], **arm}, "ed": {"beam": ["E", "D"], **arm},
            "bc": {"rod": ["B", "C"], "mass": 0.3}, "dc": {"rod": ["D", "C"], "mass": 0.3},
        },
        joints={
            "A": {"revolute": ["ground", "ab"], "viscous": 0.3, "rest": 2.1},
            "E": {"revolute": ["ground", "ed"], "viscous": 0.3, "rest": 1.04},
            "B": {"revolute": ["ab", "bc"]}, "D": {"revolute": ["ed", "dc"]}, "C": {"revolute": ["bc", "dc"]},
        },
        damping={"modal": 0.02}, actuators={"A": {"joint": "A"}, "E": {"joint": "E"}},
        sensors={"tool": {"position": "bc.C"}},
        configurations={"home": HOME, "far": {"A": 1.6}},
        motions={"shift": {"coordinates": {"A": {"from": 2.05, "to": 2.1}}, "duration": 0.2}},
        scenarios={
            "push": {"start": "home", "inputs": {"A": 2.0, "E": [-2.0, -1.0]}, "times": [0.0, 0.02], "until": 0.02},
            "led": {"motion": "shift"},
        },
    )  # fmt: skip


@cache
def model(germ=None, **modes):
    return supple.reduce(
        five_bar(),
        region=REGION,
        tolerance=1e-3,
        germ=germ,
        checks=200,
        store=False,
        **(modes or {"internal_modes": 2}),
    )
