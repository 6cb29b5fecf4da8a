"""RALF over lift, elbow and its payload: C and FMU with the payload set while they run, beside the model and the modes.

Differences are those of the largest number of their kind, at random states and payloads that were never sampled.
Frequencies are those of the elastic block of M and K that the compiled code gives, against `supple.modes` of the
mechanism with that payload. What setting a payload costs stands beside what calls cost, of the family and of a model
that was exported for one payload.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import supple
from supple.export.c.family_numbers import CFamily
from supple.export.c.generated_model import CModel
from supple.export.fmu.target import local_compiler

MECHANISM = Path(__file__).parents[1] / "examples" / "ralf" / "mechanism.yaml"
LOWER, UPPER, PAYLOADS, STATES = 8.0, 16.0, 8, 100
DRIVER = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "ralf.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

#define TOLD(name, calls, call) \\
    start = now(); \\
    for (k = 0; k < calls; ++k) { call; } \\
    printf("%s %.3f\\n", name, (now() - start) / calls)

int main(void)
{
    static double x[RALF_STATES] = {@start@}, u[RALF_INPUTS], rate[RALF_STATES], start;
    int k;
#ifdef RALF_PARAMETERS
    static ralf_parameters machine;
    const ralf_parameters *const p = &machine;
    double mu[RALF_PARAMETERS];
    ralf_defaults(&machine);
    TOLD("set_parameters", 2000, mu[0] = @lower@ + k * 4e-3; ralf_set_parameters(&machine, mu));
#else
    const ralf_parameters *const p = 0;
#endif
    TOLD("derivative", 200000, x[0] += 1e-12; ralf_derivative(p, x, u, rate));
    TOLD("step_implicit", 50000, ralf_step_implicit(p, x, u, 1e-9));
    return (int)(0.0 * (rate[0] + x[0]));
}
"""


class Compiled:
    """The C of the family, called through ctypes."""

    def __init__(self, rom: supple.ReducedModel, folder: Path, command: list[str]):
        self.rom, target = rom, folder / "ralf.so"
        supple.export(rom, folder, to="c", prefix="ralf")
        made = [*command, "-std=c99", "-O3", "-fPIC", "-shared", str(folder / "ralf.c"), "-lm", "-o", str(target)]
        subprocess.run(made, check=True)
        self.code = ctypes.CDLL(str(target))
        assert rom.family is not None
        rows = CFamily(rom.family, rom.layout.theta).largest[0] * rom.layout.fitted
        self.parameters = ctypes.create_string_buffer(8 * rows + 4096)
        self.code.ralf_defaults(self.parameters)

    def set(self, payload: float) -> int:
        return int(self.code.ralf_set_parameters(self.parameters, (ctypes.c_double * 1)(payload)))

    def call(self, name: str, size: int, *given: np.ndarray) -> np.ndarray:
        found = np.empty(size)
        arrays = [np.ascontiguousarray(item) for item in (*given, found)]
        assert (
            getattr(self.code, f"ralf_{name}")(
                self.parameters, *(item.ctypes.data_as(ctypes.c_void_p) for item in arrays)
            )
            == 0
        )
        return arrays[-1]

    def frequencies(self, theta: np.ndarray) -> np.ndarray:
        """Hz, actuators locked, from M and K at rest."""
        members, at, found = CModel("ralf", self.rom).members(), 0, {}
        values = self.call("coefficients", sum(int(np.prod(shape)) for _, shape, _ in members), self.eta(theta))
        for name, shape, _ in members:
            found[name] = values[at : at + int(np.prod(shape))].reshape(shape)
            at += int(np.prod(shape))
        s = self.rom.layout.theta
        squares = np.linalg.eigvals(np.linalg.solve(found["M"][s:, s:], found["K"][s:, s:]))
        return np.sort(np.sqrt(squares.real)) / (2.0 * np.pi)

    def eta(self, theta: np.ndarray) -> np.ndarray:
        return np.concatenate([theta, np.zeros(self.rom.layout.size - self.rom.layout.theta)])


def states(rom: supple.ReducedModel, rng: np.random.Generator) -> np.ndarray:
    lower, upper = rom.fitted.arrays.roots_f[0]
    n, s = rom.layout.size, rom.layout.theta
    theta = rng.uniform(lower, upper, (STATES, s))
    return np.hstack([theta, rng.uniform(-1e-3, 1e-3, (STATES, n - s)), rng.uniform(-0.5, 0.5, (STATES, n))])


