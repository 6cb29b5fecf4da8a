"""Check the stated confidence intervals with many simulated hammer tests of the Surgiscope, identified separately.

python examples/surgiscope/intervals.py --count 100 --posture second both --noise 0.05 0.01
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

import supple

FILE = Path(__file__).with_name("mechanism.yaml")
SHARED = {"motor": "motor_r[xy]", "motor_rz": "motor_rz", "elbow": "elbow_r?", "hinge": "hinge_r?", "wrist": "wrist_r?"}
GUESS = {"motor_rx": 1.5e5, "motor_ry": 1.5e5, "motor_rz": 5e4, "elbow_rx": 1.4e4, "elbow_ry": 1.4e4, "hinge_rx": 1e4,
         "hinge_ry": 1e4, "wrist_rx": 1.2e4, "wrist_ry": 1.2e4}  # fmt: skip
ALONG = ("0", "0.25", "0.75", "1")
SENSORS = [f"{body}{i}[{share}]" for i in (1, 2, 3) for body in ("arm", "left", "right") for share in ALONG]
SENSORS += ["platform", "lower1", "lower2", "lower3"]  # 40 points, three directions each
POSTURES = {"first": ("first",), "second": ("second",), "both": ("first", "second")}
BAND = (5.0, 100.0)  # Hz
SURE = 1.959964  # standard deviations of a 95 % interval


@cache
def robots() -> tuple[supple.Mechanism, supple.Mechanism]:
    """Return the tested robot, and the guessed parameters."""
    return supple.load(FILE), supple.load(FILE, parameters=GUESS)


@cache
def test(posture: str, noise: float) -> supple.VirtualTest:
    """Simulate a test: 40 points, three directions, 1024 samples in 2.046 s, three oblique impacts, window to 1 %."""
    return supple.virtual_test(
        robots()[0], posture, ("platform", (0.6, 0.0, 0.8)), SENSORS, sampling_hz=500.5, samples=1024, impacts=3,
        noise=noise, exponential=0.01,
    )  # fmt: skip


def one(case: tuple[str, float, int]) -> np.ndarray:
    """Return relative errors and stated deviations of five stiffnesses and η, (6, 2)."""
    which, noise, seed = case
    truth, guess = robots()
    measured = [
        supple.Measurement(at=at, responses=test(at, noise).repeat(10 * seed + i).responses, band=BAND)
        for i, at in enumerate(POSTURES[which])
    ]
    found = supple.update(guess, measured, SHARED, starts=1)
    exact = [truth.parameters[name] for name in ("motor_rx", "motor_rz", "elbow_rx", "hinge_rx", "wrist_rx")]
    return np.column_stack([np.log(found.after / [*exact, truth.damping.structural]), found.deviations])


def main(count: int, postures: list[str], noises: list[float], processes: int) -> None:
    with ProcessPoolExecutor(processes) as pool:
        for which in postures:
            for noise in noises:
                cases = [(which, noise, seed) for seed in range(count)]
                report(which, noise, np.array(list(pool.map(one, cases, chunksize=max(1, count // (4 * processes))))))


def report(which: str, noise: float, found: np.ndarray) -> None:
    """Print the statistics of the results `found` (tests, 6, 2)."""
    error, deviation = found[:, :, 0], found[:, :, 1]
    held = np.abs(error) <= SURE * deviation
    score = np.sqrt(np.mean(np.square(error / deviation), axis=0))
    print(f"\n{len(found)} tests, {' and '.join(POSTURES[which])} posture, {noise:.0%} noise")
    print("  number    largest error   scatter    stated   error/stated (r.m.s.)   95 % intervals with the truth")
    for i, name in enumerate([*SHARED, "eta"]):
        print(
            f"  {name:10} {np.abs(error[:, i]).max():10.3%} {np.std(error[:, i]):10.4%} {deviation[:, i].mean():9.4%}"
            f" {score[i]:15.2f} {held[:, i].mean():22.0%}"
        )
    print(f"  all together {held.mean():67.0%}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="number of tests per case")
    parser.add_argument("--posture", nargs="+", default=["second"], choices=list(POSTURES), help="postures")
    parser.add_argument("--noise", nargs="+", type=float, default=[0.05], help="relative noise of each channel")
    parser.add_argument("--processes", type=int, default=2, help="number of processes")
    given = parser.parse_args()
    main(given.count, given.posture, given.noise, given.processes)
