"""Exported models as they run on a target: C in double and single precision, and the FMU, beside Python and Pinocchio.

Calls are timed one by one in a C program at random states inside the region, a million of them: 16384 states, each in
its turn 61 times, so that between two calls at a state all others have been there and its box may have left the cache.
Of each state the shortest time counts: what other programs and interrupts do to a machine without a real-time system is
left out, what depends on the state is not. What reading the clock takes is taken off. Pinocchio has the Orthoglide as a
closed chain at home (`inverse_dynamics.py`), called from Python as the reduced model is.
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from inverse_dynamics import Closed, seconds

import supple
from supple.export.c.target import reference_states
from supple.export.fmu.target import local_compiler

EXAMPLES = Path(__file__).parents[1] / "examples"
STATES, VISITS = 16384, 61
DRIVER = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "code.h"
#include "states.h"

enum { VISITS = @visits@ };
static double took[STATES];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)(t.tv_sec & 0xffff) + 1e-3 * (double)t.tv_nsec;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double clock_cost;

static void tell(const char *name)
{
    qsort(took, STATES, sizeof *took, rising);
    printf("%s %.4f %.4f\\n", name, took[STATES / 2] - clock_cost, took[(int)(0.9999 * STATES)] - clock_cost);
}

#define TIMED(name, call) \\
    for (v = 0; v < VISITS; ++v) \\
        for (k = 0; k < STATES; ++k) { \\
            const real *x = states[k], *u = inputs[k]; \\
            double start; \\
            for (i = 0; i < CODE_STATES; ++i) y[i] = x[i]; \\
            start = now(); \\
            call; \\
            start = now() - start; \\
            if (v == 0 || start < took[k]) took[k] = start; \\
            (void)u; \\
        } \\
    tell(name)

int main(void)
{
    static real rate[CODE_STATES], y[CODE_STATES], A[CODE_STATES][CODE_STATES], B[CODE_STATES][CODE_INPUTS];
    long k;
    int i, v;
    for (k = 0; k < STATES; ++k) {
        const double start = now();
        took[k] = now() - start;
    }
    qsort(took, STATES, sizeof *took, rising);
    clock_cost = took[STATES / 2];
    TIMED("inverse", code_inverse(y, y + CODE_COORDINATES, y, rate));
    TIMED("derivative", code_derivative(0, y, u, rate));
    TIMED("jacobian", code_jacobian(0, y, u, rate, A, B));
    TIMED("step_explicit", code_step_explicit(0, y, u, (real)1e-7));
    TIMED("step_implicit", code_step_implicit(0, y, u, (real)1e-7));
    return 0;
}
"""
STEPPING = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "unit.h"
typedef struct { void *logger, *allocate, *release, *finished, *environment; } callbacks;
void *fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
int fmi2SetupExperiment(void *, int, double, double, int, double);
int fmi2EnterInitializationMode(void *);
int fmi2ExitInitializationMode(void *);
int fmi2DoStep(void *, double, double, int);
int fmi2GetDerivatives(void *, double *, size_t);
int fmi2SetContinuousStates(void *, const double *, size_t);
int fmi2Reset(void *);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

