"""Reduce the Stewart platform in eight dimensions: six legs, its payload and the size of its platform, to 1 %."""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

import supple

VARY = {"platform_mass": (120.0, 180.0), "top": (0.855, 0.945)}  # kg, ± 20 %; m, ± 5 %
TOLERANCE = 1e-2


def main(machines: int, postures: int) -> None:
    stewart = supple.load(Path(__file__).with_name("mechanism.yaml"))
    start, computed = time.perf_counter(), _processor()
    with warnings.catch_warnings():  # the limits of the legs do not depend on the platform
        warnings.filterwarnings("ignore", message="limits of", category=supple.SuppleWarning)
        model = supple.reduce(stewart, vary=VARY, tolerance=TOLERANCE)
    elapsed, computed = time.perf_counter() - start, _processor() - computed
    made, arrays = model.provenance, model.family.fitted.arrays
    terms = int(arrays.leaves_i[:, 1].max())
    s = arrays.indices.shape[1]
    print(f"{s} dimensions to {TOLERANCE:.0%}: {made['samples']} samples, {made['checks']} checks, boxes: "
          f"{made['boxes']}, terms: {terms}; {elapsed:.0f} s, {computed:.0f} s of processor time")  # fmt: skip
    print(f"highest degrees of the legs, {', '.join(VARY)}: {arrays.indices[:terms].max(axis=0).tolist()}")
    found = fresh_errors(stewart, model, machines, postures)
    print(f"at {machines * postures} new points, {machines} machines within the ranges:")
    for name in ("M", "christoffel", "force", "outputs"):
        print(f"  {name:12} stated {model.error[name]:.3%}, found {found[name]:.3%}")


def fresh_errors(stewart: supple.Mechanism, model: supple.ReducedModel, machines: int, postures: int) -> dict:
    """Return the largest error of each family over machines with random parameters."""
    lower, upper = np.array(list(VARY.values())).T
    worst: dict[str, float] = {}
    for k, share in enumerate(np.random.default_rng(1).random((machines, len(VARY)))):
        values = dict(zip(VARY, (lower + share * (upper - lower)).tolist(), strict=True))
        compared = supple.compare(stewart, model.at(values), points=postures, seed=k)
        worst = {name: max(error, worst.get(name, 0.0)) for name, error in compared.error.items()}
    return worst


def _processor() -> float:
    """Return the processor time of this process and its children."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=40, help="number of random machines")
    parser.add_argument("--postures", type=int, default=50, help="number of postures per machine")
    given = parser.parse_args()
    main(given.machines, given.postures)
