"""Move the orthoglide around a square with bounded forces: predictive control in CasADi and computed torque.

Every sample solves one quadratic program over the next quarter second, from multiple shooting about the previous plan
(real-time iteration). Its variables are states and forces. Its constraints are Runge-Kutta steps of the exported
reduced model with exact Jacobians, and bounds on forces and sliders. The model error is estimated as a constant force.
The plant is the full mechanism, with a tool a tenth heavier than in the model.
"""

import argparse
import importlib.util
import time as clock
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.control import Measurement
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

SLIDERS = ("x", "y", "z")
CENTRE, SIDE, SPEED = np.array([-0.1, -0.1, -0.1]), 0.12, 0.8  # m, m and m/s
STANDS, ROUND, GRID = 0.1, 0.03, 1e-3  # s: rest before the motion, and duration of rounded corners
FORCE, RANGE, FASTEST = 45.0, (-0.26, 0.06), 50.0  # N, m, and m/s: a bound that no slider reaches
SAMPLE, HORIZON = 10e-3, 25  # s between two plans, and intervals of that length in each
WEIGHTS = np.array([1e3, 1e3, 1e3, 1.0, 1.0, 1.0])  # 1/m and s/m: errors of a mm and of a mm/ms count the same
PUSH = 1e-2  # 1/N: deviation of forces from those of the reference motion
BELIEVED = 0.3  # fraction of the prediction error of a sample
OMEGA, XI, FAST = 40.0, 1.0, 1e-3  # rad/s, 1 and s: computed torque, at its sample time
WRONG = 1.1  # the tool is a tenth heavier than in the model
UNTIL = 1.3  # s: two turns
COLORS = {"computed torque, clipped": "#c8553d", "predictive": "#3b6ea8"}
STATE = (*SLIDERS, *(f"{name}.rate" for name in SLIDERS))
SCALES = np.append(np.tile(np.append(WEIGHTS, np.full(3, PUSH)), HORIZON), WEIGHTS)  # S, of z
HESSIAN = ca.diag(ca.DM(SCALES**2))
FILE = Path(__file__).with_name("mechanism.yaml")


class Predictive:
    """A controller for `closed_loop`: a plan z = (x_0, u_0, x_1, ..., x_N), x = (θ, θ̇), that moves with time.

    push     : estimated force that the model neglects, N
    foreseen : predicted x at the next sample
    spent    : processor time of every sample, s
    """

    actuators, sample_time = SLIDERS, SAMPLE

    def __init__(self, functions: dict[str, ca.Function], wanted: control.Reference):
        self.wanted, self.inverse = wanted, functions["inverse"].map(HORIZON + 1)
        self.mass = functions["coefficients"]
        self.ahead = stepped(functions["dynamics"])
        self.linear, self.solver = problem(self.ahead)
        self.plan, self.push, self.foreseen = np.zeros(0), np.zeros(3), np.zeros(6)
        self.spent: list[float] = []

    def reset(self, start: Measurement) -> None:
        self.plan, self.push, self.spent = self.aims(0.0), np.zeros(3), []
        self.foreseen = start.array(STATE)

    def step(self, t: float, measurement: Measurement) -> np.ndarray:
        """Return the forces until the next sample."""
        begun, x = clock.thread_time(), measurement.array(STATE)
        missed = np.array(self.mass(x[:3])[0] @ (x - self.foreseen)[3:]).ravel() / SAMPLE
        self.push = self.push + BELIEVED * missed
        self.plan[:6] = x
        A, defects = self.linear(self.plan, self.push)
        lower, upper = bounds(x)
        towards = SCALES**2 * (self.plan - self.aims(t))
        found = self.solver(h=HESSIAN, g=towards, a=A, lba=-defects, uba=-defects, lbx=lower - self.plan,
                            ubx=upper - self.plan)  # fmt: skip
        self.plan = self.plan + np.array(found["x"]).ravel()
        u = self.plan[6:9].clip(-FORCE, FORCE)
        self.foreseen = np.array(self.ahead(x, u, self.push)).ravel()
        self.plan = np.concatenate([self.plan[9:], self.plan[-9:]])  # plan of the next sample; its end is repeated
        self.spent.append(clock.thread_time() - begun)
        return u

    def aims(self, t: float) -> np.ndarray:
        """Return z of the reference motion, with its forces."""
        theta, rates, accelerations, _ = self.wanted.sample(t + SAMPLE * np.arange(HORIZON + 1)).transpose(1, 2, 0)
        forces = np.array(self.inverse(theta, rates, accelerations)) - self.push[:, None]
        return np.concatenate([theta, rates, forces]).ravel(order="F")[:-3]


