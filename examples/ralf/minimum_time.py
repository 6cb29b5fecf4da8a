"""Compute Ralf's time-optimal motion with IPOPT through CasADi, and compare it with a seven-segment profile.

Forces of both cylinders and their rates are bounded, and the arm ends without vibration: δ is its static deflection and
δ̇ is zero. The seven-segment profile is the fastest of 126 shapes whose forces satisfy the same bounds. A second one
vibrates least of those that take 3 % more time. All are planned with the small model of 2 + 2 coordinates, whose inputs
are the forces of the cylinders: their velocity servos (`drive:` in the file) are not included. All are run on the
flexible mechanism in large motion, with prescribed cylinders.
"""

import argparse
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from matplotlib.figure import Figure

import supple
from supple.control import Reference, reference
from supple.diagnostics import SuppleNote
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

HELD, TIP = ("lift", "elbow"), ("tip.x", "tip.z")
FROM, TO = np.array([1.15, 1.0]), np.array([1.0, 0.9])  # m: start and end of `reach`
FORCE, RATE = (
    np.array([4000.0, 2200.0]),
    np.array([50e3, 30e3]),
)  # N and N/s: bounds of each cylinder
STROKE = ((0.85, 1.30), (0.76, 1.18))  # m
SCALE = np.array([0.1, 0.1, 0.05, 0.05, 1.0, 1.0, 1.0, 1.0])  # sizes of θ, δ and their rates
SMOOTH = 1e-2  # s: weight of kinks of the forces
NODES = 80  # intervals of the plan
SOONER = 1e-3  # s: smallest improvement of a profile
STEP, AFTER, WITHIN = 1e-3, 4.0, 1e-3  # s, s, m: step, time after arrival, and tolerance of the evaluation
SLOWER = 1.03  # duration of the quieter profile relative to the fastest
COLORS = {"seven segments": "#c8553d", "the quietest": "#b8862b", "least time": "#3b6ea8"}
SHAPES = list(product(np.linspace(0.04, 0.24, 21), np.linspace(0.0, 1.0, 6)))  # fractions, see seven_segments


class Plan(NamedTuple):
    """Motion, cylinder forces (N, 2) over time predicted by the small model, and number of IPOPT iterations."""

    motion: Reference
    time: np.ndarray
    forces: np.ndarray
    iterations: int = 0


class Judged(NamedTuple):
    """Run of the whole mechanism.

    It holds cylinder forces, the distance of the tip from its final position, the RMS of its acceleration in the
    second after arrival, and the settling time to 1 mm.
    """

    time: np.ndarray
    forces: np.ndarray
    away: np.ndarray
    residual: float
    settled: float


def main(output: Path) -> None:
    warnings.simplefilter("ignore", SuppleNote)  # damping in simulations
    ralf = supple.load(Path(__file__).with_name("mechanism.yaml"))
    model = supple.reduce(ralf, internal_modes=2, tolerance=1e-4, preload=False)
    functions = exported(model, output / "casadi")
    fastest = seven_segments(model)
    quiet = quietest(model, SLOWER * fastest.motion.end)
    plans = dict(zip(COLORS, (fastest, quiet, least_time(functions)), strict=True))
    runs = {name: judged(ralf, plan.motion) for name, plan in plans.items()}
    tell(plans, runs)
    save_picture(draw(plans, runs), output / "minimum_time.png")


def exported(model: supple.ReducedModel, folder: Path) -> dict[str, ca.Function]:
    """Return the model's functions, from files that need only CasADi."""
    file = supple.export(model, folder, to="casadi", prefix="ralf")[0]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FUNCTIONS


