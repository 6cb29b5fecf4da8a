"""Linear model from commands to readings: drives, delays and low-passes (docs/theory/linearization.md)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, SuppleNote
from supple.hardware.drive_block import DriveBlock, settled_drive
from supple.hardware.hardware import Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.state_space import StateSpace, connect_input, connect_output, low_pass_matrices, pade
from supple.results.basis import NamedState
from supple.results.linear_model import LinearModel

# A linear model of forces with the drives of its actuators: commands in (docs/theory/linearization.md, eq. 16).
#
#     ẋ = A x + B f,   ẋ_d = A_d x_d + B_d c + E_d ω,   ω = bᵀη̇,   ℓ = bᵀη,   b the actuator's column of P₃
#
#     force      f = C_d x_d + D_d c - c_v ω
#     stiffness  f = k (C_d x_d - ℓ) + c_v (C_d (A_d x_d + B_d c) - ω)
#     motion     f such that θ̈ = C_d A_d (A_d x_d + B_d c)
#
# For a drive that prescribes motion, θ = C_d x_d and θ̇ = C_d A_d x_d are states already; the rest of x_d is added.


_UNIT = 1e-6  # of a column of P₃: smaller entries are errors of a fit, or rounding
_BESIDE = 1e-9  # of a state: part that is independent of θ_s and its rate


class DrivenInput(NamedTuple):
    """Drive on a linear model: its input, the coordinate that it acts along (-1: a combination), b (n,)."""

    block: DriveBlock
    column: int
    coordinate: int
    along: Array


class DrivenModel(NamedTuple):
    """Model from commands to outputs, with the names and values of the states that follow those of the model.

    commands, forces : at rest, by actuator
    """

    system: StateSpace
    names: list[str]
    values: list[float]
    commands: dict[str, float]
    forces: dict[str, float]


def driven_inputs(linear: LinearModel, hardware: Hardware) -> list[DrivenInput]:
    """Return the drives of a linear model's inputs."""
    found = []
    moving = any(linear.at["states"].get(f"{name}.rate", 0.0) for name in linear.coordinates)
    for block in hardware.drives:
        if block.actuator not in linear.inputs:
            continue
        assert linear.second_order is not None  # of every model that `linearize` makes
        column = linear.inputs.index(block.actuator)
        b = linear.second_order.P3[:, column]
        item = DrivenInput(block, column, along_one(b), b)
        if item.coordinate < 0 and (block.moves or (moving and (block.damping or block.E.any()))):
            raise InputError(
                f"its {block.kind} drive acts along no coordinate of the model", part=f'actuator "{block.actuator}"',
                hint="make its coordinate one of the mechanism's, use a force drive, or leave drives out "
                "(drives=False, --no-drives)",
            )  # fmt: skip
        found.append(item)
    return found


def along_one(b: Array) -> int:
    """Return the coordinate whose unit vector b (n,) is; -1 if there is none."""
    if not len(b):
        return -1
    one = int(np.argmax(np.abs(b)))
    return one if np.abs(b - np.eye(len(b))[one]).max() <= _UNIT else -1


def driven_linear_model(linear: LinearModel, driven: Sequence[DrivenInput]) -> DrivenModel:
    """Return the model with these drives, without their delays."""
    starts = np.cumsum([len(linear.states), *(item.block.order for item in driven)]).tolist()
    whole = _insert_drives(linear, driven, starts)
    kept, back = _without_duplicates(linear, driven, starts)
    A, B, C, D = whole
    names, values = [], []
    commands, forces = {}, {}
    for item, start in zip(driven, starts[:-1], strict=True):
        name = item.block.actuator
        forces[name] = linear.at["inputs"].get(name, 0.0)
        x, commands[name] = _operating_state(linear, item, forces[name])
        own = [place - start for place in kept if start <= place < start + item.block.order]
        names += [f"{name}.drive{i + 1}" for i in own]
        values += [float(x[i]) for i in own]
    return DrivenModel(StateSpace((A @ back)[kept], B[kept], C @ back, D), names, values, commands, forces)


