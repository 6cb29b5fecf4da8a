"""Compute modes, deflections and responses of a long arm with flexible links and gearboxes."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, label, legend_above, new_figure, save_picture

FILE = Path(__file__).with_name("mechanism.yaml")
TOOL = ["tool.x", "tool.y", "tool.z"]
SHARES = {  # elastic parts, made nearly rigid by multiplying these parameters by a thousand
    "links": ["E"],
    "gearboxes": ["k1", "k2", "k3", "k4", "k5", "k6"],
    "bearings": ["bearing", "tilt"],
}
LINES = np.linspace(0.5, 80.0, 400)  # Hz


def main(output: Path) -> None:
    arm = supple.load(FILE)
    for posture in arm.configurations:
        modes = supple.modes(arm, posture, count=4, preload=False)
        print(f"\n{posture}, motors locked")
        for hertz, words in zip(modes.frequencies_hz, modes.descriptions, strict=True):
            print(f"{hertz:8.3f} Hz  {words}")
    print("\nstatic deflection of the tool under gravity (mm), and its causes")
    for posture in arm.configurations:
        whole = sag(arm, posture)
        parts = {name: whole - sag(stiffened(names), posture) for name, names in SHARES.items()}
        told = ", ".join(f"{name} {100.0 * part[2] / whole[2]:.0f} %" for name, part in parts.items())
        print(f"{posture:>10}: {1e3 * whole[2]:7.3f} along z   ({told})")
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(arm), output / "picture.png")


def sag(arm: supple.Mechanism, posture: str) -> np.ndarray:
    found = supple.deflection(arm, posture)
    return np.array([found.of(name) for name in TOOL])


def stiffened(names: list[str]) -> supple.Mechanism:
    """Return the arm with some of its parts nearly rigid."""
    given = supple.load(FILE).parameters
    return supple.load(FILE, parameters={name: 1e3 * given[name] for name in names})


@in_house_style
def draw(arm: supple.Mechanism) -> Figure:
    """Draw three mode shapes at home, and the response of the tool to a force along y at three postures."""
    figure = new_figure(10, 4.2)
    left, right = figure.subfigures(1, 2, width_ratios=[1.35, 1])
    panels = [left.add_subplot(1, 3, i + 1, projection="3d", computed_zorder=False) for i in range(3)]
    supple.modes(arm, "home", count=3, preload=False).plot(axes=panels)
    for axes in panels:
        axes.view_init(elev=16, azim=-60)
        axes.set_axis_off()
        axes.set_box_aspect((1.0, 0.5, 1.2), zoom=1.2)
    axes = right.subplots()
    for posture in arm.configurations:
        found = supple.frf(arm, posture, ["tool.y"], ["tool.y"], LINES, preload=False)
        axes.semilogy(LINES, np.abs(found.values[:, 0, 0]), label=posture)
    axes.set(xlabel=label("frequency", "Hz"), ylabel=label("receptance of tool.y", "m/N"))
    legend_above(axes)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/serial-flexible"), help="folder for the picture")
    main(parser.parse_args().output)