def compare(rom: supple.ReducedModel, compiled: Compiled) -> None:
    rng, n, s = np.random.default_rng(7), rom.layout.size, rom.layout.theta
    worst, off = 0.0, 0.0
    for payload in rng.uniform(LOWER, UPPER, PAYLOADS):
        assert compiled.set(payload) == 0
        one, x = rom.at(payload=payload), states(rom, rng)
        u = rng.uniform(-500.0, 500.0, (STATES, 2))
        expected = one.forward(x[:, :s], x[:, n:], u, delta=x[:, s:n])
        found = np.array([compiled.call("forward", n, x[k, :n], x[k, n:], u[k]) for k in range(STATES)])
        worst = max(worst, float(np.abs(found - expected).max() / np.abs(expected).max()))
        arm = supple.load(MECHANISM, parameters={"payload": payload})
        for theta in x[:3, :s]:
            full = np.array(supple.modes(arm, theta, count=n - s).frequencies_hz)
            off = max(off, float(np.abs(compiled.frequencies(theta) / full - 1.0).max()))
    print(f"C, payload set at run time: accelerations off the model by {worst:.1e} at {PAYLOADS} payloads")
    print(f"frequencies of the compiled code against those of the mechanism with that payload: {off:.1e}")
    refused = [compiled.set(value) for value in (LOWER - 0.1, UPPER + 0.1, float("nan"))]
    print(f"outside its range a payload is refused: {refused}")


def compare_fmu(rom: supple.ReducedModel, folder: Path) -> None:
    try:
        from fmpy import read_model_description
        from fmpy.fmi2 import FMU2Model
    except ImportError as error:
        print(f"FMPy is missing ({error}): pip install fmpy")
        return
    (file,) = supple.export(rom, folder, to="fmu", prefix="ralf")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder / "unpacked")
    about = read_model_description(str(folder / "unpacked"))
    at = {item.name: item.valueReference for item in about.modelVariables}
    plant = FMU2Model(
        guid=about.guid, unzipDirectory=str(folder / "unpacked"), instanceName="one",
        modelIdentifier=about.modelExchange.modelIdentifier,
    )  # fmt: skip
    plant.instantiate()
    plant.setupExperiment(startTime=0.0)
    plant.enterInitializationMode()
    plant.exitInitializationMode()
    plant.newDiscreteStates()
    plant.enterContinuousTimeMode()
    rng, n, s = np.random.default_rng(8), rom.layout.size, rom.layout.theta
    own = [name for name in at if f"der({name})" in at]
    forces, worst = [at[f"{name}.force"] for name in rom.layout.inputs], 0.0
    for payload in rng.uniform(LOWER, UPPER, PAYLOADS):
        plant.setReal([at["payload"]], [payload])
        x, u = states(rom, rng), rng.uniform(-500.0, 500.0, (STATES, 2))
        expected = rom.at(payload=payload).forward(x[:, :s], x[:, n:], u, delta=x[:, s:n])
        for k in range(STATES):
            plant.setReal([*(at[name] for name in own), *forces], [*x[k], *u[k]])
            found = np.array(plant.getReal([at[f"der({name})"] for name in own[n:]]))
            worst = max(worst, float(np.abs(found - expected[k]).max() / np.abs(expected).max()))
    plant.terminate()
    plant.freeInstance()
    print(f"FMU, payload tuned: accelerations off the model by {worst:.1e} at {PAYLOADS} payloads")


def costs(rom: supple.ReducedModel, folder: Path, command: list[str]) -> None:
    start = ", ".join(map(repr, [*rom.fitted.arrays.leaves_f[0, 0].tolist(), *[0.0] * (2 * rom.layout.size - 2)]))
    for name, fixed in (("family", None), ("payload 12 alone", {"payload": 12.0})):
        here = folder / name.replace(" ", "_")
        supple.export(rom, here, to="c", prefix="ralf", set=fixed)
        (here / "driver.c").write_text(DRIVER.replace("@start@", start).replace("@lower@", repr(LOWER)))
        files = [str(here / item) for item in ("driver.c", "ralf.c")]
        subprocess.run([*command, "-std=c99", "-O3", *files, "-lm", "-o", str(here / "driver")], check=True)
        said = subprocess.run([str(here / "driver")], check=True, capture_output=True, text=True).stdout
        size = (here / "ralf.c").stat().st_size
        print(
            f"{name}: {size / 1e3:.0f} kB of C;", ", ".join(f"{a} {b} µs" for a, b in map(str.split, said.splitlines()))
        )


def main() -> None:
    command = local_compiler()
    if command is None:
        print("no C compiler was found")
        return
    arm = supple.load(MECHANISM)
    rom = supple.reduce(arm, vary={"payload": (LOWER, UPPER)}, internal_modes=2, tolerance=1e-3)
    assert rom.family is not None
    whole, one = rom.family.fitted.arrays.leaves_i, rom.fitted.arrays.leaves_i
    region = f"lift, elbow and payload {LOWER:g} to {UPPER:g} kg"
    print(f"ralf over {region}: {len(whole)} boxes of up to {whole[:, 1].max()} terms, "
          f"of a slice {len(one)} of up to {one[:, 1].max()}")  # fmt: skip
    with tempfile.TemporaryDirectory() as made:
        compare(rom, Compiled(rom, Path(made) / "c", command))
        compare_fmu(rom, Path(made) / "fmu")
        costs(rom, Path(made), command)


if __name__ == "__main__":
    main()
