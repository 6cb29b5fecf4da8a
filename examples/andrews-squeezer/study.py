"""Simulate Andrews' squeezer, and compare its start, its motion and its reactions with published values."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

PUBLISHED = {  # at the start: angle (rad), acceleration (rad/s²)
    "beta": (-0.0617138900142764496, 14222.4439199541138706),
    "theta": (0.0, -10666.8329399655854029),
    "gamma": (0.455279819163070380, 0.0),
    "phi": (0.222668390165885885, 0.0),
    "delta": (0.487364979543842550, 0.0),
    "omega": (-0.222668390165885885, 0.0),
    "epsilon": (1.23054744454982119, 0.0),
}
MULTIPLIERS = {  # at the start, N: force of the common pin, except for the sign
    "K2-K3": (98.5668703962410896, -6.12268834425566266),
    "K2-K4": (0.0, 0.0),
    "K2-K6": (0.0, 0.0),
}
REFERENCE = {  # at 0.03 s: angle (rad), speed (rad/s)
    "beta": (15.81077119629904, 1139.920302151208),
    "theta": (-15.75637105984298, -1424.379294994111),
    "gamma": (0.04082224013073101, 11.03291221937134),
    "phi": (-0.5347301163226948, 19.29337464421385),
    "delta": (0.5244099658805303, 0.5735699284790808),
    "omega": (0.5347301163226948, -19.29337464421385),
    "epsilon": (1.048080741042263, 0.3231791658026955),
}
COLORS = ("#3b6ea8", "#c8553d", "#4f8f5b", "#8a5fa0", "#b8862b", "#3a9a9a")


def main(output: Path) -> None:
    squeezer = supple.load(Path(__file__).with_name("mechanism.yaml"))
    angles, accelerations = start(supple.local(squeezer))

    print("at the start    angle (rad)   published       acceleration (rad/s²)   published")
    for name, (angle, acceleration) in PUBLISHED.items():
        found = round(accelerations[name], 6) + 0.0  # avoid -0
        print(f"{name:<10} {angles[name]:16.10f}  {angle:14.10f} {found:18.6f} {acceleration:19.6f}")

    run = simulate(squeezer, step=1e-6)
    found = end(run)
    print(f"\nat 0.03 s       angle (rad)   published         speed (rad/s)   published   ({run.steps} steps)")
    for name, (angle, speed) in REFERENCE.items():
        print(f"{name:<10} {found[name][0]:16.10f}  {angle:14.10f} {found[name][1]:18.7f} {speed:15.7f}")
    for i, what in enumerate(("angles", "speeds")):
        print(f"error of the {what}, relative to their norm: {error(found, i):.1e}")
    print("\ncommon pin at the start (N), and the published multipliers")
    for name, published in MULTIPLIERS.items():
        force = run.reaction(name).force[0, :2].round(9) + 0.0
        print(f"{name:<8} {force[0]:14.9f} {force[1]:14.9f}    {published[0]:14.9f} {published[1]:14.9f}")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(squeezer), output / "picture.png")
    save_picture(draw_motion(run), output / "motion.png")


def simulate(squeezer: supple.Mechanism, step: float) -> supple.Simulation:
    return supple.simulate(squeezer, until=0.03, step=step, output_step=1e-4)


def end(run: supple.Simulation) -> dict[str, tuple[float, float]]:
    """Return angles and speeds at the last instant."""
    angles = {"beta": run.coordinates["beta"]} | dict(run.outputs)
    speeds = {"beta": run.rates["beta"]} | dict(run.output_rates)
    return {name: (float(angles[name][-1]), float(speeds[name][-1])) for name in REFERENCE}


def error(found: dict[str, tuple[float, float]], i: int) -> float:
    """Return the error of all angles (0) or speeds (1), relative to their norm."""
    reference = np.array([values[i] for values in REFERENCE.values()])
    return float(np.linalg.norm([found[name][i] for name in REFERENCE] - reference) / np.linalg.norm(reference))


def start(model: supple.LocalModel) -> tuple[dict[str, float], dict[str, float]]:
    """Return angles and accelerations from rest: M β̈ = p, and every other angle follows, ÿ = (∂y/∂β) β̈."""
    beta = np.linalg.solve(model.M, model.force)
    angles = {"beta": float(model.theta[0])} | {name: float(y.value) for name, y in model.outputs.items()}
    accelerations = {"beta": float(beta[0])} | {name: float(y.rigid @ beta) for name, y in model.outputs.items()}
    return angles, accelerations


@in_house_style
def draw(squeezer: supple.Mechanism) -> Figure:
    figure = new_figure(10, 5.5)
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1])
    beta = PUBLISHED["beta"][0] + np.linspace(0, 2 * np.pi, 361)
    supple.assemble(squeezer, beta[::30, None]).plot(axes=left.add_subplot(), centers=True)

    model = supple.local(squeezer, beta[:, None])
    upper, lower = right.subplots(2, 1, sharex=True, height_ratios=[1.5, 1])
    for color, (name, output) in zip(COLORS, model.outputs.items(), strict=True):
        if name != "theta":  # theta makes full turns like beta
            upper.plot(beta, output.value, color=color, label=name)
    upper.set_ylabel("angles / rad")
    legend_above(upper)
    lower.plot(beta, model.M[:, 0, 0] * 1e6, color=COLORS[0])
    lower.set_ylabel("M / (10⁻⁶ kg m²)")
    lower.set_xlabel("beta / rad, one turn of the crank")
    return figure


@in_house_style
def draw_motion(run: supple.Simulation) -> Figure:
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    milliseconds = run.time * 1e3
    for color, (name, values) in zip(COLORS, run.outputs.items(), strict=True):
        if name != "theta":
            left.plot(milliseconds, values, color=color, label=name)
    left.set_ylabel("angles / rad")
    legend_above(left)
    for color, name in zip(COLORS, MULTIPLIERS, strict=False):
        right.plot(milliseconds, np.linalg.norm(run.reaction(name).force, axis=1), color=color, label=name)
    right.set_ylabel("forces in the common pin / N")
    legend_above(right)
    for axes in (left, right):
        axes.set_xlabel("time / ms")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/andrews-squeezer"), help="folder for the picture")
    main(parser.parse_args().output)
