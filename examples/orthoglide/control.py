"""Move the orthoglide along a circle with computed torque from the reduced model and with PD control."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

OMEGA, XI = 40.0, 1.0  # rad/s and 1: K_P = M(home) ω², K_V = 2 ξ ω M(home)
SAMPLE = 1e-3  # s
CENTRE, RADIUS, TURNS = np.array([-0.1, -0.1, -0.1]), 0.1, 2  # m; one turn per second, the second turn is evaluated
WRONG = 1.1  # the tool is a tenth heavier than in the model of the controllers
TITLES = {
    "pd": "PD alone",
    "gravity": "and weight",
    "rigid": "and all forces",
    "torque": "computed torque",
}
COLORS = {"pd": "#c8553d", "gravity": "#b8862b", "rigid": "#4f8f5b", "torque": "#3b6ea8"}
FILE = Path(__file__).with_name("mechanism.yaml")


def main(output: Path) -> None:
    machine = supple.load(FILE)
    heavy = supple.load(FILE, parameters={"tool_mass": WRONG * machine.parameters["tool_mass"]})
    model = supple.reduce(machine, tolerance=5e-3)
    motion = circle(machine)
    runs = {name: run(heavy, controller, motion) for name, controller in controllers(model, motion).items()}

    print(f"a circle of {RADIUS:g} m at one turn per second, the tool {WRONG - 1:.0%} heavier than in the model")
    print("                           tool's error: RMS       largest    sliders: RMS   rel. to PD")
    plain = slider_error(runs["pd"], motion)
    for name, loop in runs.items():
        tool, sliders = tool_error(loop), slider_error(loop, motion)
        print(
            f"{TITLES[name]:<24} {rms(tool) * 1e3:18.3f} mm {np.linalg.norm(tool, axis=1).max() * 1e3:9.3f} mm "
            f"{rms(sliders) * 1e3:11.3f} mm        1/{rms(plain) / rms(sliders):.1f}"
        )
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(machine, runs), output / "control.png")


def circle(machine: supple.Mechanism, turns: float = TURNS) -> supple.Trajectory:
    """Return the motion of the sliders that moves the tool around a horizontal circle."""
    time = np.linspace(0.0, turns, round(200 * turns) + 1)  # quintics lie between them
    wanted = place(time)
    columns = {"time": time} | {f"tool.{axis}": wanted[:, i] for i, axis in enumerate("xyz")}
    return supple.trajectory(machine, columns, times=time)


def place(time: np.ndarray) -> np.ndarray:
    """Return the reference of the tool, (N, 3) m."""
    angle = 2.0 * np.pi * time
    return CENTRE + RADIUS * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)


def controllers(model: supple.ReducedModel, motion: supple.Trajectory) -> dict[str, control.Controller]:
    """Return three PD controllers with the same gains, and computed torque with the same error frequency."""
    loop = {"sample_time": SAMPLE, "frequencies": OMEGA, "damping_ratios": XI, "at": "home"}
    made = {
        name: control.joint_pd(model, motion, feedforward=feedforward, **loop)
        for name, feedforward in (("pd", "none"), ("gravity", "gravity"), ("rigid", "rigid"))
    }
    return made | {"torque": control.computed_torque(model, motion, OMEGA, XI)}


def run(plant: supple.Mechanism, controller: control.Controller, motion: supple.Trajectory, until: float = TURNS):
    """Simulate, starting on the circle."""
    begin = {"start": motion.theta[0], "rates": motion.rates[0]}
    return control.closed_loop(plant, controller, until=until, sample_time=SAMPLE, **begin)


def judged(loop: supple.Simulation, span: float = 1.0) -> np.ndarray:
    """Select the last turn, without its end, where the motion stops."""
    return (loop.time >= loop.time[-1] - span) & (loop.time < loop.time[-1])


def tool_error(loop: supple.Simulation) -> np.ndarray:
    """Return positions (N, 3), m."""
    there = np.stack([loop.outputs[f"tool.{axis}"] for axis in "xyz"], axis=1)
    return (there - place(loop.time))[judged(loop)]


def slider_error(loop: supple.Simulation, motion: supple.Trajectory, span: float = 1.0) -> np.ndarray:
    """Return the tool error (N, 3) in the last `span` s, m."""
    there = np.stack([loop.coordinates[axis] for axis in "xyz"], axis=1)
    return (there - control.reference(motion).sample(loop.time)[:, 0])[judged(loop, span)]


def rms(error: np.ndarray) -> float:
    """Return the RMS of the distance, m."""
    return float(np.sqrt((error**2).sum(axis=1).mean()))


@in_house_style
def draw(machine: supple.Mechanism, runs: dict[str, supple.Simulation]) -> Figure:
    figure = new_figure(10, 5.2)
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.25])
    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=20, azim=38)
    supple.assemble(machine, [-0.1, -0.1, -0.1]).plot(axes=axes, labels=False)
    for name in ("pd", "torque"):
        path = [runs[name].outputs[f"tool.{axis}"][judged(runs[name])] for axis in "xyz"]
        axes.plot(*path, color=COLORS[name], zorder=9)
    errors, forces = right.subplots(2, 1, sharex=True, height_ratios=[1.4, 1])
    for name, loop in runs.items():
        there = np.stack([loop.outputs[f"tool.{axis}"] for axis in "xyz"], axis=1) - place(loop.time)
        errors.semilogy(loop.time[1:], np.linalg.norm(there[1:], axis=1) * 1e3, color=COLORS[name], label=TITLES[name])
    for axis, style in zip("xz", ("--", "-"), strict=True):
        for name in ("pd", "torque"):
            inputs = runs[name].inputs[axis][:-1]
            forces.plot(runs[name].time[:-1], inputs, style, color=COLORS[name], linewidth=1.1)
    errors.set(ylabel="tool from its place / mm", ylim=(1e-2, 20.0))
    forces.set(ylabel="forces of x (dashed), z / N", xlabel="time / s")
    legend_above(errors)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/orthoglide"), help="folder for the picture")
    main(parser.parse_args().output)
