"""Computed torque as C: the compiled code answers as Python does."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.controller import Measurement
from supple.diagnostics import InputError
from supple.export.export import export

EXAMPLES = Path(__file__).parents[2] / "examples"


def redundant() -> control.ComputedTorque:
    """One coordinate, dry friction, three of four torques about a preload, one of them of a motor that takes volts."""
    linkage = supple.load(EXAMPLES / "four-bar-redundant" / "mechanism.yaml")
    joints = {**linkage.joints, "B": linkage.joints["B"].model_copy(update={"dry": 3.0, "viscous": 0.5})}
    motor = {"motor": {"torque_constant": 0.2, "resistance": 0.8, "gear": 60}}
    actuators = {**linkage.actuators, "D": {**linkage.actuators["D"].model_dump(exclude_unset=True), "drive": motor}}
    model = supple.reduce(linkage.replace(joints=joints, actuators=actuators), region={"A": (0.8, 1.2)}, boxes=1)
    options = {"actuators": "D, A, B", "weights": {"A": 2.0}, "preload": {"D": 10.0}}
    return control.computed_torque(model, swing(1.0, 0.1), 12.0, 0.8, **options)


def flexible() -> control.ComputedTorque:
    five_bar = supple.load(EXAMPLES / "flexible-five-bar" / "mechanism.yaml")
    model = supple.reduce(
        five_bar, region={"left": (1.6, 1.8), "right": (1.3, 1.5)}, checks=200, internal_modes=2, boxes=1
    )
    return control.computed_torque(model, swing([1.7, 1.4], [0.05, -0.04]), [20.0, 30.0], [1.0, 0.7])


def swing(middle, size):
    middle, size = np.atleast_1d(middle), np.atleast_1d(size)

    def wanted(t):
        return middle + size * np.sin(9 * t), 9 * size * np.cos(9 * t), -81 * size * np.sin(9 * t)

    return wanted


@pytest.mark.parametrize("make", [redundant, flexible])
def test_the_compiled_law_is_the_law(make, cc, strict, tmp_path):
    controller = make()
    files = export(controller, tmp_path, prefix="arm")
    sources = [str(file) for file in files if file.suffix == ".c" and file.stem != "example_main"]
    target = tmp_path / "arm.so"
    done = subprocess.run(
        [cc, *strict, "-fPIC", "-shared", *sources, "-lm", "-o", str(target)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    call = ctypes.CDLL(str(target)).arm_torque
    s, rng = len(controller.coordinates), np.random.default_rng(3)
    delta, forces = np.zeros(controller.model.layout.size - s), np.zeros(len(controller.actuators))
    more = [np.ascontiguousarray(controller.division.preload_at(0.0))] if make is redundant else [delta]
    for t in rng.uniform(0.0, 1.0, 6):
        wanted = np.ascontiguousarray(controller.reference.at(t)[:3])
        theta, rates = wanted[0] + 0.01 * rng.standard_normal(s), wanted[1] + 0.1 * rng.standard_normal(s)
        given = (theta, rates, wanted, *more, forces)
        assert call(*(ctypes.c_void_p(array.ctypes.data) for array in given)) == 0
        expected = controller.step(t, Measurement(controller.coordinates, theta, rates))
        assert_allclose(forces, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    outside = (theta + 9.0, rates, wanted, *more, forces)
    assert call(*(ctypes.c_void_p(array.ctypes.data) for array in outside)) == 1


def test_what_is_solved_at_every_sample_is_refused(tmp_path):
    linkage = supple.load(EXAMPLES / "four-bar-redundant" / "mechanism.yaml")
    with pytest.raises(InputError, match=r"model is the mechanism.*C.*; .*reduced model"):
        export(control.computed_torque(linkage, "turn", 10.0), tmp_path)
