"""Move Ralf by feedforward alone: shaping, rest-to-rest motion and inversion, run on the full flexible mechanism.

The cylinders follow their references exactly; the full model computes the tip. All motions are planned with the small
model of 2 + 2 coordinates.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.control import Reference, reference, rest_to_rest, shape_motion, stable_inversion
from supple.diagnostics import SuppleNote
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

HELD, TIP = ["lift", "elbow"], ["tip.x", "tip.z"]
BOUNDS = {"velocity": 0.2, "acceleration": 1.0, "jerk": 20.0}
REACH = {"lift": {"from": 1.15, "to": 1.0}, "elbow": {"from": 1.0, "to": 0.9}}
STEP = 1e-3  # s
WRONG = np.array([0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15])  # frequencies of the planner over true ones


def main(output: Path) -> None:
    warnings.simplefilter("ignore", SuppleNote)  # damping in simulations
    ralf = supple.load(Path(__file__).with_name("mechanism.yaml"))
    model = supple.reduce(ralf, internal_modes=2, tolerance=1e-4, preload=False)
    reach = reference(supple.Motion(coordinates={name: one | BOUNDS for name, one in REACH.items()}), model)
    tables = print_shaping(ralf, model, reach)
    runs = print_inversion(ralf, model, reach)
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(tables, runs), output / "feedforward.png")


def tip_along(ralf: supple.Mechanism, led: Reference, after: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return times and tip positions (N, 2), with cylinders prescribed by a reference, from rest under gravity."""
    times = np.linspace(0.0, led.end + after, round((led.end + after) / STEP) + 1)
    course = led.trajectory(times)
    start = supple.equilibrium(ralf, dict(zip(HELD, course.theta[0].tolist(), strict=True)), held=HELD)
    run = supple.simulate(ralf, times, motion=course, start=start)
    return times, np.stack([run.outputs[name] for name in TIP], axis=1)


def left_behind(ralf: supple.Mechanism, led: Reference) -> float:
    """Return the RMS acceleration of the tip in the second after the motion, m/s²."""
    times, tip = tip_along(ralf, led)
    seen = np.gradient(np.gradient(tip, times, axis=0), times, axis=0)[times > led.end + 2 * STEP][:-3]
    return float(np.sqrt((seen**2).sum(axis=1).mean()))


def print_shaping(ralf: supple.Mechanism, model: supple.ReducedModel, reach: Reference) -> dict[str, np.ndarray]:
    """Compute the residual relative to the unshaped vibration, with correct and wrong frequencies."""
    unshaped, found = left_behind(ralf, reach), {}
    print(f"unshaped: {unshaped:.3f} m/s² in the second after arrival")
    for kind in ("zv", "zvd", "ei"):
        ways = [shape_motion(reach, model, kind=kind, frequency_factor=float(factor)) for factor in WRONG]
        found[kind] = np.array([left_behind(ralf, way) for way in ways]) / unshaped
        late = 1e3 * (ways[len(WRONG) // 2].end - reach.end)
        parts = "  ".join(f"{factor:.2f}: {part:.2%}" for factor, part in zip(WRONG, found[kind], strict=True))
        print(f"{kind:4s} arrives {late:3.0f} ms later; residual with frequencies x {parts}")
    for name, plan in (("plain", rest_to_rest(model, reach)), ("robust", rest_to_rest(model, reach, robust=True))):
        print(f"rest to rest ({name}), in the same time: {left_behind(ralf, plan.reference) / unshaped:.2%}")
    return found


def print_inversion(
    ralf: supple.Mechanism, model: supple.ReducedModel, reach: Reference
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the distance of the tip from its path, m over time, with and without inversion."""
    exact, causal = (stable_inversion(model, reach, TIP, causal=flag) for flag in (False, True))
    found = {}
    cases = {
        "rigid feedforward": (reach.delay(exact.lead), exact), "inversion": (exact.reference, exact),
        "causal inversion": (causal.reference, causal),
    }  # fmt: skip
    for name, (led, plan) in cases.items():
        assert plan.wanted is not None
        times, tip = tip_along(ralf, led, after=0.5)
        error = np.linalg.norm(tip - plan.wanted.sample(times)[:, 0], axis=1)
        found[name] = (times - plan.lead, error)
        print(
            f"{name}: the tip is within {1e3 * error.max():.3f} mm of its path"
            + ("" if led is not plan.reference else f" (prediction of the small model: {1e3 * plan.error:.1g} mm)")
        )
    growing = exact.exponents[exact.exponents.real > 0.0].real if exact.exponents is not None else []
    print(f"zero dynamics grow with {', '.join(f'{x:.0f}' for x in growing)} /s; the cylinders start "
          f"{1e3 * exact.lead:.0f} ms before the tip, or follow it {1e3 * causal.lead:.1f} ms late")  # fmt: skip
    return found


@in_house_style
def draw(tables: dict[str, np.ndarray], runs: dict[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    for kind, color in zip(tables, ("#c8553d", "#3b6ea8", "#4c9f70"), strict=True):
        left.plot(100.0 * (WRONG - 1.0), 100.0 * tables[kind], "o-", color=color, label=kind.upper())
    left.axhline(5.0, color="#999999", linewidth=0.8, linestyle="--")
    left.set(xlabel="error of the frequencies / %", ylabel="vibration left / % of unshaped", ylim=(0.0, None))
    legend_above(left)
    for (name, (times, error)), color in zip(runs.items(), ("#999999", "#3b6ea8", "#c8553d"), strict=True):
        right.semilogy(times, 1e3 * np.maximum(error, 1e-7), color=color, label=name)
    right.set(xlabel="time since the path began / s", ylabel="tip from its path / mm")
    legend_above(right)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the picture")
    main(parser.parse_args().output)
