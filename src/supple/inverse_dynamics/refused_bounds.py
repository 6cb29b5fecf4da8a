"""Why bounds on forces or rates cannot be met: where, and by how much they must rise."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, NumericalError
from supple.inverse_dynamics.actuation import Actuation
from supple.inverse_dynamics.force_programs import Rates, least_excess, least_rate_excess

_ROUNDING = 1e-9


def refused_bounds(chosen: Actuation, Q: Array, lower: Array, upper: Array) -> InputError:
    """The worst instant, and the least uniform rise of the bounds that lets forces exist there."""
    excess = least_excess(chosen.B, Q, lower, upper)
    n = int(np.argmax(excess))
    return InputError(
        f"no forces within the bounds drive the motion: at {chosen.time[n]:.6g} s every bound must rise by "
        f"{_two_digits(excess[n])} {_unit(chosen)} at least ({_listed(chosen, upper[n], lower[n])})",
        part="bounds",
        hint="raise the bounds, let more actuators work, or move more slowly",
    )


def refused_rates(chosen: Actuation, Q: Array, lower: Array, upper: Array, rates: Rates) -> InputError | NumericalError:
    """The step that asks for most, and the least uniform rise of the bounds on rates.

    If the bounds can be met after all, it is the method that failed.
    """
    excess, n = least_rate_excess(chosen.B, Q, lower, upper, rates)
    if excess <= _ROUNDING * float(rates.limits[np.isfinite(rates.limits)].max()):
        return NumericalError(
            "forces within the bounds exist, and were not found",
            part="rate bounds",
            hint="widen the bounds a little, or take other instants",
        )
    return InputError(
        f"no forces change slowly enough: about {chosen.time[n]:.6g} s every bound on rates must rise by "
        f"{_two_digits(excess)} {_unit(chosen)}/s at least",
        part="rate bounds",
        hint="raise them, let more actuators work, or move more slowly",
    )


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _unit(chosen: Actuation) -> str:
    units = dict.fromkeys(chosen.units.values())
    return " or ".join(units)


def _listed(chosen: Actuation, upper: Array, lower: Array) -> str:
    parts = []
    for i, name in enumerate(chosen.names):
        if np.isfinite(upper[i]) or np.isfinite(lower[i]):
            both = f"±{upper[i]:g}" if lower[i] == -upper[i] else f"{lower[i]:g} to {upper[i]:g}"
            parts.append(f"{name} {both}")
    return ", ".join(parts)
