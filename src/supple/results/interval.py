"""Text of a number and its interval, with as many digits as needed to distinguish the ends."""

from __future__ import annotations

import math

_FEWEST, _MOST = 4, 12  # digits


def interval_digits(low: float, high: float) -> int:
    """Return the number of significant digits that leaves two of the width.

    It is 4 for 797.2 .. 803.5, and 6 for 2.09981e+11 .. 2.10019e+11.
    """
    size, width = max(abs(low), abs(high)), abs(high - low)
    if not (math.isfinite(size) and width > 0.0):
        return _FEWEST
    return min(max(_FEWEST, math.floor(math.log10(size)) - math.floor(math.log10(width)) + 2), _MOST)


def interval_words(value: float, low: float, high: float, between: str = " .. ") -> tuple[str, str]:
    """Return the texts of a value and of its interval."""
    digits = interval_digits(low, high)
    return f"{value:.{digits}g}", f"{low:.{digits}g}{between}{high:.{digits}g}"
