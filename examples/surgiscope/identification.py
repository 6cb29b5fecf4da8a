"""Identify joint stiffnesses of the Surgiscope from measured frequencies and from simulated dial gauges.

python examples/surgiscope/identification.py
"""

from pathlib import Path

import numpy as np

import supple
from supple.identification.updating.observing import closest_in_order

FILE = Path(__file__).with_name("mechanism.yaml")
PAPER = {  # Hz: measured, and the paper's model [Rognant 2010, table IV]
    "first": ([11.8, 15.2, 31.2, 36.1, 38.8], [11.3, 15.7, 31.8, 36.4, 38.4]),
    "second": ([12.4, 15.4, 26.1, 36.2, 42.5], [12.5, 16.0, 25.8, 37.3, 40.9]),
}
SHARED = {"motor": "motor_r[xy]", "motor_rz": "motor_rz", "elbow": "elbow_r?", "hinge": "hinge_r?", "wrist": "wrist_r?"}
SINGLE = ["motor_*", "elbow_*", "hinge_*", "wrist_*"]
GUESS = {f"{joint}_{axis}": 3e7 for joint in ("motor", "elbow", "hinge", "wrist") for axis in "xyz"} | {
    "motor_rx": 1.5e5, "motor_ry": 1.5e5, "motor_rz": 5e4, "elbow_rx": 1.4e4, "elbow_ry": 1.4e4, "hinge_rx": 1e4,
    "hinge_ry": 1e4, "wrist_rx": 1.2e4, "wrist_ry": 1.2e4,
}  # fmt: skip
LINES = [
    [(x, -x, -1.478) for x in np.linspace(-0.25, 0.25, 11)],
    [(x, x, -1.326) for x in np.linspace(-0.25, 0.25, 11)],
]
PUSH = -200.0  # N
NOISE = 0.01  # relative to the largest deflection of a posture


def main() -> None:
    robot = supple.load(FILE, parameters=GUESS)
    for name, numbers in (("five shared stiffnesses", SHARED), ("21 single stiffnesses", SINGLE)):
        print(f"\n{name} from five measured frequencies of the first posture (starting guesses, not the file's values)")
        found = supple.update(robot, supple.Measurement(at="first", frequencies_hz=PAPER["first"][0]), numbers)
        print_frequencies("first", found.postures[0].after_hz)
        predicted = found.predict("second", 9)
        chosen = closest_in_order(np.array(PAPER["second"][0]), predicted.frequencies_hz)
        print_frequencies("second", predicted.frequencies_hz[chosen], predicted.deviations_hz[chosen])
        print(*(f"  - {text}" for text in found.words()), sep="\n")
    truth = supple.load(FILE)
    for gauges in ("xyz", "z"):
        print_statics(robot, truth, gauges)


def print_frequencies(posture: str, found: np.ndarray, deviations: np.ndarray | None = None) -> None:
    measured, paper = (np.array(values) for values in PAPER[posture])
    print(f"  {posture:8} measured   {listed(measured)}")
    print(f"           the paper  {listed(paper)}   {np.mean(np.abs(paper / measured - 1)):.2%} off on average")
    print(f"           here       {listed(found)}   {np.mean(np.abs(found / measured - 1)):.2%}")
    if deviations is not None:
        print(f"           ± (95 %)   {listed(1.96 * deviations)}")


def print_statics(robot: supple.Mechanism, truth: supple.Mechanism, gauges: str) -> None:
    """Fit noisy gauges at eleven postures of one line; predict the other line, and natural frequencies."""
    random = np.random.default_rng(4)
    names = tuple(f"platform.{axis}" for axis in gauges)
    seen = []
    for place in LINES[0]:
        moved = deflections(truth, place)
        noise = NOISE * np.abs(moved).max()
        read = {f"platform.{axis}": moved["xyz".index(axis)] + noise * random.normal() for axis in gauges}
        seen.append(supple.Measurement(
            at={"tool": place}, force={"platform.z": PUSH}, deflections=read, deflection_noise=noise,
        ))  # fmt: skip
    found = supple.update(robot, seen, SINGLE, starts=4)
    off, stated = [], []
    for place in LINES[1]:
        exact = deflections(truth, place)
        told = found.predict_deflections({"tool": place}, {"platform.z": PUSH}, tuple(f"platform.{a}" for a in "xyz"))
        values, spread = np.array(list(told.values())).T
        off.append(np.linalg.norm(values - exact) / np.linalg.norm(exact))
        stated.append(np.linalg.norm(spread) / np.linalg.norm(exact))
    print(f"\nstatics: {len(seen)} postures of one line, gauges along {', '.join(names)}, {NOISE:.0%} noise")
    print(f"  the other line: predicted uncertainty ± {1.96 * max(stated):.1%} (95 %) at worst;", end=" ")
    print(f"actual error {np.mean(off):.2%} on average, {max(off):.2%} at worst")
    for posture in ("first", "second"):
        true, ours = (
            supple.modes(one, posture, count=9, preload=False).frequencies_hz for one in (truth, found.mechanism)
        )
        print(f"  frequencies from statics alone, {posture}: {np.mean(np.abs(ours / true - 1)):.2%} off on average")
    print(*(f"  - {text}" for text in found.words()), sep="\n")


def deflections(machine: supple.Mechanism, place: tuple[float, float, float]) -> np.ndarray:
    """Return the deflection of the platform, (3,) m."""
    names = ("platform.x", "platform.y", "platform.z")
    return PUSH * supple.compliance(machine, {"tool": place}, names, preload=False).values[2]


def listed(values: np.ndarray) -> str:
    return " ".join(f"{value:7.2f}" for value in values)


if __name__ == "__main__":
    main()
