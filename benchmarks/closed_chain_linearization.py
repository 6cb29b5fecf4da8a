"""Linearizing closed chains in motion: one state, a thousand in one call, and central differences.

The differences are taken the fastest way there is here: all perturbed configurations are closed and their coefficients
computed in one batch, on all cores, once for θ; those by θ̇ need no further closure. Both ways begin with θ and end with
A and B, and they must agree.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import supple

Array = NDArray[np.float64]

EXAMPLES = Path(__file__).parents[1] / "examples"
MACHINES = {"four-bar": 1.0, "andrews-squeezer": 1.0, "orthoglide": 0.1, "stewart": 0.1}  # rad or m of motion
STATES, ROUNDS, STEP = 1000, 10, 1e-5
LARGEST_DIFFERENCE, LEAST_RATIO = 1e-5, 1.0  # of the largest entry; what a release must keep


def best(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Seconds of the fastest round; the first one, which compiles, does not count."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def accelerations(model: supple.LocalModel, rates: Array, u: Array) -> Array:
    """θ̈ (N, s)."""
    force = model.force + np.einsum("nia,na->ni", model.input_map, u) - np.einsum("nij,nj->ni", model.damping, rates)
    force -= np.einsum("nijk,nj,nk->ni", model.christoffel, rates, rates)
    return np.linalg.solve(model.M, force[..., None])[..., 0]


def by_differences(mechanism: supple.Mechanism, theta: Array, rates: Array, u: Array) -> tuple[Array, Array]:
    """Lower halves of A (N, s, 2s) and B (N, s, inputs)."""
    count, s = theta.shape
    steps = STEP * np.concatenate([np.eye(s), -np.eye(s)])
    moved = (theta[None] + steps[:, None]).reshape(-1, s)
    perturbed = accelerations(supple.local(mechanism, moved), np.tile(rates, (2 * s, 1)), np.tile(u, (2 * s, 1)))
    by_theta = perturbed.reshape(2, s, count, s)
    here = supple.local(mechanism, theta)
    by_rate = np.array([[accelerations(here, rates + e, u) for e in part] for part in steps.reshape(2, s, s)])
    A = np.concatenate([(item[0] - item[1]) / (2 * STEP) for item in (by_theta, by_rate)])
    return A.transpose(1, 2, 0), np.linalg.solve(here.M, here.input_map)


def main() -> int:
    passed = True
    for name, size in MACHINES.items():
        mechanism = supple.load(EXAMPLES / name / "mechanism.yaml")
        rng, middle = np.random.default_rng(0), supple.assemble(mechanism).theta
        theta = middle + 0.1 * size * rng.uniform(-1, 1, (STATES, len(middle)))
        rates, u = size * rng.standard_normal(theta.shape), np.zeros((STATES, len(mechanism.actuators)))
        found = supple.linearize_batch(mechanism, theta, rates, inputs=u)
        A, B = by_differences(mechanism, theta, rates, u)
        s = theta.shape[1]
        off = max(np.abs(found.A[:, s:] - A).max() / np.abs(A).max(), np.abs(found.B[:, s:] - B).max(initial=0.0))
        one = best(lambda: supple.linearize(mechanism, theta[0], rates=rates[0], inputs=u[0]), 50)  # noqa: B023
        many = best(lambda: supple.linearize_batch(mechanism, theta, rates, inputs=u)) / STATES  # noqa: B023
        closed = supple.assemble(mechanism, theta)
        ready = best(lambda: supple.linearize_batch(mechanism, closed, rates, inputs=u)) / STATES  # noqa: B023
        numeric = best(lambda: by_differences(mechanism, theta, rates, u), 3) / STATES  # noqa: B023
        passed &= off < LARGEST_DIFFERENCE and numeric > LEAST_RATIO * many
        print(
            f"{name:17} {s} coordinates: one call {one * 1e6:.0f} µs; a state of {STATES} {many * 1e6:.1f} µs "
            f"({ready * 1e6:.1f} µs where it is assembled); central differences {numeric * 1e6:.1f} µs, "
            f"{numeric / many:.1f} times as long, and {off:.0e} away"
        )
    print("passed" if passed else "FAILED")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