def least_time(functions: dict[str, ca.Function], nodes: int = NODES) -> Plan:
    """Solve by Hermite-Simpson collocation with piecewise linear forces, from a smooth motion of one second."""
    problem, dynamics = ca.Opti(), functions["dynamics"]
    x, middle = (ca.diag(SCALE) @ problem.variable(8, count) for count in (nodes + 1, nodes))
    u, last = ca.diag(FORCE) @ problem.variable(2, nodes + 1), problem.variable()
    h = last / nodes
    f, g = dynamics.map(nodes + 1)(x, u), dynamics.map(nodes)(middle, 0.5 * (u[:, :-1] + u[:, 1:]))
    a, b, fa, fb = x[:, :-1], x[:, 1:], f[:, :-1], f[:, 1:]
    scaled = ca.diag(1.0 / SCALE)
    problem.subject_to(ca.vec(scaled @ (b - a - h / 6 * (fa + 4 * g + fb))) == 0)
    problem.subject_to(ca.vec(scaled @ (middle - 0.5 * (a + b) - h / 8 * (fa - fb))) == 0)
    still_at = resting(dynamics)
    for k, theta in ((0, FROM), (nodes, TO)):
        still, holding = still_at(theta)
        problem.subject_to(scaled @ x[:, k] == scaled @ still)
        problem.subject_to(u[:, k] / FORCE == holding / FORCE)
    change = u[:, 1:] - u[:, :-1]
    for i in range(2):
        problem.subject_to(problem.bounded(STROKE[i][0], x[i, 1:-1], STROKE[i][1]))
        problem.subject_to(problem.bounded(-1.0, u[i, 1:-1] / FORCE[i], 1.0))
        problem.subject_to(change[i, :] / FORCE[i] <= RATE[i] / FORCE[i] * h)
        problem.subject_to(change[i, :] / FORCE[i] >= -RATE[i] / FORCE[i] * h)
    problem.subject_to(problem.bounded(0.1, last, 3.0))
    bend = ca.diag(1.0 / FORCE) @ (u[:, 2:] - 2 * u[:, 1:-1] + u[:, :-2])
    problem.minimize(last + SMOOTH * nodes * ca.sumsqr(bend))
    begin(problem, functions["inverse"], still_at, x, middle, u, last)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": 300})
    found = problem.solve()
    time = np.linspace(0.0, found.value(last), nodes + 1)
    states, rates = found.value(x), np.array(found.value(f))
    course = supple.Trajectory(HELD, time, states[:2].T.copy(), states[4:6].T.copy(), rates[4:6].T.copy())
    return Plan(reference(course), time, found.value(u).T, found.stats()["iter_count"])


