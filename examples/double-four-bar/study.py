"""Two parallelograms: constant inertia, and a flat position in which the first bar no longer says where the rest is."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple


def main(output: Path) -> None:
    double = supple.load(Path(__file__).with_name("mechanism.yaml"))
    model = supple.local(double, np.radians(np.linspace(1, 179, 179))[:, None])

    # All bars turn alike and the couplers only translate: M = 3 m l²/3 + 2 m l² = 3 kg m².
    print("bar's angle (deg)    M (kg m²)   by hand   singularity")
    for angle in (90.0, 45.0, 10.0, 1.0, 0.1, 0.01):
        at = supple.local(double, [np.radians(angle)])
        print(f"{angle:13.2f}    {at.M[0, 0]:12.8f}        3.0   {at.singularity:.3e}")

    try:
        supple.local(double, [0.0])
    except supple.InputError as error:
        print(f"\nlying flat:\n  {error}")

    output.mkdir(parents=True, exist_ok=True)
    draw(double, model).savefig(output / "picture.png", dpi=100)


def draw(double: supple.Mechanism, model: supple.LocalModel) -> Figure:
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.3, 1])
    falling_then_upright = np.radians([5, 20, 35, 50, 65, 90])
    supple.assemble(double, falling_then_upright[:, None]).plot(axes=left.add_subplot())

    axes = right.add_subplot()
    axes.plot(np.degrees(model.theta[:, 0]), model.singularity, color="#3b6ea8")
    axes.plot([0, 180], [0, 0], "o", color="#c8553d", clip_on=False, label="lying flat")
    axes.set(xlabel="angle of the first bar / degrees", ylabel="singularity", ylim=(0, None), xticks=range(0, 181, 30))
    axes.grid(color="#ececec")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/double-four-bar"), help="folder for the picture")
    main(parser.parse_args().output)
