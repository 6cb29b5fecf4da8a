"""Do stated intervals hold? Many simulated hammer tests of the Surgiscope, each identified by itself.

python examples/surgiscope/intervals.py --count 100 --noise 0.05
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import supple

FILE = Path(__file__).with_name("mechanism.yaml")
SHARED = {"motor": "motor_r[xy]", "motor_rz": "motor_rz", "elbow": "elbow_r?", "hinge": "hinge_r?", "wrist": "wrist_r?"}
ALONG = ("0", "0.25", "0.75", "1")
SENSORS = [f"{body}{i}[{share}]" for i in (1, 2, 3) for body in ("arm", "left", "right") for share in ALONG]
SENSORS += ["platform", "lower1", "lower2", "lower3"]  # 40 points, three directions each


def one(case: tuple[int, float]) -> np.ndarray:
    """(6, 2): the error relative to the truth, and whether the interval of 95 % holds it, of five stiffnesses and η."""
    seed, noise = case
    robot = supple.load(FILE)
    test = supple.virtual_test(
        robot, "second", ("platform", (0.6, 0.0, 0.8)), SENSORS, sampling_hz=500.5, samples=1024, blows=3,
        noise=noise, seed=seed,
    )  # fmt: skip
    measured = supple.Measurement(at="second", responses=test.responses, band=(5.0, 100.0))
    found = supple.update(robot, measured, SHARED, starts=1)
    columns = found.table().columns
    truth = columns["before"]  # the robot that was tested
    inside = (columns["low"] <= truth) & (truth <= columns["high"])
    return np.column_stack([columns["after"] / truth - 1.0, inside])


def main(count: int, noise: float) -> None:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = np.array(list(pool.map(one, [(seed, noise) for seed in range(count)])))
    print(f"{count} tests at the second posture, {noise:.0%} noise: largest error, and intervals that hold the truth")
    for i, name in enumerate([*SHARED, "eta"]):
        print(f"  {name:10} {np.abs(found[:, i, 0]).max():7.2%}   {found[:, i, 1].mean():5.0%}")
    print(f"  all together          {found[:, :, 1].mean():5.0%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many tests")
    parser.add_argument("--noise", type=float, default=0.05, help="of each channel")
    given = parser.parse_args()
    main(given.count, given.noise)