int main(void)
{
    static const callbacks none;
    double x[NX + 1], dx[NX + 1], start;
    const int calls = 200000;
    int k;
    void *c = fmi2Instantiate("x", 1, TOKEN, "", &none, 0, 0);
    if (!c) return 1;
    fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0);
    fmi2EnterInitializationMode(c);
    fmi2ExitInitializationMode(c);
    start = now();
    for (k = 0; k < calls; ++k) {
        if (k % 16 == 0) fmi2Reset(c);
        if (fmi2DoStep(c, 0.0, unit_start_p[NP - 1], 1)) return 1;
    }
    printf("%.4f ", (now() - start) / calls);
    for (k = 0; k < NX; ++k) x[k] = unit_start_x[k];
    start = now();
    for (k = 0; k < calls; ++k) {
        fmi2SetContinuousStates(c, x, NX);
        fmi2GetDerivatives(c, dx, NX);
    }
    printf("%.4f\\n", (now() - start) / calls);
    return 0;
}
"""


def array(name: str, values: np.ndarray) -> str:
    rows = ",\n".join("{" + ", ".join(map(repr, row)) + "}" for row in values.tolist())
    return f"static const real {name}[STATES][{values.shape[1]}] = {{\n{rows}\n}};\n"


def timed(command: list[str], rom: supple.ReducedModel, precision: str, folder: Path) -> dict[str, tuple[float, float]]:
    """Median and 99.99th percentile of each function, µs."""
    supple.export(rom, folder, to="c", prefix="code", precision=precision)
    found = reference_states(rom, STATES, seed=4, tries=4 * STATES)
    assert found is not None
    kind = "double" if precision == "double" else "float"
    text = f"typedef {kind} real;\nenum {{ STATES = {len(found.states)} }};\n"
    (folder / "states.h").write_text(text + array("states", found.states) + array("inputs", found.inputs))
    (folder / "driver.c").write_text(DRIVER.replace("@visits@", str(VISITS)))
    files = [str(folder / name) for name in ("driver.c", "code.c")]
    subprocess.run([*command, "-std=c99", "-O3", *files, "-lm", "-o", str(folder / "driver")], check=True)
    said = subprocess.run([str(folder / "driver")], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return {name: (float(middle), float(late)) for name, middle, late in rows}


def stepped(command: list[str], rom: supple.ReducedModel, folder: Path) -> tuple[float, float, int]:
    """One co-simulation step of the FMU's own length, one call for derivatives, µs; bytes of the zip."""
    (file,) = supple.export(rom, folder, to="fmu", prefix="code")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder / "unpacked")
    sources = folder / "unpacked" / "sources"
    (sources / "stepping.c").write_text(STEPPING)
    files = [str(path) for path in sorted(sources.glob("*.c"))]
    subprocess.run([*command, "-std=c99", "-O3", *files, "-lm", "-o", str(folder / "stepping")], check=True)
    said = subprocess.run([str(folder / "stepping")], check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1]), file.stat().st_size


def models() -> dict[str, supple.ReducedModel]:
    def load(name: str) -> Any:
        return supple.load(EXAMPLES / name / "mechanism.yaml")

    bars: Any = {"constraint_modes": ["E.z"], "internal_modes": 4}
    return {
        "orthoglide": supple.reduce(load("orthoglide"), tolerance=5e-3),
        "orthoglide, 8 x 8 x 8 quadratics": supple.reduce(load("orthoglide"), fit="quadratic", boxes=8),
        "flexible-four-bar": supple.reduce(load("flexible-four-bar"), tolerance=5e-2, **bars),
        "ralf": supple.reduce(load("ralf"), internal_modes=2, tolerance=5e-3),
    }


def main() -> None:
    command = local_compiler()
    if command is None:
        print("no C compiler was found")
        return
    for name, rom in models().items():
        print(f"{name}: {rom.layout.size} coordinates, {len(rom.fitted.arrays.leaves_i)} boxes")
        with tempfile.TemporaryDirectory() as made:
            for precision in ("double", "single"):
                folder = Path(made) / precision
                folder.mkdir()
                for function, (middle, late) in timed(command, rom, precision, folder).items():
                    print(f"    C, {precision}, {function:14} {middle:8.3f} µs, 99.99 % within {late:8.3f} µs "
                          f"({late / middle:.1f} of it)")  # fmt: skip
            folder = Path(made) / "fmu"
            step, derivative, size = stepped(command, rom, folder)
        print(
            f"    FMU, one co-simulation step     {step:8.3f} µs; derivatives {derivative:8.3f} µs; {size / 1e3:.0f} kB"
        )
        found = reference_states(rom, 1)
        assert found is not None
        n, s = rom.layout.size, rom.layout.theta
        x, u = found.states[0], found.inputs[0]
        one = x[:s].copy(), x[n:].copy(), u.copy()
        delta = x[s:n].copy()
        rom.forward(*one, delta=delta)
        spent = min(seconds(lambda: rom.forward(*one, delta=delta), 2000) for _ in range(5))  # noqa: B023
        print(f"    Python, forward, one call       {1e6 * spent:8.3f} µs")
    try:
        import pinocchio
    except ImportError as error:
        print(f"Pinocchio is missing ({error}): pip install 'supple[bench]'")
        return
    closed = Closed(pinocchio)
    v, tau = closed.consistent(np.array([0.3, -0.2, 0.1])), np.zeros(12)
    spent = min(seconds(lambda: closed.forward(v, tau), 2000) for _ in range(5))
    print(f"Pinocchio, orthoglide, constraintDynamics, one call {1e6 * spent:.3f} µs")


if __name__ == "__main__":
    main()
