"""Reduce Ralf over both cylinders and its payload, and evaluate the model at payloads that were not sampled."""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.reduced.damped import locked_frequencies
from supple.view.house_style import PALETTE, in_house_style, label, new_figure, save_picture

FILE = Path(__file__).with_name("mechanism.yaml")
LOWEST, HIGHEST = 8.0, 16.0  # kg
REGION = np.array([[0.85, 0.76], [1.30, 1.18]])  # m: lift and elbow


def judged(arm: supple.Mechanism, model: supple.ReducedModel, payloads: np.ndarray, points: int) -> dict[str, float]:
    """Return the largest error of every coefficient at new configurations, for all payloads."""
    worst: dict[str, float] = {}
    for n, payload in enumerate(payloads.tolist()):
        found = supple.compare(arm, model.at(payload=payload), points=points, seed=n)
        worst = {name: max(error, worst.get(name, 0.0)) for name, error in found.error.items()}
    return worst


def frequencies(model: supple.ReducedModel, theta: np.ndarray) -> np.ndarray:
    """Return natural frequencies with locked cylinders, Hz."""
    here = model.evaluate(theta)
    return locked_frequencies(here.K[:, 2:, 2:], here.M[:, 2:, 2:]) / (2.0 * np.pi)


def off_modes(model: supple.ReducedModel, payloads: np.ndarray, seed: int) -> float:
    """Return the largest relative difference of frequencies from `supple.modes` with that payload."""
    rng, worst = np.random.default_rng(seed), 0.0
    for payload in payloads.tolist():
        theta = rng.uniform(*REGION, (10, 2))
        full = supple.modes(
            supple.load(FILE, parameters={"payload": payload}), theta, count=3, preload=False
        ).frequencies_hz
        worst = max(worst, float(np.abs(frequencies(model.at(payload=payload), theta) / full - 1.0).max()))
    return worst


def main(output: Path, payloads: int, points: int) -> None:
    arm = supple.load(FILE)
    start = time.process_time()
    model = supple.reduce(arm, vary={"payload": (LOWEST, HIGHEST)}, internal_modes=3, tolerance=1e-3, preload=False)
    made = model.provenance
    print(f"{made['samples']} samples, {made['checks']} checks, {made['boxes']} box, "
          f"{time.process_time() - start:.0f} s of processor time")  # fmt: skip
    print(f"stated error {max(model.error.values()):.1e}")
    start = time.perf_counter()
    other = model.at(payload=9.5)
    print(f"model.at(payload=9.5): {1e3 * (time.perf_counter() - start):.1f} ms, {other!r}")
    fresh = np.random.default_rng(1).uniform(LOWEST, HIGHEST, payloads)
    worst = judged(arm, model, fresh, points)
    name = max(worst, key=lambda key: worst[key])
    print(f"at {payloads} payloads x {points} configurations: largest error {worst[name]:.1e} ({name})")
    print(f"frequencies against supple.modes with that payload: {off_modes(model, fresh, 2):.1e}")
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(model), output / "payload.png")


@in_house_style
def draw(model: supple.ReducedModel) -> Figure:
    figure = new_figure(10.0, 3.8)
    home, range_of = figure.subplots(1, 2)
    payloads = np.linspace(LOWEST, HIGHEST, 41)
    at_home = np.array([frequencies(model.at(payload=value), np.array([[1.15, 1.00]]))[0] for value in payloads])
    for n, color in enumerate(PALETTE[:2]):
        home.plot(payloads, at_home[:, n], color=color, label=f"mode {n + 1}")
        for value in (8.0, 10.0, 12.0, 14.0, 16.0):
            arm = supple.load(FILE, parameters={"payload": value})
            home.plot(
                value,
                supple.modes(arm, "home", count=2, preload=False).frequencies_hz[n],
                "o",
                color=color,
                markersize=4,
            )
    home.set(xlabel=label("payload", "kg"), ylabel=label("frequency at home", "Hz"), ylim=(0.0, None))
    home.legend()
    theta = np.random.default_rng(0).uniform(*REGION, (400, 2))
    spread = [frequencies(model.at(payload=value), theta)[:, 0] for value in payloads]
    range_of.fill_between(payloads, np.min(spread, axis=1), np.max(spread, axis=1), color=PALETTE[0], alpha=0.3)
    range_of.set(xlabel=label("payload", "kg"), ylabel=label("mode 1 over the region", "Hz"))
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, default=Path("build/ralf"))
    parser.add_argument("--payloads", type=int, default=100)
    parser.add_argument("--points", type=int, default=100)
    asked = parser.parse_args()
    main(asked.output, asked.payloads, asked.points)
