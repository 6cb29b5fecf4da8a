"""A controller from one file: any object with step(t, measurement), on a mechanism, a reduced and a linear model."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control

FOUR_BAR = Path(__file__).parents[2] / "examples" / "four-bar" / "mechanism.yaml"
PID = '''
class PID:
    """u = m (ω² e + 2ζω ė + ½ω³ ∫e), of one coordinate, with a limit and no winding up beyond it."""

    def __init__(self, name, aim, mass, omega, limit=float("inf")):
        self.name, self.aim, self.limit = name, aim, limit
        self.gains = mass * omega**2, 1.6 * mass * omega, 0.5 * mass * omega**3
        self.sum, self.last = 0.0, None

    def step(self, t, measurement):
        error, rate = self.aim - measurement[self.name], -measurement[f"{self.name}.rate"]
        grown = self.sum + (error * (t - self.last) if self.last is not None else 0.0)
        p, d, i = self.gains
        wanted = p * error + d * rate + i * grown
        u = min(max(wanted, -self.limit), self.limit)
        self.last = t
        if u == wanted:
            self.sum = grown
        return {self.name: u}
'''
AIM, SAMPLE, UNTIL = 0.3, 5e-3, 2.0


@pytest.fixture(scope="module")
def pid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    (folder / "my_pid.py").write_text(PID, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("my_pid").PID


@pytest.fixture(scope="module")
def plants():
    four_bar = supple.load(FOUR_BAR)
    model = supple.reduce(four_bar, region={"crank": (-0.5, 0.6)}, tolerance=1e-5, store=False)
    return {"mechanism": four_bar, "reduced": model, "linear": supple.linearize(four_bar, [AIM])}


@pytest.fixture(scope="module")
def loops(pid, plants):
    mass = float(plants["linear"].second_order.M[0, 0])
    return {
        name: control.closed_loop(
            plant, pid("crank", AIM, mass, 25.0), until=UNTIL, sample_time=SAMPLE, start={"crank": AIM - 0.1}
        )
        for name, plant in plants.items()
    }


@pytest.mark.parametrize("plant", ["mechanism", "reduced", "linear"])
def test_integral_action_finds_the_holding_torque(loops, plants, plant):
    """It knows nothing of gravity: at rest, its error zero, its sum alone is the torque that holds the crank."""
    loop = loops[plant]
    assert isinstance(loop, supple.Simulation)
    assert loop.complete
    held = plants["linear"].at["inputs"]["crank"]
    assert abs(held) > 0.1
    assert_allclose(loop.coordinates["crank"][-1], AIM, atol=1e-5)
    assert_allclose(loop.inputs["crank"][-1], held, rtol=1e-3)
    assert_allclose(loop.accelerations["crank"][-1], 0.0, atol=1e-2)


def test_all_plants_move_alike(loops):
    full = loops["mechanism"].coordinates["crank"]
    assert_allclose(loops["reduced"].coordinates["crank"], full, atol=1e-4)
    assert_allclose(loops["linear"].coordinates["crank"], full, atol=0.1 * 0.1)  # a tenth of the way: it is linear
    assert {tuple(loop.coordinates) for loop in loops.values()} == {("crank",)}


def test_a_limit_is_kept_and_its_sum_does_not_wind_up(pid, plants):
    model = plants["reduced"]
    mass, held = float(plants["linear"].second_order.M[0, 0]), plants["linear"].at["inputs"]["crank"]
    limited = pid("crank", AIM, mass, 25.0, limit=1.5 * abs(held))
    loop = control.closed_loop(model, limited, until=UNTIL, sample_time=SAMPLE, start={"crank": AIM - 0.1})
    assert np.abs(loop.inputs["crank"]).max() <= 1.5 * abs(held)
    assert_allclose(loop.coordinates["crank"][-1], AIM, atol=1e-3)
