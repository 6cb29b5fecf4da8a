"""Compute the first three frequencies of the aluminium four-bar over a full turn of the locked crank."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

COLORS = ("#3b6ea8", "#c8553d", "#4f8f5b")


def main(output: Path) -> None:
    four_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    found = over_a_turn(four_bar, 361)
    print("crank (°)     first    second     third (Hz), crank locked")
    for degrees in range(0, 360, 30):
        listed = "  ".join(f"{hertz:8.3f}" for hertz in found.frequencies_hz[degrees])
        print(f"{degrees:9}  {listed}")
    for i, (low, high) in enumerate(found.bands_hz):
        print(f"mode {i + 1} stays between {low:.2f} and {high:.2f} Hz")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(four_bar, found), output / "picture.png")


def over_a_turn(four_bar: supple.Mechanism, steps: int) -> supple.FrequencyMap:
    return supple.frequency_map(four_bar, {"crank": np.linspace(0.0, 2.0 * np.pi, steps)}, count=3)


@in_house_style
def draw(four_bar: supple.Mechanism, found: supple.FrequencyMap) -> Figure:
    figure = new_figure(10, 4.8)
    left, right = figure.subfigures(1, 2)
    turn = np.radians([300, 240, 180, 120, 60])[:, None]
    supple.assemble(four_bar, turn).plot(axes=left.add_subplot())
    axes = right.add_subplot()
    degrees = np.degrees(found.coordinates["crank"])
    for i, (curve, color) in enumerate(zip(found.frequencies_hz.T, COLORS, strict=True)):
        axes.plot(degrees, curve, color=color, label=f"mode {i + 1}")
    axes.set(xlabel="crank / °", ylabel="frequency / Hz", ylim=(0, None), xticks=range(0, 361, 60))
    legend_above(axes)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/aluminium-four-bar"), help="folder for the picture")
    main(parser.parse_args().output)
