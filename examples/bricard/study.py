"""Find the mobility of Bricard's overconstrained mechanism, and simulate ten seconds from rest."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture


def main(output: Path) -> None:
    bricard = supple.load(Path(__file__).with_name("mechanism.yaml"))
    found = supple.check(bricard)
    print("                        found   published")
    print(f"mobility               {found.mobility:6d}   1")
    print(f"redundant constraints  {found.redundant_constraints:6d}   1")
    print(f"Grübler count          {found.gruebler:6d}   0")
    print("joints in the redundancy:", " ".join(found.redundant_joints))

    low, high = find_dead_points(bricard)
    print(f"hinge P1 turns between {np.degrees(low):.3f} and {np.degrees(high):.3f} degrees")
    model = supple.local(bricard, np.linspace(low, high, 403)[1:-1, None])
    lightest = model.M[:, 0, 0].argmin()
    print(
        f"M at rest {supple.local(bricard).M[0, 0]:.4f} kg m², least {model.M[lightest, 0, 0]:.4f} kg m² "
        f"at {np.degrees(model.theta[lightest, 0]):.1f} degrees"
    )

    run = simulate(bricard, step=5e-4)
    total, kinetic = run.energy["total"], run.energy["kinetic"]
    farthest = np.degrees(run.coordinates["P1"].max())
    print(f"\nfrom rest, {run.time[-1]:g} s in {run.steps} steps: hinge P1 reaches {farthest:.3f} degrees")
    print(f"energy constant to {np.ptp(total):.1e} J, kinetic energy up to {kinetic.max():.4f} J")
    print(f"P3 at the end ({', '.join(f'{values[-1]:.6f}' for values in run.outputs.values())}) m")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(bricard, model), output / "picture.png")
    save_picture(draw_motion(run), output / "motion.png")


def simulate(bricard: supple.Mechanism, step: float) -> supple.Simulation:
    """Simulate from rest under gravity, as in the benchmark."""
    return supple.simulate(bricard, until=10.0, step=step, output_step=0.01)


def find_dead_points(bricard: supple.Mechanism) -> np.ndarray:
    """Find the dead points: assemble beyond them, and read the last reachable angle in `reached`."""
    beyond = np.array([[-np.pi], [2 * np.pi]])
    return supple.assemble(bricard, beyond, failures="mark").reached * beyond[:, 0]


@in_house_style
def draw(bricard: supple.Mechanism, model: supple.LocalModel) -> Figure:
    figure = new_figure(10, 5.5)
    left, right = figure.subfigures(1, 2, width_ratios=[1.2, 1])
    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=22, azim=-58)
    back_to_rest = np.radians([75, 60, 45, 30, 15, 0])
    supple.assemble(bricard, back_to_rest[:, None]).plot(axes=axes)

    angle = np.degrees(model.theta[:, 0])
    upper, lower = right.subplots(2, 1, sharex=True)
    upper.semilogy(angle, model.M[:, 0, 0], color="#3b6ea8")
    upper.set_ylabel("M / (kg m²)")
    lower.plot(angle, model.singularity, color="#c8553d")
    lower.set_ylabel("singularity / 1")
    lower.set_xlabel("P1 / °, between its dead points")
    return figure


@in_house_style
def draw_motion(run: supple.Simulation) -> Figure:
    figure = new_figure(10, 3.7)
    left, right = figure.subplots(1, 2)
    for (name, values), color in zip(run.outputs.items(), ("#3b6ea8", "#c8553d", "#4f8f5b"), strict=True):
        left.plot(run.time, values, color=color, label=name)
    left.set_ylabel("P3 / m")
    legend_above(left)
    right.plot(run.time, run.energy["balance"] * 1e6, color="#c8553d")
    right.set_ylabel("energy gained / µJ")
    for plot in (left, right):
        plot.set_xlabel("time / s")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/bricard"), help="folder for the picture")
    main(parser.parse_args().output)
