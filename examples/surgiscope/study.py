"""Compute modes, responses and deflections of the Surgiscope at two postures and over its workspace."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, label, new_figure, save_picture

FILE = Path(__file__).with_name("mechanism.yaml")
REFERENCE = {  # Hz: independent beam model with the same parameters
    "first": [11.709762, 11.709762, 15.358492, 31.613967, 31.613967, 35.851265, 39.013092, 39.013092, 40.695904],
    "second": [12.106312, 12.715987, 15.231822, 26.137006, 33.021803, 36.528784, 38.251596, 38.812682, 42.297349],
}
DEFLECTION = {  # mm: platform under -200 N along z, from the same model
    (0.0, 0.0, -1.1): [0.0, 0.0, -1.418650],
    (0.19, -0.33, -0.9): [-0.275382, 0.478627, -1.881933],
    (0.25, -0.25, -1.478): [-1.292530, 2.070955, -1.373188],
}
PAPER = {  # Hz: measured, and the paper's model
    "first": ([11.8, 15.2, 31.2, 36.1, 38.8], [11.3, 15.7, 31.8, 36.4, 38.4]),
    "second": ([12.4, 15.4, 26.1, 36.2, 42.5], [12.5, 16.0, 25.8, 37.3, 40.9]),
}
REACH = 0.3  # m
PUSH = -200.0  # N
SHOWN = [("platform.z", "platform.z"), ("platform.x", "platform.x"), ("platform.x", "upper2.y")]  # impact, sensor
LINES = np.arange(1.0, 100.0, 0.5)  # Hz


def main(output: Path) -> None:
    robot = supple.load(FILE)
    for name in REFERENCE:
        print_frequencies(robot, name)
    print(f"\nplatform under {PUSH:g} N along z (mm)")
    for place, reference in DEFLECTION.items():
        found = deflection(robot, place)
        print(f"  at {place}:  {np.round(found, 6)}   difference {relative(found, reference):.0e} of the largest")
    found = over_a_plane(robot, 17)
    print("\nover the plane z = -1.1 m, |x|, |y| <= 0.3 m (Hz)")
    for i, (low, high) in enumerate(found.bands_hz):
        print(f"  mode {i + 1}: {low:6.2f} to {high:6.2f}")
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(robot), output / "picture.png")
    save_picture(draw_responses(robot), output / "responses.png")
    save_picture(found.plot(count=3), output / "map.png")


def print_frequencies(robot: supple.Mechanism, name: str) -> None:
    found = supple.modes(robot, name, count=9, preload=False).frequencies_hz
    measured, modelled = PAPER[name]
    print(f"\n{name} posture, brakes locked (Hz)")
    print(f"  supple             {listed(found)}")
    print(f"  reference          {listed(REFERENCE[name])}   difference {relative(found, REFERENCE[name]):.0e}")
    print(f"  measured [paper]   {listed(measured)}")
    print(f"  their model        {listed(modelled)}")


def listed(hertz: list[float]) -> str:
    return "  ".join(f"{value:7.3f}" for value in hertz)


def relative(found: np.ndarray, reference: list[float]) -> float:
    return float(np.abs(np.asarray(found) - reference).max() / np.abs(reference).max())


def deflection(robot: supple.Mechanism, place: tuple[float, float, float]) -> np.ndarray:
    """Return the displacement of the platform under the push, mm."""
    found = supple.compliance(robot, {"tool": place}, ["platform.x", "platform.y", "platform.z"], preload=False)
    return 1e3 * PUSH * found.values[:, 2]


def over_a_plane(robot: supple.Mechanism, count: int) -> supple.FrequencyMap:
    """Return frequencies on a grid of platform positions in a plane."""
    across = np.linspace(-REACH, REACH, count)
    return supple.frequency_map(robot, {"tool.x": across, "tool.y": across, "tool.z": -1.1}, count=6, preload=False)


@in_house_style
def draw(robot: supple.Mechanism) -> Figure:
    """Draw six mode shapes at the first posture; one of each pair."""
    figure = new_figure(10, 6.4)
    modes = supple.modes(robot, "first", count=9, preload=False)
    shown = [0, 2, 3, 5, 6, 8]
    panels = [figure.add_subplot(2, 3, i + 1, projection="3d", computed_zorder=False) for i in range(6)]
    modes.plot(axes=panels, which=shown)
    for axes in panels:
        axes.view_init(elev=14, azim=-62)
        axes.set_axis_off()
        axes.set_box_aspect((1, 1, 0.85), zoom=1.35)
    return figure


@in_house_style
def draw_responses(robot: supple.Mechanism) -> Figure:
    """Draw accelerances for impacts on the platform, with the identified loss factor."""
    figure = new_figure(10, 4.4)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, posture in zip(panels, REFERENCE, strict=True):
        for blow, seen in SHOWN:
            found = supple.frf(robot, posture, [blow], [seen], LINES, kind="accelerance", preload=False)
            axes.semilogy(LINES, np.abs(found.values[:, 0, 0]), label=f"{seen} from {blow}")
        for i, hertz in enumerate(PAPER[posture][0]):
            axes.axvline(hertz, color="#9a9a9a", linewidth=0.8, linestyle=":", label="" if i else "measured resonances")
        axes.set(xlabel=label("frequency", "Hz"), xlim=(0, 100), ylim=(1e-4, 2))
        axes.set_title(f"{posture} posture")
    panels[0].set_ylabel(label("accelerance", "m/s²/N"))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/surgiscope"), help="folder for the pictures")
    main(parser.parse_args().output)
