"""The flexible four-bar with its crank locked: how its frequencies change over the interval, and how its bars move."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple

REFERENCE = {  # crank angle, rad: the four lowest frequencies with the crank locked, Hz
    -1.2: [16.478, 37.120, 47.248, 50.730],
    0.0: [10.268, 26.489, 54.162, 55.748],
    0.7: [20.920, 25.451, 47.990, 85.577],
}
FILE = Path(__file__).with_name("mechanism.yaml")
BLUE, RED = "#3b6ea8", "#c8553d"


def main(output: Path) -> None:
    four_bar = supple.load(FILE)
    print("crank (rad)   frequencies (Hz), crank locked            largest difference to the reference")
    for angle, reference in REFERENCE.items():
        found = supple.modes(four_bar, [angle], count=4).frequencies_hz
        listed = "  ".join(f"{hertz:7.3f}" for hertz in found)
        print(f"{angle:9.2f}   {listed}      {np.abs(found / reference - 1.0).max():.0e}")
    print("\nelements a bar      frequencies (Hz) at 0 rad")
    for elements in (4, 8, 16):
        listed = "  ".join(f"{hertz:9.5f}" for hertz in supple.modes(refined(elements), [0.0], count=4).frequencies_hz)
        print(f"{elements:9}           {listed}")
    print("\nat 0 rad, in words")
    modes = supple.modes(four_bar, "home", count=4)
    for hertz, words in zip(modes.frequencies_hz, modes.descriptions, strict=True):
        print(f"{hertz:7.3f} Hz  {words}")

    output.mkdir(parents=True, exist_ok=True)
    draw(four_bar).savefig(output / "picture.png", dpi=90)


def refined(elements: int) -> supple.Mechanism:
    """The same bars, divided into more elements."""
    return supple.loads(FILE.read_text("utf-8").replace("elements: 4", f"elements: {elements}"))


def draw(four_bar: supple.Mechanism) -> Figure:
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1])
    supple.modes(four_bar, "home", count=4).plot(axes=panels(left))

    low, high = four_bar.actuator("crank").limits
    found = supple.modes(four_bar, np.linspace(low, high, 401)[:, None], count=5)
    angle, energy = found.configuration.theta[:, 0], found.energy
    axes = right.subplots()
    out = energy.out_of_plane > 0.5
    for color, label, chosen in ((BLUE, "in the plane", ~out), (RED, "out of the plane", out)):
        hertz = np.where(chosen, found.frequencies_hz, np.nan)
        axes.plot(np.repeat(angle, hertz.shape[1]), hertz.ravel(), ".", markersize=2, color=color, label=label)
    axes.set(xlabel="crank / rad", ylabel="frequency / Hz", ylim=(0, None))
    axes.grid(color="#ececec")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, markerscale=4, loc="upper left")
    return figure


def panels(figure: Figure) -> list:
    found = [figure.add_subplot(2, 2, i + 1, projection="3d", computed_zorder=False) for i in range(4)]
    for axes in found:
        axes.view_init(elev=24, azim=-42)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/flexible-four-bar"), help="folder for the picture")
    main(parser.parse_args().output)
