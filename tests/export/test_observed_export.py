"""Rates, accelerations and forces inside from exported C: those of the reduced model."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
MACHINE = """
supple: 1
name: four-bar
plane: xz
points: {A: [0, 0], B: [0.2, 0.3], C: [0.9, 0.5], D: [0.8, 0]}
gravity: [0, -9.81]
bodies:
  crank: {rod: [A, B], mass: 1}
  coupler: {rod: [B, C], mass: 2}
  rocker: {rod: [D, C], mass: 1.5}
joints:
  A: {revolute: [ground, crank], viscous: 0.1, dry: 0.2}
  B: {revolute: [crank, coupler]}
  C: {revolute: [coupler, rocker]}
  D: {revolute: [rocker, ground]}
actuators: {crank: {joint: A}}
sensors:
  C: {position: C}
  v: {velocity: C, axis: x}
  imu: {acceleration: coupler.C, axes: body, gravity: true}
  w: {angular_velocity: coupler}
  B: {reaction: B}
  D: {reaction: D, axes: body}
"""


@pytest.mark.slow
def test_c_observes_what_the_reduced_model_does(cc, tmp_path):
    machine = supple.loads(MACHINE)
    here = float(supple.assemble(machine).theta[0])
    rom = supple.reduce(machine, region={"crank": (here - 0.3, here + 0.3)}, tolerance=1e-4, progress=False)
    supple.export(rom, tmp_path, prefix="bar")
    library = tmp_path / "bar.so"
    subprocess.run([cc, *STRICT, "-shared", "-fPIC", str(tmp_path / "bar.c"), "-lm", "-o", str(library)], check=True)
    observe = ctypes.CDLL(str(library)).bar_observe
    outputs = (ctypes.c_double * len(rom.layout.outputs))()
    times = np.linspace(0.0, 0.1, 5)
    run = rom.simulate(times, {"crank": 1.5}, {"crank": here}, rates={"crank": 1.0})
    expected = np.stack(list(run.outputs.values()), axis=1)
    for k in range(len(times)):
        state = (signals["crank"][k] for signals in (run.coordinates, run.rates, run.accelerations, run.inputs))
        assert observe(*((ctypes.c_double * 1)(value) for value in state), outputs) == 0
        assert_allclose(outputs[:], expected[k], rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    assert observe(*((ctypes.c_double * 1)(value) for value in (here + 1.0, 0.0, 0.0, 0.0)), outputs) == 1
