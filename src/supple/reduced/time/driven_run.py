"""A run of a reduced model whose inputs are commands: what its drives do is computed beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics import InputError
from supple.hardware.coupled_drives import Intervals, drive_along, feels, intervals
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_course import DriveCourse, drive_course, first_commands, keeping_commands, pieces_between
from supple.hardware.hardware import Hardware
from supple.integration.input_course import Inputs, has_callables, input_course
from supple.integration.result_times import longest_step
from supple.reduced.time.begin import begin_state
from supple.reduced.time.driven_model import DrivenModel
from supple.results.simulation import Simulation

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values

Array = NDArray[np.float64]


class Steps(NamedTuple):
    """As `simulate` takes them: fixed step or None, tolerance or None, speed of dry friction."""

    step: float | None
    tolerance: float | None
    friction_speed: float


def driven_simulation(
    model: ReducedModel,
    hardware: Hardware,
    grid: Array,
    inputs: Inputs,
    input_times: ArrayLike | None,
    begins: tuple[Values | str | None, Values | None],
    steps: Steps,
) -> Simulation:
    """From one of the results (N,) to the next; begins : start and rates, as `simulate` takes them.

    Where drives move θ, δ that is not given starts at rest with θ held.
    """
    layout = model.layout
    bank = DriveBank(hardware, layout.inputs, layout.coordinates[: layout.theta], hardware.actuator_coordinates)
    longest, spacing = steps.step or float(np.diff(grid).max()), None
    if has_callables(inputs):  # as fine as the mechanism samples them, whatever the results are
        longest = steps.step or min(longest, longest_step(float(grid[-1] - grid[0])))
        spacing = longest if steps.step is not None and steps.tolerance is None else longest / 8
    moved = any(block.moves for block in bank.blocks)
    eta, v = begin_state(model, *begins, np.zeros(len(layout.inputs)), held=moved)
    cut = _intervals(model, bank, grid, longest, eta) if feels(bank) else Intervals(grid, np.arange(len(grid)))
    run = DrivenModel(
        model, cut.times, start=eta, rates=v, step=steps.step, tolerance=steps.tolerance,
        friction_speed=steps.friction_speed, led=bank.led, yields=yields_along(model, bank),
    )  # fmt: skip
    held = held_forces(model, bank, run.eta)
    bank.reset(run.theta, run.rates, forces=held)
    given = keeping_commands(bank, inputs)
    breaks, values = input_course(layout.inputs, given, input_times, grid, spacing)
    bank.reset(run.theta, run.rates, first_commands(bank, breaks, values, float(grid[0])), held)
    if feels(bank):
        pushed, led = drive_along(run, bank, cut.times, breaks, values), np.zeros(len(bank.led))
    else:
        course = drive_course(bank, breaks, values, (float(grid[0]), float(grid[-1]), longest), also=grid.tolist())
        pushed, led = _along_course(run, course), course.accelerations[0]
    forces = _forces(bank, pushed, run)
    run.found[0, : layout.size] = _first(model, run, forces[0], dict(zip(bank.led, led.tolist(), strict=True)))
    reached = cut.results[cut.results <= run.interval]
    return Simulation(
        model.name, cut.times[reached], run.motion(forces[reached], reached), reason=run.reason,
        stopped=float(cut.times[run.interval]), steps=run.steps, tolerance=run.tolerance, rigid=model.rigid,
        basis=model.basis,
    )  # fmt: skip


def yields_along(model: ReducedModel, drives: DriveBank) -> Array:
    """Stiffness and damping (n, 2) of drives along the model's coordinates."""
    found = np.zeros((model.layout.size, 2))
    for name, place, stiffness, damping in zip(
        drives.inputs, drives.places, drives.stiffness, drives.damping, strict=True
    ):
        if not (stiffness or damping):
            continue
        if place < 0:
            raise InputError(
                "it yields along what is no coordinate of the model", part=f'drive of actuator "{name}"',
                hint="reduce with that coordinate, or take the mechanism",
            )  # fmt: skip
        found[place] += stiffness, damping
    return found


def _intervals(model: ReducedModel, bank: DriveBank, grid: Array, longest: float, eta: Array) -> Intervals:
    c = model.evaluate(eta[: model.layout.theta])
    light = np.einsum("ia,ia->a", c.input_map, np.linalg.solve(c.M, c.input_map))
    return intervals(bank, grid, longest, light)


def _along_course(run: DrivenModel, course: DriveCourse) -> Array:
    """As far as it comes; what drives push with at every result that was reached, (N, a)."""
    grid = run.times
    for n in range(len(grid) - 1):
        if not run.advance(pieces_between(course, float(grid[n]), float(grid[n + 1]))):
            break
    time = grid[: run.interval + 1]
    piece = np.clip(np.searchsorted(course.breaks, time, side="right") - 1, 0, len(course.breaks) - 2)
    x = (time - course.breaks[piece])[:, None]
    found = np.zeros((len(time), course.forces.shape[2]))
    for power in course.forces:  # the highest first
        found = found * x + power[piece]
    return found


def held_forces(model: ReducedModel, bank: DriveBank, eta: Array, *, standing: bool = False) -> Array:
    """(a,) of drives that yield, where they stand at η (n,): what holds the model there at rest; zero of all others.

    standing : of all that lead nothing
    """
    yields = bank.holding(standing=standing)
    found = np.zeros(len(bank.inputs))
    if yields:
        s = model.layout.theta
        delta = eta[s:] if len(eta) > s else None
        needed = model.inverse(eta[:s], delta=delta)[:s]
        B = model.evaluate(eta[:s]).input_map[:s]
        found[yields] = np.linalg.lstsq(B, needed, rcond=None)[0][yields]
    return found


def _forces(bank: DriveBank, pushed: Array, run: DrivenModel) -> Array:
    """(N, a) of the inputs at the instants that were reached, with what drives hold with; zero of those that lead."""
    count, n = run.interval + 1, run.model.layout.size
    found = pushed[:count].copy()
    for i, k in enumerate(bank.places):
        if k >= 0:
            found[:, i] -= bank.stiffness[i] * run.states[:count, k] + bank.damping[i] * run.states[:count, n + k]
    return found


def _first(model: ReducedModel, run: DrivenModel, u: Array, led: Mapping[int, float]) -> Array:
    """η̈ (n,) at the start, under forces u (a,), of which the led ones are known: M_ff η̈_f = -(M η̈_l - f)_f."""
    s, n = model.layout.theta, model.layout.size
    eta, v, a = run.states[0, :n], run.states[0, n : 2 * n], np.zeros(n)
    a[list(led)] = list(led.values())
    free = np.setdiff1d(np.arange(n), list(led)).astype(int)
    c = model.evaluate(eta[:s], delta=eta[s:] if n > s else None)
    missing = model.inverse(eta[:s], v, a, delta=eta[s:] if n > s else None) - c.input_map @ u
    a[free] = -np.linalg.solve(c.M[np.ix_(free, free)], missing[free])
    return a
