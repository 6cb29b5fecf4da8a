"""Track two modes around a crossing of their frequencies, and reduce the mechanism across it."""

import argparse
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, new_figure, save_picture

BLUE, RED = "#3b6ea8", "#c8553d"
REGION = {"left": (1.75, 2.1), "right": (np.pi - 2.1, np.pi - 1.75)}  # a square around the crossing
RADIUS = 0.05  # rad: radius of a closed path around it


def main(output: Path) -> None:
    five_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    crossing = supple.assemble(five_bar, "crossing")
    hertz = supple.local(five_bar, crossing, internal_modes=2, preload=False).internal_hz
    print(f"internal modes at the crossing: {hertz[0]:.5f} and {hertz[1]:.5f} Hz")
    print("\naround it on a circle of 0.05 rad: difference of M_θι between end and start, largest second difference")
    print("   points   subspace               one by one")
    for points in (16, 64, 256):
        shown = []
        for tracking in ("subspace", "modes"):
            M = around(five_bar, crossing.theta, points, tracking)
            bend = np.abs(M[2:] - 2.0 * M[1:-1] + M[:-2]).max() / np.abs(M).max()
            shown.append(f"{np.abs(M[-1] - M[0]).max() / np.abs(M).max():7.0e}  {bend:9.2e}")
        print(f"{points:9}   {shown[0]:20}   {shown[1]}")

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", supple.SuppleWarning)
        model = supple.reduce(five_bar, region=REGION, internal_modes=2, tolerance=1e-3, preload=False)
        supple.reduce(five_bar, region=REGION, internal_modes=2, tracking="modes", boxes=1, preload=False)
    made = model.provenance
    print(f"\nreduced across it to 1e-3: {made['samples']} samples, {made['checks']} checks, {made['boxes']} box,")
    print(f"largest error {max(model.error.values()):.1e}; warnings when modes are tracked one by one:")
    for warning in said:
        print(f"  {warning.message}")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(five_bar, crossing, model), output / "picture.png")


def around(five_bar: supple.Mechanism, center: np.ndarray, points: int, tracking: str) -> np.ndarray:
    """Return M_θι (points + 1, 2, 2) on a closed path; single modes are tracked from point to point."""
    angle = np.linspace(0.0, 2.0 * np.pi, points + 1)
    theta = center + RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    theta[-1] = theta[0]
    model = supple.local(
        five_bar, theta, internal_modes=2, tracking="subspace" if tracking == "subspace" else "none", preload=False
    )
    found = model.M[:, :2, 2:].copy()
    if tracking == "modes":
        modes = model.modes[:, 2:].copy()
        for i in range(1, points + 1):
            match = modes[i] @ modes[i - 1].T
            order = np.abs(match).argmax(axis=0)
            sign = np.sign(match[order, [0, 1]])
            modes[i], found[i] = modes[i][order] * sign[:, None], found[i][:, order] * sign
    return found


@in_house_style
def draw(five_bar: supple.Mechanism, crossing: supple.Configuration, model: supple.ReducedModel) -> Figure:
    figure = new_figure(11, 4.6)
    left, middle, right = figure.subfigures(1, 3, width_ratios=[0.9, 1.1, 1])
    plain = left.add_subplot()
    crossing.plot(axes=plain, labels=False)
    sides = [np.linspace(*REGION[name], 41) for name in ("left", "right")]
    x, y = np.meshgrid(*sides, indexing="ij")
    theta = np.stack([x.ravel(), y.ravel()], axis=1)
    hertz = supple.local(five_bar, theta, internal_modes=2, preload=False).internal_hz.reshape(41, 41, 2)
    axes = middle.add_subplot(projection="3d")
    for i, color in enumerate((BLUE, RED)):
        axes.plot_surface(x, y, hertz[..., i], color=color, alpha=0.8, rcount=20, ccount=20, linewidth=0)
    axes.set(xlabel="left / rad", ylabel="right / rad", zlabel="frequency / Hz")
    axes.set_box_aspect(None, zoom=0.78)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.get_major_locator().set_params(nbins=4)
    K = model.evaluate(theta).K[:, 2, 3].reshape(41, 41)
    axes = right.add_subplot()
    drawn = axes.contourf(x, y, K, levels=15, cmap="RdBu")
    axes.plot(*crossing.theta, "k+")
    axes.set(xlabel="left / rad", ylabel="right / rad", title=None)
    right.colorbar(drawn, ax=axes, label="K between the modes / s⁻²")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/flexible-five-bar"), help="folder for the picture")
    main(parser.parse_args().output)
