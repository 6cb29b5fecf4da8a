"""Compute the effect of elastic gearboxes on the frequencies, responses and deflection of a five-bar."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

BLUE, RED, GREY = "#3b6ea8", "#c8553d", "#8a8a8a"
LINES = np.linspace(1.0, 60.0, 591)


def main(output: Path) -> None:
    five_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    stiff = without_gearboxes(five_bar)
    print("motors locked at home     with gearboxes          without")
    found, plain = (
        supple.modes(five_bar, "home", count=3, preload=False),
        supple.modes(stiff, "home", count=3, preload=False),
    )
    for i in range(3):
        share = sum(found.energy.joints[name][i] for name in ("left", "right"))
        with_gears = f"{found.frequencies_hz[i]:9.3f} Hz, {share:4.0%} in the gears"
        print(f"mode {i + 1}   {with_gears}  {plain.frequencies_hz[i]:9.3f} Hz")
    free = supple.modes(five_bar, "home", count=4, free_actuators=True)
    print(f"\nmotors free: {', '.join(f'{hertz:.3f}' for hertz in free.frequencies_hz)} Hz")
    print(f"{free.frequencies_hz[2]:.2f} Hz: {free.energy.words()[2]}")
    sag = supple.deflection(five_bar, "home")
    print(f"\nstatic deflection of the tool under gravity: {-1e3 * sag.of('tool.z'):.3f} mm, motors locked")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(five_bar, stiff), output / "picture.png")


def without_gearboxes(five_bar: supple.Mechanism) -> supple.Mechanism:
    """Return the mechanism with rigid drives."""
    joints = {name: joint.model_copy(update={"drive": None}) for name, joint in five_bar.joints.items()}
    return five_bar.replace(joints=joints)


def over_stiffness(five_bar: supple.Mechanism, stiffness: np.ndarray) -> np.ndarray:
    """Return the lowest two frequencies (n, 2) at home for these gearbox stiffnesses, N m/rad."""
    found = []
    for value in stiffness:
        drive = supple.Drive(stiffness=float(value))
        joints = {
            name: joint.model_copy(update={"drive": drive}) if joint.drive else joint
            for name, joint in five_bar.joints.items()
        }
        found.append(supple.modes(five_bar.replace(joints=joints), "home", count=2, preload=False).frequencies_hz)
    return np.array(found)


@in_house_style
def draw(five_bar: supple.Mechanism, stiff: supple.Mechanism) -> Figure:
    figure = new_figure(11, 4.6)
    sketch, middle, right = figure.subplots(1, 3, width_ratios=[0.85, 1.2, 1.0])
    supple.assemble(five_bar, "home").plot(axes=sketch, labels=False)
    sketch.set_title("at home")
    for made, color, label in ((five_bar, RED, "gearboxes yield"), (stiff, BLUE, "stiff drives")):
        H = supple.frf(made, "side", "tool.x", "tool.x", LINES, preload=False).values[:, 0, 0]
        middle.loglog(LINES, np.abs(H) * 1e6, color=color, label=label)
    middle.set(xlabel="frequency / Hz, at side, motors held", ylabel="tool.x from a force there / (µm/N)", title=None)
    legend_above(middle)
    stiffness = np.geomspace(1e3, 1e6, 25)
    found = over_stiffness(five_bar, stiffness)
    limit = supple.modes(stiff, "home", count=2, preload=False).frequencies_hz
    for i in range(2):
        right.semilogx(stiffness, found[:, i], color=(BLUE, RED)[i], label=f"mode {i + 1}")
        right.axhline(limit[i], color=GREY, linestyle=":", linewidth=1, label="stiff drives" if i else None)
    right.set(xlabel="at home: stiffness of a gearbox / (N m/rad)", ylabel="frequency / Hz", title=None)
    legend_above(right)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/five-bar-gearbox"), help="folder for the picture")
    main(parser.parse_args().output)
