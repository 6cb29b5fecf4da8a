"""Ralf with its cylinders locked: the modes at home, and their bands over the region that the cylinders reach."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple

HOME = [5.984, 8.331, 36.47, 60.0]  # Hz
BANDS = [[5.432, 6.010], [8.291, 9.840], [36.462, 36.614]]  # Hz, lowest and highest on a grid of 10 x 10


def main(output: Path) -> None:
    ralf = supple.load(Path(__file__).with_name("mechanism.yaml"))
    modes = supple.modes(ralf, "home", count=4)
    print("at home, cylinders locked")
    for hertz, reference, words in zip(modes.frequencies_hz, HOME, modes.descriptions, strict=True):
        print(f"{hertz:8.4f} Hz (reference {reference:g})  {words}")
    found = over_its_region(ralf, 10)
    print("\nover the region, 10 x 10 configurations (Hz)")
    for i, (band, reference) in enumerate(zip(found.bands_hz, BANDS, strict=True)):
        print(f"mode {i + 1}: {band[0]:7.3f} to {band[1]:7.3f}   reference {reference[0]:7.3f} to {reference[1]:7.3f}")

    output.mkdir(parents=True, exist_ok=True)
    draw(ralf, modes).savefig(output / "picture.png", dpi=90)


def over_its_region(ralf: supple.Mechanism, steps: int) -> supple.FrequencyMap:
    """Three frequencies on a grid over the strokes of both cylinders."""
    grid = {name: np.linspace(*ralf.actuator(name).limits, steps) for name in ("lift", "elbow")}
    return supple.frequency_map(ralf, grid, count=3)


def draw(ralf: supple.Mechanism, modes: supple.ModeSet) -> Figure:
    figure = Figure(figsize=(10, 6.2), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.1, 1])
    modes.plot(which=[0, 1, 2], figure=upper)
    found = over_its_region(ralf, 25)
    (first, x), (second, y) = found.coordinates.items()
    for i, axes in enumerate(lower.subplots(1, 3, sharey=True)):
        drawn = axes.pcolormesh(x, y, found.frequencies_hz[..., i].T, shading="gouraud")
        lower.colorbar(drawn, ax=axes).ax.tick_params(labelsize=7)
        axes.set_title(f"mode {i + 1} / Hz", fontsize=9)
        axes.set_xlabel(f"{first} / m")
    lower.axes[0].set_ylabel(f"{second} / m")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the picture")
    main(parser.parse_args().output)
