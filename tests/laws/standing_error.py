"""Laws over a region stand on their goal, whatever the tolerance of their fit: random arms with elastic gearboxes.

On the model that a law was made on, its standing error is below 1e-6 of the motion, in Python and in exported C. On the
machine itself it is below the static deflection times the error at rest that the model states (`equilibria`). One line
for each machine and law; status 1 if one stands further off its goal.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import supple
from supple import control
from supple.control.plants.plants import goal_of
from supple.diagnostics import SuppleNote

LARGEST = 1e-6  # of the motion
TOLERANCES = (1e-2, 1e-3, 1e-5)
SAMPLE = 1e-3  # s
LASTS = 0.4  # s of a run that begins on the goal, well above what a loop takes to leave it
SPAN = 0.8  # rad, of the region


class Machine(NamedTuple):
    """An arm, its flexible model without noise of instruments, and where it shall stand."""

    arm: supple.Mechanism
    model: supple.ReducedModel
    goal: np.ndarray


def random_machine(seed: int, joints: int, drive: str = "force") -> Machine:
    """An arm in a vertical plane with as many elastic gearboxes; drive : of its motors, "force" or "velocity"."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0.0], np.cumsum(rng.uniform(0.3, 0.7, joints))])
    names, drives = [f"j{i + 1}" for i in range(joints)], {}
    for name in names:
        lag = {"frequency": float(rng.uniform(60.0, 120.0) * 2.0 * np.pi), "damping": 0.8, "delay": 1e-3}
        drives[name] = {drive: lag}
    home = dict(zip(names, rng.uniform(-1.0, 1.0, joints), strict=True))
    arm = supple.Mechanism(
        name=f"arm {seed}", plane="xz", gravity=[0, -9.81],
        points={f"P{i}": [float(x), 0.0] for i, x in enumerate(ends)},
        bodies={
            f"link{i + 1}": {"rod": [f"P{i}", f"P{i + 1}"], "mass": float(rng.uniform(1.0, 4.0))}
            for i in range(joints)
        },
        point_masses={"load": {"at": f"P{joints}", "mass": float(rng.uniform(0.5, 3.0))}},
        joints={
            f"P{i}": {
                "revolute": ["ground" if i == 0 else f"link{i}", f"link{i + 1}"],
                "motor": {"inertia": float(rng.uniform(0.5e-4, 2e-4)), "gear": 100},
                "drive": {"stiffness": float(rng.uniform(1500.0, 6000.0)), "damping": 2.0}, "viscous": 2.0,
            }
            for i in range(joints)
        },
        actuators={
            name: {
                "joint": f"P{i}", "limits": [home[name] - 0.5 * SPAN, home[name] + 0.5 * SPAN], "drive": drives[name],
            }
            for i, name in enumerate(names)
        },
        sensors={
            **{f"{name}_encoder": {"joint": f"P{i}", "noise": 1e-5} for i, name in enumerate(names)},
            "tip": {"position": f"P{joints}"},
            "imu": {"acceleration": f"P{joints}", "axes": "body", "gravity": True, "noise": 0.05},
        },
        configurations={"home": home},
    )  # fmt: skip
    model = supple.reduce(arm, internal_modes=joints, germ="home", store=False, progress=False)
    goal = np.array(list(home.values())) + rng.uniform(-0.35, 0.35, joints) * SPAN
    return Machine(arm, model, goal)


def quiet(hardware: supple.Hardware) -> supple.Hardware:
    """Without noise."""
    return replace(hardware, instruments=tuple(replace(item, noise=0.0) for item in hardware.instruments))


def made(machine: Machine, kind: str, tolerance: float) -> control.AffineController:
    """A controller that shall stand on the goal."""
    model, names = machine.model, machine.model.layout.coordinates[: len(machine.goal)]
    stand = control.Reference(names, np.array([0.0, SAMPLE]), machine.goal[None, None])
    if kind == "gain scheduling":
        return control.gain_scheduled(
            model, stand, lambda linear: control.lqr(linear, 1.0, 1e-4, sample_time=SAMPLE), sample_time=SAMPLE,
            tolerance=tolerance, hardware=False,
        )  # fmt: skip
    observer = control.kalman_filter(model, sample_time=SAMPLE, accelerations=5.0)
    if kind == "two time scales":
        return control.two_time_scales(observer, stand, gains=5.0, damping_ratios=0.1, tolerance=tolerance)
    return control.state_feedback(observer, stand, Q=dict.fromkeys(names, 1e3), R=1e-2, tolerance=tolerance)


