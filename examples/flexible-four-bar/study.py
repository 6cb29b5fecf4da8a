"""Compute modes of the flexible four-bar over its interval, and reduce it to five and six coordinates."""

import argparse
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

REFERENCE = {  # crank angle, rad: the four lowest frequencies with the crank locked, Hz
    -1.2: [16.478, 37.120, 47.248, 50.730],
    0.0: [10.268, 26.489, 54.162, 55.748],
    0.7: [20.920, 25.451, 47.990, 85.577],
}
LOCAL = {  # crank angle, rad: inertia, kg m²; stiffness at E, N/m; internal modes, Hz, with crank and E.z locked
    -1.2: (0.070597, 8.13465e3, [37.120, 47.248, 48.005, 84.636]),
    0.0: (0.172774, 3.32502e3, [26.489, 47.995, 55.748, 84.719]),
    0.7: (0.045980, 2.38171e7, [20.920, 25.451, 47.991, 85.577]),
}
WHOLE = {"crank": (-1.75, 1.75)}
AWAY = [{"crank": (-1.75, 0.64)}, {"crank": (0.76, 1.75)}]  # excludes |θ - 0.70| < 0.06, where a fourth mode enters
LAGRANGE = {"fit": "lagrange", "constraint_modes": ["E.z"]}
FILE = Path(__file__).with_name("mechanism.yaml")
BLUE, RED = "#3b6ea8", "#c8553d"
STIFF = 1e6  # N/m to MN/m


def main(output: Path) -> None:
    four_bar = supple.load(FILE)
    print("crank (rad)   frequencies (Hz), crank locked            largest difference to the reference")
    for angle, reference in REFERENCE.items():
        found = supple.modes(four_bar, [angle], count=4).frequencies_hz
        listed = "  ".join(f"{hertz:7.3f}" for hertz in found)
        print(f"{angle:9.2f}   {listed}      {np.abs(found / reference - 1.0).max():.0e}")
    print("\nelements per bar    frequencies (Hz) at 0 rad")
    for elements in (4, 8, 16):
        listed = "  ".join(f"{hertz:9.5f}" for hertz in supple.modes(refined(elements), [0.0], count=4).frequencies_hz)
        print(f"{elements:9}           {listed}")
    print("\nat 0 rad, description of the modes")
    modes = supple.modes(four_bar, "home", count=4)
    for hertz, words in zip(modes.frequencies_hz, modes.descriptions, strict=True):
        print(f"{hertz:7.3f} Hz  {words}")

    print_local_models(four_bar)
    grids = compare_grids(four_bar)
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(four_bar), output / "picture.png")
    save_picture(draw_modes(four_bar), output / "modes.png")
    save_picture(draw_models(four_bar, grids), output / "models.png")


def print_local_models(four_bar: supple.Mechanism) -> None:
    print("\ncrank (rad)   inertia (kg m²)   stiffness at E (N/m)   internal modes (Hz)     difference to the table")
    for angle, (inertia, stiffness, hertz) in LOCAL.items():
        model = supple.local(four_bar, [angle], constraint_modes=["E.z"], internal_modes=4)
        found = np.array([model.M[0, 0], model.K[1, 1], *model.internal_hz])
        listed = "  ".join(f"{value:6.3f}" for value in found[2:])
        off = np.abs(found / [inertia, stiffness, *hertz] - 1.0).max()
        print(f"{angle:9.2f}   {found[0]:15.6f}   {found[1]:20.6g}   {listed}   {off:.0e}")


