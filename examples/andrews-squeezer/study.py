"""Andrews' squeezer at its start: all seven angles and accelerations, and one turn of the crank."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple

PUBLISHED = {  # at the start: angle (rad), acceleration (rad/s²)
    "beta": (-0.0617138900142764496, 14222.4439199541138706),
    "theta": (0.0, -10666.8329399655854029),
    "gamma": (0.455279819163070380, 0.0),
    "phi": (0.222668390165885885, 0.0),
    "delta": (0.487364979543842550, 0.0),
    "omega": (-0.222668390165885885, 0.0),
    "epsilon": (1.23054744454982119, 0.0),
}
COLORS = ("#3b6ea8", "#c8553d", "#4f8f5b", "#8a5fa0", "#b8862b", "#3a9a9a")


def main(output: Path) -> None:
    squeezer = supple.load(Path(__file__).with_name("mechanism.yaml"))
    angles, accelerations = start(supple.local(squeezer))

    print("at the start    angle (rad)   published       acceleration (rad/s²)   published")
    for name, (angle, acceleration) in PUBLISHED.items():
        found = round(accelerations[name], 6) + 0.0  # no minus before a zero
        print(f"{name:<10} {angles[name]:16.10f}  {angle:14.10f} {found:18.6f} {acceleration:19.6f}")

    output.mkdir(parents=True, exist_ok=True)
    draw(squeezer).savefig(output / "picture.png", dpi=100)


def start(model: supple.LocalModel) -> tuple[dict[str, float], dict[str, float]]:
    """Angles and accelerations from rest: M β̈ = p, and every other angle follows, ÿ = (∂y/∂β) β̈."""
    beta = np.linalg.solve(model.M, model.force)
    angles = {"beta": float(model.theta[0])} | {name: float(y.value) for name, y in model.outputs.items()}
    accelerations = {"beta": float(beta[0])} | {name: float(y.rigid @ beta) for name, y in model.outputs.items()}
    return angles, accelerations


def draw(squeezer: supple.Mechanism) -> Figure:
    figure = Figure(figsize=(10, 5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1])
    beta = PUBLISHED["beta"][0] + np.linspace(0, 2 * np.pi, 361)
    supple.assemble(squeezer, beta[::30, None]).plot(axes=left.add_subplot(), centers=True)

    model = supple.local(squeezer, beta[:, None])
    upper, lower = right.subplots(2, 1, sharex=True, height_ratios=[1.5, 1])
    for color, (name, output) in zip(COLORS, model.outputs.items(), strict=True):
        if name != "theta":  # it makes full turns, as beta does
            upper.plot(beta, output.value, color=color, label=name)
    upper.set_ylabel("angles / rad")
    upper.legend(fontsize=8, ncols=5, frameon=False, loc="lower right", bbox_to_anchor=(1, 0.98))
    lower.plot(beta, model.M[:, 0, 0] * 1e6, color=COLORS[0])
    lower.set_ylabel("M / 10⁻⁶ kg m²")
    lower.set_xlabel("beta / rad, one turn of the crank")
    for axes in (upper, lower):
        axes.grid(color="#ececec")
        axes.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/andrews-squeezer"), help="folder for the picture")
    main(parser.parse_args().output)