def stepped(dynamics: ca.Function) -> ca.Function:
    """Return x after a sample with constant forces u and an external push."""
    x, u, push = ca.MX.sym("x", 6), ca.MX.sym("u", 3), ca.MX.sym("push", 3)
    a = dynamics(x, u + push)
    b = dynamics(x + SAMPLE / 2 * a, u + push)
    c = dynamics(x + SAMPLE / 2 * b, u + push)
    d = dynamics(x + SAMPLE * c, u + push)
    return ca.Function("step", [x, u, push], [x + SAMPLE / 6 * (a + 2 * b + 2 * c + d)])


def problem(ahead: ca.Function) -> tuple[ca.Function, ca.Function]:
    """Return defects of a plan, their Jacobian A, and the solver of min ½|S (Δz + z - z_d)|², A Δz = -defects."""
    z, push = ca.MX.sym("z", len(SCALES)), ca.MX.sym("push", 3)
    cells = ca.reshape(z[:-6], 9, HORIZON)
    arrived = ca.horzcat(cells[:6, 1:], z[-6:])
    defects = ca.vec(ahead.map(HORIZON)(cells[:6, :], cells[6:, :], ca.repmat(push, 1, HORIZON)) - arrived)
    A = ca.jacobian(defects, z)
    solver = ca.conic("plan", "hpipm", {"h": HESSIAN.sparsity(), "a": A.sparsity()}, {"hpipm": {"iter_max": 50}})
    return ca.Function("linear", [z, push], [A, defects]), solver


