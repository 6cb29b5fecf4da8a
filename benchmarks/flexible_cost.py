"""What a step of the full flexible model costs, from 10 to 1000 elements: the exponent of its growth, and the set-up.

A four-bar in space of beams, driven by a torque; steps are fixed, and so many that set-up does not count.

    python benchmarks/flexible_cost.py
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import supple
from supple.formulations.absolute.system import absolute
from supple.kinematics.rest import rest

ELEMENTS = (4, 12, 40, 120, 334)  # a bar; there are three
STEP = 1e-3  # s
STEPS = 300


def push(t: float) -> float:
    """N m: a torque that comes on smoothly, as a machine's does."""
    return 0.1 * np.sin(20.0 * t) ** 2


def mechanism(elements: int) -> supple.Mechanism:
    example = supple.load("examples/flexible-four-bar/mechanism.yaml")
    bodies = {
        name: supple.Body(**{**body.model_dump(exclude_unset=True), "elements": elements})
        for name, body in example.bodies.items()
    }
    return example.replace(bodies=bodies)


def measured(elements: int) -> tuple[float, float, float]:
    """Seconds of set-up, seconds a step, and iterations a step."""
    bars = mechanism(elements)
    start = perf_counter()
    absolute(rest(bars))
    setup = perf_counter() - start
    runs = []
    for steps in (STEPS // 3, STEPS):
        start = perf_counter()
        until = steps * STEP
        found = supple.simulate(bars, until=until, step=STEP, inputs={"crank": push}, output_step=until)
        runs.append((perf_counter() - start, found))
    (short, first), (long, second) = runs
    steps = second.steps - first.steps
    return setup, (long - short) / steps, (second.iterations - first.iterations) / steps


def main() -> None:
    measured(ELEMENTS[0])  # compiles
    rows = []
    print("elements   set-up, s   a step, us   iterations a step   us an element and iteration")
    for elements in ELEMENTS:
        setup, step, iterations = measured(elements)
        rows.append((3 * elements, step, step / iterations))
        each = 1e6 * step / iterations / (3 * elements)
        print(f"{3 * elements:8d}   {setup:9.2f}   {1e6 * step:10.1f}   {iterations:17.2f}   {each:8.3f}")
    count, *costs = np.log(np.array(rows)).T
    for what, cost in zip(("a step", "an iteration"), costs, strict=True):
        print(f"cost of {what} grows with the number of elements to the power {np.polyfit(count, cost, 1)[0]:.3f}")


if __name__ == "__main__":
    main()
