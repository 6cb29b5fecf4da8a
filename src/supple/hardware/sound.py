"""Numbers of drives and instruments that make sense, however they were made."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.diagnostics import InputError

_ABOVE = ("stiffness", "rate_limit", "frequency", "noise_frequency", "sample_time")  # above zero where they are given
_AT_LEAST = ("delay", "dead_band", "resolution", "noise", "walk")  # zero or more
_FINITE = ("damping", "bias", "D")


def require_valid_hardware(item: Any, part: str) -> None:
    """Raise InputError for the first number of a drive or an instrument that cannot be."""
    for name in (*_ABOVE, *_AT_LEAST, *_FINITE):
        value = getattr(item, name, None)
        if value is None:
            continue
        above, least = name in _ABOVE, name in _AT_LEAST
        if not np.isfinite(value) or (above and value <= 0.0) or (least and value < 0.0):
            wanted = "above 0" if above else "of 0 or more" if least else "that is finite"
            raise InputError(f"its {name} is {value:g}", part=part, hint=f"give a value {wanted}")
    if item.limits is not None and not item.limits[0] < item.limits[1]:
        raise InputError(f"its limits are {item.limits[0]:g} and {item.limits[1]:g}", part=part, hint="let them rise")
