"""Simulate steps of a seven-joint arm under the linear regulator, nonlinear and linear."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

JOINT = "elbow_pitch"  # the fourth
FREQUENCIES = np.array([10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 20.0])  # rad/s, of joints 1 to 7
DAMPING = 0.7
SAMPLE, UNTIL = 2e-3, 1.5  # s
STEPS = (-0.1, -0.3, -0.5)  # rad: the forearm is lifted
COLOURS = ("#3b6ea8", "#4f8f5b", "#c8553d")


def main(output: Path) -> None:
    arm = supple.load(Path(__file__).with_name("mechanism.yaml"))
    linear = supple.linearize(arm)
    print("holding torques (N m): " + ", ".join(f"{name} {u:.2f}" for name, u in linear.at["inputs"].items()))
    print(f"perturbation of 1e-6, linear compared with nonlinear: {perturbation_error(arm, linear):.1e}")
    gain = control.decoupled_gains(linear, FREQUENCIES, DAMPING)
    print(f"poles of the linear loop: error {pole_error(gain):.1e} 1/s")

    print(f"\nstep of {JOINT}   rise to 90 %      overshoot         at the end (rad)     largest difference")
    for size in STEPS:
        whole, small = (step_response(plant, gain, size) for plant in (arm, linear))
        rises = f"{rise(whole, size):.3f}, {rise(small, size):.3f} s"
        over = f"{overshoot(whole, size):5.1%}, {overshoot(small, size):5.1%}"
        ends = f"{whole.coordinates[JOINT][-1]:.4f}, {small.coordinates[JOINT][-1]:.4f}"
        print(f"{size:6.2f} rad            {rises}   {over}    {ends}    {apart(whole, small):.4f} rad")
    print("(first the nonlinear arm, then the linear model)")
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(arm, linear, gain), output / "picture.png")


def perturbation_error(arm, linear, size: float = 1e-6) -> float:
    """Return ‖δẋ* - δẋ‖ / ‖δẋ*‖ for every state perturbed by `size`: the paper's first check, 2.7e-6 there."""
    n = len(linear.states) // 2
    u = np.array([*linear.at["inputs"].values()])

    def accelerations(theta: np.ndarray, rates: np.ndarray) -> np.ndarray:
        here = supple.local(arm, theta)
        forces = here.force + here.input_map @ u - here.damping @ rates - here.inertia_forces(rates, np.zeros(n))
        return np.linalg.solve(here.M, forces)

    change = accelerations(np.full(n, size), np.full(n, size)) - accelerations(np.zeros(n), np.zeros(n))
    exact = np.concatenate([np.full(n, size), change])
    return float(np.linalg.norm(exact - linear.A @ np.full(2 * n, size)) / np.linalg.norm(exact))


def pole_error(gain: control.FeedbackGain) -> float:
    found = np.linalg.eigvals(gain.closed)
    return max(np.abs(found - pole).min() for pole in gain.poles)


def step_response(plant, gain: control.FeedbackGain, size: float) -> supple.Simulation:
    """Simulate from rest, with the joint's reference at `size` and the first-order holding torques there."""
    return control.closed_loop(plant, gain.regulator({JOINT: size}), until=UNTIL, sample_time=SAMPLE)


def rise(loop: supple.Simulation, size: float) -> float:
    part = loop.coordinates[JOINT] / size
    i = int(np.argmax(part >= 0.9))
    return float(np.interp(0.9, part[i - 1 : i + 1], loop.time[i - 1 : i + 1]))


def overshoot(loop: supple.Simulation, size: float) -> float:
    return float((loop.coordinates[JOINT] / size).max() - 1.0)


def apart(first: supple.Simulation, second: supple.Simulation) -> float:
    return float(np.abs(first.coordinates[JOINT] - second.coordinates[JOINT]).max())


@in_house_style
def draw(arm, linear, gain: control.FeedbackGain) -> Figure:
    figure = new_figure(10.5, 4.8)
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.5])
    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=16, azim=-60)
    theta = np.zeros((3, 7))
    theta[:2, 3] = -0.25, -0.5
    supple.assemble(arm, theta).plot(axes=axes)
    plot, others = right.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    for size, colour in zip(STEPS, COLOURS, strict=True):
        whole, small = (step_response(plant, gain, size) for plant in (arm, linear))
        plot.plot(whole.time, -whole.coordinates[JOINT], color=colour, label=f"{-size:g} rad")
        plot.plot(small.time, -small.coordinates[JOINT], "--", color=colour, linewidth=0.9)
    for name, colour in zip(("shoulder_pitch", "elbow_pitch", "wrist_pitch"), COLOURS, strict=True):
        others.step(whole.time, whole.inputs[name], where="post", color=colour, label=name)
    plot.plot([], [], "--", color="#888888", linewidth=0.9, label="linear model")
    plot.set_ylabel("elbow pitch, upwards / rad")
    others.set_ylabel("torque / (N m)")
    others.set_xlabel("time / s")
    for one in (plot, others):
        legend_above(one)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/seven-joint"), help="folder for the picture")
    main(parser.parse_args().output)
