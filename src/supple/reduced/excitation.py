"""What drives a reduced model at a frequency: forces, coordinates that are led, commands of drives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, nearest
from supple.equations.coefficients import Coefficients
from supple.hardware.drive_block import DriveBlock
from supple.hardware.drive_response import force_response, impedance, motion_response
from supple.hardware.hardware import Hardware
from supple.hardware.linear_drives import along_one

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


LED = ".acceleration"  # what follows a coordinate's name where it is led
_NEGLIGIBLE = 1e-8  # of a force: what a fit leaves where there is none


class Drive(NamedTuple):
    """A drive at θ: its input, the coordinate that it acts along (-1: a combination), its column of B (n,)."""

    block: DriveBlock
    column: int
    coordinate: int
    along: Array


class Excitation(NamedTuple):
    """What a unit of an input is on each line: the coordinate it leads (-1: none) or a generalized force (n,), times a
    factor (L,).

    order : how often the coordinate is differentiated in what the input is
    """

    led: int
    force: Array
    factor: Complex
    order: int = 0


def drives_at(model: ReducedModel, c: Coefficients, hardware: Hardware) -> list[Drive]:
    """The drives of its inputs."""
    found = []
    for block in hardware.drives:
        if block.actuator not in model.layout.inputs:
            continue
        column = model.layout.inputs.index(block.actuator)
        b = np.asarray(c.input_map[:, column], dtype=float)
        found.append(Drive(block, column, along_one(b), b))
        if block.moves and found[-1].coordinate < 0:
            raise InputError(
                f"its {block.kind} drive moves along no coordinate of the model", part=f'actuator "{block.actuator}"',
                hint="give it a force drive, or leave drives out (drives=False, --no-drives)",
            )  # fmt: skip
    return found


def free_coordinates(model: ReducedModel, drives: list[Drive], *, free_actuators: bool) -> list[int]:
    """δ; of θ those that a drive holds by its stiffness, and with free actuators all others that no drive leads."""
    s, n = model.layout.theta, model.layout.size
    led = {item.coordinate for item in drives if item.block.leads}
    yielding = {item.coordinate for item in drives if item.block.moves} - led
    theta = [i for i in range(s) if i not in led and (free_actuators or i in yielding)]
    return [*theta, *range(s, n)]


def excitation(
    model: ReducedModel, name: str, force: Array | None, free: list[int], drives: list[Drive], omega: Array
) -> Excitation:
    """What a unit of an input does; force : (n,) of one that is no led coordinate."""
    names, ones = model.layout.coordinates[: model.layout.theta], np.ones(len(omega), dtype=np.complex128)
    none = np.zeros(model.layout.size)
    if name.endswith(LED):
        if name.removesuffix(LED) not in names:
            raise InputError(
                f'"{name.removesuffix(LED)}" is not a coordinate of the model, and so cannot be led',
                part=f'input "{name}"',
                hint=nearest(name, [item + LED for item in names]),
            )
        return Excitation(names.index(name.removesuffix(LED)), none, ones, 2)
    drive = next((item for item in drives if item.block.actuator == name), None)
    if drive is not None and drive.block.leads:
        return Excitation(drive.coordinate, none, motion_response(drive.block, omega))
    assert force is not None
    if np.abs(force[free]).max(initial=0.0) <= _NEGLIGIBLE * np.abs(force).max(initial=0.0):
        raise InputError(
            "what it pushes is locked, so that it moves nothing",
            part=f'input "{name}"',
            hint=f"free the actuators (free_actuators=True, --free-actuators), or lead one: {names[0]}{LED}",
        )
    return Excitation(-1, np.asarray(force, dtype=float), ones if drive is None else force_response(drive.block, omega))


def held_by(drives: list[Drive], omega: Array) -> Complex:
    """What drives that do not lead add to κ (L, n, n); a scalar zero where there are none."""
    parts = [
        impedance(item.block, omega)[:, None, None] * np.outer(item.along, item.along)
        for item in drives
        if not item.block.leads
    ]
    return np.asarray(sum(parts, start=np.zeros((1, 1, 1), dtype=np.complex128)))


def input_forces(
    model: ReducedModel, drives: list[Drive], inlet: str, kappa: Complex, eta: Complex, omega: Array
) -> Complex:
    """Forces of the inputs (L, a) in a motion η (L, n) for a unit of one; kappa : without what drives add."""
    found = np.zeros((len(omega), len(model.layout.inputs)), dtype=np.complex128)
    if inlet in model.layout.inputs and not any(d.block.actuator == inlet and d.block.leads for d in drives):
        found[:, model.layout.inputs.index(inlet)] = 1.0
    for item in drives:
        if not item.block.leads:
            found[:, item.column] -= impedance(item.block, omega) * (eta @ item.along)
    pushed = sum((found[:, item.column, None] * item.along for item in drives if not item.block.leads), start=0.0 * eta)
    for item in drives:
        if item.block.leads:
            needed = np.einsum("lj,lj->l", kappa[:, item.coordinate], eta)
            found[:, item.column] = needed - pushed[:, item.coordinate]
    return found
