"""How time and memory grow with the work: long chains, many coupled loops, many samples.

Chains of 125 to 1000 bodies go through `check`, `simulate` (twenty short steps) and `linearize`; processor time is that
of each verb alone on a mechanism that is loaded, and the exponent is the slope of the line through all sizes, in
logarithms. The matrix A of a linear model has 4 N² entries: its time is given for each of them as well. Then ladders of
a hundred four-bars that share bodies, in the plane and in space, where three constraints of each loop are redundant.

Memory is the largest that a process of its own took to reduce the flexible four-bar on a grid, beyond what it took for
a grid of four boxes; samples go into a store and the model into a file. With `--full` there are 200 000 samples.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kinematics"))
from large_machines import chain, ladder  # noqa: E402

SIZES = (125, 250, 500, 1000)
LARGEST_EXPONENT = {"check": 1.3, "simulate": 1.3, "linearize": 2.3}
LONGEST_LADDER = 1.0  # s of processor, `check` of a hundred loops
SAMPLES = (20_000, 50_000)
MOST_COPIES = 6.0  # of the model, in memory while it is made
ONE_GROUP = 80 * 2**20  # bytes that the samples of one group of boxes take, with all that is made of them

MEMORY = """
import sys, tempfile, warnings
import supple
from pathlib import Path
warnings.simplefilter("ignore")
machine = supple.load(sys.argv[1])
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()  # getrusage counts the parent's memory too
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
def reduced(boxes, folder):
    return supple.reduce(machine, fit="quadratic", boxes=boxes, internal_modes=2, output=Path(folder) / "model.rom")
with tempfile.TemporaryDirectory() as folder:
    reduced(4, folder)
base = peak()
with tempfile.TemporaryDirectory() as folder:
    model = reduced(int(sys.argv[2]), folder)
    size = (Path(folder) / "model.rom").stat().st_size
    store = (Path(folder) / "model.rom.samples").stat().st_size
    print(model.provenance["samples"], peak() - base, size, store)
"""


def exponent(times: list[float]) -> float:
    """Slope of log t over log N."""
    return float(np.polyfit(np.log(SIZES), np.log(times), 1)[0])


def chains(plane: str | None) -> dict[str, float]:
    """A row for each size, and the exponents."""
    times: dict[str, list[float]] = {"check": [], "simulate": [], "linearize": []}
    where = "in the plane" if plane else "in space"
    print(f"chains {where}, s of processor\n  bodies    check  simulate  linearize  (ns an entry of A)  Newton steps")
    for count in SIZES:
        actuators = {f"m{i}": {"joint": f"P{i}"} for i in range(count)}
        machine = chain(count, plane=plane, actuators=actuators)
        verbs: dict[str, Callable[[supple.Mechanism], Any]] = {
            "check": supple.check,
            "simulate": lambda one: supple.simulate(one, until=2e-3, step=1e-4),
            "linearize": supple.linearize,
        }
        results = {}
        for name, verb in verbs.items():
            start = time.process_time()
            results[name] = verb(machine)
            times[name].append(time.process_time() - start)
        one = [taken[-1] for taken in times.values()]
        shown = f"{one[0]:8.2f} {one[1]:9.2f} {one[2]:10.2f} {1e9 * one[2] / (4 * count**2):12.0f}"
        print(f"  {count:6d} {shown} {results['simulate'].iterations:19d}", flush=True)
    found = {name: exponent(taken) for name, taken in times.items()}
    print("  exponents " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()))
    return found


def memory(samples: int) -> float:
    """Bytes beyond what may be: so many times the model, and one group of boxes."""
    machine = ROOT / "examples" / "flexible-four-bar" / "mechanism.yaml"
    run = [sys.executable, "-c", MEMORY, str(machine), str(samples // 2)]
    found = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    count, peak, model, store = (int(item) for item in found)
    sizes = f"{peak / 2**20:10.0f} {model / 2**20:8.1f} {store / 2**20:8.1f}"
    print(f"  {count:7d} {sizes} {peak / model:15.1f}", flush=True)
    return peak - MOST_COPIES * model - ONE_GROUP


def main() -> None:
    warnings.simplefilter("ignore")
    small = chain(20, actuators={f"m{i}": {"joint": f"P{i}"} for i in range(20)})  # imports and kernels
    supple.check(chain(100))
    supple.simulate(small, until=2e-3, step=1e-4)
    supple.linearize(small)
    missed = []
    for plane in ("xz", None):
        found = chains(plane)
        missed += [
            f"{name}: exponent {found[name]:.2f} > {most}"
            for name, most in LARGEST_EXPONENT.items()
            if found[name] > most
        ]
    for plane in ("xz", None):
        machine = ladder(100, plane=plane)
        start = time.process_time()
        facts = supple.check(machine)
        taken = time.process_time() - start
        print(
            f"ladder of 100 loops {'in the plane' if plane else 'in space'}: check {taken:.2f} s of processor, "
            f"mobility {facts.mobility}, {facts.redundant_constraints} redundant constraints"
        )
        if taken > LONGEST_LADDER:
            missed.append(f"ladder: {taken:.2f} s > {LONGEST_LADDER} s")
    print("flexible four-bar on a grid, MB\n  samples     memory    model    store  memory / model")
    for samples in (*SAMPLES, *((200_000,) if "--full" in sys.argv else ())):
        beyond = memory(samples)
        if beyond > 0.0:
            missed.append(f"{samples} samples take {beyond / 2**20:.0f} MB too much")
    if missed:
        raise SystemExit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
