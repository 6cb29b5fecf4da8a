"""Compute the coefficients and dead points of the rigid four-bar, and reduce it over its interval."""

import argparse
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, new_figure, save_picture

REFERENCE = {-1.2: 0.0705966783, 0.0: 0.172774478, 0.7: 0.0459804818}  # crank angle, rad: inertia, kg m²


def main(output: Path) -> None:
    four_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    dead_points = find_dead_points(four_bar)

    print("crank (rad)   M (kg m²)      reference      difference")
    for angle, inertia in REFERENCE.items():
        M = supple.local(four_bar, [angle]).M[0, 0]
        print(f"{angle:9.2f}   {M:.10f}   {inertia:.10f}   {M - inertia:+.1e}")
    print(f"dead points at {dead_points[0]:.4f} and {dead_points[1]:.4f} rad (reference: ±1.80)")

    compare_boxes(four_bar)
    compare_motions(four_bar)
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(four_bar, dead_points), output / "picture.png")


def find_dead_points(four_bar: supple.Mechanism) -> np.ndarray:
    """Find the dead points: assemble beyond them, and read the last reachable angle in `reached`."""
    beyond = np.array([[-2.5], [2.5]])
    rest = supple.assemble(four_bar).theta
    return (rest + supple.assemble(four_bar, beyond, failures="mark").reached[:, None] * (beyond - rest))[:, 0]


def compare_boxes(four_bar: supple.Mechanism) -> None:
    """Count the boxes for 0.1 %: adaptive quadratic, equal quadratic, and the default fit."""
    adaptive = supple.reduce(four_bar, fit="quadratic", tolerance=1e-3)
    equal = 16
    with warnings.catch_warnings():  # coarse grids of equal boxes fail near the dead points, and warn
        warnings.simplefilter("ignore", supple.SuppleWarning)
        while max(supple.reduce(four_bar, fit="quadratic", boxes=equal).error.values()) > 1e-3:
            equal *= 2
    made = supple.reduce(four_bar, tolerance=1e-3).provenance
    print(f"to 0.1 %: {adaptive.provenance['boxes']} adaptive quadratic boxes instead of {equal} equal ones")
    print(f"          {made['boxes']} boxes from {made['samples']} samples and {made['checks']} checks by default")


def compare_motions(four_bar: supple.Mechanism) -> None:
    """Simulate ten seconds of a swing with the full equations and with the reduced model."""
    held = four_bar.replace(forces={"hold": {"joint": "A", "force": 2.2}})  # without this force it leaves the interval
    full = supple.simulate(held, until=10.0, step=5e-4, start={"crank": -1.2}, output_step=0.01)
    model = supple.reduce(held, tolerance=1e-5, continuous=True)
    run = model.simulate(full.time, None, [-1.2], step=1e-3)
    off = np.abs(run.coordinates["crank"] - full.coordinates["crank"]).max()
    total, kinetic = run.energy["total"], run.energy["kinetic"]
    print(f"10 s of free swing, reduced to 1e-5: crank within {off:.1e} rad of the full model at all times,")
    print(f"          energy constant to {np.abs(total - total[0]).max() / kinetic.max():.0e} of the kinetic energy")


@in_house_style
def draw(four_bar: supple.Mechanism, dead_points: np.ndarray) -> Figure:
    low, high = four_bar.actuator("crank").limits
    figure = new_figure(10, 5.5)
    left, right = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    swing_then_home = [*np.linspace(low, high, 15), 0.0]
    supple.assemble(four_bar, np.array(swing_then_home)[:, None]).plot(axes=left.add_subplot())

    theta = np.linspace(low, high, 401)
    model = supple.local(four_bar, theta[:, None])
    curves = {
        "M / (kg m²)": model.M[:, 0, 0],
        "Γ / (kg m²)": model.christoffel[:, 0, 0, 0],
        "gravity / (N m)": model.force[:, 0],
    }
    for axes, (label, values) in zip(right.subplots(3, 1, sharex=True), curves.items(), strict=True):
        axes.plot(theta, values, color="#3b6ea8")
        axes.set_ylabel(label)
        for angle in dead_points:
            axes.axvline(angle, color="#c8553d", linestyle="--", linewidth=1)
    axes.set_xlabel("crank / rad (dashed: dead points)")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/four-bar"), help="folder for the picture")
    main(parser.parse_args().output)