def bounds(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of z: those of sliders and forces; the first state is the measured one; rates are free."""
    lower, upper = (
        np.append(np.tile(np.repeat([place, rate, force], 3), HORIZON), np.repeat([place, rate], 3))
        for place, rate, force in ((RANGE[0], -FASTEST, -FORCE), (RANGE[1], FASTEST, FORCE))
    )
    lower[:6] = upper[:6] = x
    return lower, upper


class Clipped:
    """Controller that clips the forces of another one at the bounds."""

    def __init__(self, controller: Any):
        self.controller, self.actuators, self.sample_time = controller, SLIDERS, FAST

    def step(self, t: float, measurement: Measurement) -> np.ndarray:
        return np.clip(self.controller.step(t, measurement), -FORCE, FORCE)


def main(output: Path) -> None:
    machine = supple.load(FILE)
    heavy = supple.load(FILE, parameters={"tool_mass": WRONG * machine.parameters["tool_mass"]})
    model = supple.reduce(machine, tolerance=5e-3)
    wanted = square(machine)
    predictive = Predictive(exported(model, output / "casadi"), wanted)
    torque = Clipped(control.computed_torque(model, wanted, OMEGA, XI))
    runs = {name: run(heavy, law) for name, law in zip(COLORS, (torque, predictive), strict=True)}
    tell(runs, predictive)
    save_picture(draw(runs), output / "mpc.png")


def exported(model: supple.ReducedModel, folder: Path) -> dict[str, ca.Function]:
    """Return the model's functions, from files that need only CasADi."""
    file = supple.export(model, folder, to="casadi", prefix="orthoglide")[0]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FUNCTIONS


def square(machine: supple.Mechanism) -> control.Reference:
    """Return the motion of the sliders around a horizontal square, until the last plan ends."""
    time = np.arange(0.0, UNTIL + SAMPLE * (HORIZON + 2), GRID)  # quintics lie between them
    places = place(time)
    columns = {"time": time} | {f"tool.{axis}": places[:, i] for i, axis in enumerate(SLIDERS)}
    return control.reference(supple.trajectory(machine, columns, times=time))


def place(time: np.ndarray) -> np.ndarray:
    """Return the reference of the tool, (N, 3): rest, then constant speed along slightly rounded corners."""
    corners = CENTRE + SIDE / 2.0 * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    fine = np.arange(-ROUND, time[-1] + 2.0 * ROUND, GRID)
    way = np.maximum(fine - STANDS, 0.0) * SPEED / SIDE  # in sides
    side, part = np.divmod(way, 1.0)
    sharp = corners[side.astype(int) % 4] * (1 - part[:, None]) + corners[(side.astype(int) + 1) % 4] * part[:, None]
    window = np.hanning(round(ROUND / GRID) + 2)[1:-1]
    smooth = [np.convolve(line, window / window.sum(), mode="same") for line in sharp.T]
    return np.stack([np.interp(time, fine, line) for line in smooth], axis=1)


def run(plant: supple.Mechanism, controller: Any, until: float = UNTIL) -> supple.Simulation:
    """Simulate from rest at the first corner."""
    start = supple.assemble(plant, {"tool": place(np.zeros(1))[0]}).theta
    return control.closed_loop(plant, controller, until=until, sample_time=controller.sample_time, start=start)


def tool(run: supple.Simulation) -> np.ndarray:
    """Return positions (N, 3), m."""
    return np.stack([run.outputs[f"tool.{axis}"] for axis in SLIDERS], axis=1)


def errors(run: supple.Simulation) -> np.ndarray:
    """Return the distance of the tool from its reference at that time, (N,) m."""
    return np.linalg.norm(tool(run) - place(run.time), axis=1)


def tell(runs: dict[str, supple.Simulation], predictive: Predictive) -> None:
    print(f"a square of {SIDE:g} m at {SPEED:g} m/s, forces within {FORCE:g} N, the tool {WRONG - 1:.0%} heavier than "
          "in the model")  # fmt: skip
    print("                             tool's error: RMS       largest   beyond the corners")
    for name, run in runs.items():
        far, beyond = errors(run), np.abs(tool(run) - CENTRE)[:, :2].max() - SIDE / 2.0
        print(
            f"{name:<26} {np.sqrt((far**2).mean()) * 1e3:17.2f} mm {far.max() * 1e3:10.2f} mm {beyond * 1e3:12.2f} mm"
        )
    worse, better = (np.sqrt((errors(run) ** 2).mean()) for run in runs.values())
    spent = np.array(predictive.spent[1:]) * 1e3
    print(f"error reduced by {worse / better:.1f}; a plan of {HORIZON} intervals takes {np.median(spent):.1f} ms of "
          f"processor time, {spent.max():.1f} ms at most, every {SAMPLE * 1e3:g} ms")  # fmt: skip


@in_house_style
def draw(runs: dict[str, supple.Simulation]) -> Figure:
    figure = new_figure(10, 5.2)
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.25])
    path = left.subplots()
    wanted = place(np.arange(0.0, UNTIL, GRID))
    path.plot(wanted[:, 0] * 1e3, wanted[:, 1] * 1e3, color="#bbbbbb", linewidth=3.0)
    far, forces = right.subplots(2, 1, sharex=True, height_ratios=[1, 1.2])
    for name, run in runs.items():
        there = tool(run) * 1e3
        path.plot(there[:, 0], there[:, 1], color=COLORS[name], linewidth=1.0, label=name)
        far.plot(run.time, errors(run) * 1e3, color=COLORS[name], linewidth=1.1)
        forces.step(run.time, run.inputs["x"], where="post", color=COLORS[name], linewidth=0.9)
    for sign in (-1.0, 1.0):
        forces.axhline(sign * FORCE, color="#888888", linewidth=0.8, linestyle="--")
    path.set(xlabel="tool.x / mm", ylabel="tool.y / mm", aspect="equal")
    far.set(ylabel="tool from its place / mm", ylim=(0.0, None))
    forces.set(xlabel="time / s", ylabel="force of x / N")
    legend_above(path)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/orthoglide"), help="folder for the picture")
    main(parser.parse_args().output)
