"""Run-time forms of six machines within budgets: error of every family, boxes, operations, memory, jumps, energy drift.

    python benchmarks/run_time_forms.py [--models FOLDER] [MACHINE ...]

Reduced models and the chosen forms are kept in the folder, because reductions take minutes. The carbon Delta is read
from the folder of shared data (SUPPLE_SHARED_DATA), and left out without it.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import supple


@dataclass(frozen=True)
class Machine:
    """A machine, the options of its reduction, and the budgets and tolerance of its form.

    around : half widths of the region about a named configuration, in rad, instead of a region
    """

    source: str
    memory: str
    tolerance: float
    surrogate: float
    options: dict[str, Any] = field(default_factory=dict)
    around: tuple[str, float] | None = None


DEGREES = {"left": (110.0, 130.0), "right": (50.0, 70.0)}
MACHINES = {
    "orthoglide": Machine("orthoglide", "64kB", 5e-3, 1e-3),
    "ralf": Machine("ralf", "16kB", 1e-2, 1e-3, {"internal_modes": 2}),
    "five-bar-gearbox": Machine(
        "five-bar-gearbox", "16kB", 5e-3, 1e-3,
        {"internal_modes": 2, "preload": False,
         "region": {name: tuple(np.radians(pair)) for name, pair in DEGREES.items()}},
    ),
    "surgiscope": Machine(
        "surgiscope", "64kB", 5e-3, 1e-3, {"internal_modes": 3, "preload": False}, around=("first", 0.15)
    ),
    "stewart": Machine("stewart", "1MB", 1e-2, 3e-3),
    "carbon-delta": Machine(
        "trial/carbon-delta.yaml", "64kB", 5e-3, 1e-3,
        {"internal_modes": 3, "region": {f"motor{n}": (-0.2, 0.3) for n in (1, 2, 3)}},
    ),
}  # fmt: skip


def reduced(name: str, tolerance: float, folder: Path) -> supple.ReducedModel | None:
    """Return the reduced model of a machine, from the folder if it is there; None without the machine's file."""
    machine = MACHINES[name]
    file = folder / f"{name}-{tolerance:g}.rom"
    if file.exists():
        return supple.load_model(file)
    source = machine.source
    if "/" in source:
        shared = os.environ.get("SUPPLE_SHARED_DATA", "")
        if not shared:
            print(f"{name}: set SUPPLE_SHARED_DATA to the folder that holds {source}\n")
            return None
        source = str(Path(shared) / source)
    mechanism, options = supple.load(source), dict(machine.options)
    if machine.around is not None:
        where, width = machine.around
        there = supple.assemble(mechanism, where)
        values = np.ravel(there.theta).tolist()
        options["region"] = {key: (x - width, x + width) for key, x in zip(there.coordinates, values, strict=True)}
    model = supple.reduce(mechanism, tolerance=tolerance, progress=False, **options)
    folder.mkdir(parents=True, exist_ok=True)
    model.save(file)
    return model


def surrogate(name: str, folder: Path) -> supple.ReducedModel | None:
    return reduced(name, MACHINES[name].surrogate, folder)


def form_file(name: str, folder: Path) -> Path:
    machine = MACHINES[name]
    return folder / f"{name}-{machine.tolerance:g}-{machine.memory}.rom"


def form(name: str, folder: Path) -> supple.ReducedModel | None:
    """Return the run-time form of a machine, from the folder if it is there; None without the machine's file."""
    file = form_file(name, folder)
    if not file.exists():
        report(name, folder)
    return supple.load_model(file) if file.exists() else None


def report(name: str, folder: Path) -> None:
    """Print the trade-off of one machine, and the stated errors of model and form; keep the chosen form."""
    model, machine = surrogate(name, folder), MACHINES[name]
    if model is None:
        return
    begun = time.perf_counter()
    forms = supple.run_time_forms(model, memory=machine.memory, tolerance=machine.tolerance, target="cortex-m7")
    forms.model.save(form_file(name, folder))
    took = time.perf_counter() - begun
    print(forms)
    found = forms.model.error
    errors = ", ".join(f"{key} {100.0 * model.error[key]:.2g} -> {100.0 * found[key]:.2g}" for key in found)
    print(f"stated errors in %, model -> form: {errors}")
    chosen, itself = forms.chosen, forms.forms[0]
    print(f"multiply-adds of inverse {itself.inverse} -> {chosen.inverse}, of forward {itself.forward} -> "
          f"{chosen.forward}; {model.provenance['samples']} samples of the mechanism; {took:.0f} s\n")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"some of {', '.join(MACHINES)}")
    parser.add_argument("--models", type=Path, default=Path("build/models"), help="folder of reduced models")
    given = parser.parse_args()
    for name in given.machines or MACHINES:
        report(name, given.models)


if __name__ == "__main__":
    main()
