"""Move the five-bar by feedforward alone: residual vibration of shaped motions, tool error of inverted ones."""

import warnings
from pathlib import Path

import numpy as np

import supple
from supple.control import Reference, reference, shape_motion, stable_inversion
from supple.diagnostics import SuppleNote

MOTORS, TOOL = ["left", "right"], ["tool.x", "tool.z"]
DEGREES = {"left": (98.0, 122.0), "right": (43.0, 62.0)}
STEP, AFTER = 5e-4, 0.5  # s
WRONG = (0.9, 1.0, 1.1)  # frequencies of the planner over true ones


def main() -> None:
    warnings.simplefilter("ignore", SuppleNote)  # damping in simulations
    five_bar = supple.load(Path(__file__).with_name("mechanism.yaml"))
    region = {name: tuple(np.radians(pair)) for name, pair in DEGREES.items()}
    model = supple.reduce(five_bar, region=region, internal_modes=2, tolerance=2e-3, preload=False)
    reach = reference("reach", model)
    unshaped = left_behind(five_bar, reach)
    print(f"unshaped, in {reach.duration:.3f} s: {unshaped:.3f} m/s² RMS at the tool in the half second after arrival")
    for kind in ("zv", "zvd", "ei"):
        ways = [shape_motion(reach, model, kind=kind, frequency_factor=factor) for factor in WRONG]
        parts = [left_behind(five_bar, way) / unshaped for way in ways]
        told = "  ".join(f"{factor:.1f}: {part:.2%}" for factor, part in zip(WRONG, parts, strict=True))
        print(f"{kind:4s} arrives {1e3 * (ways[1].end - reach.end):.0f} ms later; residual with frequencies x {told}")
    plan = stable_inversion(model, reach, "tool")
    assert plan.wanted is not None
    for name, led in (("rigid feedforward", reach.delay(plan.lead)), ("inversion", plan.reference)):
        times, tool = tool_along(five_bar, led)
        error = np.linalg.norm(tool - plan.wanted.sample(times)[:, 0], axis=1).max()
        print(f"{name}: the tool is within {1e3 * error:.4f} mm of its path")


def tool_along(five_bar: supple.Mechanism, led: Reference) -> tuple[np.ndarray, np.ndarray]:
    """Return times and tool positions (N, 2) of the flexible mechanism in large motion, from rest under gravity."""
    end = led.end + AFTER
    times = np.linspace(0.0, end, round(end / STEP) + 1)
    course = led.trajectory(times)
    start = supple.equilibrium(five_bar, dict(zip(MOTORS, course.theta[0].tolist(), strict=True)), held=MOTORS)
    run = supple.simulate(five_bar, times, motion=course, start=start)
    return times, np.stack([run.outputs[name] for name in TOOL], axis=1)


def left_behind(five_bar: supple.Mechanism, led: Reference) -> float:
    """Return the RMS acceleration of the tool after the motion, m/s²."""
    times, tool = tool_along(five_bar, led)
    seen = np.gradient(np.gradient(tool, times, axis=0), times, axis=0)[times > led.end + 2 * STEP][:-3]
    return float(np.sqrt((seen**2).sum(axis=1).mean()))


if __name__ == "__main__":
    main()
