"""Inverse dynamics and local models of a seven-joint arm: the recursion for trees beside the general path.

Both run in the same process, interleaved; the general path is the one that closed chains take. Printed are the best
times of each and their ratios: `inverse` along 1000 instants, `local` of 1000 configurations and of one, and the
coefficients alone at configurations that are assembled already, as the sampling of `reduce` takes them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np

import supple
from supple.kinematics.closure import assemble
from supple.parameterization import rigid_rows

EXAMPLE = Path(__file__).parents[1] / "examples" / "seven-joint" / "mechanism.yaml"
INSTANTS, ROUNDS, SINGLE = 1000, 9, 200


@contextmanager
def general_path() -> Iterator[None]:
    """Inside, no mechanism is a tree."""
    inverse = "supple.inverse_dynamics.inverse_dynamics.recursive_tree"
    with patch(inverse, lambda mechanism: None), patch.object(rigid_rows, "tree_of_rows", lambda position: None):
        yield


def seconds(work: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


def compared(label: str, work: Callable[[], object], calls: int = 1) -> None:
    """Best of both, interleaved."""
    general, recursive = [], []
    for _ in range(ROUNDS + 1):  # the first compiles
        with general_path():
            general.append(seconds(work, calls))
        recursive.append(seconds(work, calls))
    old, new = min(general[1:]), min(recursive[1:])
    print(f"{label:42} general {1e3 * old:9.3f} ms   recursion {1e3 * new:9.3f} ms   ratio {old / new:6.1f}")


def main() -> None:
    arm, rng = supple.load(EXAMPLE), np.random.default_rng(0)
    time_ = np.linspace(0.0, 2.0, INSTANTS)
    size, rate = rng.uniform(0.2, 0.8, 7), rng.uniform(1.0, 3.0, 7)
    phase = np.outer(time_, rate)
    theta = size * np.sin(phase)
    names = assemble(arm).rest.numbering.coordinates
    path = supple.Trajectory(names, time_, theta, size * rate * np.cos(phase), -size * rate**2 * np.sin(phase))
    here, one = assemble(arm, theta), assemble(arm, theta[500])
    compared(f"inverse, {INSTANTS} instants", lambda: supple.inverse(arm, path))
    compared(f"local, {INSTANTS} configurations", lambda: supple.local(arm, theta))
    compared(f"local, {INSTANTS} assembled configurations", lambda: supple.local(arm, here))
    compared("local, one configuration", lambda: supple.local(arm, theta[500]), SINGLE)
    compared("local, one assembled configuration", lambda: supple.local(arm, one), SINGLE)


if __name__ == "__main__":
    main()
