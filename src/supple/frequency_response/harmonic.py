"""Frequency responses of any system about a state: what is common to mechanisms, reduced models and linear models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, nearest
from supple.hardware.drive_response import instrument_response
from supple.results.frequency_response import KINDS, FrequencyResponse, Kind, response_unit
from supple.systems.protocols import Harmonics, Vibrating

LED = ".acceleration"  # what follows a coordinate's name where it is led


def harmonics(
    inputs: str | Sequence[str], outputs: str | Sequence[str], frequencies_hz: ArrayLike, kind: Kind
) -> Harmonics:
    """Return what is asked for, checked; arguments as in `frf`."""
    if kind not in KINDS:
        raise InputError(f'"{kind}" is not a kind of response', part="kind", hint=nearest(kind, KINDS))
    lines = _lines(frequencies_hz)
    return Harmonics(_names(inputs, "inputs"), _names(outputs, "outputs"), lines, 2.0 * np.pi * lines, kind)


def frequency_response(system: Vibrating, asked: Harmonics) -> FrequencyResponse:
    """Return the responses of a system, as its instruments show them.

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
        How often the response is differentiated.
    inlet
        The input, for the message.
    """
    if order < 0 and (asked.lines == 0.0).any():
        raise InputError(
            "at 0 Hz a led acceleration moves it ever further",
            part="frequencies_hz" if len(asked.inputs) == 1 else f'input "{inlet}"',
            hint="begin above 0 Hz, or ask for the accelerance",
        )
    return np.asarray((1j * asked.omega) ** order, dtype=np.complex128)


def require_finite(part: str, omega: Array, finite: NDArray[np.bool_]) -> None:
    """Refuse responses of an undamped motion at its own frequency, 0 Hz where nothing holds it: they are not finite.

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
        + ("something moves that nothing holds" if worst == 0.0 else "an undamped mode lies there"),
        part=part,
        hint="begin above 0 Hz, or lock the actuators" if worst == 0.0 else "give damping, or other lines",
    )


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