class Compiled:
    """The exported law in the place of the controller."""

    def __init__(self, controller: control.AffineController, folder: Path) -> None:
        self.law, self.reference = controller.law, controller.reference
        self.actuators, self.sample_time, self.commanded_actuators = (
            controller.actuators,
            SAMPLE,
            controller.commanded_actuators,
        )
        _, source = supple.export(controller.law, folder)
        library = folder / "law.so"
        compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
        subprocess.run([compiler, "-O1", "-fPIC", "-shared", str(source), "-o", str(library)], check=True)
        loaded = ctypes.CDLL(str(library))
        self._start, self._step = (getattr(loaded, f"{source.stem}_{name}") for name in ("start", "step"))
        ports = self.law.ports
        self._x, self._applied = np.zeros(max(1, self.law.states)), np.zeros(len(ports.actuators))
        self._wanted, self._begun = np.zeros((len(ports.previews), 4, len(ports.coordinates))), False
        # As a machine that stands begins: with the command in force there.
        self._applied[:] = self.law.equilibrium.at(self.reference.at(0.0)[0])[self.law.states :][ports.applied_commands]

    def step(self, t: float, measurement: control.Measurement) -> np.ndarray:
        ports, answer = self.law.ports, np.zeros(len(self.actuators))
        y = np.ascontiguousarray(measurement.array(ports.measured))
        for i, preview in enumerate(ports.previews):
            self._wanted[i] = self.reference.at(t + preview)
        told = [ctypes.c_void_p(part.ctypes.data) for part in (self._x, y, self._wanted, self._applied)]
        if not self._begun:
            self._begun = True
            assert self._start(*told) == 0
        assert self._step(*told, ctypes.c_void_p(answer.ctypes.data)) == 0
        self._applied[:] = answer
        return answer

    def record_command(self, command: np.ndarray) -> None:
        self._applied[:] = command


def standing_error(machine: Machine, controller: control.Controller) -> float:
    """How far the model is from the goal in the end, of a run that begins at rest on it; of the motion."""
    plant = replace(machine.model, hardware=quiet(machine.model.hardware))
    bare = not controller.commanded_actuators and bool(plant.hardware.drives)
    start = dict(zip(plant.layout.coordinates, machine.goal, strict=False))
    run = control.closed_loop(plant, controller, until=LASTS, start=start, hardware=not bare)
    assert run.complete, run.reason
    off = [np.abs(run.coordinates[name][-50:] - value).max() for name, value in start.items()]
    return float(max(off)) / SPAN


def on_the_machine(machine: Machine, controller: control.AffineController) -> tuple[float, float]:
    """How far the tip of the arm itself stands from its goal, over its static deflection, and the error at rest that
    its model states."""
    start = dict(zip(machine.model.layout.coordinates, machine.goal, strict=False))
    run = control.closed_loop(
        machine.arm, controller, until=1.0, start=start, hardware=quiet(machine.model.hardware)
    )  # fmt: skip
    stiff = goal_of(machine.arm, controller.reference, rigid=True)
    assert stiff is not None
    tip = np.array([[run.outputs[name][-50:].mean(), run.goal[name], stiff()[name]] for name in ("tip.x", "tip.z")])
    stated = machine.model.provenance["equilibria"]
    off = float(np.linalg.norm(tip[:, 0] - tip[:, 1]) / np.linalg.norm(tip[:, 1] - tip[:, 2]))
    return off, max(stated["force"], *stated["deflection"].values())


def check(seed: int, joints: int, kind: str, tolerances: tuple[float, ...] = TOLERANCES) -> list[tuple[float, float]]:
    """Standing errors in Python and in C, for each tolerance."""
    machine = random_machine(seed, joints, "velocity" if kind == "two time scales" else "force")
    found = []
    for tolerance in tolerances:
        controller = made(machine, kind, tolerance)
        with tempfile.TemporaryDirectory() as folder:
            compiled = Compiled(controller, Path(folder))
            found.append((standing_error(machine, controller), standing_error(machine, compiled)))
    return found


KINDS = ("state feedback", "two time scales", "gain scheduling")


def main(machines: int, seed: int, full: int) -> int:
    warnings.simplefilter("ignore", SuppleNote)
    worst, above = 0.0, 0.0
    for number in range(full):
        joints = 1 + number % 2
        machine = random_machine(seed + number, joints)
        off, stated = on_the_machine(machine, made(machine, "state feedback", 1e-3))
        above = max(above, off / stated)
        print(f"seed {seed + number}, {joints} joints, the arm itself: {off:.2g} of its static deflection; its model "
              f"states {stated:.2g}", flush=True)  # fmt: skip
    for number in range(machines):
        joints = 1 + number % 2
        for kind in KINDS:
            found = check(seed + number, joints, kind)
            worst = max(worst, float(np.max(found)))
            told = "   ".join(f"{t:g}: {p:.1e} / {c:.1e}" for t, (p, c) in zip(TOLERANCES, found, strict=True))
            print(f"seed {seed + number}, {joints} joints, {kind:16}  {told}", flush=True)
    print(f"largest standing error, of the motion: {worst:.2g} (limit {LARGEST:g})")
    if full:
        print(f"largest standing error of an arm itself, over what its model states: {above:.2g} (limit 1)")
    return 1 if worst > LARGEST or above > 1.0 else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=10, help="random machines")
    parser.add_argument("--seed", type=int, default=1, help="of the first one")
    parser.add_argument("--full", type=int, default=0, help="of them, how many to run as mechanisms too")
    given = parser.parse_args()
    sys.exit(main(given.machines, given.seed, given.full))
