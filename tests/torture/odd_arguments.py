"""Odd arguments thrown at everything public: each must be taken, or refused by one clear message.

    python tests/torture/odd_arguments.py [--only NAME] [--cases 2000] [--seed 1] [--seconds 10]

Arguments of recipes are replaced by odd values, one at a time, in a forked child with 4 GB of memory and an alarm; so
are options of the command line. What is neither a result nor an `InputError` or `NumericalError` (of a command: a
status from 0 to 3 and one line) is told, and the status is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

import supple
from supple import control
from supple.diagnostics import SuppleError

MEMORY = 4 * 2**30  # bytes

FOUR_BAR = """\
supple: 1
name: four-bar
plane: xz
gravity: [0, -9.81]
parameters: {crank: 0.5}
points: {A: [0, 0], B: [crank, 0], E: [0.54, 0.52], D: [1.0, 0]}
bodies:
  crank: {rod: [A, B], length: crank, line_mass: 0.54}
  coupler: {rod: [B, E], length: 0.5218, line_mass: 0.54}
  follower: {rod: [D, E], length: 0.6936, line_mass: 0.54}
joints:
  A: {revolute: [ground, crank]}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [ground, follower]}
actuators: {crank: {joint: A, limits: [-1.75, 1.75]}}
sensors: {E: {position: E}, encoder: {joint: A, noise: 1e-4}}
configurations: {home: {crank: 0.3}}
motions: {swing: {coordinates: {crank: {to: 0.5}}, duration: 100 ms}}
scenarios: {push: {inputs: {crank: 1}, until: 20 ms}}
"""
ARM = """\
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {strip: {rectangle: [20 mm, 4 mm]}}
points: {O: [0, 0], T: [0.8, 0]}
bodies: {link: {beam: [O, T], section: strip, material: steel, elements: 2}}
joints: {O: {revolute: [ground, link]}}
actuators: {motor: {joint: O, limits: [-1.5, 1.5]}}
damping: {structural: 0.1}
sensors: {tip: {position: T}}
configurations: {home: {motor: 0.1}}
motions: {swing: {coordinates: {motor: {to: 0.2}}, duration: 200 ms}}
"""


class Odd(NamedTuple):
    """A value that nobody means, and what it is called in the list."""

    said: str
    value: Any


class _Broken:
    """Says that it is an array, and fails."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("no array")


ODD = tuple(
    Odd(said if isinstance(said, str) else repr(said), value)
    for said, value in [
        *((repr(value), value) for value in (
            None, True, -1, 0, 1, 2.5, 1e300, -1e300, 1e-300, 10**30, float("nan"), float("inf"), 1j, "", "nonsense",
            "1", "\x00", b"bytes", [], [[]], [1, 2], [[1, 2], [3]], [[1.0, 2.0]], [None], ["x"], ["x", "x"], [b"x"],
            [float("nan")], {}, {"x": 1}, {1: 2}, {"x": None}, {"crank": "x"}, {"crank": [[1]]}, {"motor": b"1"},
            {"crank": float("nan")}, (), (1, 2, 3), (2, 1), ("a", 1), {1, 2}, range(3),
        )),
        ("an object", object()), ("a broken object", _Broken()), ("a function", lambda *_, **__: None),
        ("a folder", Path(".")), ("a file that is not there", Path("none.yaml")),
        ("zeros (2, 3, 4)", np.zeros((2, 3, 4))),
        ("an array of texts", np.array(["x"])), ("an array of objects", np.array([None, {}], dtype=object)),
        ("an empty array", np.zeros((0, 3))), ("a generator", (i for i in range(3))),
    ]
)  # fmt: skip


class Recipe(NamedTuple):
    """A call that is right; `arguments` are replaced one by one."""

    name: str
    call: Callable[..., Any]
    arguments: dict[str, Any]
    skipped: tuple[str, ...] = ()


class Fault(NamedTuple):
    recipe: str
    argument: str
    value: str
    what: str

    def __str__(self) -> str:
        return f"{self.recipe}({self.argument}={self.value}): {self.what}"


