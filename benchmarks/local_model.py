"""Local models of the Orthoglide against one eigenvalue problem of the size of a flexible four-bar.

The yardstick is `scipy.linalg.eigh` on a fixed symmetric pencil of 84 coordinates, timed in the same run. Closure from
rest, M, ∂M/∂θ, Γ, the force with its gradient, and all maps are included in every figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import scipy.linalg

import supple

EXAMPLE = Path(__file__).parents[1] / "examples" / "orthoglide" / "mechanism.yaml"
LARGEST_SINGLE, LARGEST_BATCH = 1 / 4, 1 / 15  # what a release must stay below
ROUNDS = 15


def pencil(size: int = 84) -> tuple[np.ndarray, np.ndarray]:
    """A fixed symmetric pencil (K, M), both positive definite."""
    rng = np.random.default_rng(84)
    K, M = (rng.standard_normal((size, size)) for _ in range(2))
    return K @ K.T, M @ M.T + size * np.eye(size)


def seconds(work: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


def main() -> None:
    machine = supple.load(EXAMPLE)
    K, M = pencil()
    theta = np.random.default_rng(1).uniform(-0.26, 0.06, (1000, 3))
    work = {
        "eigh": (lambda: scipy.linalg.eigh(K, M), 20),
        "single": (lambda: supple.local(machine, theta[0]), 100),
        "batch": (lambda: supple.local(machine, theta), 1),
    }
    for task, _ in work.values():  # compile, warm up
        task()
    # Interleaved, so that a busy spell of the machine falls on all of them alike.
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS):
        for name, (task, calls) in work.items():
            times[name].append(seconds(task, calls))
    yardstick = median(times["eigh"])
    single, batch = median(times["single"]), median(times["batch"]) / len(theta)
    print(f"scipy.linalg.eigh, 84 x 84 pencil             {yardstick * 1e6:9.1f} µs")
    for name, value, limit in (("one call", single, LARGEST_SINGLE), ("each in a batch of 1000", batch, LARGEST_BATCH)):
        verdict = "met" if value <= limit * yardstick else "MISSED"
        print(
            f"Orthoglide local model, {name:23} {value * 1e6:8.1f} µs"
            f"   ratio 1/{yardstick / value:5.1f}   (at most 1/{1 / limit:.0f}: {verdict})"
        )


if __name__ == "__main__":
    main()
