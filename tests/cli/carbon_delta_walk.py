"""A textbook Delta with carbon tubes, walked from its file to C and to an FMU, its payload left open.

Every command is run as a user would run it: check, modes, reduce --vary to a tolerance of 1 %, compare, simulate,
export --to c and export --to fmu. The C code is compiled, the payload set to two values while it runs, and what it
computes compared with the model in Python; the FMU is validated and simulated by FMPy with the same payloads and
compared with the model's own run. Status 1 where a step fails.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.validation import validate_fmu

import supple
from supple.equations.forces import FRICTION_SPEED
from supple.reduced.observed import ObservedMotion, outputs_along

FILE = Path(__file__).parents[1] / "reduction" / "carbon-delta.yaml"
HZ = (22.52, 22.52, 45.95)  # of the platform, at home
PAYLOADS = (2.2, 3.7)  # kg, neither of them the one of the file
LASTS, MOMENT = 0.03, 40.0  # s, and N m of the first motor, of runs in time
WHOLE = ("--internal-modes", "auto", "--vary", "payload=2kg:4kg")
# One arm of three, few checks, and the number of modes that "auto" finds.
SLICE = ("--internal-modes", 3, "--vary", "payload=2kg:4kg", "--region", "motor1=-0.2:0.2,motor2=0,motor3=0",
         "--checks", 200)  # fmt: skip
Run = Callable[..., dict[str, Any]]


def run(*arguments: object) -> dict[str, Any]:
    """The answer of one command in a process of its own."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "supple", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    print(f"supple {' '.join(map(str, arguments))}: status {done.returncode}, {seconds:.0f} s", flush=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Code:
    """The exported C, compiled, with parameters of its own."""

    def __init__(self, folder: Path, prefix: str) -> None:
        header, library = folder / f"{prefix}.h", folder / f"{prefix}.so"
        compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
        subprocess.run(
            [compiler, "-std=c99", "-O1", "-fPIC", "-shared", str(folder / f"{prefix}.c"), "-o", str(library), "-lm"],
            check=True,
        )
        size = re.search(r"structure of parameters takes (\d+) bytes", header.read_text())
        assert size is not None
        self.library, self.prefix = ctypes.CDLL(str(library)), prefix
        self.parameters = ctypes.create_string_buffer(int(size.group(1)) + 64)
        self.library[f"{prefix}_defaults"](self.parameters)

    def set(self, *values: float) -> None:
        given = np.array(values)
        assert self.library[f"{self.prefix}_set_parameters"](self.parameters, ctypes.c_void_p(given.ctypes.data)) == 0

    def call(self, name: str, *given: np.ndarray, width: int) -> np.ndarray:
        out = np.full(width, np.nan)
        arrays = [np.ascontiguousarray(item) for item in given]
        pointers = [ctypes.c_void_p(item.ctypes.data) for item in arrays]
        function = self.library[f"{self.prefix}_{name}"]
        assert function(self.parameters, *pointers, ctypes.c_void_p(out.ctypes.data)) == 0
        return out


def same_in_c(code: Code, family: supple.ReducedModel) -> float:
    """Largest difference of accelerations, forces and outputs between C and Python, of the largest number of a kind."""
    n, s = family.layout.size, family.layout.theta
    rng, worst = np.random.default_rng(0), 0.0
    lower, upper = family.fitted.arrays.roots_f[0]
    for payload in PAYLOADS:
        model = family.at(payload=payload)
        code.set(payload)
        theta = rng.uniform(0.9 * lower, 0.9 * upper, (10, s))
        delta, rates = rng.uniform(-1e-4, 1e-4, (10, n - s)), rng.uniform(-1.0, 1.0, (10, n))
        u = np.array([3.0, -2.0, 1.0])[: len(model.layout.inputs)]
        moving = ObservedMotion(np.hstack([theta, delta]), rates, 2.0 * rates, np.tile(u, (10, 1)), FRICTION_SPEED)
        wanted = {
            "forward": model.forward(theta, rates, u, delta=delta),
            "inverse": model.inverse(theta, rates, 2.0 * rates, delta=delta),
            "observe": outputs_along(model, moving),
        }
        for k in range(len(theta)):
            eta = np.concatenate([theta[k], delta[k]])
            moved = (eta, rates[k], 2.0 * rates[k])
            given = {"forward": (eta, rates[k], u), "inverse": moved, "observe": (*moved, u)}
            for name, expected in wanted.items():
                found = code.call(name, *given[name], width=expected.shape[1])
                worst = max(worst, float(np.abs(found - expected[k]).max() / np.abs(expected).max()))
    return worst