def resting(dynamics: ca.Function) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the state at rest x = (θ, static deflection, 0, 0), and the forces that hold it."""
    z, theta = ca.MX.sym("z", 4), ca.MX.sym("theta", 2)
    accelerations = dynamics(ca.vertcat(theta, z[:2], ca.DM.zeros(4)), z[2:])[4:]
    solved = ca.rootfinder("still", "newton", {"x": z, "p": theta, "g": accelerations})

    def still(place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = np.array(solved(x0=np.zeros(4), p=place)["x"]).ravel()
        return np.concatenate([place, found[:2], np.zeros(4)]), found[2:]

    return still


def begin(
    problem: ca.Opti, inverse: ca.Function, still_at: Any, x: ca.MX, middle: ca.MX, u: ca.MX, last: ca.MX
) -> None:
    """Return the initial guess: a quintic motion of one second, with the static deflection and its forces."""
    problem.set_initial(last, 1.0)
    for k, s in enumerate(np.linspace(0.0, 1.0, 2 * x.shape[1] - 1)):
        state, _ = still_at(FROM + (TO - FROM) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s))
        state[4:6] = (TO - FROM) * 30.0 * (s * (1.0 - s)) ** 2
        problem.set_initial((middle if k % 2 else x)[:, k // 2], state)
        if k % 2 == 0:
            pushed = np.concatenate([(TO - FROM) * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s), np.zeros(2)])
            problem.set_initial(u[:, k // 2], inverse(state[:4], state[4:], pushed)[:2])


def seven_segments(model: supple.ReducedModel, shapes: Sequence[tuple[float, float]] = SHAPES) -> Plan:
    """Return the fastest profile, the same for both cylinders, whose forces satisfy the bounds.

    shapes : fraction of the time with jerk (each of four), and fraction of the rest of a half without acceleration
    """
    best: Plan | None = None
    for shape in shapes:
        low, high = 0.4, 2.0 if best is None else best.motion.end - SOONER
        found = profile_plan(model, high, shape)
        while found and high - low > SOONER:
            middle = 0.5 * (low + high)
            tried = profile_plan(model, middle, shape)
            found, low, high = (tried, low, middle) if tried else (found, middle, high)
        best = found or best
    assert best is not None
    return best


def quietest(model: supple.ReducedModel, duration: float, shapes: Sequence[tuple[float, float]] = SHAPES) -> Plan:
    """Return the profile within the bounds whose forces vary least after arrival."""
    found = [plan for shape in shapes if (plan := profile_plan(model, duration, shape))]

    def left(plan: Plan) -> float:
        after = plan.forces[plan.time > duration]
        return float(np.abs((after - after.mean(axis=0)) / FORCE).max())

    return min(found, key=left)


def profile_plan(model: supple.ReducedModel, duration: float, shape: tuple[float, float]) -> Plan | None:
    """Return a profile of given shape and duration; None if its forces violate a bound."""
    t_j = shape[0] * duration
    t_a = shape[1] * (0.499 * duration - 2.0 * t_j)
    speed = 1.0 / (duration - 2.0 * t_j - t_a)  # relative to the path
    acceleration = speed / (t_j + t_a)
    bounds = {"velocity": speed, "acceleration": acceleration, "jerk": acceleration / t_j}
    motion = supple.Motion(coordinates={
        name: {"from": a, "to": b} | {kind: value * abs(b - a) for kind, value in bounds.items()}
        for name, a, b in zip(HELD, FROM.tolist(), TO.tolist(), strict=True)
    })  # fmt: skip
    way = reference(motion, model)
    time = np.linspace(0.0, way.end + 0.2, 241)
    forces = led_forces(model, way, time)
    within = (np.abs(forces) <= FORCE).all() and (np.abs(np.diff(forces, axis=0)) <= RATE * time[1]).all()
    return Plan(way, time, forces) if within else None


def led_forces(model: supple.ReducedModel, way: Reference, time: np.ndarray) -> np.ndarray:
    """Return the forces of the cylinders (N, 2) along a motion from rest, including deformation."""
    run = model.simulate(time, motion=way.trajectory(time))
    return np.stack([run.driving_forces[name] for name in HELD], axis=1)


def judged(ralf: supple.Mechanism, way: Reference, after: float = AFTER) -> Judged:
    """Simulate prescribed cylinders along a motion from rest under gravity, and some seconds more."""
    time = np.linspace(0.0, way.end + after, round((way.end + after) / STEP) + 1)
    start, end = (
        supple.equilibrium(ralf, dict(zip(HELD, theta.tolist(), strict=True)), held=list(HELD)) for theta in (FROM, TO)
    )
    run = supple.simulate(ralf, time, motion=way.trajectory(time), start=start)
    tip = np.stack([run.outputs[name] for name in TIP], axis=1)
    away = np.linalg.norm(tip - end.frame("T").position[[0, 2]], axis=1)
    left = (time > way.end + 2 * STEP) & (time < way.end + 1.0 - 2 * STEP)
    seen = np.gradient(np.gradient(tip, time, axis=0), time, axis=0)[left]
    forces = np.stack([run.driving_forces[name] for name in HELD], axis=1)
    settled = time[np.flatnonzero(away > WITHIN)[-1]]
    return Judged(time, forces, away, float(np.sqrt((seen**2).sum(axis=1).mean())), float(settled))


def tell(plans: dict[str, Plan], runs: dict[str, Judged]) -> None:
    print(f"lift {FROM[0]:g} to {TO[0]:g} m, elbow {FROM[1]:g} to {TO[1]:g} m; forces within {FORCE[0]:g} and "
          f"{FORCE[1]:g} N, rates within {RATE[0] / 1e3:g} and {RATE[1] / 1e3:g} kN/s")  # fmt: skip
    print("                  arrives    within 1 mm   lift, peak   elbow, peak   residual in the second after")
    for name, run in runs.items():
        lift, elbow = np.abs(run.forces).max(axis=0)
        print(f"{name:<16} {plans[name].motion.end:6.3f} s {run.settled:10.3f} s {lift:10.0f} N {elbow:11.0f} N "
              f"{run.residual:12.3f} m/s²")  # fmt: skip
    plain, least = plans["seven segments"].motion.end, plans["least time"].motion.end
    print(f"faster by a factor of {plain / least:.2f}; IPOPT took {plans['least time'].iterations} iterations")
    rates = np.abs(np.diff(runs["least time"].forces, axis=0)).max(axis=0) / STEP
    print(f"rates of the forces on the whole mechanism reach {rates[0] / 1e3:.0f} and {rates[1] / 1e3:.0f} kN/s: "
          "modes that the plan neglects")  # fmt: skip


@in_house_style
def draw(plans: dict[str, Plan], runs: dict[str, Judged]) -> Figure:
    figure = new_figure(10, 6)
    (lift, elbow), (way, away) = figure.subplots(2, 2, sharex=True)
    for name, run in runs.items():
        plan, color = plans[name], COLORS[name]
        for i, axes in enumerate((lift, elbow)):
            axes.plot(plan.time, plan.forces[:, i] / 1e3, color=color, alpha=0.3, linewidth=3.5)
            axes.plot(run.time, run.forces[:, i] / 1e3, color=color, linewidth=1.0, label=name)
        course = plan.motion.sample(run.time)[:, 0]
        for i, style in enumerate(("-", "--")):
            way.plot(run.time, course[:, i], style, color=color, linewidth=1.2)
        away.semilogy(run.time, np.maximum(run.away, 1e-6) * 1e3, color=color, linewidth=1.0)
    for i, axes in enumerate((lift, elbow)):
        for sign in (-1.0, 1.0):
            axes.axhline(sign * FORCE[i] / 1e3, color="#888888", linewidth=0.8, linestyle="--")
        axes.set_ylabel(f"force of {HELD[i]} / kN")
    away.axhline(1e3 * WITHIN, color="#888888", linewidth=0.8, linestyle="--")
    way.set(xlabel="time / s", ylabel="lift, elbow (dashed) / m", xlim=(0.0, 1.5))
    away.set(xlabel="time / s", ylabel="tip from where it ends / mm", ylim=(1e-2, 3e3))
    legend_above(lift)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the picture")
    main(parser.parse_args().output)