def refused(recipe: Recipe, argument: str, one: Odd) -> str:
    """What is wrong with how a call ends, or "" where it is as it should be."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            recipe.call(**{**recipe.arguments, argument: one.value})
    except SuppleError as error:
        return "" if "\n" not in str(error) else f"more than a line: {error}"
    except TimeoutError:
        return "no end"
    except (Exception, RecursionError) as error:  # noqa: BLE001 - that is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:90]!r} in {Path(where.filename).name}:{where.lineno}"
    return ""


def faults(recipe: Recipe, calls: list[tuple[str, Odd]], seconds: float) -> Iterator[Fault]:
    """Calls of a recipe that end in none of the ways they may.

    Where a child dies, or is silent for too long, another one goes on behind that call.
    """
    done = 0
    while done < len(calls):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _perform(recipe, calls[done:], seconds, writing)
        os.close(writing)
        with os.fdopen(reading) as stream:
            while select.select([stream], [], [], 3.0 * seconds)[0] and (line := stream.readline()):
                done += 1
                if wrong := json.loads(line):
                    yield Fault(recipe.name, calls[done - 1][0], calls[done - 1][1].said, wrong)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if done < len(calls):
            argument, one = calls[done]
            yield Fault(recipe.name, argument, one.said, "it died, or a kernel has no end")
            done += 1


def _perform(recipe: Recipe, calls: list[tuple[str, Odd]], seconds: float, writing: int) -> NoReturn:
    """Call after call, a line of JSON for each: what is wrong, or ""."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    signal.signal(signal.SIGALRM, _late)
    with os.fdopen(writing, "w", buffering=1) as stream, contextlib.redirect_stderr(io.StringIO()):
        for argument, one in calls:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                wrong = refused(recipe, argument, one)
            except TimeoutError:
                wrong = "no end"
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            print(json.dumps(wrong), file=stream, flush=True)
    os._exit(0)


def _late(*_: Any) -> None:
    raise TimeoutError


