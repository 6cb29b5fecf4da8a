"""Exported C of six machines: operations, bytes, time and instructions, beside Pinocchio's RNEA and ABA in one run.

    python benchmarks/speed_table.py [MACHINE ...] [--models FOLDER] [--before SRC] [--rounds 300] [--core N]

There are three rows for each machine of `run_time_forms.py`: the reduced model within the tolerance, the more accurate
surrogate, and the run-time form that is fitted to it within the same tolerance. `--before` adds the model as an older
source tree exports it (the folder `src` of a `git worktree`). All are compiled with -O2 and with -O3 -march=native, in
double and single precision, and with -std=gnu99 for fused multiply-adds. They are called at 1024 random states inside
the region. Serial arms (`serial_arm.py`) have as many joints as the model has coordinates θ (S), and η (N). A round
calls each function at all states twice and times the second pass. The rounds of all functions are interleaved, and the
shortest counts. The spread is how much longer the median round takes. Operations are multiplications and additions of
a call, as stated in the header, and kB all tables, with those of outputs.
`exported_speed.py` times single calls with their worst case, and FMUs.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import serial_arm
from exported_speed import array
from microcontroller import BOARDS, cost_on_board, missing
from run_time_forms import MACHINES, form, reduced
from serial_arm import Times, interleaved

import supple
from supple.export.c.target import References, reference_states
from supple.export.fmu.target import local_compiler

POINTS, BOARD, BEFORE = 1024, "cortex-m7", "model, before"
FLAGS = {"-O2": ["-O2"], "-O3 native": ["-O3", "-march=native"]}
PRECISIONS, FUNCTIONS = ("double", "single"), ("inverse", "forward")
GOALS = {"orthoglide": (3, 0.15), "ralf": (4, 0.2), "stewart": (6, 1.0)}  # joints of the arm, share of its RNEA
PASSES = """
#define _POSIX_C_SOURCE 199309L
#include <time.h>
#include "code.h"
#include "states.h"

static real found[2][STATES][CODE_COORDINATES];
static int status;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)(t.tv_sec & 0xffff) + (double)t.tv_nsec;
}

static void inverse_pass(void)
{
    int k;
    for (k = 0; k < STATES; ++k) status |= code_inverse(states[k], states[k] + CODE_COORDINATES, asked[k], found[0][k]);
}

static void forward_pass(void)
{
    int k;
    for (k = 0; k < STATES; ++k) status |= code_forward(states[k], states[k] + CODE_COORDINATES, @inputs@found[1][k]);
}

/* Time of a call in ns, in the second of two passes through all states: the first one loads the cache. */
static double timed(void (*pass)(void))
{
    double start;
    pass();
    start = now();
    pass();
    return (now() - start) / STATES;
}

double inverse(void) { return timed(inverse_pass); }
double forward(void) { return timed(forward_pass); }