def compare_grids(four_bar: supple.Mechanism) -> dict[str, supple.ReducedModel]:
    """Repeat the paper's comparison for three internal modes away from 0.70 rad and for four; return the latter."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", supple.SuppleWarning)
        supple.reduce(four_bar, region=WHOLE, internal_modes=3, boxes=4, **LAGRANGE)
    print("\nthree internal modes over the whole interval:")
    for warning in said:
        print(f"  {warning.message}")
    grids = {}
    for count, region, equal, tolerance in ((3, AWAY, 16, 0.05), (4, WHOLE, 32, 0.3)):
        options = {"region": region, "internal_modes": count}
        with warnings.catch_warnings():  # the paper's grids are unusable in some regions, and warn
            warnings.simplefilter("ignore", supple.SuppleWarning)
            made = {
                "equal boxes": supple.reduce(four_bar, boxes=equal, **options, **LAGRANGE),
                "adaptive": supple.reduce(four_bar, tolerance=tolerance, **options, **LAGRANGE),
            }
        made["auto"] = supple.reduce(four_bar, constraint_modes=["E.z"], tolerance=0.05, **options)
        print(f"\n{count} internal modes                        largest relative error of")
        print("               boxes  samples      M_θθ     K_γγ    Γ_θθθ      all families")
        for name, model in made.items():
            where = model.provenance
            errors = "".join(f"{model.error[family]:9.2g}" for family in ("M_θθ", "K_γγ", "Γ_θθθ"))
            print(f"  {name:11} {where['boxes']:6} {where['samples']:8} {errors} {max(model.error.values()):12.2g}")
        grids = made
    return grids


def refined(elements: int) -> supple.Mechanism:
    """Return the mechanism with more elements per bar."""
    return supple.loads(FILE.read_text("utf-8").replace("elements: 4", f"elements: {elements}"))


@in_house_style
def draw(four_bar: supple.Mechanism) -> Figure:
    figure = new_figure(10, 5.1)
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1])
    supple.modes(four_bar, "home", count=4).plot(axes=panels(left))

    low, high = four_bar.actuator("crank").limits
    found = supple.modes(four_bar, np.linspace(low, high, 401)[:, None], count=5)
    angle, energy = found.configuration.theta[:, 0], found.energy
    axes = right.subplots()
    out = energy.out_of_plane > 0.5
    for color, label, chosen in ((BLUE, "in the plane", ~out), (RED, "out of the plane", out)):
        hertz = np.where(chosen, found.frequencies_hz, np.nan)
        axes.plot(np.repeat(angle, hertz.shape[1]), hertz.ravel(), ".", markersize=2, color=color)
        axes.plot([], [], color=color, label=label)
    axes.set(xlabel="crank / rad", ylabel="frequency / Hz", ylim=(0, None))
    legend_above(axes)
    return figure


@in_house_style
def draw_modes(four_bar: supple.Mechanism) -> Figure:
    """Draw rigid, constraint and internal modes with the crank at 0.9 rad (the paper's Figure 7)."""
    model = supple.local(four_bar, [0.9], constraint_modes=["E.z"], internal_modes=3)
    ahead = supple.assemble(four_bar, [1.05])
    figure = new_figure(10, 2.6)
    titles = ["rigid", "E.z = 1", *(f"{hertz:.1f} Hz" for hertz in model.internal_hz)]
    for i, title in enumerate(titles):
        axes = figure.add_subplot(1, 5, i + 1, projection="3d")
        delta = np.eye(5)[i][1:]
        shapes = {name: model.displacements(name, delta).reshape(-1, 6)[:, :3] for name in four_bar.bodies}
        largest = max(np.abs(shape).max() for shape in shapes.values())
        for name, shape in shapes.items():
            b = model.configuration.rest.numbering.body_index(name)
            nodes = model.system.rest.bodies[b].mesh.nodes
            still = placed(model.configuration, b, nodes)
            moved = placed(ahead, b, nodes) if i == 0 else placed(
                model.configuration, b, nodes + 0.12 * shape / largest
            )  # fmt: skip
            axes.plot(*still.T, color="#cccccc", linewidth=2.0)
            axes.plot(*moved.T, ".-", color=BLUE, markersize=4)
        axes.set_title(title, fontsize=9)
        axes.set(xlim=(0, 1), ylim=(-0.3, 0.3), zlim=(-0.1, 0.8))
        axes.set_box_aspect((1, 0.6, 0.9), zoom=1.45)
        axes.view_init(elev=18, azim=-62)
        axes.set_axis_off()
    figure.supxlabel("largest displacement drawn as 120 mm, the rigid mode as 0.15 rad of the crank", fontsize=8)
    return figure


def placed(configuration: supple.Configuration, b: int, points: np.ndarray) -> np.ndarray:
    """Return points of a body in world axes."""
    X = configuration.X[b]
    return X[:3] + points @ X[3:].reshape(3, 3).T


@in_house_style
def draw_models(four_bar: supple.Mechanism, grids: dict[str, supple.ReducedModel]) -> Figure:
    """Draw Figures 8 to 11 of the paper: frequencies, inertia and Γ, errors of two grids, stiffness at E."""
    theta = np.linspace(-1.75, 1.75, 801)
    plain = supple.local(four_bar, theta[:, None], constraint_modes=["E.z"], internal_modes=3)
    followed = supple.local(four_bar, theta[:, None], constraint_modes=["E.z"], internal_modes=4, tracking="subspace")
    figure = new_figure(10, 9.5)
    panels = figure.subplots(4, 2)
    (sorted_hz, tracked_hz), (inertia, symbol), (of_mass, of_stiffness), (wide, narrow) = panels
    sorted_hz.plot(theta, plain.internal_hz)
    sorted_hz.set_ylabel("three lowest / Hz")
    tracked_hz.plot(theta, np.sqrt(np.diagonal(followed.K, axis1=1, axis2=2)[:, 2:]) / (2.0 * np.pi))
    tracked_hz.set_ylabel("four followed / Hz")
    inertia.semilogy(theta, followed.M[:, 0, 0], color=BLUE)
    inertia.set_ylabel("M_θθ / (kg m²)")
    symbol.plot(theta, followed.christoffel[:, 0, 0, 0], color=BLUE)
    symbol.set(ylabel="Γ_θθθ / (kg m²)", ylim=(-3, 3))
    for name, color in (("equal boxes", RED), ("adaptive", BLUE)):
        found = grids[name].evaluate(theta[:, None])
        for axes, ours, full in ((of_mass, found.M, followed.M), (of_stiffness, found.K, followed.K)):
            error = np.linalg.norm(ours - full, axis=(1, 2)) / np.linalg.norm(full, axis=(1, 2))
            axes.semilogy(theta, np.maximum(error, 1e-9), color=color, linewidth=0.9,
                          label=f"{name}, {grids[name].provenance['boxes']}")  # fmt: skip
        for axes in (wide, narrow):
            axes.plot(theta, found.K[:, 1, 1] / STIFF, color=color, linewidth=0.9, label=name)
    of_mass.set_ylabel("error of M / 1")
    of_stiffness.set_ylabel("error of K / 1")
    legend_above(of_mass)
    for axes, limits in ((wide, (0, 26)), (narrow, (0, 0.05))):
        axes.plot(theta, followed.K[:, 1, 1] / STIFF, "k:", linewidth=1.2, label="local models")
        axes.set(ylabel="stiffness at E / (MN/m)", ylim=limits, xlabel="crank / rad")
    legend_above(wide)
    return figure


def panels(figure: Figure) -> list:
    found = [figure.add_subplot(2, 2, i + 1, projection="3d", computed_zorder=False) for i in range(4)]
    for axes in found:
        axes.view_init(elev=24, azim=-42)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/flexible-four-bar"), help="folder for the picture")
    main(parser.parse_args().output)