def recipes(folder: Path) -> list[Recipe]:
    """Every public function and the methods of what they return, with arguments that are right."""
    bar, arm = supple.loads(FOUR_BAR), supple.loads(ARM)
    file = folder / "four-bar.yaml"
    file.write_text(FOUR_BAR)
    here = supple.assemble(bar, "home")
    rom = supple.reduce(bar, region={"crank": (-0.2, 0.6)}, boxes=1, store=False)
    soft = supple.reduce(arm, region={"motor": (-0.3, 0.3)}, boxes=1, internal_modes=1, store=False)
    rom_file = rom.save(folder / "bar.rom")
    linear = rom.linearize([0.1])
    shapes = supple.modes(arm, "home", count=2)
    test = supple.virtual_test(arm, "home", "tip.z", "tip", sampling_hz=200.0, samples=64, impacts=1)
    measured = test.save(folder / "test.npz")
    found = supple.modal_parameters(test.responses, band_hz=(2.0, 80.0))
    course = supple.trajectory(bar, "swing")
    run = supple.simulate(bar, until=0.01, start="home")
    pd = control.joint_pd(rom, course, sample_time=1e-3, frequencies=10.0)
    observer = control.kalman_filter(rom, sample_time=1e-3, accelerations=1.0)
    loop = control.closed_loop(rom, pd, until=0.01)
    t = np.linspace(0.0, 0.02, 5)
    hz = np.array([1.0, 2.0])
    at: dict[str, Any] = {"mechanism": bar, "at": "home"}
    soft_at: dict[str, Any] = {"mechanism": arm, "at": "home"}
    theta: dict[str, Any] = {"theta": [0.1]}
    R = Recipe
    return [
        R("load", supple.load, {"path": file, "parameters": {"crank": 0.5}, "sidecar": None}),
        R("load_mechanism", supple.load_mechanism, {"path": file, "parameters": {"crank": 0.5}, "sidecar": None}),
        R("loads", supple.loads, {"text": FOUR_BAR, "name": "x", "parameters": {"crank": 0.5}, "folder": folder}),
        R("load_model", supple.load_model, {"path": rom_file}),
        R("load_responses", supple.load_responses, {"path": measured, "at": "home", "units": {}, "quantities": {},
                                                    "references": None, "partial": False}),
        R("load_records", supple.load_records, {"path": measured, "at": "home", "quantities": {}, "partial": False}),
        R("load_measurements", supple.load_measurements, {"path": measured, "at": "home", "band": None,
                                                          "frequency_noise": None}),
        R("to_yaml", supple.to_yaml, {"mechanism": bar}),
        R("check", supple.check, {"mechanism": bar}),
        R("hardware_of", supple.hardware_of, {"mechanism": bar}),
        R("register", supple.register, {"record": None}),
        R("assemble", supple.assemble, {**at, "failures": "raise"}),
        R("branches", supple.branches, {**at, "count": 3, "seed": 0}),
        R("motion", supple.motion, {"configuration": here, "rates": [1.0], "accelerations": [0.0]}),
        R("equilibrium", supple.equilibrium, {"mechanism": bar, "start": "home", "inputs": [0.0], "held": ["crank"],
                                              "rigid": False}),
        R("deflection", supple.deflection, {**soft_at, "large": False}),
        R("compliance", supple.compliance, {**soft_at, "places": "tip.z"}),
        R("compliance_map", supple.compliance_map, {"mechanism": arm, "grid": {"motor": [0.0, 0.1]}, "places": "tip.z",
                                                    "at": "home", "progress": False}),
        R("modes", supple.modes, {**soft_at, "count": 2, "free_actuators": False, "preload": True,
                                  "formulation": "auto"}),
        R("frequency_map", supple.frequency_map, {"mechanism": arm, "grid": {"motor": [0.0, 0.1]}, "at": "home",
                                                  "count": 2, "free_actuators": False, "preload": True,
                                                  "progress": False}),
        R("small_motions", supple.small_motions, {**soft_at, "rates": [0.0], "inputs": [0.0], "count": 2,
                                                  "free_actuators": False}),
        R("frf", supple.frf, {**soft_at, "inputs": "tip.z", "outputs": "tip.z", "frequencies_hz": hz,
                              "kind": "receptance", "free_actuators": False, "damping": 0.01, "method": "direct",
                              "preload": True, "drives": True, "formulation": "auto"}),
        R("local", supple.local, {**soft_at, "constraint_modes": (), "internal_modes": 1, "tracking": "none",
                                  "germ": None, "rigid": False, "stiffening": False}),
        R("linearize", supple.linearize, {**at, "rates": [0.0], "accelerations": [0.0], "inputs": None,
                                          "constraint_modes": (), "internal_modes": 0, "basis": None,
                                          "friction_speed": 1e-3, "rigid": False, "drives": True, "pade": 3,
                                          "formulation": "auto"}),
        R("linearize_batch", supple.linearize_batch, {"mechanism": bar, "at": [[0.1], [0.2]], "rates": None,
                                                      "accelerations": None, "inputs": None, "friction_speed": 1e-3,
                                                      "rigid": False}),
        R("trajectory", supple.trajectory, {"mechanism": bar, "motion": "swing", "times": None, "step": 0.01}),
        R("inverse", supple.inverse, {"mechanism": bar, "motion": "swing", "actuators": None, "minimize": "torque",
                                      "bounds": None, "rate_bounds": None, "weights": None, "times": None,
                                      "step": 0.05, "rigid": False}),
        R("simulate", supple.simulate, {"mechanism": bar, "t": None, "inputs": {"crank": 0.0}, "start": "home",
                                        "until": 0.01, "step": 1e-3, "rates": [0.0], "input_times": None,
                                        "motion": None, "tolerance": None, "method": "auto", "spectral_radius": 0.9,
                                        "output_step": None, "friction_speed": 1e-3, "rigid": False, "drives": True,
                                        "formulation": "auto"}),
        R("simulate a model", supple.simulate, {"mechanism": rom, "t": None, "inputs": {"crank": 0.0}, "start": [0.1],
                                                "until": 0.01, "step": 1e-3, "rates": [0.0], "input_times": None,
                                                "motion": None, "tolerance": None, "method": "auto",
                                                "output_step": None, "friction_speed": 1e-3}, ("mechanism",)),
        R("reduce", supple.reduce, {"mechanism": bar, "region": {"crank": (0.0, 0.1)}, "fit": "auto", "boxes": 1,
                                    "tolerance": 0.1, "degree": None, "continuous": False, "store": False,
                                    "output": None, "workers": None, "seed": 0, "progress": False,
                                    "constraint_modes": (), "internal_modes": 0, "tracking": "auto", "germ": None,
                                    "rigid": False, "stiffening": False}),
        R("compare", supple.compare, {"mechanism": bar, "model": rom, "points": 5, "scenario": None, "seed": 1,
                                      "rigid": False}),
        R("export", supple.export, {"rom": rom, "directory": folder / "out", "to": "json"}),
        R("report", supple.report, {"thing": bar, "path": None, "at": "home", "region": None, "points": 5,
                                    "file": None, "progress": False}),
        R("sweep", supple.sweep, {"file": file, "parameters": {"crank": [0.5]}, "analysis": supple.check,
                                  "progress": False}),
        R("virtual_test", supple.virtual_test, {**soft_at, "hammer": "tip.z", "sensors": "tip", "sampling_hz": 200.0,
                                                "samples": 64, "impacts": 1, "noise": 0.0, "floor": 0.01, "bits": None,
                                                "ranges": None, "peak": 100.0, "duration": None, "shaker": None,
                                                "estimator": "H1", "force_length": None, "exponential": None,
                                                "quantity": "acceleration", "free_actuators": False,
                                                "damping": None, "drives": True, "seed": 0}),
        R("estimate_responses", supple.estimate_responses, {"records": test.records, "estimator": "H1",
                                                            "force_length": None, "exponential": None, "window": None,
                                                            "blocks": None, "overlap": 0.5, "keep_faulty": False}),
        R("check_measurement", supple.check_measurement, {"test": test.responses, "mechanism": arm, "at": "home",
                                                          "places": {}, "within": 0.02, "free_actuators": False,
                                                          "damping": None, "drives": True}),
        R("match_channels", supple.match_channels, {"test": test.responses, "mechanism": arm, "at": "home",
                                                    "places": {}, "within": 0.02}),
        R("model_responses", supple.model_responses, {"mechanism": arm, "at": "home",
                                                      "references": test.responses.references,
                                                      "responses": test.responses.responses, "frequencies_hz": hz,
                                                      "free_actuators": False, "damping": 0.01, "drives": True}),
        R("join_responses", lambda test: supple.join_responses(test), {"test": test.responses}),
        R("modal_parameters", supple.modal_parameters, {"responses": test.responses, "band_hz": (2.0, 80.0),
                                                        "method": "plscf", "order": None, "refine": False,
                                                        "criteria": None}),
        R("pair_modes", supple.pair_modes, {"measured": found, "model": found, "close": 0.01, "least_mac": 0.3,
                                            "farthest": 0.3}),
        R("update", supple.update, {"mechanism": arm, "measured": supple.Measurement("home", frequencies_hz=[5.0]),
                                    "parameters": "steel.E", "fixed": (), "prior": 0.3, "bounds": None,
                                    "damping": None, "damping_groups": None, "starts": 1, "seed": 0, "robust": False,
                                    "tables": None, "smoothness": 0.15, "progress": None}),
        R("fit_damping", supple.fit_damping, {"mechanism": arm, "measured": supple.load_measurements(measured, "home"),
                                              "kinds": "structural", "groups": {}, "progress": None}),
        R("plan_test", supple.plan_test, {"mechanism": arm, "parameters": "steel.E",
                                          "candidates": [supple.Candidate({"home": ["tip.z"]}, ["tip"])],
                                          "fixed": (), "prior": 0.3, "noise": 0.05, "band": (1.0, 100.0), "lines": 10,
                                          "progress": None}),
        R("identify", supple.identify, {"mechanism": bar, "model": rom, "runs": loop, "unknown": ["damping.mass"],
                                        "start": None, "bounds": None, "outputs": None}),
        *(R(f"rom.{name}", getattr(rom, name), {**theta, **more}) for name, more in {
            "evaluate": {"delta": None}, "forward": {"rates": [0.0], "inputs": [0.0], "delta": None,
                                                     "friction_speed": 1e-3},
            "inverse": {"rates": [0.0], "accelerations": [0.0], "delta": None, "friction_speed": 1e-3},
            "actuator_forces": {"rates": [0.0], "accelerations": [0.0], "delta": None, "friction_speed": 1e-3},
            "energy": {"rates": [0.0], "delta": None}, "equilibrium": {"inputs": rom.inverse([0.1])},
            "linearize": {"rates": [0.0], "accelerations": [0.0], "inputs": None, "delta": None,
                          "friction_speed": 1e-3, "drives": True, "pade": 3},
            "frf": {"inputs": "crank", "outputs": "E.z", "frequencies_hz": hz, "kind": "receptance",
                    "free_actuators": True, "preload": True, "drives": True},
            "to_sympy": {"coefficients": ("M",)},
        }.items()),
        R("rom.save", rom.save, {"path": folder / "again.rom"}),
        R("rom.simulate", rom.simulate, {"t": t, "inputs": [0.0], "start": [0.1], "step": 1e-3, "rates": [0.0]}),
        R("soft.evaluate", soft.evaluate, {"theta": [0.1], "delta": [0.0]}),
        R("linear.discretized", linear.discretize, {"step": 1e-3, "method": "zoh"}),
        R("linear.frequency_response", linear.frequency_response, {"frequencies_hz": hz, "outputs": None,
                                                                   "inputs": None}),
        R("linear.save", linear.save, {"path": folder / "linear.npz"}),
        R("modes.displacements", shapes.displacements, {"body": "link"}),
        R("modes.mac", shapes.mac, {"other": shapes}),
        R("run.frame", run.frame, {"name": "E"}),
        R("run.reaction", run.reaction, {"joint": "A"}),
        R("run.save", run.save, {"path": folder / "run.npz"}),
        R("here.frame", here.frame, {"name": "E"}),
        R("mechanism.joint", bar.joint, {"name": "A"}),
        R("mechanism.body", bar.body, {"name": "crank"}),
        R("responses.select", test.responses.select, {"responses": None, "references": None, "band_hz": None,
                                                      "lines": None}),
        R("responses.to", test.responses.to, {"quantity": "velocity"}),
        R("control.closed_loop", control.closed_loop, {"plant": rom, "controller": pd, "until": 0.01,
                                                       "sample_time": 1e-3, "start": [0.3], "rates": [0.0],
                                                       "step": None, "tolerance": None, "friction_speed": 1e-3,
                                                       "hardware": True, "computation_delay": 0.0, "seed": 0,
                                                       "disturbances": None}),
        R("control.joint_pd", control.joint_pd, {"of": rom, "motion": course, "sample_time": 1e-3,
                                                 "frequencies": 10.0, "damping_ratios": 1.0, "proportional": None,
                                                 "derivative": None, "at": None, "actuators": None,
                                                 "feedforward": "none", "rate_filter": None, "sensors": None,
                                                 "hardware": True}),
        R("control.joint_pid", control.joint_pid, {"of": rom, "motion": course, "sample_time": 1e-3,
                                                   "frequencies": 10.0, "integral_frequencies": 1.0,
                                                   "tracking": None}),
        R("control.computed_torque", control.computed_torque, {"model": rom, "motion": course, "frequencies": 10.0,
                                                               "damping_ratios": 1.0, "actuators": None,
                                                               "minimize": "torque", "weights": None, "bounds": None,
                                                               "rate_bounds": None, "preview": 0.0,
                                                               "rate_filter": None, "hardware": True,
                                                               "rigid": False}),
        R("control.lqr", control.lqr, {"linear": linear, "Q": 1.0, "R": 1.0, "sample_time": None}),
        R("control.pole_placement", control.pole_placement, {"linear": linear, "poles": [-1.0, -2.0],
                                                             "sample_time": None}),
        R("control.decoupled_gains", control.decoupled_gains, {"linear": linear, "frequencies": 10.0,
                                                               "damping_ratios": 1.0}),
        R("control.kalman_filter", control.kalman_filter, {"model": rom, "sample_time": 1e-3, "accelerations": 1.0,
                                                           "measured": None, "noise": None, "bias": None,
                                                           "hardware": None, "computation_delay": 0.0}),
        R("control.state_feedback", control.state_feedback, {"observer": observer, "motion": course, "Q": 1.0,
                                                             "R": 1.0, "at": None, "tolerance": 1e-3}),
        R("control.reference", control.reference, {"motion": course, "of": rom, "until": None}),
        R("control.shaper", control.shaper, {"kind": "zv", "frequencies_hz": 5.0, "damping_ratios": 0.0,
                                             "tolerance": 0.05}),
        R("control.shape_motion", control.shape_motion, {"motion": supple.trajectory(arm, "swing"), "model": soft,
                                              "kind": "zv",
                                             "modes": [(5.0, 0.01)],
                                             "tolerance": 0.05, "scheduled": False, "frequency_factor": 1.0}),
        R("control.timed_path", control.timed_path, {"path": course, "of": rom, "velocity": 1.0, "acceleration": 10.0,
                                                     "jerk": None, "forces": True}),
        R("control.margins", control.margins, {"plant": rom, "controller": pd, "at": [0.1],
                                               "computation_delay": 0.0}),
        R("control.margin_map", control.margin_map, {"model": rom, "controller": pd, "grid": {"crank": [0.1]},
                                                     "at": None, "computation_delay": 0.0}),
        R("control.antagonism", control.antagonism, {"mechanism": bar, "at": "home", "actuators": None,
                                                     "rigid": False}),
        R("control.study", control.study, {"plant": rom, "controller": pd, "spreads": {"noise": (1.0, 2.0)},
                                           "measures": None, "count": 1, "seed": 0, "processes": 1, "full": False,
                                           "region": None, "reduction": None, "progress": False}),
    ]  # fmt: skip


