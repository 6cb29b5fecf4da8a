"""The Stewart platform in eight dimensions: six legs, what it carries and the size of its platform, to 1 %."""

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
    with warnings.catch_warnings():  # legs keep the limits of the file, whatever the platform
        warnings.filterwarnings("ignore", message="limits of", category=supple.SuppleWarning)
        model = supple.reduce(stewart, vary=VARY, tolerance=TOLERANCE)
    elapsed, computed = time.perf_counter() - start, _processor() - computed
    made, arrays = model.provenance, model.family.fitted.arrays
    terms = int(arrays.leaves_i[:, 1].max())
    s = arrays.indices.shape[1]
    print(f"{s} dimensions to {TOLERANCE:.0%}: {made['samples']} samples, {made['checks']} checks, boxes: "
          f"{made['boxes']}, terms: {terms}; {elapsed:.0f} s, {computed:.0f} s of processor")  # fmt: skip
    print(f"highest powers of the legs, of {', '.join(VARY)}: {arrays.indices[:terms].max(axis=0).tolist()}")
    found = fresh_errors(stewart, model, machines, postures)
    print(f"on {machines * postures} fresh points, {machines} machines between the ranges:")
    for name in ("M", "christoffel", "force", "outputs"):
        print(f"  {name:12} stated {model.error[name]:.3%}, found {found[name]:.3%}")


def fresh_errors(stewart: supple.Mechanism, model: supple.ReducedModel, machines: int, postures: int) -> dict:
    """The largest error of each family over machines with parameters anywhere in their ranges."""
    lower, upper = np.array(list(VARY.values())).T
    worst: dict[str, float] = {}
    for k, share in enumerate(np.random.default_rng(1).random((machines, len(VARY)))):
        values = dict(zip(VARY, (lower + share * (upper - lower)).tolist(), strict=True))
        compared = supple.compare(stewart, model.at(values), points=postures, seed=k)
        worst = {name: max(error, worst.get(name, 0.0)) for name, error in compared.error.items()}
    return worst


def _processor() -> float:
    """Processor time of this process and of those it waited for."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=40, help="values of the parameters that errors are looked at")
    parser.add_argument("--postures", type=int, default=50, help="of each")
    given = parser.parse_args()
    main(given.machines, given.postures)
