"""Frequency responses of a mechanism about a configuration (docs/theory/frequency-response.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.vibration.deformation_damping import deformation_damping
from supple.analyses.vibration.direct_response import Proportional, direct_response
from supple.analyses.vibration.modal import require_elastic
from supple.analyses.vibration.modal_response import modal_response
from supple.analyses.vibration.ports import Port, measured_row, port, port_rows
from supple.analyses.vibration.restraint import restraint
from supple.analyses.vibration.watched import watched
from supple.description.elastic.damping import Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.numbering import Numbering
from supple.results.frequency_response import KINDS, FrequencyResponse, Kind, response_unit

Array = NDArray[np.float64]

LED = ".acceleration"  # what follows a coordinate's name where it is led
_BAND = 1.5  # of the highest line: what bodies are condensed for
_VIBRATING = 3.0  # of the highest line: modes up to there vibrate, the rest follows statically


class Inputs(NamedTuple):
    """What drives: ports of forces, and rows of coordinates that are led, with their names in the order asked."""

    names: tuple[str, ...]
    forces: list[Port]
    led: list[int]
    order: list[int]  # of (forces, led) in names


def frf(
    mechanism: Mechanism,
    at: At | Configuration = None,
    inputs: str | Sequence[str] = (),
    outputs: str | Sequence[str] = (),
    frequencies_hz: ArrayLike = (),
    *,
    kind: Kind = "receptance",
    free_actuators: bool = False,
    damping: Damping | Mapping[str, Any] | float | None = None,
    method: Literal["direct", "modal"] = "direct",
    preload: bool = True,
) -> FrequencyResponse:
    """Motion of the outputs for a unit of each input, at every frequency.            [frequency-response, eqs. 1-10]

    inputs   : `lift`, the force of an actuator (with free actuators); `lift.acceleration`, its motion is led, and the
               others stay as they are; `E.z`, a force at a place; any sensor's output, a force along what it measures
    outputs  : sensor outputs, `place.axis`, actuators, joint coordinates
    kind     : receptance, mobility, accelerance: displacement, velocity or acceleration of the output per unit input
    damping  : {"modal": ζ}, {"structural": η}, {"rayleigh": (α, β)}, a number for ζ, 0 for none; the mechanism's if
               left out. Dampers and `elastic_damping` of the mechanism always act
    method   : direct, or modal: modes up to three times the highest line, and the others statically
    preload  : with free actuators, add the stiffness that gravity and the forces at rest give
    """
    if kind not in KINDS:
        raise InputError(f'"{kind}" is not a kind of response', part="kind", hint=nearest(kind, KINDS))
    if method not in ("direct", "modal"):
        raise InputError(f'"{method}" is not a method', part="method", hint="direct or modal")
    lines = _lines(frequencies_hz)
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    if configuration.X.ndim != 2:
        raise InputError("a response is at one configuration, not many", part="at", hint="ask for each by itself")
    numbering = configuration.rest.numbering
    driven = _inputs(numbering, _names(inputs, "inputs"), free_actuators=free_actuators)
    seen = watched(configuration, _names(outputs, "outputs"))
    rest = elastic_rest(mechanism, _BAND * float(lines.max()))
    if not free_actuators and not driven.led:
        require_elastic(rest)
    H = _displacements(
        rest, configuration, driven, seen.ports, lines, _law(mechanism, damping), method, free_actuators, preload
    )
    H = seen.seen(H, lines) * _factors(lines, KINDS[kind], driven)[:, None, :]
    return FrequencyResponse(
        lines,
        np.ascontiguousarray(H[:, :, driven.order]),
        driven.names,
        seen.names,
        tuple(tuple(response_unit(kind, one, unit) for unit in _units(driven, numbering)) for one in seen.units),
        kind,
        mechanism.name,
    )


def _displacements(
    rest: ElasticRest,
    configuration: Configuration,
    driven: Inputs,
    seen: list[Port],
    lines: Array,
    law: Damping | None,
    method: str,
    free: bool,
    preload: bool,
) -> NDArray[np.complex128]:
    """Displacements for unit forces, and for unit displacements of what is led: (L, outputs, forces and led)."""
    first = rest.numbering.constraints
    theta = range(first, first + len(rest.numbering.coordinates))
    held = restraint(rest, locked=set(driven.led) if free else set(theta))
    rows = port_rows(rest, [*driven.forces, *seen], configuration.X[None])[0]
    forces, outputs = rows[: len(driven.forces)], rows[len(driven.forces) :]
    alpha, beta = (law and law.rayleigh) or (0.0, 0.0)
    # With nothing but the deformation in motion, damping by mass is as simple as damping by stiffness.
    alone = not rest.elastic or not (free or driven.led)
    proportional = Proportional((law and law.structural) or 0.0, alpha if alone else 0.0, beta)
    of_modes = law if law and law.modal else Damping(rayleigh=(alpha, 0.0)) if alpha > proportional.alpha else None
    deformed = deformation_damping(rest, configuration, of_modes, held)
    omega = 2.0 * np.pi * lines
    if method == "direct" and deformed is None and not (free and preload):
        return direct_response(rest, configuration.X, held, forces, driven.led, outputs, omega, proportional)
    below = None if method == "direct" else _VIBRATING * float(lines.max())
    return modal_response(
        rest, configuration, held, forces, driven.led, outputs, omega, proportional, deformed,
        preload=free and preload, below=below,
    )  # fmt: skip


def _factors(lines: Array, order: int, driven: Inputs) -> NDArray[np.complex128]:
    """(iω)^order for forces; for what is led, whose displacement is its acceleration over (iω)², (iω)^(order - 2)."""
    rate = 2j * np.pi * lines
    found = np.empty((len(lines), len(driven.forces) + len(driven.led)), dtype=np.complex128)
    found[:, : len(driven.forces)] = rate[:, None] ** order
    if driven.led and order < 2 and (lines == 0.0).any():
        raise InputError(
            "at 0 Hz a led acceleration moves it ever further",
            part="frequencies_hz",
            hint="begin above 0 Hz, or ask for the accelerance",
        )
    if driven.led:
        found[:, len(driven.forces) :] = rate[:, None] ** (order - 2)
    return found


def _units(driven: Inputs, numbering: Numbering) -> list[str]:
    units = [item.force_unit for item in driven.forces]
    units += ["rad/s²" if numbering.angles()[row] else "m/s²" for row in driven.led]
    return [units[i] for i in driven.order]


def _lines(frequencies: ArrayLike) -> Array:
    lines = np.array(frequencies, float).reshape(-1)
    if not len(lines):
        raise InputError("no frequency is given", part="frequencies_hz", hint="give some, for example 1 to 100 Hz")
    if not np.isfinite(lines).all() or (lines < 0.0).any():
        wrong = lines[~(np.isfinite(lines) & (lines >= 0.0))][0]
        raise InputError(f"{wrong:g} Hz is not a frequency", part="frequencies_hz", hint="give finite ones from 0 on")
    return lines


def _names(given: str | Sequence[str], what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names:
        raise InputError("none is given", part=what, hint="name a sensor's output, an actuator or place.axis")
    return names


def _inputs(numbering: Numbering, names: tuple[str, ...], *, free_actuators: bool) -> Inputs:
    first = numbering.constraints
    theta = dict(enumerate(numbering.coordinates, first))
    forces: list[Port] = []
    led: list[int] = []
    kinds = []
    for name in names:
        if name.endswith(LED):
            row = _led_row(numbering, name, theta)
            kinds.append(("led", led.index(row) if row in led else len(led)))
            led += [row] if row not in led else []
        else:
            kinds.append(("force", len(forces)))
            forces.append(port(numbering, name))
    for item in forces:
        if item.row in theta and (not free_actuators or item.row in led):
            why = "is led" if item.row in led else "is locked"
            raise InputError(
                f"it {why}, so that a force along it moves nothing",
                part=f'input "{item.name}"',
                hint=f"free the actuators (free_actuators=True, --free-actuators), or lead it: {item.name}{LED}",
            )
    return Inputs(names, forces, led, [i + (len(forces) if kind == "led" else 0) for kind, i in kinds])


def _led_row(numbering: Numbering, name: str, theta: dict[int, str]) -> int:
    row = measured_row(numbering, name.removesuffix(LED))
    if row is None or row not in theta:
        raise InputError(
            f'"{name.removesuffix(LED)}" is not a coordinate of "{numbering.mechanism.name}", and so cannot be led',
            part=f'input "{name}"',
            hint=nearest(name, [coordinate + LED for coordinate in numbering.coordinates]),
        )
    return row


def _law(mechanism: Mechanism, given: Damping | Mapping[str, Any] | float | None) -> Damping | None:
    """The damping that was asked for, or the mechanism's."""
    if given is None:
        return mechanism.damping
    if isinstance(given, Damping):
        return given
    if isinstance(given, Mapping):
        from pydantic import ValidationError

        try:
            return Damping(**given)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise InputError(reason, part="damping", hint="for example modal=0.01") from None
    if not given >= 0.0 or not np.isfinite(given):
        raise InputError(f"a damping ratio of {given:g} is not possible", part="damping", hint="give 0 or more")
    return Damping(modal=float(given))