TEXTS = (
    "0", "-1", "2.5", "nan", "inf", "1e300", "-1e300", "1e-300", "99999999999999999999", "", " ", "x", "[[1]]", "a=b",
    "a=1,a=1", "crank=nan", "crank=1e300", ":", "0:0:0", "1:0:3", "none.yaml", ".", "θ", "--", "=", ",,",
)  # fmt: skip


def commands(folder: Path) -> list[Recipe]:
    """Every command with every option that takes a value; run in this process, and judged by how it ends."""
    import typer

    from supple.cli.main import app

    for name, text in (("four-bar.yaml", FOUR_BAR), ("arm.yaml", ARM)):
        (folder / name).write_text(text)
    base = {
        "simulate": ["four-bar.yaml", "--until", "0.01"], "inverse": ["four-bar.yaml", "--motion", "swing"],
        "frf": ["arm.yaml", "--input", "tip.z", "--output", "tip.z", "--lines", "3"], "modal": ["test.npz"],
        "virtual-test": ["arm.yaml", "--hammer", "tip.z", "--sensors", "tip", "--sampling", "200", "--samples", "64"],
        "reduce": ["four-bar.yaml", "--region", "crank=0:0.1", "--boxes", "1", "--no-store"],
        "evaluate": ["bar.rom", "--at", "crank=0.1"], "compare": ["four-bar.yaml", "bar.rom", "--points", "3"],
        "export": ["bar.rom", "--to", "json"], "measured": ["test.npz"], "sag": ["arm.yaml"],
        "new": ["other", "--force"],
        "compliance": ["arm.yaml", "--places", "tip.z"], "modes": ["arm.yaml"], "local": ["arm.yaml"],
        "identify": ["arm.yaml", "--measured", "test.npz@home", "--parameters", "steel.E", "--starts", "1"],
        "plan-test": ["arm.yaml", "--candidates", "home:tip.z", "--parameters", "steel.E"],
        "examples": ["pendulum"], "doctor": [], "schema": [], "warmup": None, "view": None,
    }  # fmt: skip
    found = []
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        given = base.get(name, ["four-bar.yaml"])
        if given is None:  # compiles everything, or serves a page until it is ended
            continue
        options = {one.opts[-1]: None for one in command.params if one.param_type_name == "option" and not one.is_flag}
        options.pop("--cluster", None)  # waits for machines that are not there
        found.append(Recipe(f"supple {name}", _Command(name, given), options))
    return found


