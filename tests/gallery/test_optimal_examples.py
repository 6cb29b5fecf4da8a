"""What the examples show of optimal control through CasADi, in short."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.diagnostics import SuppleNote

EXAMPLES = Path(__file__).parents[2] / "examples"


def script(name: str, file: str) -> dict:
    return runpy.run_path(str(EXAMPLES / name / file))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleNote")
def test_ralf_in_the_least_time(tmp_path):
    """With half the nodes: sooner there than the best shape of a profile, and at rest, on the flexible mechanism."""
    example, ralf = script("ralf", "minimum_time.py"), supple.load(EXAMPLES / "ralf" / "mechanism.yaml")
    model = supple.reduce(ralf, checks=200, internal_modes=2, tolerance=1e-3)
    with pytest.warns(SuppleNote, match=r"CasADi.*drives and instruments are not exported"):
        functions = example["exported"](model, tmp_path)
    least = example["least_time"](functions, nodes=40)
    plain = example["seven_segments"](model, [(0.13, 1.0)])
    assert least.motion.end < 0.8 * plain.motion.end
    assert example["profile_plan"](model, 0.97 * plain.motion.end, (0.13, 1.0)) is None  # forces would be too large
    rates = np.abs(np.diff(least.forces, axis=0)) / least.time[1]
    assert (np.abs(least.forces) <= example["FORCE"] * (1 + 1e-6)).all()
    assert (rates <= example["RATE"] * (1 + 1e-6)).all()
    runs = [example["judged"](ralf, plan.motion, after=1.0) for plan in (plain, least)]
    assert runs[1].residual < 0.3 * runs[0].residual
    assert runs[1].settled < least.motion.end
    assert (np.abs(runs[1].forces).max(axis=0) < 1.02 * example["FORCE"]).all()


def test_orthoglide_plans_its_corners(tmp_path):
    """Two corners: a quarter of the error that clipped computed torque makes, within the bounds; between them the plan
    has learned what the tool weighs."""
    example = script("orthoglide", "mpc.py")
    machine, heavy = (
        supple.load(EXAMPLES / "orthoglide" / "mechanism.yaml", parameters={"tool_mass": mass}) for mass in (1.0, 1.1)
    )
    model, wanted = supple.reduce(machine, tolerance=5e-3), example["square"](machine)
    predictive = example["Predictive"](example["exported"](model, tmp_path), wanted)
    torque = example["Clipped"](supple.control.computed_torque(model, wanted, example["OMEGA"], example["XI"]))
    runs = [example["run"](heavy, controller, until=0.36) for controller in (torque, predictive)]
    clipped, planned = (np.sqrt((example["errors"](run) ** 2).mean()) for run in runs)
    assert planned < 0.25 * clipped
    forces = np.stack([runs[1].inputs[name] for name in example["SLIDERS"]])
    assert np.abs(forces).max() == example["FORCE"]  # they bind, and are kept
    between = (runs[1].time > 0.325) & (runs[1].time < 0.345)
    assert example["errors"](runs[1])[between].max() < 2e-4  # m
    assert len(predictive.spent) == len(runs[1].time)
