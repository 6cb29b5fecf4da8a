"""Four torques for one motion: what each hinge contributes, and how little torque a good division needs."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple

SPEED = 60 * 2 * np.pi / 60  # rad/s, constant over the turn
SINGLE = (203.5, -232.7)  # N m: largest and least torque of the crank alone
LEAST_SQUARES = {2: 98.3, 3: 93.3, 4: 79.5}  # N m: largest torque with so many actuators
LEAST_PEAK = {2: 89.9, 3: 76.8, 4: 58.5}
COLORS = ("#3b6ea8", "#c8553d", "#4f8f5b", "#8a5fa0")


def main(output: Path) -> None:
    four_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    start = four_bar.configurations["start"]["A"]
    model = supple.local(four_bar, start + np.linspace(0, 2 * np.pi, 3601)[:, None])

    # M θ̈ + Γ θ̇² = p + B u at constant speed: what all torques together do to the crank.
    needed = model.christoffel[:, 0, 0, 0] * SPEED**2 - model.force[:, 0]
    B = model.input_map[:, 0, :]

    print("one turn at 60 rpm, torques in N m                       reference")
    print(f"crank alone            {needed.max():7.1f} / {needed.min():.1f}          {SINGLE[0]} / {SINGLE[1]}")
    for n in (2, 3, 4):
        peak = np.abs(least_squares(B[:, :n], needed)).max()
        print(f"{n} actuators, least squares   {peak:6.1f}                 {LEAST_SQUARES[n]}")
    for n in (2, 3, 4):
        peak = np.abs(least_peak(B[:, :n], needed)).max()
        print(f"{n} actuators, least peak      {peak:6.1f}                 {LEAST_PEAK[n]}")

    output.mkdir(parents=True, exist_ok=True)
    draw(four_bar, model, needed).savefig(output / "picture.png", dpi=100)


def least_squares(B: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """The torques u with B u = needed and the least sum of squares."""
    return B * (needed / (B**2).sum(axis=1))[:, None]


def least_peak(B: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """The torques u with B u = needed whose largest is least: all equal, each pushing its own way."""
    return np.sign(B) * (needed / np.abs(B).sum(axis=1))[:, None]


def draw(four_bar: supple.Mechanism, model: supple.LocalModel, needed: np.ndarray) -> Figure:
    figure = Figure(figsize=(10, 5.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    supple.assemble(four_bar, model.theta[::300]).plot(axes=left.add_subplot())

    turn = np.degrees(model.theta[:, 0])
    B = model.input_map[:, 0, :]
    rows = {
        "M / kg m²": {"": model.M[:, 0, 0]},
        "gravity / N m": {"": model.force[:, 0]},
        "B": {name: B[:, i] for i, name in enumerate(model.inputs)},
        "torque / N m": {
            "crank alone": needed,
            "4, least squares": least_squares(B, needed)[:, 0],
            "4, least peak": least_peak(B, needed)[:, 0],
        },
    }
    for axes, (label, curves) in zip(right.subplots(4, 1, sharex=True), rows.items(), strict=True):
        for color, (name, values) in zip(COLORS, curves.items(), strict=False):
            axes.plot(turn, values, label=name, color=color, linewidth=1.4)
        axes.set_ylabel(label)
        axes.grid(color="#ececec")
        axes.spines[["top", "right"]].set_visible(False)
        if len(curves) > 1:
            axes.legend(fontsize=7, ncols=len(curves), loc="lower right", bbox_to_anchor=(1, 0.98), frameon=False)
    axes.set_xlabel("crank / degrees")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/four-bar-redundant"), help="folder for the picture")
    main(parser.parse_args().output)
