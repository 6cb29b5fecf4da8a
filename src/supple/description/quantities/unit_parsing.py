"""Units, and numbers with units: `40deg`, `12 mm`, `3 mm**2`, `0.2 kg m²`.

A unit has a factor to SI units and a dimension.
"""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from typing import NamedTuple

from supple.description.quantities.dimension import (
    ANGLE,
    CURRENT,
    FORCE,
    FREQUENCY,
    INDUCTANCE,
    LENGTH,
    MASS,
    POWER,
    PRESSURE,
    RATE,
    RESISTANCE,
    TIME,
    TORQUE,
    VOLTAGE,
    Dimension,
)

_INCH, _POUND, _GRAVITY = 0.0254, 0.45359237, 9.80665


class Unit(NamedTuple):
    """Unit: its size in SI units, and its dimension."""

    factor: float
    dimension: Dimension


def _units(dimension: Dimension, **factors: float) -> dict[str, Unit]:
    return {name: Unit(factor, dimension) for name, factor in factors.items()}


UNITS: dict[str, Unit] = {
    # A full turn is 2π rad; a frequency in hertz counts cycles and is not converted, a speed in rpm becomes rad/s.
    **_units(ANGLE, rad=1.0, mrad=1e-3, urad=1e-6, µrad=1e-6, deg=math.pi / 180.0,
             arcmin=math.pi / 10800.0, arcsec=math.pi / 648000.0, rev=2.0 * math.pi),
    **_units(LENGTH, nm=1e-9, um=1e-6, µm=1e-6, mm=1e-3, cm=1e-2, dm=1e-1, m=1.0, km=1e3,
             inch=_INCH, ft=12.0 * _INCH),
    **_units(MASS, mg=1e-6, g=1e-3, kg=1.0, t=1e3, lb=_POUND, oz=_POUND / 16.0),
    **_units(TIME, ns=1e-9, us=1e-6, µs=1e-6, ms=1e-3, s=1.0, min=60.0),
    **_units(FREQUENCY, mHz=1e-3, Hz=1.0, kHz=1e3, MHz=1e6),
    **_units(RATE, rpm=2.0 * math.pi / 60.0),
    **_units(FORCE, uN=1e-6, µN=1e-6, mN=1e-3, N=1.0, kN=1e3, MN=1e6, lbf=_POUND * _GRAVITY),
    **_units(TORQUE, mNm=1e-3, Nmm=1e-3, Ncm=1e-2, Nm=1.0, kNm=1e3, mJ=1e-3, J=1.0, kJ=1e3),
    **_units(POWER, mW=1e-3, W=1.0, kW=1e3),
    **_units(PRESSURE, Pa=1.0, kPa=1e3, MPa=1e6, GPa=1e9, bar=1e5, psi=_POUND * _GRAVITY / _INCH**2),
    **_units(CURRENT, mA=1e-3, A=1.0),
    **_units(VOLTAGE, mV=1e-3, V=1.0, kV=1e3),
    **_units(RESISTANCE, mOhm=1e-3, Ohm=1.0, kOhm=1e3),
    **_units(INDUCTANCE, uH=1e-6, mH=1e-3, H=1.0),
}  # fmt: skip

CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, **{name: unit.factor for name, unit in UNITS.items()}}

NOT_ALONE = (
    "A",
    "V",
    "H",
)  # units that are common names of points; alone, without a number or another unit, they are not units

_ALSO = {  # `in` is Python's, and there are two µ
    "in": "inch", "µrad": "urad", "µm": "um", "µs": "us", "µN": "uN", "Ω": "Ohm", "mΩ": "mOhm", "kΩ": "kOhm",
}  # fmt: skip
_WRITTEN = {**{name: name for name in UNITS}, **_ALSO}
_SPELT_OUT = {
    "millimeter": "mm", "millimetre": "mm", "centimeter": "cm", "centimetre": "cm",
    "meter": "m", "metre": "m", "meters": "m", "metres": "m", "micron": "um", "inches": "inch", "foot": "ft",
    "feet": "ft", "degree": "deg", "degrees": "deg", "radian": "rad", "radians": "rad", "turn": "rev", "turns": "rev",
    "second": "s", "seconds": "s", "sec": "s", "minute": "min", "minutes": "min", "gram": "g", "grams": "g",
    "kilogram": "kg", "kilograms": "kg", "ton": "t", "tonne": "t", "pound": "lb", "pounds": "lb", "lbs": "lb",
    "newton": "N", "newtons": "N", "hertz": "Hz", "pascal": "Pa", "joule": "J", "watt": "W",
    "volt": "V", "volts": "V", "ampere": "A", "amperes": "A", "amp": "A", "ohms": "Ohm", "henry": "H",
}  # fmt: skip

_NUMBER = r"(?<![\w.])(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*"  # not the end of a name or of another number
_POWER = r"(?:\s*\*\*\s*[+-]?\d\b(?!\.))?"
_UNIT = rf"(?:{'|'.join(sorted(_WRITTEN, key=len, reverse=True))})\b(?!\s*\(){_POWER}"
_WITH_UNITS = re.compile(
    rf"{_NUMBER}(?P<units>{_UNIT}(?:\s+{_UNIT})*)"
    r"(?!\s*\*\*)"  # any other power is ambiguous and does not parse
)
_GLUED = re.compile(rf"{_NUMBER}(?P<name>[^\W\d]\w*)")
_EACH = re.compile(rf"(?P<unit>[^\W\d]+)(?P<power>{_POWER})")
_ON_PAPER = str.maketrans({"°": " deg", "²": "**2", "³": "**3", "⁴": "**4", "·": "*", "⋅": "*"})


def named_unit(name: str) -> Unit | None:
    """Return the unit of a name in any of its spellings (`in`, `meter`); None if there is none."""
    written = _WRITTEN.get(name) or _SPELT_OUT.get(name.lower())
    return None if written is None else UNITS[written]


def expand_units(text: str) -> str:
    """Return the text with every number with units written as a product: `12 mm` is `(12.0*(1).mm)`.

    This marks a unit apart from a name: what follows a number is always the unit, even if a parameter has the same name
    (`2 m` is two metres although `m` may be a mass). A power belongs to the unit, as on paper: `12 mm**2` is 12e-6 m².
    Consecutive units are multiplied: `0.2 kg m²`.
    """

    def product(match: re.Match[str]) -> str:
        units = [f"(1).{_WRITTEN[each['unit']]}{each['power']}" for each in _EACH.finditer(match["units"])]
        return f"({float(match['number'])!r}*{'*'.join(units)})"

    return _WITH_UNITS.sub(product, text.translate(_ON_PAPER))


def unknown_unit(text: str) -> tuple[str, str] | None:
    """Return the first number followed by a name that is not a unit, with that name; None if there is none."""
    for match in _GLUED.finditer(text.translate(_ON_PAPER)):
        if match["name"] not in _WRITTEN:
            return match["number"], match["name"]
    return None


def nearest_unit(name: str) -> str:
    """Return a hint for an unknown unit."""
    close = [_SPELT_OUT[word] for word in get_close_matches(name.lower(), _SPELT_OUT, n=1, cutoff=0.85)]
    if not close:
        close = [known for known in UNITS if known.lower() == name.lower()]
        close = close or get_close_matches(name, UNITS, n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(dict.fromkeys(close)) + "?"
    return "common units: mm, m, inch, g, kg, lb, ms, s, deg, rad, rpm, Hz, N, Nm, MPa"
