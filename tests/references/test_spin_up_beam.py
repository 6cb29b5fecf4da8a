"""A beam that is spun up about its end: it lags, stiffens with its own tension, and ends stretched and straight."""

import numpy as np
import pytest

import supple

LENGTH, EA, GA, EI, MASS, SPEED = 10.0, 2.8e7, 1e7, 1.4e4, 1.2, 6.0  # ρI = ρA EI/EA = 6e-4
STEP = 5e-3
END = 15.0  # s, of the spin-up


def beam(elements):
    G = EA / (2.0 * 1.3)
    return supple.Mechanism(
        plane="xy", points={"A": [0, 0], "B": [LENGTH, 0]},
        materials={"m": {"youngs_modulus": EA, "poisson": 0.3, "density": MASS}},
        sections={"s": {"area": 1.0, "Iy": EI / EA, "Iz": EI / EA, "torsion": EI / EA, "shear_y": GA / G,
                        "shear_z": GA / G}},
        bodies={"beam": {"beam": ["A", "B"], "section": "s", "material": "m", "elements": elements,
                         "theory": "timoshenko"}},
        joints={"A": {"revolute": ["ground", "beam"]}}, actuators={"A": {"joint": "A"}},
        sensors={"tip": {"position": "beam.B"}}, damping={"rayleigh": [0.0, 0.05]},
    )  # fmt: skip


def turn(t):
    starting = 0.4 * (t * t / 2.0 + (END / (2.0 * np.pi)) ** 2 * (np.cos(2.0 * np.pi * t / END) - 1.0))
    return np.where(t < END, starting, SPEED * t - 45.0)


@pytest.mark.parametrize("elements", [4, 10])
def test_a_spun_up_beam_ends_as_long_as_its_own_tension_makes_it(elements):
    run = supple.simulate(beam(elements), until=22.0, step=STEP, output_step=0.1, motion={"A": turn})
    rotation, x, y = turn(run.time), run.outputs["tip.x"], run.outputs["tip.y"]
    along, across = np.cos(rotation) * x + np.sin(rotation) * y, np.cos(rotation) * y - np.sin(rotation) * x
    rate = SPEED * np.sqrt(MASS / EA)
    exact = np.tan(rate * LENGTH) / rate - LENGTH  # 5.1432e-4 m
    assert exact == pytest.approx(5.1432e-4, rel=1e-5)
    assert along[-1] - LENGTH == pytest.approx(exact, rel=3e-4)  # what the step leaves, of order h²
    assert abs(across[-1]) < 1e-4
    assert across.min() == pytest.approx(-0.57, abs=0.02)  # on the way it lags by some hundredths of its length
