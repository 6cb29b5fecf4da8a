"""Actuators that drive a motion: their input map, bounds and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, nearest, require_known
from supple.diagnostics.arguments import real_numbers
from supple.inverse_dynamics.force_distribution import Rates
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering

_RANK = 1e-9  # of the largest singular value of B over the motion


@dataclass(frozen=True, eq=False)
class Actuation:
    """Chosen actuators along a motion.

    numbers : their indices among all actuators
    B       : (N, s, a) their columns of the input map
    """

    mechanism: Any
    names: tuple[str, ...]
    numbers: list[int]
    units: dict[str, str]
    B: Array
    time: Array


def actuation(numbering: Numbering, input_map: Array, chosen: Sequence[str] | str | None, time: Array) -> Actuation:
    """Return the chosen actuators (all if None), after a check that they can drive every coordinate at every time.

    input_map : (N, s, all actuators) B along the motion, broadcast if it is constant
    """
    mechanism = numbering.mechanism
    known = tuple(mechanism.actuators)
    if isinstance(chosen, str):
        chosen = [name.strip() for name in chosen.split(",")]
    names = tuple(known if chosen is None else chosen)
    for i, name in enumerate(names):
        require_known("actuator", name, known, part="actuators")
        if name in names[:i]:
            raise InputError(f'actuator "{name}" is listed twice', part="actuators", hint="list each once")
    numbers = [known.index(name) for name in names]
    constant = len(input_map) > 1 and input_map.strides[0] == 0  # one matrix at every time
    B = np.ascontiguousarray(input_map[: 1 if constant else None, :, numbers])
    angle = numbering.angles()
    turns = [bool(angle[numbering.measures[key_of(mechanism, mechanism.actuators[name])]]) for name in names]
    # In units of the mechanism's extent for lengths, so that the rank does not depend on the unit of length.
    extent = float(numbering.arrays.extent)
    rows = np.where(angle[numbering.constraints : numbering.constraints + B.shape[1]], 1.0, extent)
    columns = np.where(turns, 1.0, 1.0 / extent)
    _require_driven(numbering, names, B * rows[:, None] * columns, time)
    units = {name: "N m" if turn else "N" for name, turn in zip(names, turns, strict=True)}
    return Actuation(mechanism, names, numbers, units, np.broadcast_to(B, (len(input_map), *B.shape[1:])), time)


def _require_driven(numbering: Numbering, names: tuple[str, ...], B: Array, time: Array) -> None:
    """Require full row rank of B at every time, and that a square B does not pass a singularity between two times."""
    s, a = B.shape[1:]
    who = " and ".join(f'"{name}"' for name in names)
    part = f'mechanism "{numbering.mechanism.name}"'
    hint = "use more actuators" if len(names) < len(numbering.mechanism.actuators) else "add an actuator to the file"
    if a < s:
        left = np.linalg.svd(B[0])[0][:, a:] if a else np.eye(s)
        name = numbering.coordinates[int(np.argmax(np.linalg.norm(left, axis=1)))]
        few = f"{who} cannot drive {s} coordinates" if a else "no actuator is chosen"
        raise InputError(f'{few}: "{name}" is not driven', part=part, path=("actuators",), hint=hint)
    left, sigma, _ = np.linalg.svd(B)
    weak = np.flatnonzero(sigma[:, -1] <= _RANK * sigma[:, 0].max())
    when, n = "", -1
    if weak.size:
        n = int(weak[0])
        when = f"at {time[n]:.6g} s"
    elif a == s:
        sign = np.sign(np.linalg.det(B))
        crossings = np.flatnonzero(sign[1:] != sign[:-1])
        if crossings.size:
            n = int(crossings[0])
            when = f"between {time[n]:.6g} s and {time[n + 1]:.6g} s"
    if n >= 0:
        name = numbering.coordinates[int(np.argmax(np.abs(left[n, :, -1])))]
        raise InputError(
            f'{who} cannot drive coordinate "{name}" {when}: the configuration is singular', part=part, hint=hint
        )


def weights_of(chosen: Actuation, given: Mapping[str, float] | None) -> Array:
    """Return the weights (a,), 1 by default."""
    found = np.ones(len(chosen.names))
    for name, value in (given or {}).items():
        found[_index(chosen, name, "weights")] = _positive(value, f'weight of "{name}"')
    return found


def force_bounds(chosen: Actuation, given: Any) -> tuple[Array, Array]:
    """Return the lower and upper bounds of forces (N, a), infinite by default."""
    a = len(chosen.names)
    lower, upper = np.full(a, -inf), np.full(a, inf)
    if isinstance(given, str):
        if given != "limits":
            raise InputError(f'unknown bound "{given}"', part="bounds", hint='give numbers, or "limits"')
        limits = {name: chosen.mechanism.actuators[name].force_limits for name in chosen.names}
        given = {name: pair for name, pair in limits.items() if pair is not None}
    elif given is not None and not isinstance(given, Mapping):
        given = dict.fromkeys(chosen.names, given)
    for name, bound in (given or {}).items():
        i = _index(chosen, name, "bounds")
        if isinstance(bound, Sequence | np.ndarray) and len(bound) == 2:
            lower[i], upper[i] = real_numbers(f'bounds of "{name}"', bound, finite=False).ravel()[:2]
            if not lower[i] < upper[i]:
                raise InputError(
                    f"{lower[i]:g} is not below {upper[i]:g}", part=f'bounds of "{name}"', hint="give (lower, upper)"
                )
        else:
            upper[i] = _positive(bound, f'bound of "{name}"')
            lower[i] = -upper[i]
    shape = (len(chosen.time), a)
    return np.broadcast_to(lower, shape).copy(), np.broadcast_to(upper, shape).copy()


def rate_limits(chosen: Actuation, given: Any, time: Array) -> Rates | None:
    """Return the bounds of the rates; None if there are none or only one time."""
    if given is None or len(time) < 2:
        return None
    if not isinstance(given, Mapping):
        given = dict.fromkeys(chosen.names, given)
    limits = np.full(len(chosen.names), inf)
    for name, value in given.items():
        limits[_index(chosen, name, "rate bounds")] = _positive(value, f'rate bound of "{name}"')
    return Rates(limits, np.diff(time))


def _index(chosen: Actuation, name: str, what: str) -> int:
    if name not in chosen.names:
        raise InputError(f'"{name}" is not one of the chosen actuators', part=what, hint=nearest(name, chosen.names))
    return chosen.names.index(name)


def _positive(value: Any, part: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{value!r} is not a number", part=part, hint="give a number above 0") from None
    if not (found > 0.0 and isfinite(found)):
        raise InputError(f"must be positive and finite (got {found:g})", part=part, hint="give a number above 0")
    return found