class _Command(NamedTuple):
    """A call of the command line in this process: what ends with a status from 0 to 3 has ended well."""

    name: str
    given: list[str]

    def __call__(self, **options: str) -> None:
        from supple.cli.main import run

        (option, value), *_ = ((key, text) for key, text in options.items() if text is not None)
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                run([self.name, *self.given, option, value, "--json"])
        except SystemExit as ended:
            lines = [line for line in said.getvalue().splitlines() if line.startswith("error: ")]
            if ended.code not in (None, 0, 1, 2, 3) or (ended.code in (1, 3) and len(lines) != 1):
                raise AssertionError(f"status {ended.code}: {said.getvalue()[-300:]}") from None


def main() -> int:
    asked = argparse.ArgumentParser(description="Odd arguments thrown at everything public.")
    asked.add_argument("--only", default="", help="recipes whose name has this in it")
    asked.add_argument("--cases", type=int, default=2000, help="calls, drawn from all; 0 for all of them")
    asked.add_argument("--seed", type=int, default=0, help="of which they are")
    asked.add_argument("--seconds", type=float, default=10.0, help="a call may take")
    given = asked.parse_args()
    texts = tuple(Odd(text, text) for text in TEXTS)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        thrown = [(one, ODD) for one in recipes(Path(folder))] + [(one, texts) for one in commands(Path(folder))]
        calls = [
            (recipe, argument, one)
            for recipe, values in thrown
            if given.only in recipe.name
            for argument in recipe.arguments
            if argument not in recipe.skipped
            for one in values
        ]
        if 0 < given.cases < len(calls):
            taken = sorted(random.Random(given.seed).sample(range(len(calls)), given.cases))
            calls = [calls[i] for i in taken]
        print(f"{len(calls)} calls, seed {given.seed}", flush=True)
        count = 0
        for _, group in itertools.groupby(calls, key=lambda call: call[0].name):
            mine = list(group)
            for fault in faults(mine[0][0], [(argument, one) for _, argument, one in mine], given.seconds):
                print(fault, flush=True)
                count += 1
    print(f"{count} of {len(calls)} calls ended otherwise than by a result or one clear message")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
