"""Bring a hanging two-link arm to rest by regulators designed on its linear model."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.view.house_style import in_house_style, new_figure, save_picture

FREQUENCIES, DAMPING = np.array([2.0, 3.0]), 0.8  # rad/s, of shoulder and elbow; damping ratio of both
SAMPLE, UNTIL = 5e-3, 8.0  # s
COLOURS = {"shoulder": "#3b6ea8", "elbow": "#c8553d"}


def main(output: Path) -> None:
    arm = supple.load(Path(__file__).with_name("mechanism.yaml"))
    linear = supple.linearize(arm)
    print("d(accelerations)/d(angles), in the order elbow, shoulder, and the inverse mass matrix:")
    for left, right in zip(*printed(linear), strict=True):
        print("  " + "".join(f"{x:9.4f}" for x in left) + "   " + "".join(f"{x:9.4f}" for x in right))

    designs = gains(linear)
    print("\ndesign          poles met to   start   2 % after   largest torques (N m)     error after 8 s (rad)")
    for name, gain in designs.items():
        for start in ("near", "far"):
            loop = run(arm, gain, start)
            torques = ", ".join(f"{np.abs(values).max():6.1f}" for values in loop.inputs.values())
            print(
                f"{name:14}  {pole_error(gain):8.1e}       {start:5}   {settling(loop):5.2f} s     {torques}"
                f"            {left_over(loop):8.1e}"
            )
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(arm, linear, designs), output / "picture.png")


def printed(linear) -> tuple[np.ndarray, np.ndarray]:
    """Return the two matrices of the paper, in its order of the joints."""
    turned = np.ix_([1, 0], [1, 0])
    return linear.A[2:, :2][turned], linear.B[2:][turned]


def poles() -> np.ndarray:
    """Return the poles of two oscillators, -ξω ± iω sqrt(1 - ξ²)."""
    root = np.sqrt(1.0 - DAMPING**2)
    return np.concatenate([FREQUENCIES * (-DAMPING + 1j * root), FREQUENCIES * (-DAMPING - 1j * root)])


def gains(linear) -> dict[str, control.FeedbackGain]:
    """Return both designs, with the same poles."""
    return {
        "pole placement": control.pole_placement(linear, poles()),
        "decoupled": control.decoupled_gains(linear, FREQUENCIES, DAMPING),
    }


def pole_error(gain: control.FeedbackGain) -> float:
    """Return the largest distance of a pole of A - B K from the specified one."""
    found, asked = np.linalg.eigvals(gain.closed), poles()
    return max(np.abs(found - pole).min() for pole in asked)


def run(plant, gain: control.FeedbackGain, start: str | list[float]) -> supple.Simulation:
    return control.closed_loop(plant, gain.regulator(), until=UNTIL, sample_time=SAMPLE, start=start)


def deviation(loop: supple.Simulation) -> np.ndarray:
    return np.abs(np.stack([*loop.coordinates.values()])).max(axis=0)


def settling(loop: supple.Simulation) -> float:
    """Return the settling time of the angles to 2 % of their initial deviation."""
    away = np.flatnonzero(deviation(loop) > 0.02 * deviation(loop)[0])
    return float(loop.time[away[-1] + 1])


def left_over(loop: supple.Simulation) -> float:
    return float(deviation(loop)[-1])


@in_house_style
def draw(arm, linear, designs: dict[str, control.FeedbackGain]) -> Figure:
    figure = new_figure(10.5, 5.7)
    left, right = figure.subfigures(1, 2, width_ratios=[1, 2.3])
    far = run(arm, designs["decoupled"], "far")
    theta = np.stack([*far.coordinates.values()], axis=1)[[300, 160, 100, 60, 0]]
    supple.assemble(arm, theta).plot(axes=left.subplots())
    axes = right.subplots(2, 2, sharex=True)
    for column, (name, gain) in zip(axes.T, designs.items(), strict=True):
        for plot, start, size in zip(column, ("near", "far"), (0.05, 1.0), strict=True):
            loop, small = run(arm, gain, start), run(linear, gain, [size, size])
            for joint, colour in COLOURS.items():
                plot.plot(loop.time, loop.coordinates[joint], color=colour, label=joint)
                plot.plot(small.time, small.coordinates[joint], "--", color=colour, linewidth=0.9)
            plot.set_title(f"{name}, from {size:g} rad", fontsize=9)
            plot.set_xlim(0.0, 5.0)
    axes[0, 0].plot([], [], "--", color="#888888", linewidth=0.9, label="linear model")
    handles, names = axes[0, 0].get_legend_handles_labels()
    right.legend(handles, names, loc="outside upper left", ncols=3)
    for plot in axes[:, 0]:
        plot.set_ylabel("angle / rad")
    for plot in axes[-1]:
        plot.set_xlabel("time / s")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/two-link"), help="folder for the picture")
    main(parser.parse_args().output)
