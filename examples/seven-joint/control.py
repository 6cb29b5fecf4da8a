"""Compare controllers of a seven-joint arm in a long motion: constant gains, redesigned gains, computed torque."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

FREQUENCIES = np.array([10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 20.0])  # rad/s, of joints 1 to 7
DAMPING = 0.7
SAMPLE, UNTIL, OFF = 2e-3, 1.2, 0.05  # s, s, rad: initial error of every joint
OLD = {"fixed": 10**6, "every 50 ms": 25, "every 10 ms": 5}  # samples between designs
COLORS = {"fixed": "#c8553d", "every 50 ms": "#b8862b", "every 10 ms": "#4f8f5b", "computed torque": "#3b6ea8"}
SHOWN = ("shoulder_roll", "elbow_pitch")


def main(output: Path) -> None:
    arm = supple.load(Path(__file__).with_name("mechanism.yaml"))
    runs = {name: run(arm, controller) for name, controller in controllers(arm).items()}
    print(f"the motion reach (0.8 s, up to 1.5 rad), initial error of every joint {OFF:g} rad")
    print("gains               largest difference from the designed errors")
    for name, loop in runs.items():
        apart = np.abs(errors(arm, loop) - designed(loop.time)).max(axis=0)
        worst = int(apart.argmax())
        print(f"{name:<18} {apart.max() * 1e3:6.1f} mrad, {list(loop.coordinates)[worst]}")
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(arm, runs), output / "control.png")


def design(linear: supple.LinearModel) -> control.FeedbackGain:
    """Return the gains that make every joint an independent oscillator."""
    return control.decoupled_gains(linear, FREQUENCIES, DAMPING)


def controllers(arm: supple.Mechanism) -> dict[str, control.Controller]:
    """Return the controllers; all know the torques of the motion and differ in their feedback."""
    made = {name: control.successive_linearization(arm, "reach", design, every=every) for name, every in OLD.items()}
    return made | {"computed torque": control.computed_torque(arm, "reach", FREQUENCIES, DAMPING)}


def run(arm: supple.Mechanism, controller: control.Controller, until: float = UNTIL) -> supple.Simulation:
    """Simulate with the initial error."""
    return control.closed_loop(arm, controller, until=until, sample_time=SAMPLE, start=np.full(7, OFF))


def errors(arm: supple.Mechanism, loop: supple.Simulation) -> np.ndarray:
    """Return the errors of the joints (N, 7), rad."""
    there = np.stack([*loop.coordinates.values()], axis=1)
    return there - control.reference("reach", arm).sample(loop.time)[:, 0]


def designed(time: np.ndarray) -> np.ndarray:
    """Return the designed errors (N, 7), rad: ë + 2 ξ ω ė + ω² e = 0 from OFF, at rest."""
    turning = FREQUENCIES * np.sqrt(1.0 - DAMPING**2)
    t, decay = time[:, None], DAMPING * FREQUENCIES
    return OFF * np.exp(-decay * t) * (np.cos(turning * t) + decay / turning * np.sin(turning * t))


@in_house_style
def draw(arm: supple.Mechanism, runs: dict[str, supple.Simulation]) -> Figure:
    figure = new_figure(10.5, 4.8)
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.6])
    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=16, azim=-60)
    way = control.reference("reach", arm).sample(np.array([0.0, 0.4, 0.8]))[:, 0]
    supple.assemble(arm, way).plot(axes=axes, labels=False)
    panels = right.subplots(len(SHOWN), 1, sharex=True)
    for panel, joint in zip(panels, SHOWN, strict=True):
        k = list(arm.actuators).index(joint)
        for name, loop in runs.items():
            panel.plot(loop.time, errors(arm, loop)[:, k] * 1e3, color=COLORS[name], label=name)
        panel.plot(loop.time, designed(loop.time)[:, k] * 1e3, ":", color="#2b2b2b", label="as designed")
        panel.set_ylabel(f"error of {joint.replace('_', ' ')} / mrad")
    panels[-1].set_xlabel("time / s")
    legend_above(panels[0])
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/seven-joint"), help="folder for the picture")
    main(parser.parse_args().output)
