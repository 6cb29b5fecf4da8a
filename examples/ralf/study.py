"""Compute Ralf's modes at home and over the region, and reduce it to one model of four coordinates."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

LED, TIP = ["lift.acceleration", "elbow.acceleration"], ["tip.x", "tip.z"]
TOLERANCE = 0.01  # tolerance of the drawn boxes
HOME = [5.984, 8.331, 36.47, 60.0]  # Hz
BANDS = [[5.432, 6.010], [8.291, 9.840], [36.462, 36.614]]  # Hz, lowest and highest on a grid of 10 x 10


def main(output: Path) -> None:
    ralf = supple.load(Path(__file__).with_name("mechanism.yaml"))
    modes = supple.modes(ralf, "home", count=4, preload=False)
    print("at home, cylinders locked")
    for hertz, reference, words in zip(modes.frequencies_hz, HOME, modes.descriptions, strict=True):
        print(f"{hertz:8.4f} Hz (reference {reference:g})  {words}")
    found = over_its_region(ralf, 10)
    print("\nover the region, 10 x 10 configurations (Hz)")
    for i, (band, reference) in enumerate(zip(found.bands_hz, BANDS, strict=True)):
        print(f"mode {i + 1}: {band[0]:7.3f} to {band[1]:7.3f}   reference {reference[0]:7.3f} to {reference[1]:7.3f}")

    model = supple.reduce(ralf, internal_modes=2, tolerance=1e-4, preload=False)
    boxes = supple.reduce(ralf, internal_modes=2, fit="lagrange", tolerance=TOLERANCE, preload=False)
    print_model(model, boxes)
    print_responses(ralf, model)

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(ralf, modes), output / "picture.png")
    save_picture(draw_model(ralf, model, boxes), output / "model.png")


def print_model(model: supple.ReducedModel, boxes: supple.ReducedModel) -> None:
    made, errors = model.provenance, model.provenance["truncation"]
    print(
        f"\nreduced to 2 + 2 coordinates, 1e-4: {made['samples']} samples, {made['checks']} checks, {made['boxes']} box"
    )
    print(f"truncation: {errors['frequencies']:.0e} of the two frequencies; next mode at {errors['next_hz']:.2f} Hz")
    made = boxes.provenance
    print(f"with Lagrange polynomials to {TOLERANCE:g}: {made['boxes']} boxes from {made['samples']} samples")


def print_responses(ralf: supple.Mechanism, model: supple.ReducedModel) -> None:
    """Compare accelerances of the tip, reduced and full, at ten random configurations."""
    limits = np.array([ralf.actuator(name).limits for name in ("lift", "elbow")])
    lines, worst, detuned = np.linspace(0.05, 15.0, 1500), 0.0, 0.0
    for theta in np.random.default_rng(0).uniform(*limits.T, (10, 2)):
        ours = model.frf(theta, LED, TIP, lines, kind="accelerance").values
        full = supple.frf(ralf, theta, LED, TIP, lines, kind="accelerance", preload=False).values
        worst = max(worst, float((np.abs(ours - full).max(axis=0) / np.abs(full).max(axis=0)).max()))
        hertz = supple.modes(ralf, theta, count=2, preload=False).frequencies_hz
        detuned = max(detuned, float(np.abs(model.evaluate(theta).internal_hz / hertz - 1.0).max()))
    print("from cylinder to tip accelerations, up to 15 Hz, ten random configurations:")
    print(f"  resonances within {detuned:.0e}, |ΔH| within {worst:.1e} of each channel's peak")


def over_its_region(ralf: supple.Mechanism, steps: int) -> supple.FrequencyMap:
    """Return three frequencies on a grid over the strokes of both cylinders."""
    grid = {name: np.linspace(*ralf.actuator(name).limits, steps) for name in ("lift", "elbow")}
    return supple.frequency_map(ralf, grid, count=3, preload=False)


@in_house_style
def draw(ralf: supple.Mechanism, modes: supple.ModeSet) -> Figure:
    figure = new_figure(10, 6.8)
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.1, 1])
    modes.plot(which=[0, 1, 2], figure=upper)
    found = over_its_region(ralf, 25)
    (first, x), (second, y) = found.coordinates.items()
    for i, axes in enumerate(lower.subplots(1, 3, sharey=True)):
        drawn = axes.pcolormesh(x, y, found.frequencies_hz[..., i].T, shading="gouraud")
        lower.colorbar(drawn, ax=axes, label=f"mode {i + 1} / Hz")
        axes.grid(visible=False)
        axes.set_xlabel(f"{first} / m")
    lower.axes[0].set_ylabel(f"{second} / m")
    return figure


@in_house_style
def draw_model(ralf: supple.Mechanism, model: supple.ReducedModel, boxes: supple.ReducedModel) -> Figure:
    """Draw boxes and frequencies along a diagonal (the paper's Figure 14), and responses of the tip."""
    figure = new_figure(10, 7)
    (region, diagonal), (of_x, of_z) = figure.subplots(2, 2)
    for box in boxes.fitted.leaves:
        corner, size = box.lower, np.subtract(box.upper, box.lower)
        region.add_patch(Rectangle(tuple(corner), *size, fill=False, edgecolor="#3b6ea8", linewidth=0.8))
    limits = np.array([ralf.actuator(name).limits for name in ("lift", "elbow")])
    theta = limits[:, 0] + np.linspace(0.0, 1.0, 101)[:, None] * (limits[:, 1] - limits[:, 0])
    region.plot(*limits, "--", color="#c8553d", linewidth=1)
    region.set(xlim=limits[0], ylim=limits[1], xlabel="lift / m", ylabel="elbow / m")
    diagonal.plot(
        theta[:, 0], supple.modes(ralf, theta, count=2, preload=False).frequencies_hz, color="#bbbbbb", linewidth=4
    )
    diagonal.plot(theta[:, 0], model.evaluate(theta).internal_hz, color="#3b6ea8")
    diagonal.set(xlabel="lift / m, along the diagonal", ylabel="frequency / Hz")
    lines = np.linspace(0.5, 15.0, 600)
    for color, at in (("#3b6ea8", [1.15, 1.0]), ("#c8553d", [0.9, 0.8])):
        ours = model.frf(at, LED, TIP, lines, kind="accelerance")
        full = supple.frf(ralf, at, LED, TIP, lines, kind="accelerance", preload=False)
        for axes, output, inlet in ((of_x, "tip.x", LED[0]), (of_z, "tip.z", LED[1])):
            axes.loglog(lines, np.abs(full[output, inlet]), color="#cccccc", linewidth=4)
            axes.loglog(lines, np.abs(ours[output, inlet]), color=color, label=f"lift {at[0]} m, elbow {at[1]} m")
            axes.set(xlabel="frequency / Hz", ylabel=f"{output} from {inlet.split('.')[0]}, accelerations / 1")
    legend_above(of_x)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the picture")
    main(parser.parse_args().output)
