"""Compute two parallelograms near their singular flat position, and simulate ten seconds through it."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

REFERENCE = {"B0.x": 0.32845810, "B0.y": 0.94451854}  # m, at 10 s: from another code, extrapolated to step zero


def main(output: Path) -> None:
    double = supple.load(Path(__file__).with_name("mechanism.yaml"))
    model = supple.local(double, np.radians(np.linspace(1, 179, 179))[:, None])

    # All bars have the same angle and the couplers only translate: M = 3 m l²/3 + 2 m l² = 3 kg m².
    print("bar's angle (deg)    M (kg m²)   by hand   singularity")
    for angle in (90.0, 45.0, 10.0, 1.0, 0.1, 0.01):
        at = supple.local(double, [np.radians(angle)])
        print(f"{angle:13.2f}    {at.M[0, 0]:12.8f}        3.0   {at.singularity:.3e}")

    try:
        supple.local(double, [0.0])
    except supple.InputError as error:
        print(f"\nin the flat position:\n  {error}")

    print("\nB0 after 10 s, step (s)    x (m)        y (m)        error (m)   energy error (J)")
    for step in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        run = simulate(double, step)
        found = [run.outputs[name][-1] for name in REFERENCE]
        error = np.abs(np.array(found) - list(REFERENCE.values())).max()
        off = np.abs(run.energy["balance"]).max()
        print(f"{step:23.2e}    {found[0]:.8f}   {found[1]:.8f}   {error:.1e}     {off:.1e}")
    print("reference".rjust(23) + "    " + "   ".join(f"{value:.8f}" for value in REFERENCE.values()))
    flat = (np.diff(np.sign(run.outputs["B0.y"])) != 0).sum()
    print(f"it was flat {flat} times during the run")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(double, model), output / "picture.png")
    save_picture(draw_motion(run), output / "motion.png")


def simulate(double: supple.Mechanism, step: float) -> supple.Simulation:
    """Simulate from upright, with the top moving to the right at 1 m/s."""
    return supple.simulate(double, until=10.0, step=step, start="upright", rates={"A0": -1.0}, output_step=0.01)


@in_house_style
def draw(double: supple.Mechanism, model: supple.LocalModel) -> Figure:
    figure = new_figure(10, 4.6)
    left, right = figure.subfigures(1, 2, width_ratios=[1.3, 1])
    falling_then_upright = np.radians([5, 20, 35, 50, 65, 90])
    supple.assemble(double, falling_then_upright[:, None]).plot(axes=left.add_subplot())

    axes = right.add_subplot()
    axes.plot(np.degrees(model.theta[:, 0]), model.singularity, color="#3b6ea8")
    axes.plot([0, 180], [0, 0], "o", color="#c8553d", clip_on=False, label="lying flat")
    axes.set(xlabel="angle of the first bar / °", ylabel="singularity / 1", ylim=(0, None), xticks=range(0, 181, 30))
    legend_above(axes)
    return figure


@in_house_style
def draw_motion(run: supple.Simulation) -> Figure:
    figure = new_figure(10, 3.7)
    left, right = figure.subplots(1, 2)
    left.plot(run.time, run.outputs["B0.x"], color="#3b6ea8", label="B0.x")
    left.plot(run.time, run.outputs["B0.y"], color="#c8553d", label="B0.y")
    left.axhline(0.0, color="#888888", linewidth=0.8, linestyle="--")
    left.set_ylabel("B0 / m; y = 0 is flat")
    legend_above(left)
    for name, color in (("kinetic", "#3b6ea8"), ("potential", "#c8553d"), ("total", "#4f8f5b")):
        right.plot(run.time, run.energy[name], color=color, label=name)
    right.set_ylabel("energy / J")
    legend_above(right)
    for axes in (left, right):
        axes.set_xlabel("time / s")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/double-four-bar"), help="folder for the picture")
    main(parser.parse_args().output)
