"""Compute the mass matrix and singularity measure of a Stewart platform, and reduce it over its stroke."""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, new_figure, save_picture

HEAVE = np.ones(6)
TILT = np.array([1.0, 1.0, -0.5, -0.5, -0.5, -0.5])  # the first pair of legs up, the others down


def main(output: Path) -> None:
    stewart = supple.load(Path(__file__).with_name("mechanism.yaml"))
    home = supple.local(stewart, "home")
    print("M at home (kg), legs 1 to 6:")
    for row in home.M:
        print("  " + "".join(f"{value:10.4f}" for value in row))
    print(f"force of gravity along a leg at home: {home.force[0]:.6f} N, by hand {leg_force(stewart):.6f} N")

    stroke = stewart.parameters["stroke"]
    theta = home.theta + np.random.default_rng(0).uniform(-stroke, stroke, (1000, 6))
    supple.local(stewart, theta[:2])  # the first call reads the compiled kernels
    start = time.perf_counter()
    models = supple.local(stewart, theta)
    each = (time.perf_counter() - start) / len(theta)
    print(f"\n{len(theta)} random configurations of the legs, {each * 1e6:.0f} microseconds each")
    print(f"singularity at home {home.singularity:.4f}, at worst {models.singularity.min():.4f}")

    output.mkdir(parents=True, exist_ok=True)
    model = supple.reduce(stewart, tolerance=1e-2, output=output / "stewart.rom")
    made, found = model.provenance, supple.compare(stewart, model)
    print(f"\nreduced to 1 %: {made['samples']} samples, {made['checks']} checks, {made['boxes']} boxes")
    print("  at 1000 new points: " + ", ".join(f"{name} {error:.2%}" for name, error in found.error.items()))
    print(f"  {found.speedup:.0f} times faster than the mechanism")
    save_picture(draw(stewart), output / "picture.png")


def leg_force(stewart: supple.Mechanism) -> float:
    """Compute the force by hand, from the potential V in a pure heave with all legs of length L: a sixth of -∂V/∂L.

    L² - h² is constant. A barrel's centre is at height b/2 h/L, a piston's at (L - p/2) h/L.
    """
    p, g = stewart.parameters, -stewart.gravity[2]
    h, L = p["height"], p["leg"]
    slope = 1 / h - h / L**2  # derivative of h/L by L
    platform = p["platform_mass"] * L / h
    barrels = 6 * p["barrel_mass"] * p["barrel"] / 2 * slope
    pistons = 6 * p["piston_mass"] * (L / h - p["piston"] / 2 * slope)
    return -g * (platform + barrels + pistons) / 6


@in_house_style
def draw(stewart: supple.Mechanism) -> Figure:
    figure = new_figure(10, 5.5)
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1])
    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=18, azim=-50)
    home = supple.assemble(stewart, "home").theta
    stroke = stewart.parameters["stroke"]
    low_high_tilted = home + stroke * np.array([-HEAVE, HEAVE, 0.5 * TILT])
    supple.assemble(stewart, low_high_tilted).plot(axes=axes)

    heave, tilt = np.meshgrid(np.linspace(-0.10, 0.10, 41), np.linspace(-0.08, 0.08, 41))
    swept = supple.assemble(stewart, home + np.outer(heave, HEAVE) + np.outer(tilt, TILT))
    plot = right.add_subplot()
    filled = plot.contourf(heave * 1e3, tilt * 1e3, swept.singularity.reshape(heave.shape), 14, cmap="viridis")
    right.colorbar(filled, ax=plot, label="singularity / 1 (0: not held)", shrink=0.9)
    plot.set(xlabel="heave: all legs longer by / mm", ylabel="tilt: first two legs longer by / mm")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/stewart"), help="folder for the results")
    main(parser.parse_args().output)
