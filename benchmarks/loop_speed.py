"""Loops at 1 kHz on Ralf's reduced model: velocity servos with delays, noise, encoders and accelerometers, 2 + 2
coordinates, and the two-time-scale law on its Kalman filter, both over the whole region.

Times of a sample, the least of several runs: all in; with a law that answers a constant; and the compiled call alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import supple
from supple import control
from supple.control.controllers.two_time_scales import two_time_scales
from supple.control.feedforward.reference import reference
from supple.control.observers.kalman_filter import kalman_filter
from supple.control.plants.sampled import CompiledSamples

EXAMPLE = Path(__file__).parents[1] / "examples" / "ralf" / "mechanism.yaml"
SAMPLE, UNTIL, ROUNDS = 1e-3, 3.0, 5


class Constant:
    """Answers the same, whatever it is told."""

    actuators = ("lift", "elbow")
    answer = np.array([-0.05, -0.03])

    def step(self, t: float, measurement: control.Measurement) -> np.ndarray:
        return self.answer


def least(run: Callable[[], object]) -> float:
    """Processor time of the fastest run, s: on a machine that does other things as well, that of nobody else."""
    found = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    mechanism = supple.load(EXAMPLE)
    model = supple.reduce(mechanism, internal_modes=2, tolerance=1e-3)
    seen = kalman_filter(model, sample_time=SAMPLE, accelerations=0.2, noise={"imu.x": 0.1, "imu.z": 0.1})
    law = two_time_scales(seen, reference("reach", mechanism))
    calls: list[float] = []
    advance = CompiledSamples.advance

    def timed(self: CompiledSamples, command: np.ndarray, until: int) -> bool:
        begin = time.perf_counter()
        done = advance(self, command, until)
        calls.append(time.perf_counter() - begin)
        return done

    def loop(controller: object) -> object:
        return control.closed_loop(model, controller, until=UNTIL, sample_time=SAMPLE, start="home")

    samples = round(UNTIL / SAMPLE)
    whole = least(lambda: loop(law))
    alone = least(lambda: loop(Constant()))
    CompiledSamples.advance = timed  # type: ignore[method-assign]
    loop(law)
    CompiledSamples.advance = advance  # type: ignore[method-assign]
    print(f"two time scales, all in   {1e6 * whole / samples:6.1f} µs a sample: {UNTIL / whole:.0f} times real time")
    print(f"a constant command        {1e6 * alone / samples:6.1f} µs a sample")
    print(f"the compiled call         {1e6 * float(np.median(calls)):6.1f} µs a sample (median)")


if __name__ == "__main__":
    main()
