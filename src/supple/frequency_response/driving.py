"""Frequency responses of any system: the request, the inputs of a mechanism, and the restraint by drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, require_known, unknown_name
from supple.hardware.drive_block import DriveBlock
from supple.hardware.drive_response import force_response, instrument_response, motion_response
from supple.hardware.hardware import Hardware
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering
from supple.modal_analysis.ports import Port, measured_row, port
from supple.results.frequency_response import KINDS, FrequencyResponse, Kind, response_unit
from supple.systems.protocols import Harmonics, Vibrating

LED = ".acceleration"  # suffix of a coordinate's name for a prescribed acceleration


# Responses of any system about a state, common to mechanisms, reduced models and linear models.


def harmonics(
    inputs: str | Sequence[str], outputs: str | Sequence[str], frequencies_hz: ArrayLike, kind: Kind
) -> Harmonics:
    """Return the validated request; arguments as in `frf`."""
    require_known("response kind", kind, KINDS, part="kind")
    lines = _lines(frequencies_hz)
    return Harmonics(_names(inputs, "inputs"), _names(outputs, "outputs"), lines, 2.0 * np.pi * lines, kind)


def frequency_response(system: Vibrating, asked: Harmonics) -> FrequencyResponse:
    """Return the responses of a system, including its instruments.

    Parameters
    ----------
    system
        A mechanism or model about a state.
    asked
        Inputs, outputs and frequencies.
    """
    H = system.responses(asked)
    for i, name in enumerate(asked.outputs):
        shown = system.hardware.instrument(name)
        if shown is not None:
            H[:, i] *= instrument_response(shown, asked.omega)[:, None]
    outputs, inputs = system.units_of(asked)
    units = tuple(tuple(response_unit(asked.kind, y, u) if y and u else "" for u in inputs) for y in outputs)
    found = np.ascontiguousarray(H)
    return FrequencyResponse(asked.lines, found, asked.inputs, asked.outputs, units, asked.kind, system.name)


def derivative(asked: Harmonics, order: int, inlet: str) -> Complex:
    """Return (iω)^order (L,), the factor of a derivative; a negative order integrates, which 0 Hz does not allow.

    Parameters
    ----------
    asked
        Inputs, outputs and frequencies.
    order
        Number of differentiations of the response.
    inlet
        Name of the input, for the message.
    """
    if order < 0 and (asked.lines == 0.0).any():
        raise InputError(
            "at 0 Hz the response to a prescribed acceleration is unbounded",
            part="frequencies_hz" if len(asked.inputs) == 1 else f'input "{inlet}"',
            hint="begin above 0 Hz, or use kind accelerance",
        )
    return np.asarray((1j * asked.omega) ** order, dtype=np.complex128)


def require_finite(part: str, omega: Array, finite: NDArray[np.bool_]) -> None:
    """Require finite responses; those of an undamped motion at its own frequency, or of a free motion at 0 Hz, are not.

    Parameters
    ----------
    part
        The mechanism or model, for the message.
    omega
        (L,) rad/s.
    finite
        (L,) whether the response is finite there.
    """
    if finite.all():
        return
    worst = float(omega[~finite][0]) / (2.0 * np.pi)
    raise InputError(
        f"at {worst:g} Hz the response is not finite: "
        + ("a motion has no stiffness" if worst == 0.0 else "an undamped mode has this frequency"),
        part=part,
        hint="begin above 0 Hz, or lock the actuators" if worst == 0.0 else "add damping, or choose other lines",
    )


def _lines(frequencies: ArrayLike) -> Array:
    lines = np.array(frequencies, float).reshape(-1)
    if not len(lines):
        raise InputError("no frequencies are given", part="frequencies_hz", hint="give frequency lines in Hz")
    if not np.isfinite(lines).all() or (lines < 0.0).any():
        wrong = lines[~(np.isfinite(lines) & (lines >= 0.0))][0]
        raise InputError(
            f"{wrong:g} Hz is not a valid frequency", part="frequencies_hz", hint="give finite values of 0 or more"
        )
    return lines


def _names(given: str | Sequence[str], what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names:
        raise InputError("none is given", part=what, hint="give a sensor output, an actuator or point.axis")
    return names


# Inputs of a mechanism at a frequency, and its restraint by drives (docs/theory/frequency-response.md, 14-16).


class Holding(NamedTuple):
    """Restraint of θ by locks and drives.

    locked : rows that are locked; drives : drives that act on free rows
    yields : stiffness k and damping c of drives, by row
    """

    locked: frozenset[int]
    drives: tuple[DriveBlock, ...]
    yields: Mapping[int, tuple[float, float]]

    def moves(self, numbering: Numbering) -> bool:
        """Return whether some of θ is free."""
        return not set(_theta(numbering)) <= self.locked


class DrivingInputs(NamedTuple):
    """Inputs of a mechanism: ports of forces, and rows of coordinates with prescribed motion.

    names  : names in the order of the request; order : index of each in (forces, led)
    drives : drive of each name that is a command, or None
    """

    names: tuple[str, ...]
    forces: list[Port]
    led: list[int]
    order: list[int]
    drives: list[DriveBlock | None]

    def factors(self, asked: Harmonics) -> Complex:
        """Return the factors (L, names) of the responses, for outputs differentiated as requested.

        (iω)^order for forces; (iω)^(order - 2) for prescribed accelerations, since the response is that to a
        displacement; for commands (iω)^order times the force or the motion that they produce.
        """
        found = np.empty((len(asked.lines), len(self.names)), dtype=np.complex128)
        for j, (name, drive) in enumerate(zip(self.names, self.drives, strict=True)):
            led = self.order[j] >= len(self.forces)
            found[:, j] = derivative(asked, asked.order - 2 if led and drive is None else asked.order, name)
            if drive is not None:
                found[:, j] *= motion_response(drive, asked.omega) if led else force_response(drive, asked.omega)
        return found

    def units(self, numbering: Numbering) -> list[str]:
        """Return the unit of each name."""
        plain = [item.force_unit for item in self.forces]
        plain += ["rad/s²" if numbering.angles()[row] else "m/s²" for row in self.led]
        return [plain[i] if drive is None else drive.unit for i, drive in zip(self.order, self.drives, strict=True)]


def lock_rows(numbering: Numbering, hardware: Hardware, *, free_actuators: bool) -> Holding:
    """Return the restraint: rows of drives that prescribe motion, and rows without a compliant drive, are locked.

    With free actuators the latter are free.
    """
    theta = _theta(numbering)
    leads: set[int] = set()
    yields: dict[int, tuple[float, float]] = {}
    rows = {block: _row(numbering, block.actuator) for block in hardware.drives}
    for block, row in rows.items():
        if block.leads and row not in theta:
            raise InputError(
                f"the {block.kind} drive prescribes a motion that is not a coordinate",
                part=f'actuator "{block.actuator}"',
                hint="make it one of the mechanism's coordinates, or exclude drives (drives=False, --no-drives)",
            )  # fmt: skip
        if block.leads:
            leads.add(row)
            continue
        k, c = yields.get(row, (0.0, 0.0))
        yields[row] = k + (block.stiffness or 0.0), c + block.damping
    yielding = {row for row, (k, _) in yields.items() if k > 0.0}
    locked = leads | (set() if free_actuators else set(theta) - yielding)
    acting = tuple(block for block, row in rows.items() if row not in locked)
    return Holding(frozenset(locked), acting, {row: held for row, held in yields.items() if row not in locked})


def driving_inputs(numbering: Numbering, names: tuple[str, ...], hardware: Hardware, locked: Set[int]) -> DrivingInputs:
    """Return the inputs by name: forces, prescribed accelerations, commands of drives; locked : rows of θ."""
    theta = dict(enumerate(numbering.coordinates, numbering.constraints))
    forces: list[Port] = []
    led: list[int] = []
    kinds, drives = [], []
    for name in names:
        block = hardware.drive(name)
        if name.endswith(LED) or (block is not None and block.leads):
            row = _led_row(numbering, name, theta) if block is None else _row(numbering, name)
            kinds.append(("led", led.index(row) if row in led else len(led)))
            led += [row] if row not in led else []
        else:
            kinds.append(("force", len(forces)))
            forces.append(port(numbering, name))
        drives.append(block)
    for item in forces:
        if item.row in theta and (item.row in locked or item.row in led):
            why = "has a prescribed motion" if item.row in led else "is locked"
            raise InputError(
                f"the coordinate {why}, so a force along it has no effect",
                part=f'input "{item.name}"',
                hint="free the actuators (free_actuators=True, --free-actuators), or prescribe its motion: "
                f"{item.name}{LED}",
            )
    order = [i + (len(forces) if kind == "led" else 0) for kind, i in kinds]
    return DrivingInputs(names, forces, led, order, drives)


def _theta(numbering: Numbering) -> range:
    return range(numbering.constraints, numbering.constraints + len(numbering.coordinates))


def _row(numbering: Numbering, actuator: str) -> int:
    mechanism = numbering.mechanism
    return numbering.measures[key_of(mechanism, mechanism.actuators[actuator])]


def _led_row(numbering: Numbering, name: str, theta: Mapping[int, str]) -> int:
    row = measured_row(numbering, name.removesuffix(LED))
    if row is None or row not in theta:
        raise unknown_name("coordinate", name.removesuffix(LED), numbering.coordinates, part=f'input "{name}"')
    return row
