"""Distribute the torque of one motion over four actuators under three objectives."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

# [Silva, Table 1], N m: largest and smallest torque of each actuator, with one to four of them.
PRINTED = {
    1: {"A": (203, -232)},
    2: {"A": (431, -78), "B": (289, -173)},
    3: {"A": (342, -131), "B": (288, -174), "C": (257, -108)},
    4: {"A": (156, -73), "B": (77, -90), "C": (49, -37), "D": (249, -105)},
}
# Computed independently of supple, N m: the largest torque, by number of actuators.
PEAKS = {"torque": {2: 98.3, 3: 93.3, 4: 79.5}, "peak": {2: 89.9, 3: 76.8, 4: 58.5}}
FASTEST = 2000  # N m/s: without this limit, least-peak torques jump where an entry of B changes sign
TITLES = {
    "multipliers": "least torques and joint forces (the paper's)",
    "torque": "least squares of the torques",
    "peak": "least peak of the torques",
}
COLORS = {"A": "#3b6ea8", "B": "#c8553d", "C": "#4f8f5b", "D": "#8a5fa0"}


def main(output: Path) -> None:
    four_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    found = {objective: divided(four_bar, objective) for objective in TITLES}

    print("one turn at 60 rpm, torques in N m")
    print("joint forces and torques in one pseudo-inverse, max / min")
    for n, printed in PRINTED.items():
        for name, (largest, least) in printed.items():
            ours = found["multipliers"][n]
            said = f"{ours.largest[name]:7.1f} / {ours.least[name]:.1f}"
            print(f"  {n} actuators  {name}  {said:18} printed {largest} / {least}")
    for objective, peaks in PEAKS.items():
        print(f"{TITLES[objective]}, largest of all")
        for n, reference in peaks.items():
            print(f"  {n} actuators     {peak(found[objective][n]):7.1f}            reference {reference}")

    calm = supple.inverse(four_bar, "turn", minimize="peak", rate_bounds=FASTEST)
    print(f"  4 actuators     {peak(calm):7.1f}            with rates of all torques below {FASTEST} N m/s")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(four_bar, found["torque"][4].model), output / "picture.png")
    save_picture(draw_torques(found), output / "torques.png")


def divided(four_bar: supple.Mechanism, objective: str) -> dict[int, supple.InverseDynamics]:
    """Return the torques over the turn with the first one, two, three and four hinges driven."""
    names = list(four_bar.actuators)
    return {n: supple.inverse(four_bar, "turn", actuators=names[:n], minimize=objective) for n in PRINTED}


def peak(found: supple.InverseDynamics) -> float:
    """Return the largest torque of all actuators."""
    return max(found.peak.values())


@in_house_style
def draw(four_bar: supple.Mechanism, model: supple.LocalModel) -> Figure:
    """Draw the linkage over the turn, and the coefficients of its equation."""
    figure = new_figure(10, 5.1)
    left, right = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    supple.assemble(four_bar, model.theta[::100]).plot(axes=left.add_subplot())
    turn = np.degrees(model.theta[:, 0])
    curves = {
        "M / (kg m²)": {"": model.M[:, 0, 0]},
        "gravity / (N m)": {"": model.force[:, 0]},
        "B / 1": {name: model.input_map[:, 0, i] for i, name in enumerate(model.inputs)},
    }
    for axes, (label, values) in zip(right.subplots(3, 1, sharex=True), curves.items(), strict=True):
        for name, value in values.items():
            axes.plot(turn, value, label=name, color=COLORS.get(name, "#444444"), linewidth=1.4)
        axes.set_ylabel(label)
        if len(values) > 1:
            legend_above(axes)
    axes.set_xlabel("crank / °")
    return figure


@in_house_style
def draw_torques(found: dict[str, dict[int, supple.InverseDynamics]]) -> Figure:
    """Draw torques: one row per number of actuators, one column per objective (the first: the paper's Figure 3)."""
    figure = new_figure(10, 7.7)
    grid = figure.subplots(4, 3, sharex=True, sharey="row")
    for column, (objective, title) in zip(grid.T, TITLES.items(), strict=True):
        column[0].set_title(title, fontsize=10)
        for axes, result in zip(column, found[objective].values(), strict=True):
            for name, values in result.forces.items():
                axes.plot(result.time, values, label=name, color=COLORS[name], linewidth=1.4)
            axes.text(0.02, 0.93, f"peak {peak(result):.1f}", transform=axes.transAxes, fontsize=8, va="top")
        column[-1].set_xlabel("time / s")
    for n, axes in enumerate(grid[:, 0], start=1):
        axes.set_ylabel(f"{n} actuator{'s' * (n > 1)} / (N m)")
    handles, names = grid[-1, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper right", ncols=4)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/four-bar-redundant"), help="folder for the pictures")
    main(parser.parse_args().output)
