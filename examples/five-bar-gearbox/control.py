"""Compare controllers of the five-bar that know the compliance of arms and gearboxes with those that do not."""

import argparse
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.diagnostics import SuppleNote
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

MOTION, AFTER, SAMPLE = "reach", 0.25, 1e-3  # recorded time after the motion's end, s; sample time, s
OMEGA, XI = 60.0, 1.0  # rad/s: the lowest modes with locked motors are at 134 and 156 rad/s
DEGREES = {"left": (98.0, 122.0), "right": (43.0, 62.0)}
DRIVE = {"force": {"frequency": 300.0, "damping": 0.7, "delay": SAMPLE}}  # drive of the motors' torques, Hz, s
LATE = SAMPLE + 1.4 / (2.0 * np.pi * 300.0)  # delay of that drive, s
ENCODER, RATES = 6e-6, 200.0  # rad, Hz: resolution, and bandwidth of the filter that estimates rates
COLORS = {"PD": "#c8553d", "computed torque": "#b8862b", "compensated": "#4f8f5b", "inverted": "#3b6ea8"}


def main(output: Path) -> None:
    five_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    model = reduced(five_bar)
    made = controllers(five_bar, model)
    runs = {name: run(five_bar, *one) for name, one in made.items()}
    print(f"reach, on the flexible mechanism; {OMEGA:g} rad/s, {SAMPLE * 1e3:g} ms")
    print("tool error               moving: RMS, largest            after: RMS     largest torque")
    for name, loop in runs.items():
        moving, after = judged(five_bar, loop, made[name][1])
        peak = max(np.abs(values).max() for values in loop.inputs.values())
        print(
            f"{name:<18} {rms(moving) * 1e3:14.4f}, {np.linalg.norm(moving, axis=1).max() * 1e3:.4f} mm "
            f"{rms(after) * 1e3:17.4f} mm {peak:12.1f} N m"
        )
    print("\nwith drives of 300 Hz and 1 ms delay, and encoders of 6 µrad instead of exact rates")
    real = as_built(five_bar)
    for name, one in controllers(five_bar, model, supple.hardware_of(real)).items():
        if name != "PD":
            moving, after = judged(five_bar, run(real, *one), one[1])
            print(f"{name:<18} {rms(moving) * 1e3:14.4f}, {np.linalg.norm(moving, axis=1).max() * 1e3:.4f} mm "
                  f"{rms(after) * 1e3:17.4f} mm")  # fmt: skip
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(five_bar, runs, {name: one[1] for name, one in made.items()}), output / "control.png")


def reduced(five_bar: supple.Mechanism) -> supple.ReducedModel:
    """Reduce to two coordinates and two modes over the region of the motion."""
    region = {name: tuple(np.radians(pair)) for name, pair in DEGREES.items()}
    return supple.reduce(five_bar, region=region, internal_modes=2, tolerance=2e-3, preload=False)


def as_built(five_bar: supple.Mechanism) -> supple.Mechanism:
    """Add drives to the motors, and encoders that do not measure rates."""
    actuators = {name: {"joint": name, "force_limits": [-120, 120], "drive": DRIVE} for name in ("left", "right")}
    encoders = {f"{name}_encoder": {"joint": name, "resolution": ENCODER} for name in ("left", "right")}
    return five_bar.replace(actuators=actuators, sensors={"tool": five_bar.sensors["tool"]} | encoders)


def controllers(
    five_bar: supple.Mechanism, model: supple.ReducedModel, hardware: supple.Hardware | bool = False
) -> dict[str, tuple[control.Controller, float]]:
    """Return each controller with the time at which its tool starts to move, s; all measure motor angles only."""
    pd = control.joint_pd(model, MOTION, sample_time=SAMPLE, frequencies=OMEGA, damping_ratios=XI, at="home")
    inverted = control.stable_inversion(model, MOTION, "tool")
    # Forces are held, so they are computed for the middle of a sample; with drives they act later.
    how = {"preview": 0.5 * SAMPLE + (LATE if hardware else 0.0), "rate_filter": RATES if hardware else None}
    how |= {"hardware": hardware}
    return {
        "PD": (pd, 0.0),
        "computed torque": (control.computed_torque(model, MOTION, OMEGA, XI, rigid=True, **how), 0.0),
        "compensated": (
            control.computed_torque(model, control.compensate_deflection(MOTION, model, "tool"), OMEGA, XI, **how), 0.0,
        ),
        "inverted": (control.computed_torque(model, inverted, OMEGA, XI, **how), inverted.lead),
    }  # fmt: skip


def run(five_bar: supple.Mechanism, controller: control.Controller, begins: float) -> supple.Simulation:
    """Simulate from rest under gravity, with the motors at the start of the reference."""
    wanted = controller.reference
    begin = dict(zip(wanted.coordinates, wanted.at(0.0)[0].tolist(), strict=True))
    start = supple.equilibrium(five_bar, begin, held=wanted.coordinates)
    until = control.reference(MOTION, five_bar).end + begins + AFTER
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleNote)  # damping is proportional to stiffness in simulations
        return control.closed_loop(five_bar, controller, until=until, sample_time=SAMPLE, start=start)


def judged(five_bar: supple.Mechanism, loop: supple.Simulation, begins: float) -> tuple[np.ndarray, np.ndarray]:
    """Return errors of the tool during its motion and after, (N, 2) m."""
    tool, moving = tool_error(five_bar, loop, begins), loop.time <= control.reference(MOTION, five_bar).end + begins
    return tool[moving], tool[~moving]


def tool_error(five_bar: supple.Mechanism, loop: supple.Simulation, begins: float) -> np.ndarray:
    """Return the tool error relative to the rigid mechanism, (N, 2) m."""
    theta = control.reference(MOTION, five_bar).sample(loop.time - begins)[:, 0]
    goal = supple.local(five_bar, theta, rigid=True).outputs
    return np.stack([loop.outputs[name] - goal[name].value for name in ("tool.x", "tool.z")], axis=1)


def rms(error: np.ndarray) -> float:
    """Return the RMS of the distance."""
    return float(np.sqrt((error**2).sum(axis=1).mean()))


@in_house_style
def draw(five_bar: supple.Mechanism, runs: dict[str, supple.Simulation], begins: dict[str, float]) -> Figure:
    figure = new_figure(10.5, 4.6)
    sketch, errors, torques = figure.subplots(1, 3, width_ratios=[0.8, 1.3, 1.1])
    way = control.reference(MOTION, five_bar)
    supple.assemble(five_bar, way.sample(np.linspace(way.begin, way.end, 4))[:, 0]).plot(axes=sketch, labels=False)
    for name, loop in runs.items():
        distance = np.linalg.norm(tool_error(five_bar, loop, begins[name]), axis=1)
        errors.semilogy(loop.time - begins[name], distance * 1e3, color=COLORS[name], label=name)
        torques.plot(loop.time, loop.inputs["left"], color=COLORS[name])
    for axes in (errors, torques):
        axes.axvline(way.end, color="#9a9a9a", linestyle=":", linewidth=1)
        axes.set_xlabel("time / s")
    errors.set(ylabel="tool from its place / mm", ylim=(1e-4, 10.0))
    torques.set_ylabel("torque of the left motor / (N m)")
    legend_above(errors)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/five-bar-gearbox"), help="folder for the picture")
    main(parser.parse_args().output)
