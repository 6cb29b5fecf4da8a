"""Compare the period of a pendulum with the elliptic integral, and show the order of the integrator."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ellipk

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

G = 9.81
BLUE, RED, GREEN = "#3b6ea8", "#c8553d", "#4f8f5b"


def main(output: Path) -> None:
    pendulum = supple.load(Path(__file__).with_name("mechanism.yaml"))
    exact = exact_period(pendulum)
    steps = [1.6e-3, 8e-4, 4e-4, 2e-4, 1e-4, 5e-5]
    periods = [period(swing(pendulum, step)) for step in steps]
    errors = [abs(found - exact) for found in periods]

    print(f"period, exact   {exact:.10f} s")
    print("step (s)    period (s)       error (s)    relative to the previous")
    for i, (step, error) in enumerate(zip(steps, errors, strict=True)):
        print(f"{step:8.1e}    {periods[i]:.10f}   {error:11.3e}    " + (f"1/{errors[i - 1] / error:.2f}" if i else ""))
    pull = swing(pendulum, 1e-3).reaction("O").force[:, 1:]
    print(f"largest tension in the rod {np.linalg.norm(pull, axis=1).max():.6f} N, 3 m g is {3 * G:.6f} N")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(pendulum, steps, errors), output / "picture.png")


def exact_period(pendulum: supple.Mechanism) -> float:
    """Return the exact period 4 K(k) sqrt(L/g) with k² = sin²(45°) = ½ for a swing of a quarter turn to each side."""
    return 4.0 * ellipk(0.5) * np.sqrt(pendulum.parameters["length"] / G)


def swing(pendulum: supple.Mechanism, step: float) -> supple.Simulation:
    return supple.simulate(pendulum, until=2.5, step=step, output_step=step)


def period(run: supple.Simulation) -> float:
    """Return the time of its return to the start, where the rate falls through zero."""
    t, rate = run.time, run.rates["O"]
    i = np.flatnonzero((rate[1:-1] > 0) & (rate[2:] <= 0))[-1] + 1
    return t[i] + rate[i] / (rate[i] - rate[i + 1]) * (t[i + 1] - t[i])


@in_house_style
def draw(pendulum: supple.Mechanism, steps: list[float], errors: list[float]) -> Figure:
    figure = new_figure(10, 4.6)
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1, 1.25, 1])
    run = swing(pendulum, 1e-3)
    strobe = run.time < 1.2
    angles = run.coordinates["O"][strobe][::100]
    supple.assemble(pendulum, angles[::-1, None]).plot(axes=left.add_subplot())

    pull = np.linalg.norm(run.reaction("O").force, axis=1)
    curves = {
        "angle / rad": run.coordinates["O"],
        "rate / (rad/s)": run.rates["O"],
        "pull in the rod / (m g)": pull / G,
    }
    for axes, (label, values), color in zip(
        middle.subplots(3, 1, sharex=True), curves.items(), (BLUE, RED, GREEN), strict=True
    ):
        axes.plot(run.time, values, color=color)
        axes.set_ylabel(label)
    axes.set_xlabel("time / s")
    axes = right.add_subplot()
    axes.loglog(steps, errors, "o-", color=BLUE, label="found")
    axes.loglog(steps, errors[0] * (np.array(steps) / steps[0]) ** 2, "--", color="#888888", label="as step²")
    axes.set(xlabel="step / s", ylabel="error of the period / s")
    legend_above(axes)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/pendulum"), help="folder for the picture")
    main(parser.parse_args().output)
