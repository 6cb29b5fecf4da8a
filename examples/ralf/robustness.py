"""Evaluate the robustness of Ralf's two time scales control: margins over the region, and 200 varied plants."""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.control import (
    AffineController,
    Study,
    kalman_filter,
    margin_map,
    margins,
    study,
    two_time_scales,
)
from supple.results.closed_loop import ClosedLoop
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

FILE = Path(__file__).with_name("mechanism.yaml")
BOUNDS = {"velocity": 0.2, "acceleration": 1.0, "jerk": 20.0}
MOTION = {"lift": {"from": 1.15, "to": 1.00, **BOUNDS}, "elbow": {"from": 1.00, "to": 0.90, **BOUNDS}}  # arrives at 1 s
SPREADS = {
    "payload": (10.8, 13.2),  # kg
    "stiffness": (0.9, 1.1), "damping": (0.5, 2.0),  # relative to the model of the controller
    "delay": (-1e-3, 1e-3),  # s, added to 2 ms
    "noise": (0.5, 2.0), "internal_modes": [2, 3],
}  # fmt: skip
COLORS = {"joint loop": "#c8553d", "two time scales": "#3b6ea8"}
TICKS = [0.5, 1.0, 2.0, 5.0, 10.0]  # m/s²
LOOP = {"until": 2.0, "sample_time": 1e-3, "start": "home"}


def controllers(model: supple.ReducedModel, motion: supple.Motion) -> dict[str, AffineController]:
    """Return the joint loop alone, and with active damping; both as control laws over the region."""
    watched = {"imu.x": 0.1, "imu.z": 0.1}  # more than the noise, to suppress 36 Hz
    observer = kalman_filter(model, sample_time=LOOP["sample_time"], accelerations=0.2, noise=watched)
    return {
        "joint loop": two_time_scales(observer, motion, damping_ratios=0.0),
        "two time scales": two_time_scales(observer, motion),
    }


def residual(run: ClosedLoop) -> float:
    """Return the RMS acceleration of the tip in the second after arrival, m/s²."""
    return run.residual("imu.x", "imu.z", after=1.0)


def settling(run: ClosedLoop) -> float:
    """Return the time after arrival until the tip stays within 1 mm, s."""
    return run.settling("tip.x", "tip.z", within=1e-3, after=1.0)


MEASURES = {"residual": residual, "settling": settling}


def studied(controller: AffineController, count: int, processes: int | None = None) -> Study:
    """Simulate one controller on many plants."""
    options = {"reduction": {"internal_modes": 2}, "count": count, "seed": 1, "processes": processes, **LOOP}
    return study(FILE, controller, SPREADS, MEASURES, **options)


def main(output: Path, count: int) -> None:
    ralf = supple.load(FILE)
    model = supple.reduce(ralf, internal_modes=2, tolerance=1e-3, preload=False)
    laws = controllers(model, supple.Motion(coordinates=MOTION))
    fast = laws["two time scales"]
    known, more = margins(model, fast, at="home"), supple.reduce(ralf, internal_modes=4, tolerance=1e-3, preload=False)
    print(f"at home, plant of two modes:  {known.summary()}")
    print(f"at home, plant of four modes: {margins(more, fast, at='home').summary()}")
    grid = {"lift": np.linspace(0.85, 1.30, 9), "elbow": np.linspace(0.76, 1.18, 9)}
    over = margin_map(more, fast, grid)
    print(f"over the region, four modes:  {over.summary()}")
    found = {}
    for name, law in laws.items():
        begin = time.perf_counter()
        found[name] = studied(law, count)
        print(f"{name}: {count} plants in {time.perf_counter() - begin:.1f} s\n  {found[name].summary()}")
        print(f"  depends on {found[name].dependence('residual')}")
    output.mkdir(parents=True, exist_ok=True)
    save_picture(over.plot(), output / "margins.png")
    save_picture(draw(found), output / "robustness.png")


@in_house_style
def draw(found: dict[str, Study]) -> Figure:
    """Draw the fraction of plants with smaller residual acceleration and shorter settling time."""
    figure = new_figure(10.0, 3.6)
    for axes, measure, label in zip(
        figure.subplots(1, 2), MEASURES, ("tip acceleration / (m/s²)", "settled to 1 mm / s"), strict=True
    ):
        for name, one in found.items():
            values = np.sort(np.where(one.failed, np.inf, one.measures[measure]))
            share = 100.0 * np.arange(1, len(values) + 1) / len(values)
            axes.step(values, share, where="post", label=name, color=COLORS[name])
        axes.set(xlabel=label, ylabel="plants / %", ylim=(0.0, 101.0))
    figure.axes[0].set(xscale="log", xticks=TICKS, xticklabels=[f"{tick:g}" for tick in TICKS])
    figure.axes[0].minorticks_off()
    legend_above(figure.axes[0])
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the pictures")
    parser.add_argument("--count", type=int, default=200, help="number of plants")
    main(parser.parse_args().output, parser.parse_args().count)