int results(double *y)
{
    int i;
    for (i = 0; i < 2 * STATES * CODE_COORDINATES; ++i) y[i] = (double)(&found[0][0][0])[i];
    return status;
}
"""
EXPORT = """
import sys, supple
supple.export(supple.load_model(sys.argv[1]), sys.argv[2], to="c", prefix=sys.argv[3], precision=sys.argv[4])
"""


class Build(NamedTuple):
    """One compiled export."""

    precision: str
    flags: str


@dataclass
class Row:
    """Code of a model: its export, what the header states, its compiled libraries, and its errors."""

    machine: str
    label: str
    model: supple.ReducedModel
    write: Callable[..., list[Path]]
    operations: dict[str, int] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    passes: dict[tuple[Build, str], Callable[[], float]] = field(default_factory=dict)
    apart: dict[tuple[str, str], float] = field(default_factory=dict)
    instructions: dict[str, float] = field(default_factory=dict)
    flash: int = 0

    def build(self, command: list[str], at: References, folder: Path) -> None:
        """Export, compile, and compare with Python: results relative to the largest of their kind."""
        for precision in PRECISIONS:
            target = folder / self.machine / self.label.replace(" ", "-") / precision
            target.mkdir(parents=True)
            self.write(self.model, target, to="c", prefix="code", precision=precision)
            header = (target / "code.h").read_text()
            self.tables[precision] = int(re.findall(r"Tables: (\d+) bytes", header)[0])
            for name in FUNCTIONS:
                self.operations[name] = int(re.findall(rf"^ \*     .*\b{name}\b.*: (\d+)$", header, re.MULTILINE)[0])
            kind = "double" if precision == "double" else "float"
            text = f"typedef {kind} real;\nenum {{ STATES = {len(at.states)} }};\n"
            text += array("states", at.states) + array("asked", at.asked) + array("inputs", at.inputs)
            (target / "states.h").write_text(text)
            (target / "passes.c").write_text(
                PASSES.replace("@inputs@", "inputs[k], " if self.model.layout.inputs else "")
            )
            for flags, options in FLAGS.items():
                self._load(command, at, target, Build(precision, flags), options)

    def _load(self, command: list[str], at: References, target: Path, build: Build, options: list[str]) -> None:
        file = target / f"{build.flags.replace(' ', '')}.so"
        sources = [str(target / name) for name in ("passes.c", "code.c")]
        shared = ["-std=gnu99", *options, "-fPIC", "-shared", "-Wl,-Bsymbolic"]
        subprocess.run([*command, *shared, *sources, "-lm", "-o", str(file)], check=True)
        library = ctypes.CDLL(str(file))
        for name in FUNCTIONS:
            function = getattr(library, name)
            function.restype = ctypes.c_double
            function()
            self.passes[build, name] = function
        found = np.empty((2, *at.asked.shape))
        if library.results(ctypes.c_void_p(found.ctypes.data)) != 0:
            raise AssertionError(f"{self.machine}, {self.label}, {build}: a state was refused")
        n, s = self.model.layout.size, self.model.layout.theta
        eta, v = at.states[:, :n], at.states[:, n:]
        expected = np.array([
            self.model.inverse(eta[:, :s], v, at.asked, delta=eta[:, s:]).reshape(eta.shape),
            self.model.forward(eta[:, :s], v, at.inputs, delta=eta[:, s:]).reshape(eta.shape),
        ])  # fmt: skip
        for name, mine, theirs in zip(FUNCTIONS, found, expected, strict=True):
            apart = float(np.abs(mine - theirs).max() / np.abs(theirs).max())
            if build.precision == "double" and not apart < 1e-9:
                raise AssertionError(f"{self.machine}, {self.label}, {build}, {name}: {apart:.1e} apart from Python")
            self.apart[build.precision, name] = max(apart, self.apart.get((build.precision, name), 0.0))

    def count(self) -> None:
        """Count instructions and bytes of flash on the board."""
        costs, size, _ = cost_on_board(self.model, BOARDS[BOARD], functions=FUNCTIONS, write=self.write)
        self.instructions = {name: costs[name].most for name in FUNCTIONS}
        self.flash = size.flash


def older_export(source: Path) -> Callable[..., list[Path]]:
    """Return `export` of another source tree."""

    def write(model: supple.ReducedModel, folder: Path, *, to: str, prefix: str, precision: str) -> list[Path]:
        assert to == "c"
        model.save(Path(folder) / "model.rom")
        subprocess.run([sys.executable, "-c", EXPORT, str(Path(folder) / "model.rom"), str(folder), prefix, precision],
                       check=True, env={**os.environ, "PYTHONPATH": str(source.resolve())})  # fmt: skip
        return [Path(folder) / f"{prefix}.{kind}" for kind in ("h", "c")]

    return write


def rows_of(name: str, folder: Path, before: Path | None) -> list[Row]:
    """Return the rows of a machine; none if its file is missing."""
    machine = MACHINES[name]
    model, accurate = reduced(name, machine.tolerance, folder), reduced(name, machine.surrogate, folder)
    cheaper = form(name, folder)
    if model is None or accurate is None or cheaper is None:
        return []
    now = [Row(name, "model", model, supple.export), Row(name, "surrogate", accurate, supple.export),
           Row(name, "form", cheaper, supple.export)]  # fmt: skip
    return now if before is None else [Row(name, BEFORE, model, older_export(before)), *now]


def print_table(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, ["-" * width for width in widths], *rows):
        print("|", " | ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)), "|")
    print()


def pair(values: Any, digits: int = 0) -> str:
    """Return the numbers of `inverse` and `forward`."""
    return " / ".join("-" if value is None else f"{value:.{digits}f}" for value in values)


def print_costs(rows: list[Row], times: dict[Any, Times]) -> None:
    builds = [Build(precision, flags) for precision in PRECISIONS for flags in FLAGS]
    head = ["machine", "code", "error, %", "boxes", "operations", "kB, double", "kB, single"]
    head += [f"{build.precision} {build.flags}, ns" for build in builds]
    head += ["spread", f"{BOARD}, instructions", "flash, kB", "single, error"]
    lines = []
    for k, row in enumerate(rows):
        found = {build: [times[k, build, name] for name in FUNCTIONS] for build in builds}
        line = [row.machine, row.label, f"{100 * max(row.model.error.values()):.2g}"]
        line += [str(len(row.model.fitted.arrays.leaves_f)), pair(row.operations[name] for name in FUNCTIONS)]
        line += [f"{row.tables[precision] / 1e3:.3g}" for precision in PRECISIONS]
        line += [pair(item.least for item in found[build]) for build in builds]
        line += [f"{max(item.spread for build in builds for item in found[build]):.0%}"]
        line += [pair(row.instructions.get(name) for name in FUNCTIONS), f"{row.flash / 1e3:.3g}" if row.flash else "-"]
        line += [" / ".join(f"{row.apart['single', name]:.0e}" for name in FUNCTIONS)]
        lines.append(line)
    print_table(head, lines)


def print_ratios(rows: list[Row], times: dict[Any, Times], arms: bool) -> None:
    """Print the forms against the arms and against the code before."""
    native, plain = Build("double", "-O3 native"), Build("double", "-O2")
    head = ["machine", "S, N", "inverse/RNEA of S joints", "of N", "forward/ABA of S joints", "of N",
            "-O2 inverse/RNEA of N", "inverse/generated RNEA of S", "of N", "-O2/-O3", "before/form"]  # fmt: skip
    lines = []
    for k, row in enumerate(rows):
        if row.label != "form":
            continue
        inverse, forward = (times[k, native, name].least for name in FUNCTIONS)
        slow = times[k, plain, "inverse"].least
        s, n = row.model.layout.theta, row.model.layout.size

        def share(value: float, joints: int, algorithm: str) -> str:
            return f"{value / times['arm', joints, algorithm].least:.2f}" if arms else "-"

        older = [i for i, item in enumerate(rows) if (item.machine, item.label) == (row.machine, BEFORE)]
        earlier = [times[i, native, name].least / times[k, native, name].least for i in older for name in FUNCTIONS]
        lines.append([
            row.machine, f"{s}, {n}", share(inverse, s, "RNEA"), share(inverse, n, "RNEA"), share(forward, s, "ABA"),
            share(forward, n, "ABA"), share(slow, n, "RNEA"), share(inverse, s, "RNEA, generated"),
            share(inverse, n, "RNEA, generated"), f"{slow / inverse:.1f}", pair(earlier, 1) if earlier else "-",
        ])  # fmt: skip
        if arms and row.machine in GOALS:
            joints, most = GOALS[row.machine]
            base = times["arm", joints, "RNEA"].least
            stated = row.model.provenance["run_time"]["tables"] / 1e3
            print(f"{row.machine}: {inverse / base:.3f} of RNEA of {joints} joints (goal {most:g}: "
                  f"{'met' if inverse <= most * base else 'missed'}), {slow / base:.3f} with -O2 (goal {3 * most:g}: "
                  f"{'met' if slow <= 3 * most * base else 'missed'}), {stated:.3g} kB of tables in single precision "
                  f"(budget {MACHINES[row.machine].memory})")  # fmt: skip
    print()
    print_table(head, lines)


def table(command: list[str], given: argparse.Namespace) -> None:
    """Print the table of the machines, of the arms, and of their ratios."""
    rows = [row for name in given.machines or MACHINES for row in rows_of(name, given.models, given.before)]
    sizes = {size for row in rows for size in (row.model.layout.theta, row.model.layout.size)}
    at = {row.machine: reference_states(row.model, POINTS, seed=4) for row in rows if row.label == "form"}
    passes: dict[Any, Callable[[], float]] = {}
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda row: row.build(command, at[row.machine], Path(made)), rows))
        try:
            arms = serial_arm.passes(sorted({*serial_arm.JOINTS, *sizes}))
        except ModuleNotFoundError as error:
            print(f"without serial arms: {error}")
            arms = {}
        passes |= {("arm", *key): one for key, one in arms.items()}
        passes |= {(k, *key): one for k, row in enumerate(rows) for key, one in row.passes.items()}
        times = interleaved(passes, given.rounds, given.core)
        if missing():
            print(f"without instructions on {BOARD}: {missing()}")
        else:
            for row in rows:
                row.count()
    print(f"pairs: inverse / forward; shortest of {given.rounds} interleaved rounds; error: largest stated error; "
          "single, error: results in single precision, relative to the largest of their kind\n")  # fmt: skip
    print_costs(rows, times)
    if arms:
        serial_arm.report({key: times["arm", *key] for key in arms})
        print()
    print_ratios(rows, times, bool(arms))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"some of {', '.join(MACHINES)}")
    parser.add_argument("--models", type=Path, default=Path("build/models"), help="folder of reduced models")
    parser.add_argument("--before", type=Path, metavar="SRC", help="source folder of an older version to compare with")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--core", type=int, help="processor core of the timed calls; default: the last one")
    given = parser.parse_args()
    command = local_compiler()
    if command is None:
        raise SystemExit("no C compiler was found")
    table(command, given)


if __name__ == "__main__":
    main()
