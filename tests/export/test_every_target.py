"""Every export of four machines, run by its own tool: a thousand random states, and a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from running_targets import TARGETS, Stationary

from supple.export.c.target import reference_states
from supple.reduced.observed import ObservedMotion, outputs_along

MACHINES = ("orthoglide", "flexible-four-bar", "ralf", "four-bar-redundant")
STATES = 1000
# Of the largest value of a family: sums of some hundred products in another order; in single precision its rounding
# errors times the condition of M.
LIMIT, SINGLE = 1e-12, 1e-5
# Two hundred steps in a period of the fastest motion: (2 π / 200)⁵ / 120 of it a step; FMUs' own are of order 3.
# In single precision inputs that hold the weight leave a millionth of it, beside a small vibration.
MOTION = {"c single": 1e-3, "fmu 2": 1e-5, "fmu 3": 1e-5}
STEPS = 50


@dataclass(frozen=True, eq=False)
class Case:
    """A model, what it is asked and what it says in Python; a motion of some steps of h under held inputs."""

    name: str
    rom: Any
    states: np.ndarray  # (N, 2 n), numbers that single precision has too
    inputs: np.ndarray
    asked: np.ndarray  # accelerations whose forces are asked for
    coefficients: Any
    expected: dict[str, np.ndarray]
    start: np.ndarray
    held: np.ndarray
    h: float
    steps: int
    built: Any
    fmus: Any


def rounded(values):
    return values.astype(np.float32).astype(float)


@pytest.fixture(scope="session")
def cases(machines, built, fmus):
    known: dict[str, Case] = {}

    def case(name):
        if name not in known:
            known[name] = made(name, machines[name], built, fmus)
        return known[name]

    return case


def made(name, rom, built, fmus):
    n, s = rom.layout.size, rom.layout.theta
    found = reference_states(rom, STATES, seed=3, tries=4 * STATES)
    assert len(found.states) == STATES
    x, u, asked = rounded(found.states), rounded(found.inputs), rounded(found.asked)
    theta, delta, v = (np.ascontiguousarray(part) for part in np.split(x, [s, n], axis=1))
    a = rom.forward(theta, v, u, delta=delta)
    y = rom.observe(x[:, :n], v)[0] if rom.layout.observation is None else outputs_along(
        rom, ObservedMotion(x[:, :n], v, a, u, 1e-3))  # fmt: skip
    there = rom.evaluate(theta, delta=delta)
    expected = {key: getattr(there, key) for key in ("M", "K", "damping", "force", "input_map")}
    expected |= {"forward": a, "inverse": rom.inverse(theta, v, asked, delta=delta), "outputs": y}
    lower, upper = rom.fitted.arrays.roots_f[0]
    linear = rom.linearize(0.4 * lower + 0.6 * upper, drives=False)
    start, held = (np.array(list(linear.at[kind].values())) for kind in ("states", "inputs"))
    start[n] += 0.05
    start[s:n] += 1e-5 * np.arange(1, n - s + 1)  # it vibrates
    h = min(1e-3, 2.0 * np.pi / 200.0 / np.abs(np.linalg.eigvals(linear.A)).max())
    run = rom.simulate(
        np.array([0.0, STEPS * h]), dict(zip(rom.layout.inputs, held, strict=True)), start[:n], rates=start[n:],
        tolerance=1e-12, method="explicit", drives=False,
    )  # fmt: skip
    moved = np.array([signal[-1] for signal in (*run.coordinates.values(), *run.rates.values())])
    expected["motion"] = moved
    return Case(name, rom, x, u, asked, there, expected, start, held, float(h), STEPS, built, fmus)


def families(name, values, n, s):
    """Parts of a family by kind of coordinate, each with its own largest value."""
    kinds = [slice(0, s), slice(s, n)]
    if name == "motion":
        return [values[k.start + r : k.stop + r] for r in (0, n) for k in kinds]
    if name == "outputs":
        return list(values.T)
    if name in ("M", "K", "damping"):
        return [values[:, i, j] for i in kinds for j in kinds]
    return [values[:, k] for k in kinds]


@pytest.mark.filterwarnings("ignore:its functions take forces:supple.diagnostics.SuppleNote")  # ralf has drives
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("machine", MACHINES)
def test_it_is_the_model(cases, machine, target, tmp_path):
    case = cases(machine)
    n, s = case.rom.layout.size, case.rom.layout.theta
    found = TARGETS[target](case, tmp_path)
    if isinstance(found, Stationary):  # expressions of one box: no motion, and states of their own
        expected = {name: getattr(case.rom.evaluate(found.theta), name) for name in found.values}
        answers = found.values
    else:
        expected, answers = case.expected, found
        assert set(answers) >= {"forward", "motion"}
    limit = SINGLE if target == "c single" else LIMIT
    for name, values in answers.items():
        exact = expected[name][: len(values)]
        assert values.shape == exact.shape, name
        allowed = MOTION.get(target, 1e-6) if name == "motion" else limit
        for got, wanted in zip(families(name, values, n, s), families(name, exact, n, s), strict=True):
            off, largest = (float(np.abs(part).max(initial=0.0)) for part in (got - wanted, wanted))
            assert off <= allowed * largest, (name, off / largest if largest else off)
