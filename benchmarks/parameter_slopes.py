"""Samples that slopes along parameters save: families of the four-bar and of the Orthoglide, with and without them.

First the eigenvalues of RALF along its payload, against differences. A sample knows its slopes along θ either way;
samples, checks and boxes are those for an error of 1e-3.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.reduction import sampling

EXAMPLES = Path(supple.__file__).parents[2] / "examples"
CASES: tuple[tuple[str, dict[str, tuple[float, float]], dict[str, Any] | None], ...] = (
    ("four-bar", {"coupler": (0.49, 0.55)}, {"crank": (-1.2, 1.2)}),
    ("orthoglide", {"leg": (0.65, 0.75)}, None),
)


def extrapolated(f: Callable[[float], Any], at: float, step: float) -> Any:
    """f' by central differences, extrapolated twice."""
    coarse, fine, finest = ((f(at + h) - f(at - h)) / (2.0 * h) for h in (step, step / 2.0, step / 4.0))
    return (16.0 * (4.0 * finest - fine) - (4.0 * fine - coarse)) / 45.0


def eigenvalues_along_the_payload() -> None:
    """Of RALF and of its reduced model, against differences; the model also against the mechanism."""
    file, theta, at = EXAMPLES / "ralf" / "mechanism.yaml", [1.1, 0.95], 11.3

    def arm(payload: float) -> supple.Mechanism:
        return supple.load(file, parameters={"payload": payload})

    def squares(payload: float) -> Any:
        mechanism = arm(payload)
        rest = elastic_rest(mechanism, 1e9)  # nothing condensed
        return dense_modes(rest, supple.assemble(mechanism, theta), rest.list_held_rows(actuators=True), preload=False)[
            0
        ][:4]

    found = supple.modes(arm(at), theta, count=4, along="payload").eigenvalue_slopes["payload"]
    off = np.abs(found / extrapolated(squares, at, 0.05) - 1.0).max()
    print(f"ralf, modes: ∂ω²/∂payload {np.array2string(found, precision=6)} 1/(s² kg), off by {off:.1e}")
    region = {"lift": (1.05, 1.2), "elbow": (0.9, 1.05)}
    model = supple.reduce(
        arm(12.0), region=region, vary={"payload": (8.0, 16.0)}, internal_modes=2, store=False, progress=False
    )
    slopes = model.at(payload=at).linearize(theta, drives=False, along="payload").eigenvalue_slopes["payload"]
    expected = extrapolated(lambda p: model.at(payload=p).linearize(theta, drives=False).eigenvalues, at, 0.2)
    of_arm = supple.linearize(arm(at), theta, internal_modes=2, drives=False, along="payload")
    full = of_arm.eigenvalue_slopes["payload"]
    own, other = (np.abs(slopes - item).max() / np.abs(item).max() for item in (expected, full))
    print(
        f"ralf, linear model of a family: ∂λ/∂payload off by {own:.1e} from differences of the model, "
        f"by {other:.1e} from the mechanism's"
    )


def main() -> None:
    eigenvalues_along_the_payload()
    with_slopes = sampling.count_slopes
    for name, vary, region in CASES:
        counts = {}
        for label, along in (("θ and μ", with_slopes), ("θ alone", lambda *_: 0)):
            sampling.count_slopes = along
            mechanism = supple.load(EXAMPLES / name / "mechanism.yaml")
            start = time.process_time()
            found = supple.reduce(mechanism, region=region, vary=vary, tolerance=1e-3, store=False, progress=False)
            seconds, origin = time.process_time() - start, found.provenance
            counts[label] = origin["samples"]
            print(
                f"{name} over {', '.join(vary)}, slopes along {label}: {origin['samples']} samples, "
                f"{origin['checks']} checks, {origin['boxes']} boxes, {seconds:.0f} s of processor"
                + ("" if found.met else f"; missed: {origin['missed'][0]}")
            )
        print(f"{name}: ratio {counts['θ and μ'] / counts['θ alone']:.2f}")
    sampling.count_slopes = with_slopes


if __name__ == "__main__":
    main()
