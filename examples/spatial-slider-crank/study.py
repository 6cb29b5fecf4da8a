"""Simulate a spatial slider-crank, and compare its start with published values."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

PUBLISHED = {"slider x (m)": [0.2], "slider v (m/s)": [0.24], "rod turns (rad/s)": [1.92, -0.96, 0.48]}
SPEED, UNTIL = 6.0, 5.0
BLUE, RED, GREEN = "#3b6ea8", "#c8553d", "#4f8f5b"


def main(output: Path) -> None:
    machine = supple.load(Path(__file__).with_name("mechanism.yaml"))
    print("at the start                 found                     published")
    for name, value in start(machine).items():
        found, published = ("  ".join(f"{x:.10f}" for x in values) for values in (value, PUBLISHED[name]))
        print(f"{name:<18} {found:>42}   {published}")

    run = supple.simulate(machine, until=UNTIL, step=2.5e-4, rates=[SPEED])
    end = local_model_after(machine, UNTIL)
    print(f"\nafter {UNTIL:g} s in {run.steps} steps")
    print(f"crank's angle (rad)  {run.coordinates['O'][-1]:.6f}, one equation in the angle {end:.6f}")
    print(f"error of the energy  {np.abs(run.energy['balance']).max():.1e} J of {run.energy['kinetic'].max():.3f} J")
    side = np.linalg.norm(run.reaction("slide").force[:, 1:], axis=1).max()
    print(f"largest transverse force of the slideway  {side:.2f} N")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(machine, run), output / "picture.png")


def start(machine: supple.Mechanism) -> dict[str, np.ndarray]:
    """Return positions and velocities, computed from those of the crank."""
    here = supple.assemble(machine)
    moving = supple.motion(here, [SPEED])
    values = here.frame("S").position[:1], moving.frame("S").velocity[:1], moving.frame("rod").angular_velocity
    return dict(zip(PUBLISHED, values, strict=True))


def local_model_after(machine: supple.Mechanism, until: float) -> float:
    """Simulate the motion by the single equation M(θ) θ̈ + Γ(θ) θ̇² = p(θ)."""

    def derivative(_: float, state: np.ndarray) -> list[float]:
        model = supple.local(machine, np.remainder(state[:1], 2 * np.pi))  # the coefficients are periodic
        return [state[1], (model.force[0] - model.christoffel[0, 0, 0] * state[1] ** 2) / model.M[0, 0]]

    return float(solve_ivp(derivative, (0.0, until), [0.0, SPEED], method="DOP853", rtol=1e-8).y[0, -1])


@in_house_style
def draw(machine: supple.Mechanism, run: supple.Simulation) -> Figure:
    figure = new_figure(10, 5.5)
    left, right = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=24, azim=-62)
    supple.assemble(machine, np.radians([300, 240, 180, 120, 60, 0])[:, None]).plot(axes=axes)

    upper, middle, lower = right.subplots(3, 1, sharex=True)
    upper.plot(run.time, run.outputs["S"] * 1e3, color=BLUE)
    upper.set_ylabel("slider / mm")
    middle.plot(run.time, run.rates["O"], color=RED)
    middle.set_ylabel("crank / (rad/s)")
    across = run.reaction("slide").force
    for i, (name, color) in enumerate((("y", BLUE), ("z", GREEN)), start=1):
        lower.plot(run.time, across[:, i], color=color, label=name)
    lower.set_ylabel("slideway / N")
    lower.set_xlabel("time / s")
    legend_above(lower)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=Path("build/spatial-slider-crank"), help="folder for the picture"
    )
    main(parser.parse_args().output)
