"""Rates of joint loops: measured where every coordinate has a sensor of its rate, otherwise filtered from encoders.

f = 10 ω / 2π, at most 1 / (4 T)          ω: the fastest of the loop, ω² the largest eigenvalue of M⁻¹ K_P

so that the filter costs the loop a tenth of a radian of phase at ω.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.array_types import Array
from supple.control.controllers.joint_gains import JointGains
from supple.hardware.hardware import Hardware

_ABOVE = 10.0  # times ω
OF_SAMPLING = 0.25  # of the sampling rate, at most


def unmeasured_rates(
    known: Hardware, coordinates: tuple[str, ...], sensors: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Coordinates whose rates nothing shows; none where all is measured exactly, without instruments."""
    named = {} if sensors is None else sensors
    if not known:
        return ()
    return tuple(name for name in coordinates if name not in known.rate_sensors and f"{name}.rate" not in named)


def default_filter(M: Array, gains: JointGains, sample_time: float) -> float:
    """The corner f, Hz, for gains in forces of θ."""
    squared = np.abs(np.linalg.eigvals(np.linalg.solve(M, gains.proportional))).max()
    first = np.abs(np.linalg.eigvals(np.linalg.solve(M, gains.derivative))).max()
    omega = float(np.sqrt(squared)) or float(first)
    return min(_ABOVE * omega / (2.0 * np.pi) or np.inf, OF_SAMPLING / sample_time)
