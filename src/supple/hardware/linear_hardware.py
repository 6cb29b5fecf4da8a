"""A linear model from commands to what instruments show: drives, delays, low-passes (docs/theory/linearization.md)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from supple.diagnostics import SuppleNote
from supple.hardware.hardware import Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.linear_drives import DrivenInput, driven_inputs, driven_linear_model
from supple.hardware.low_pass import low_pass_matrices
from supple.hardware.state_space import StateSpace, before, behind, pade
from supple.results.basis import NamedState
from supple.results.linear_model import LinearModel

PADE = 3
"""Order of Padé's approximants if nothing is said: the phase is off by 1e-5 rad at ω T = 1, by 0.015 at ω T = 3."""


def without_drives(linear: LinearModel, hardware: Hardware) -> LinearModel:
    """The model of forces, which says where the machine has drives."""
    found = tuple(block.actuator for block in hardware.drives if block.actuator in linear.inputs)
    return replace(linear, undriven=found) if found else linear


def with_hardware(linear: LinearModel, hardware: Hardware, order: int = PADE) -> LinearModel:
    """The same where nothing is described.

    order : of Padé's approximants of delays. Noise, bias, samples, limits, rate limits, resolution and dead bands have
    no part in it; a dead band is told of, because small motions feel it most.
    """
    driven = driven_inputs(linear, hardware)
    slow = [item for item in hardware.instruments if item.output in linear.outputs]
    slow = [item for item in slow if item.delay > 0.0 or item.frequency is not None]
    if not driven and not slow:
        return linear
    _say_bands(driven)
    system, names, values, commands, forces = driven_linear_model(linear, driven)
    at = {**linear.at, "inputs": {**linear.at["inputs"], **commands}, "forces": forces}
    delays: dict[str, float] = {}
    for item in driven:
        if item.block.delay > 0.0:
            name = item.block.actuator
            system = before(system, item.column, pade(item.block.delay, order))
            names += [f"{name}.delay{i + 1}" for i in range(order)]
            values += _ladder(commands[name], order)
            delays[name] = item.block.delay
    for one in slow:
        row, shown = linear.outputs.index(one.output), linear.at["outputs"].get(one.output, 0.0)
        added: list[tuple[str, StateSpace]] = []
        if one.frequency is not None:
            added.append(("filter", _low_pass(one)))
        if one.delay > 0.0:
            added.append(("delay", pade(one.delay, order)))
            delays[one.output] = one.delay
        for kind, block in added:
            system = behind(system, row, block)
            names += [f"{one.output}.{kind}{i + 1}" for i in range(len(block.A))]
            values += _ladder(shown, len(block.A))
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
    """States of a block at rest with that signal: the first has it, the others are its rates."""
    return [signal, *[0.0] * (count - 1)]


def _say_bands(driven: Sequence[DrivenInput]) -> None:
    banded = [item.block for item in driven if item.block.dead_band > 0.0]
    if banded:
        names = ", ".join(f'"{block.actuator}" ({block.dead_band:g} {block.unit})' for block in banded)
        warnings.warn(f"a linear model has no dead band: that of {names} is left out", SuppleNote, stacklevel=5)