def _insert_drives(linear: LinearModel, driven: Sequence[DrivenInput], starts: list[int]) -> StateSpace:
    """Return the model with all states of all drives.

    f = F_x x + F_u u is inserted into ẋ = A x + B_f f + B_u u, y = C x + D f.
    """
    n, N, m, size = len(linear.coordinates), len(linear.states), len(linear.inputs), starts[-1]
    A, B_f, B_u = np.zeros((size, size)), np.zeros((size, m)), np.zeros((size, m))
    A[:N, :N], B_f[:N] = linear.A, linear.B
    F_x, F_u = np.zeros((m, size)), np.eye(m)
    led: dict[int, int] = {}  # row of θ̈ -> input
    A_led, B_led = np.zeros((size, size)), np.zeros((size, m))  # θ̈ prescribed by drives, in the same rows
    for item, start in zip(driven, starts[:-1], strict=True):
        block, a = item.block, item.column
        own = slice(start, start + block.order)
        value, rate = np.zeros(size), np.zeros(size)
        value[:n], rate[n : 2 * n] = item.along, item.along
        A[own, own], B_u[own, a] = block.A, block.B
        A[own] += np.outer(block.E, rate)
        F_u[a, a] = 0.0
        if block.leads:
            row = n + item.coordinate
            led[row] = a
            A_led[row, own], B_led[row, a] = block.C @ block.A @ block.A, block.C @ block.A @ block.B
        elif block.moves:
            assert block.stiffness is not None
            F_x[a, own] = block.stiffness * block.C + block.damping * (block.C @ block.A)
            F_x[a] -= block.stiffness * value + block.damping * rate
            F_u[a, a] = block.damping * float(block.C @ block.B)
        else:
            F_x[a, own] = block.C
            F_x[a] -= block.damping * rate
            F_u[a, a] = block.D
    rows, columns = list(led), list(led.values())
    if led:
        by_force = B_f[np.ix_(rows, columns)]
        by_x, by_u = A_led[rows] - A[rows] - B_f[rows] @ F_x, B_led[rows] - B_f[rows] @ F_u
        F_x[columns], F_u[columns] = np.linalg.solve(by_force, by_x), np.linalg.solve(by_force, by_u)
    C = np.hstack([linear.C, np.zeros((len(linear.outputs), size - N))])
    found = StateSpace(A + B_f @ F_x, B_u + B_f @ F_u, C + linear.D @ F_x, linear.D @ F_u)
    found.A[rows], found.B[rows] = A_led[rows], B_led[rows]  # without rounding
    return found


def _without_duplicates(
    linear: LinearModel, driven: Sequence[DrivenInput], starts: list[int]
) -> tuple[list[int], Array]:
    """Return the kept states, and the matrix from them to all.

    θ and θ̇ of a prescribed coordinate replace two states of its drive.
    """
    n, N = len(linear.coordinates), len(linear.states)
    kept, back = list(range(N)), np.eye(starts[-1])
    for item, start in zip(driven, starts[:-1], strict=True):
        remain = list(range(item.block.order))
        if item.block.leads:
            remain, R = _independent_states(item.block)
            own = slice(start, start + item.block.order)
            back[own, own] = 0.0
            back[own, item.coordinate], back[own, n + item.coordinate] = R[:, 0], R[:, 1]
            back[own, [start + i for i in remain]] = R[:, 2:]
        kept += [start + i for i in remain]
    return kept, back[:, kept]


def _independent_states(block: DriveBlock) -> tuple[list[int], Array]:
    """Return states z of a motion drive, independent of θ_s and its rate, and R (k, k) with x = R (θ_s, θ̇_s, z)."""
    unit = np.eye(block.order)
    rows = [block.C, block.C @ block.A]
    kept: list[int] = []
    for i in range(block.order - 1, -1, -1):
        known = np.array([row / np.linalg.norm(row) for row in rows])
        rest = unit[i] - np.linalg.lstsq(known.T, unit[i], rcond=None)[0] @ known
        if len(rows) < block.order and np.linalg.norm(rest) > _BESIDE:
            kept.append(i)
            rows.append(unit[i])
    kept.sort()
    return kept, np.linalg.inv(np.array([*rows[:2], *unit[kept]]))


