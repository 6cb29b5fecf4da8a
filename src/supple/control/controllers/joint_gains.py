"""Gains of joint loops, from frequencies and the mass at a configuration, or as they are given.

K_P = M ω²,   K_V = M 2 ξ ω                                     so that M ë + K_V ė + K_P e = 0
with an integral: (s + ω_I)(s² + 2 ξ ω s + ω²):  K_P = M (ω² + 2 ξ ω ω_I),  K_V = M (2 ξ ω + ω_I),  K_I = M ω² ω_I
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.control.gains.decoupled_gains import PerCoordinate, per_coordinate
from supple.diagnostics import InputError
from supple.reduced.named_values import in_order

Matrix = float | Mapping[str, float] | ArrayLike


class JointGains(NamedTuple):
    """(s, s) each: forces per position, per rate, and per integral of the error."""

    proportional: Array
    derivative: Array
    integral: Array


def gains_of_frequencies(
    M: Array, frequencies: PerCoordinate, damping_ratios: PerCoordinate, integral: PerCoordinate, names: tuple[str, ...]
) -> JointGains:
    """frequencies : ω, rad/s; integral : ω_I, rad/s, 0 for none."""
    omega = per_coordinate("frequencies", frequencies, names)
    xi = per_coordinate("damping ratios", damping_ratios, names)
    slow = per_coordinate("integral frequencies", integral, names)
    for part, values, least in (("frequencies", omega, 0.0), ("damping ratios", xi, 0.0)):
        if not (values > least).all():
            worst = int(values.argmin())
            raise InputError(f'"{names[worst]}" has {values[worst]:g}', part=part, hint="give numbers above 0")
    return JointGains(M * (omega**2 + 2.0 * xi * omega * slow), M * (2.0 * xi * omega + slow), M * (omega**2 * slow))


def gain_matrix(part: str, values: Matrix, names: tuple[str, ...]) -> Array:
    """(s, s) of one number for all, numbers by name or in order, or a matrix."""
    s = len(names)
    if isinstance(values, int | float):
        return float(values) * np.eye(s)
    found = in_order(part, values, names)
    if found.ndim == 1:
        return np.diag(found)
    if found.shape != (s, s):
        raise InputError(f"has the shape {found.shape}", part=part, hint=f"give ({s},) or ({s}, {s})")
    return found
