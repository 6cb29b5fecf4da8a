"""Samples that slopes along parameters save: families of the four-bar and of the Orthoglide, with and without them.

A sample knows its slopes along θ either way. Prints samples, checks and boxes for an error of 1e-3, and the ratio.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import supple
from supple.reduction import sampling

EXAMPLES = Path(supple.__file__).parents[2] / "examples"
CASES: tuple[tuple[str, dict[str, tuple[float, float]], dict[str, Any] | None], ...] = (
    ("four-bar", {"coupler": (0.49, 0.55)}, {"crank": (-1.2, 1.2)}),
    ("orthoglide", {"leg": (0.65, 0.75)}, None),
)


def main() -> None:
    with_slopes = sampling.sloped
    for name, vary, region in CASES:
        counts = {}
        for label, along in (("θ and μ", with_slopes), ("θ alone", lambda *_: 0)):
            sampling.sloped = along
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
    sampling.sloped = with_slopes


if __name__ == "__main__":
    main()
