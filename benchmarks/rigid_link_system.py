"""The equivalent rigid link system beside the other formulations: what differs, and what a state costs.

Frequencies of locked modes at ten postures, against the uncondensed elastic mechanism and against condensed bodies; a
short led motion of the Surgiscope, all loops closed, against the full equations of large deflections.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import supple
from supple.diagnostics import SuppleNote
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.formulations.rigid_link_system.small_link_motions import UNCONDENSED

Array = NDArray[np.float64]

EXAMPLES = Path(__file__).parents[1] / "examples"
MACHINES = {"surgiscope": 0.3, "serial-flexible": 0.8}  # rad about rest
POSTURES, COUNT = 10, 8
UNTIL, STEP, TURNS = 0.05, 5e-4, (0.01, -0.01, 0.005)  # s, s, rad
LARGEST = {"uncondensed": 1e-8, "condensed": 1e-6, "time": 0.01}  # what a release must keep


def load(name: str) -> supple.Mechanism:
    return supple.load(EXAMPLES / name / "mechanism.yaml")


def frequencies(name: str, spread: float) -> bool:
    """Largest relative differences at the postures."""
    machine = load(name)
    rest = supple.assemble(machine).theta
    random = np.random.default_rng(7)
    tried = rest + spread * random.uniform(-1.0, 1.0, (2 * POSTURES, len(rest)))
    reached = supple.assemble(machine, tried, failures="mark").assembled
    here = supple.assemble(machine, tried[reached][:POSTURES])
    supple.modes(machine, here.theta[0], count=COUNT, formulation="erls")
    start = time.perf_counter()
    ours = supple.modes(machine, here, count=COUNT, formulation="erls").frequencies_hz
    took = (time.perf_counter() - start) / POSTURES
    condensed = supple.modes(machine, here, count=COUNT).frequencies_hz
    whole = elastic_rest(machine, UNCONDENSED)
    held = whole.list_held_rows(actuators=True)
    squares = np.array([dense_modes(whole, one, held, preload=False)[0][:COUNT] for one in here.each()])
    worst = {
        "uncondensed": float(np.abs(ours / (np.sqrt(squares) / (2.0 * np.pi)) - 1.0).max()),
        "condensed": float(np.abs(ours / condensed - 1.0).max()),
    }
    told = ", ".join(f"{key} {value:.2g} (limit {LARGEST[key]:g})" for key, value in worst.items())
    print(f"{name}: {COUNT} locked frequencies at {POSTURES} postures differ by: {told}; {1e3 * took:.0f} ms a posture")
    return all(value <= LARGEST[key] for key, value in worst.items())


def in_time() -> bool:
    """A led motion of the Surgiscope."""
    machine = load("surgiscope")
    names, theta = list(machine.actuators), supple.assemble(machine).theta
    motion = {
        name: lambda t, at=float(at), turn=turn: at + turn * 0.5 * (1.0 - np.cos(np.pi * min(t / UNTIL, 1.0)))
        for name, at, turn in zip(names, theta, TURNS, strict=True)
    }
    start = time.perf_counter()
    ours = supple.simulate(machine, until=UNTIL, step=STEP, motion=motion, formulation="erls")
    took = time.perf_counter() - start
    theirs = supple.simulate(machine, ours.time, motion=motion)
    rigid = supple.assemble(machine, np.column_stack(list(ours.coordinates.values()))).frame("platform").position
    bent = [run.frame("platform").position - rigid for run in (ours, theirs)]
    size = float(np.abs(bent[1]).max())
    error = float(np.abs(bent[0] - bent[1]).max()) / size
    print(
        f"surgiscope in time: a deflection of {1e3 * size:.2f} mm differs by {100.0 * error:.2f} % "
        f"(limit {100.0 * LARGEST['time']:g} %); {1e3 * took / (ours.iterations or 1):.1f} ms an iteration"
    )
    return error <= LARGEST["time"]


def main() -> int:
    warnings.simplefilter("ignore", SuppleNote)  # how damping is taken in time, the same in both
    passed = [frequencies(name, spread) for name, spread in MACHINES.items()]
    return 0 if all([*passed, in_time()]) else 1


if __name__ == "__main__":
    sys.exit(main())