def _operating_state(linear: LinearModel, item: DrivenInput, force: float) -> tuple[Array, float]:
    """Return the states x (k,) of a drive and its command at the operating point of the model."""
    value, rate, block = 0.0, 0.0, item.block
    if item.coordinate >= 0:
        name, states = linear.coordinates[item.coordinate], linear.at["states"]
        value, rate = states.get(name, 0.0), states.get(f"{name}.rate", 0.0)
    return settled_drive(block, value, rate, force if block.moves else force + block.damping * rate)


# The model with drives, delays, and the low-passes of instruments.


PADE = 3
"""Default order of Padé approximants: the phase error is 1e-5 rad at ω T = 1, 0.015 rad at ω T = 3."""


def without_drives(linear: LinearModel, hardware: Hardware) -> LinearModel:
    """Return the model of forces, with the names of the actuators that have drives."""
    found = tuple(block.actuator for block in hardware.drives if block.actuator in linear.inputs)
    return replace(linear, undriven=found) if found else linear


def with_hardware(linear: LinearModel, hardware: Hardware, order: int = PADE) -> LinearModel:
    """Return the model with its drives and instruments; the model itself if there are none.

    order : of the Padé approximants of delays

    Noise, bias, samples, limits, rate limits, resolution and dead bands are not part of the model. Dead bands cause a
    note, because small motions depend on them most.
    """
    driven = driven_inputs(linear, hardware)
    slow = [item for item in hardware.instruments if item.output in linear.outputs]
    slow = [item for item in slow if item.delay > 0.0 or item.frequency is not None]
    if not driven and not slow:
        return linear
    _note_dead_bands(driven)
    system, names, values, commands, forces = driven_linear_model(linear, driven)
    at = {**linear.at, "inputs": {**linear.at["inputs"], **commands}, "forces": forces}
    delays: dict[str, float] = {}
    for item in driven:
        if item.block.delay > 0.0:
            name = item.block.actuator
            system = connect_input(system, item.column, pade(item.block.delay, order))
            names += [f"{name}.delay{i + 1}" for i in range(order)]
            values += _ladder(commands[name], order)
            delays[name] = item.block.delay
    for one in slow:
        row, reading = linear.outputs.index(one.output), linear.at["outputs"].get(one.output, 0.0)
        added: list[tuple[str, StateSpace]] = []
        if one.frequency is not None:
            added.append(("filter", _low_pass(one)))
        if one.delay > 0.0:
            added.append(("delay", pade(one.delay, order)))
            delays[one.output] = one.delay
        for kind, block in added:
            system = connect_output(system, row, block)
            names += [f"{one.output}.{kind}{i + 1}" for i in range(len(block.A))]
            values += _ladder(reading, len(block.A))
    known = linear.at["states"]
    basis = known.basis if isinstance(known, NamedState) else linear.basis
    at["states"] = NamedState({**known, **dict(zip(names, values, strict=True))}, basis)
    units = {**linear.units.inputs, **{item.block.actuator: item.block.unit for item in driven}}
    return replace(
        linear, A=system.A, B=system.B, C=system.C, D=system.D, states=(*linear.states, *names), at=at,
        second_order=None, units=linear.units._replace(inputs=units), delays=delays, pade=order if delays else None,
    )  # fmt: skip


def _low_pass(instrument: Instrument) -> StateSpace:
    A, B = low_pass_matrices(instrument)
    return StateSpace(A, B[:, None], np.eye(1, len(B)), np.zeros((1, 1)))


def _ladder(signal: float, count: int) -> list[float]:
    """Return the states of a block at rest with a signal: the first is the signal, the others are zero."""
    return [signal, *[0.0] * (count - 1)]


def _note_dead_bands(driven: Sequence[DrivenInput]) -> None:
    banded = [item.block for item in driven if item.block.dead_band > 0.0]
    if banded:
        names = ", ".join(f'"{block.actuator}" ({block.dead_band:g} {block.unit})' for block in banded)
        warnings.warn(f"a linear model has no dead band: the one of {names} is ignored", SuppleNote, stacklevel=5)
