"""Units as factors to SI, and numbers written with their unit: `40deg`, `12 mm`, `3 mm**2`.

No dimensions are checked: a unit is a number, so that `7.8*g/cm**3` is 7800.
"""

from __future__ import annotations

import math
import re

UNITS: dict[str, float] = {
    "rad": 1.0, "deg": math.pi / 180.0,
    "um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3,
    "g": 1e-3, "kg": 1.0, "t": 1e3,
    "ms": 1e-3, "s": 1.0, "min": 60.0,
    "Hz": 1.0, "rpm": 2.0 * math.pi / 60.0,  # a frequency in hertz stays one; a speed in rpm becomes rad/s
    "N": 1.0, "kN": 1e3, "Nm": 1.0,
    "Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9,
}  # fmt: skip

CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, **UNITS}

_WITH_UNIT = re.compile(
    r"(?<![\w.])"  # not the tail of a name or of another number
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*"
    rf"(?P<unit>{'|'.join(sorted(UNITS, key=len, reverse=True))})\b(?!\s*\()"
    r"(?:\s*\*\*\s*(?P<power>[+-]?\d\b(?!\.)))?"
    r"(?!\s*\*\*)"  # any other power is ambiguous, so it does not parse
)


def expand_units(text: str) -> str:
    """The text with every number that carries a unit replaced by its value in SI, in parentheses.

    A power belongs to the unit, as on paper: `12 mm**2` is 12e-6. What follows a number is always the unit,
    also where a parameter has the same name (`2 m` is two metres although `m` may be a mass).
    """

    def value(match: re.Match[str]) -> str:
        factor = UNITS[match["unit"]] ** int(match["power"] or 1)
        return f"({float(match['number'])!r}*{factor!r})"

    return _WITH_UNIT.sub(value, text)
