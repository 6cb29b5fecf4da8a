"""Drives of a reduced model: what they yield with, how finely they are cut, and what they hold it with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.hardware.coupled_drives import Intervals, intervals
from supple.hardware.drive_bank import DriveBank

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


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


def drive_intervals(model: ReducedModel, bank: DriveBank, grid: Array, longest: float, eta: Array) -> Intervals:
    """Intervals of drives that feel the motion, between results (N,), s; longest : s; eta : (n,) at the start."""
    c = model.evaluate(eta[: model.layout.theta])
    light = np.einsum("ia,ia->a", c.input_map, np.linalg.solve(c.M, c.input_map))
    return intervals(bank, grid, longest, light)


def model_holding_forces(model: ReducedModel, bank: DriveBank, eta: Array, *, standing: bool = False) -> Array:
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
