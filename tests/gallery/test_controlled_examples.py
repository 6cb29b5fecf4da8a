"""What the examples show of control, in short: the essential part of each `control.py`."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"


def script(name: str) -> dict:
    return runpy.run_path(str(EXAMPLES / name / "control.py"))


def mechanism(name: str, **parameters: float) -> supple.Mechanism:
    return supple.load(EXAMPLES / name / "mechanism.yaml", parameters=parameters)


def test_computed_torque_of_the_orthoglide_is_twenty_times_better_than_pd():
    """An eighth of a turn after the errors have settled; the tool a tenth heavier than the model says."""
    example, machine = script("orthoglide"), mechanism("orthoglide")
    model, motion = supple.reduce(machine, tolerance=5e-3), example["circle"](machine, 0.3)
    made, heavy = example["controllers"](model, motion), mechanism("orthoglide", tool_mass=1.1)
    errors = {
        name: example["rms"](example["slider_error"](example["run"](heavy, made[name], motion, 0.26), motion, 0.12))
        for name in ("pd", "torque")
    }
    assert errors["pd"] > 20.0 * errors["torque"]
    assert errors["torque"] < 3e-4  # m


def test_strained_four_bar_stands_without_feedback():
    example, four_bar = script("four-bar-redundant"), mechanism("four-bar-redundant")
    away = [
        np.abs(example["released"](four_bar, forces, until=0.7).coordinates["A"] - example["POSTURE"][0]).max()
        for forces in example["swings"](four_bar).values()
    ]
    assert away[0] > 0.06
    assert away[1] < 0.0201


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleNote")  # of its damping in time
def test_two_time_scales_settle_ralf():
    """On the nonlinear flexible arm: eight times less is left of a swing, which is at rest within a quarter second; the
    filter sees the vibration of the whole reach to 10 %, and is surprised by nothing but noise."""
    example = script("ralf")
    model = supple.reduce(mechanism("ralf"), checks=200, internal_modes=2, tolerance=1e-3)
    observer, swing = example["observer_of"](model), supple.control.reference("swing", model)
    joints = supple.control.joint_servo(model, swing, sample_time=example["SAMPLE"], gain=example["GAIN"])
    fast = supple.control.two_time_scales(observer, swing, damping_ratios=example["ZETA"], tolerance=1e-2)
    left = []
    for made in (joints, fast):
        loop = example["run"](example["plant"](), example["Case"](made.law, swing, swing.end), 1.0)
        left.append(loop.residual(*example["IMU"], after=swing.end))
    seen = example["watched"](example["own_filter"](observer), model, joints.law, "reach")
    assert left[0] > 8.0 * left[1]
    assert loop.settling(*example["TIP"], within=example["WITHIN"], after=swing.end) < 0.25
    assert seen.error < 0.1
    assert seen.correlation < seen.bound