def same_in_fmu(fmu: Path, family: supple.ReducedModel) -> tuple[float, float, float]:
    """Largest differences of tool.z between FMPy's runs and the model's own under a constant moment, over how far the
    tool moves: of model exchange (CVode at 1e-9), and of co-simulation, which has steps of its own; and how far the two
    payloads come to lie apart, over the same."""
    exchanged, stepped, ends, moved = [], [], [], 0.0
    others = family.layout.inputs[1:]
    columns = ["time", *(f"{name}.force" for name in ("motor1", *others))]
    moment = np.array([(0.0, MOMENT, *(0.0 for _ in others))], dtype=[(name, float) for name in columns])
    for payload in PAYLOADS:
        own = family.at(payload=payload).simulate(
            inputs={"motor1": MOMENT}, until=LASTS, output_step=1e-3, tolerance=1e-10
        )
        here = own.outputs["tool.z"]
        moved = max(moved, float(np.ptp(here)))
        ends.append(float(here[-1]))
        for found, more in (
            (exchanged, {"fmi_type": "ModelExchange", "solver": "CVode", "relative_tolerance": 1e-9}),
            (stepped, {"fmi_type": "CoSimulation"}),
        ):
            there = fmpy.simulate_fmu(
                str(fmu), stop_time=LASTS, output_interval=1e-3, start_values={"payload": payload}, input=moment,
                output=["tool.z"], **more,
            )  # fmt: skip
            found.append(float(np.abs(there["tool.z"] - np.interp(there["time"], own.time, here)).max()))
    return max(exchanged) / moved, max(stepped) / moved, abs(ends[0] - ends[1]) / moved


def walk(folder: Path, options: tuple[object, ...] = WHOLE, run: Run = run) -> None:
    rom = folder / "delta.rom"
    assert run("check", FILE)["mobility"] == 3
    np.testing.assert_allclose(run("modes", FILE, "--at", "home", "--count", 6)["frequencies_hz"][:3], HZ, rtol=1e-3)
    made = run("reduce", FILE, *options, "--tolerance", "1%", "--no-store", "-o", rom)
    assert made["met"], made["missed"]
    assert max(made["error"].values()) <= 0.01
    assert max(made["equilibria"]["deflection"].values()) < 0.02
    compared = run("compare", FILE, rom, "--set", "payload=2.8", "--points", 20)["coefficients"]
    assert max(compared.values()) < 0.01, compared
    family = supple.load_model(rom)
    fall = run("simulate", rom, "--set", f"payload={PAYLOADS[0]}", "--until", f"{LASTS}s")
    assert fall["complete"], fall
    run("export", rom, "--to", "c", "-o", folder / "c")
    assert same_in_c(Code(folder / "c", "carbon_delta"), family) < 1e-10
    run("export", rom, "--to", "fmu", "-o", folder / "fmu")
    (fmu,) = (folder / "fmu").glob("*.fmu")
    assert not validate_fmu(str(fmu))
    exchanged, stepped, apart = same_in_fmu(fmu, family)
    print(f"FMU against Python: {exchanged:.2g} of the motion by model exchange, {stepped:.2g} by co-simulation; the "
          f"payloads come to lie {apart:.2g} of it apart", flush=True)  # fmt: skip
    assert exchanged < 1e-4  # CVode's own error
    assert stepped < 2e-3  # that of co-simulation's steps
    assert apart > 0.05


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slice", action="store_true", help="One arm of three and few checks, as in the tests.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        walk(Path(name), SLICE if given.slice else WHOLE)
    print("all well")
