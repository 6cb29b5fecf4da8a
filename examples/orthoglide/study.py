"""Compute the equations of motion of the orthoglide, and reduce it over its whole workspace."""

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

TOLERANCE = 5e-3  # of the reduced model, as in the paper
REFERENCE = {  # at x = -0.1, y = 0.02, z = -0.2 m
    "tool": [-0.0704617, 0.0512819, -0.1945540],
    "M": [
        [2.6561783, -0.0375420, -0.6308201],
        [-0.0375420, 2.4850726, -0.3120277],
        [-0.6308201, -0.3120277, 2.8303996],
    ],
    "force": [1.8027733, -1.0905362, -26.6928513],
    "Γ_x": [
        [-0.9655713, -0.1748907, 0.0502946],
        [-0.1748907, 1.4685489, -0.2577354],
        [0.0502946, -0.2577354, 2.6903124],
    ],
}


def main(output: Path) -> None:
    machine = supple.load(Path(__file__).with_name("mechanism.yaml"))
    print(supple.check(machine), "\n")

    model = supple.local(machine, "off-axis")
    tell_equations(model)
    found = {"tool": tool(model), "M": model.M, "force": model.force, "Γ_x": model.christoffel[0]}
    print("largest difference from the reference, relative to its largest entry:")
    for name, reference in REFERENCE.items():
        print(f"  {name:<6} {np.abs(found[name] - reference).max() / np.abs(reference).max():.1e}")

    grid = workspace(machine, 11)
    supple.local(machine, grid[:2])  # the first call reads the compiled kernels
    start = time.perf_counter()
    models = supple.local(machine, grid)
    each = (time.perf_counter() - start) / len(grid)
    print(f"\n{len(grid)} configurations over the workspace, {each * 1e6:.0f} microseconds each")
    reach = tool(models)
    for axis, low, high in zip("xyz", reach.min(axis=0), reach.max(axis=0), strict=True):
        print(f"  the tool's {axis} reaches from {low:.3f} to {high:.3f} m")
    print(f"  singularity between {models.singularity.min():.3f} and {models.singularity.max():.3f} (0: dead point)")

    output.mkdir(parents=True, exist_ok=True)
    small = reduce(machine, output / "orthoglide.rom")
    files = supple.export(small, output / "c", to="c")
    save_picture(draw(machine, models, small), output / "picture.png")
    print(f"\nwritten to {output}: the model orthoglide.rom, its C code in c, the picture picture.png")
    print(f"C files: {', '.join(file.name for file in files)}")


def reduce(machine: supple.Mechanism, file: Path) -> supple.ReducedModel:
    """Reduce with the paper's grid of quadratic boxes, then with far fewer samples."""
    print("\nreduced over the whole range of the sliders, errors at 2000 new points:")
    grid = supple.reduce(machine, fit="quadratic", boxes=(8, 8, 8))
    small = supple.reduce(machine, tolerance=TOLERANCE, output=file)
    for title, model in (("8 x 8 x 8 boxes", grid), (f"to {TOLERANCE:.1%}", small)):
        made, found = model.provenance, supple.compare(machine, model, points=2000)
        print(
            f"  {title:<16} {made['samples']:5d} samples, {made['checks']} checks, {made['boxes']:3d} boxes: "
            f"M {found.error['M']:.3%}, Γ {found.error['christoffel']:.3%}, p {found.error['force']:.3%}; "
            f"{found.speedup:.0f} times faster than the mechanism"
        )
    return small


def tool(model: supple.LocalModel) -> np.ndarray:
    """Return the position of the tool, (..., 3)."""
    return np.stack([model.outputs[f"tool.{axis}"].value for axis in "xyz"], axis=-1)


def workspace(machine: supple.Mechanism, count: int) -> np.ndarray:
    """Return a grid over the range of the sliders, (count³, 3)."""
    ranges = [np.linspace(*machine.actuator(axis).limits, count) for axis in "xyz"]
    return np.array(list(itertools.product(*ranges)))


def tell_equations(model: supple.LocalModel) -> None:
    """Print the coefficients of M θ̈ + Γ[θ̇, θ̇] = p + B u."""
    values = ", ".join(f"{name} = {value:g} m" for name, value in model.configuration.coordinates.items())
    print(f"equations of motion  M θ̈ + Γ[θ̇, θ̇] = p + B u  at {values}")
    for title, array in [
        ("M (kg)", model.M),
        *[(f"Γ_{name} (kg/m)", model.christoffel[i]) for i, name in enumerate(model.coordinates)],
        ("p (N)", model.force[None]),
        ("B", model.input_map),
        ("tool (m)", tool(model)[None]),
    ]:
        for i, row in enumerate(array):
            print(f"  {title if i == 0 else '':<11}" + "".join(f"{round(value, 6) + 0.0:12.6f}" for value in row))


def curves(model: supple.LocalModel) -> dict[str, dict[str, np.ndarray]]:
    """Return some coefficients of a batch of local models, or of a reduced model."""
    return {
        "M / kg": {"xx": model.M[:, 0, 0], "xy": model.M[:, 0, 1]},
        "Γ / (kg/m)": {"xxx": model.christoffel[:, 0, 0, 0], "xyz": model.christoffel[:, 0, 1, 2]},
        "gravity / N": {"x": model.force[:, 0], "z": model.force[:, 2]},
    }


@in_house_style
def draw(machine: supple.Mechanism, models: supple.LocalModel, small: supple.ReducedModel) -> Figure:
    figure = new_figure(10, 5.7)
    left, right = figure.subfigures(1, 2, width_ratios=[1.35, 1])

    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=24, azim=38)
    corners_then_here = [*workspace(machine, 2), [-0.1, 0.02, -0.2]]
    supple.assemble(machine, corners_then_here).plot(axes=axes, labels=False)
    points = axes.scatter(*tool(models).T, c=models.M[:, 0, 0], s=3, cmap="viridis", alpha=0.6, zorder=1)
    left.colorbar(points, ax=axes, location="bottom", shrink=0.5, pad=0.02, label="M$_{xx}$ / kg, where the tool is")

    low, high = machine.actuator("x").limits
    diagonal = np.linspace(low, high, 101)
    points = np.repeat(diagonal[:, None], 3, axis=1)
    along, reduced = curves(supple.local(machine, points)), curves(small.evaluate(points))
    for axes, label in zip(right.subplots(3, 1, sharex=True), along, strict=True):
        for color, name in zip(("#3b6ea8", "#c8553d"), along[label], strict=True):
            axes.plot(diagonal, along[label][name], label=name, color=color, linewidth=1)
            axes.plot(diagonal[::5], reduced[label][name][::5], "o", color=color, markersize=3, markerfacecolor="none")
        axes.set_ylabel(label)
        legend_above(axes)
    axes.set_xlabel("x = y = z / m, the diagonal (circles: reduced)")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/orthoglide"), help="folder for the results")
    main(parser.parse_args().output)
