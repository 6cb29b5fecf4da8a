"""Control redundant torques: two together pass dead points of each, and internal forces add stiffness."""

import argparse
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.diagnostics import SuppleNote
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

MOTION, DURATION = "back", 4.0  # one turn backwards, from rest to rest, s
BOUND = 250.0  # N m: limit of every torque
OMEGA, SAMPLE = 20.0, 2e-3  # rad/s, s
WHO = ("C", "D", "C, D")
POSTURE, STIFFNESS = np.array([0.8]), 60.0  # rad, N m/rad: posture without feedback, and its stiffness
PRELOAD = {"C": -40.0, "D": -80.0}  # N m
COLORS = {"C": "#4f8f5b", "D": "#8a5fa0", "C, D": "#3b6ea8"}


def main(output: Path) -> None:
    four_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    runs = {who: passed(four_bar, who) for who in WHO}
    print(f"one turn backwards in {DURATION:g} s, torques of at most {BOUND:g} N m; largest error of the crank")
    for who, (loop, short) in runs.items():
        missed = np.abs(error(four_bar, loop)).max()
        peak = max(np.abs(values).max() for values in loop.inputs.values())
        told = f"misses it by {missed:.2g} rad at most, largest torque {peak:.1f} N m, short of it {short} times"
        print(f"  {who:<5} {told}")
    print("\nthe turn at 60 rpm in closed loop, all four torques")
    for objective in ("torque", "peak"):
        controller = control.computed_torque(four_bar, "turn", OMEGA, minimize=objective)
        loop = control.closed_loop(
            four_bar, controller, until=0.99, sample_time=SAMPLE, start="start", rates=[2.0 * np.pi]
        )
        peak = max(np.abs(values).max() for values in loop.inputs.values())
        print(f"  least {objective:<6}  largest torque {peak:5.1f} N m")

    print("with a preload, least torque")
    for preload in (None, PRELOAD):
        loop = turned(four_bar, preload)
        found = control.antagonism(four_bar, loop.coordinates["A"][:, None])
        stiffness = found.stiffness(np.stack([*loop.inputs.values()], axis=1))[:, 0, 0]
        missed = np.abs(loop.coordinates["A"] - control.reference("turn", four_bar).sample(loop.time)[:, 0, 0]).max()
        told = f"{stiffness.min() + 0.0:.0f} ... {stiffness.max():.0f} N m/rad"
        print(f"  {preload or 'none'}: preload stiffness {told}, largest error of the crank {missed * 1e3:.1f} mrad")

    strain = control.antagonism(four_bar, POSTURE)
    held = holding(four_bar)
    preload = strain.preload(STIFFNESS - strain.compute_total_stiffness(held))
    stiffness = strain.compute_total_stiffness(held)[0, 0]
    print(f"\nat {POSTURE[0]:g} rad with torques {named(held)}: stiffness {stiffness:.1f} N m/rad")
    print(f"with the preload {named(preload)}: stiffness {STIFFNESS:g} N m/rad")
    free = {name: released(four_bar, forces) for name, forces in swings(four_bar).items()}
    for name, loop in free.items():
        print(f"  {name:<12} {np.abs(loop.coordinates['A'] - POSTURE[0]).max():.3f} rad within {loop.time[-1]:g} s")
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(four_bar, {who: loop for who, (loop, _) in runs.items()}, free), output / "control.png")


def turned(four_bar: supple.Mechanism, preload: dict[str, float] | None) -> supple.Simulation:
    """Simulate the turn at 60 rpm with all torques and a preload."""
    controller = control.computed_torque(four_bar, "turn", OMEGA, preload=preload)
    return control.closed_loop(four_bar, controller, until=0.99, sample_time=SAMPLE, start="start", rates=[2.0 * np.pi])


def passed(four_bar: supple.Mechanism, who: str, until: float = DURATION) -> tuple[supple.Simulation, int]:
    """Simulate the turn with some torques; also return the number of samples with insufficient torque."""
    controller = control.computed_torque(four_bar, MOTION, OMEGA, actuators=who, bounds=BOUND)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleNote)  # the insufficient torques are the subject here
        loop = control.closed_loop(four_bar, controller, until=until, sample_time=SAMPLE, start="start")
    return loop, controller.short


def error(four_bar: supple.Mechanism, loop: supple.Simulation) -> np.ndarray:
    """Return the error of the crank, rad."""
    return loop.coordinates["A"] - control.reference(MOTION, four_bar).sample(loop.time)[:, 0, 0]


def holding(four_bar: supple.Mechanism) -> np.ndarray:
    """Return the least torques that hold the posture."""
    return np.array([*supple.linearize(four_bar, POSTURE).at["inputs"].values()])


def swings(four_bar: supple.Mechanism) -> dict[str, np.ndarray]:
    """Return constant torques that hold the posture, without and with a preload."""
    strain, held = control.antagonism(four_bar, POSTURE), holding(four_bar)
    preload = strain.preload(STIFFNESS - strain.compute_total_stiffness(held))
    return {"plain": held, "strained": held + np.array(list(preload.values()))}


class Held:
    """Controller with constant torques and no feedback."""

    def __init__(self, forces: np.ndarray) -> None:
        self.forces = forces

    def step(self, t: float, measurement: control.Measurement) -> np.ndarray:
        """Return the constant torques."""
        return self.forces


def released(four_bar: supple.Mechanism, forces: np.ndarray, until: float = 2.0) -> supple.Simulation:
    """Release the crank 0.02 rad from the posture."""
    return control.closed_loop(four_bar, Held(forces), until=until, sample_time=0.01, start=POSTURE + 0.02)


def named(forces) -> str:
    values = forces.values() if isinstance(forces, dict) else forces
    return ", ".join(f"{name} {value:.1f}" for name, value in zip("ABCD", values, strict=True)) + " N m"


@in_house_style
def draw(four_bar: supple.Mechanism, runs: dict[str, supple.Simulation], free: dict[str, supple.Simulation]) -> Figure:
    figure = new_figure(10.5, 4.4)
    angle, torque, swing = figure.subplots(1, 3)
    wanted = control.reference(MOTION, four_bar).sample(runs["C, D"].time)[:, 0, 0]
    angle.plot(runs["C, D"].time, np.degrees(wanted), ":", color="#2b2b2b", label="wanted", zorder=9)
    for who, loop in runs.items():
        angle.plot(loop.time, np.degrees(loop.coordinates["A"]), color=COLORS[who], label=who.replace(", ", " and "))
    for name in ("C", "D"):
        torque.plot(runs["C, D"].time, runs["C, D"].inputs[name], color=COLORS[name], label=f"{name} of C and D")
    torque.plot(runs["D"].time, runs["D"].inputs["D"], color=COLORS["D"], linewidth=0.6, alpha=0.6, label="D alone")
    for (name, loop), color in zip(free.items(), ("#c8553d", "#3b6ea8"), strict=True):
        swing.plot(loop.time, np.degrees(loop.coordinates["A"]), color=color, label=name)
    low, high = np.degrees(POSTURE[0] - 0.06), np.degrees(POSTURE[0] + 0.06)
    swing.set(ylim=(low, high), ylabel="crank / °, torques held", xlabel="time / s")
    angle.set(ylabel="crank / °", xlabel="time / s")
    torque.set(ylabel="torque / (N m)", xlabel="time / s")
    for axes in (angle, torque, swing):
        legend_above(axes)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/four-bar-redundant"), help="folder for the picture")
    main(parser.parse_args().output)
