"""Dimensions of numbers with units, as exponents of length, mass, time and electric current.

An angle and a number of cycles have no exponents, as on paper, but they are distinguished: 40 deg is not a length, and
5 Hz is not a rate in rad/s. A plain number is in SI units and fits anywhere, as does a number of unknown dimension
(None).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from supple.diagnostics import InputError
from supple.diagnostics.errors import quote

Exponent = int | Fraction
HIGHEST = 20  # largest exponent; a higher power of a unit is a mistake

ANY = "angle or cycle"  # of pi, so that 2*pi*5*Hz is a rate


class Dimension(NamedTuple):
    """Dimension length^a mass^b time^c current^d, and what it counts.

    It counts "angle", "cycle", either (`ANY`), or nothing in particular ("").
    """

    length: Exponent = 0
    mass: Exponent = 0
    time: Exponent = 0
    counts: str = ""
    current: Exponent = 0

    @property
    def exponents(self) -> tuple[Exponent, Exponent, Exponent, Exponent]:
        """Exponents of length, mass, time and current."""
        return self.length, self.mass, self.time, self.current

    @property
    def plain(self) -> bool:
        """Whether it is the dimension of a number without a unit."""
        return not any(self.exponents) and self.counts in ("", ANY)

    def __str__(self) -> str:
        known = _WORDS.get(self) or _WORDS.get(self._replace(counts=""))
        return f"{known[0]} ({known[1]})" if known and known[1] else known[0] if known else f"in {_symbols(self)}"


class Measured(float):
    """Number in SI units with its dimension and its text; arithmetic treats it as a plain float."""

    __slots__ = ("dimension", "text")
    dimension: Dimension
    text: str

    def __new__(cls, value: float, dimension: Dimension, text: str) -> Measured:
        found = super().__new__(cls, value)
        found.dimension, found.text = dimension, text
        return found

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.dimension, self.text


PLAIN, PI = Dimension(), Dimension(counts=ANY)
RATIO = Dimension()
ANGLE, LENGTH, MASS, TIME = Dimension(counts="angle"), Dimension(length=1), Dimension(mass=1), Dimension(time=1)
AREA, VOLUME, SECOND_MOMENT = Dimension(2), Dimension(3), Dimension(4)
PER_LENGTH, PER_TIME = Dimension(-1), Dimension(0, 0, -1)
FREQUENCY = Dimension(0, 0, -1, "cycle")
SPEED, ACCELERATION, JERK = Dimension(1, 0, -1), Dimension(1, 0, -2), Dimension(1, 0, -3)
RATE = Dimension(0, 0, -1, "angle")
ANGULAR_ACCELERATION, ANGULAR_JERK = Dimension(0, 0, -2, "angle"), Dimension(0, 0, -3, "angle")
FORCE, TORQUE, POWER, PRESSURE = Dimension(1, 1, -2), Dimension(2, 1, -2), Dimension(2, 1, -3), Dimension(-1, 1, -2)
LINE_MASS, DENSITY, INERTIA = Dimension(-1, 1), Dimension(-3, 1), Dimension(2, 1)
STIFFNESS, TORSIONAL_STIFFNESS = Dimension(0, 1, -2), Dimension(2, 1, -2, "angle")
DAMPING, TORSIONAL_DAMPING = Dimension(0, 1, -1), Dimension(2, 1, -1, "angle")
GEAR = Dimension(-1, 0, 0, "angle")
CURRENT, VOLTAGE = Dimension(current=1), Dimension(2, 1, -3, current=-1)
RESISTANCE, INDUCTANCE = Dimension(2, 1, -3, current=-2), Dimension(2, 1, -2, current=-2)

_WORDS: dict[Dimension, tuple[str, str]] = {
    RATIO: ("a plain number", ""), ANGLE: ("an angle", "rad"), Dimension(counts="cycle"): ("a number of cycles", ""),
    LENGTH: ("a length", "m"), MASS: ("a mass", "kg"), TIME: ("a time", "s"),
    AREA: ("an area", "m²"), VOLUME: ("a volume", "m³"), SECOND_MOMENT: ("a second moment of area", "m⁴"),
    PER_LENGTH: ("a number per metre", "1/m"), PER_TIME: ("a number per second", "1/s"),
    FREQUENCY: ("a frequency", "Hz"), RATE: ("an angular velocity", "rad/s"),
    SPEED: ("a speed", "m/s"), ACCELERATION: ("an acceleration", "m/s²"), JERK: ("a jerk", "m/s³"),
    ANGULAR_ACCELERATION: ("an angular acceleration", "rad/s²"), ANGULAR_JERK: ("an angular jerk", "rad/s³"),
    FORCE: ("a force", "N"), TORQUE: ("a torque", "N m"), POWER: ("a power", "W"), PRESSURE: ("a pressure", "Pa"),
    LINE_MASS: ("a mass per length", "kg/m"), DENSITY: ("a density", "kg/m³"),
    INERTIA: ("a moment of inertia", "kg m²"),
    STIFFNESS: ("a stiffness", "N/m"), TORSIONAL_STIFFNESS: ("a torsional stiffness", "N m/rad"),
    DAMPING: ("a damping", "N s/m"), TORSIONAL_DAMPING: ("a torsional damping", "N m s/rad"),
    GEAR: ("an angle per length", "rad/m"),
    CURRENT: ("a current", "A"), VOLTAGE: ("a voltage", "V"), RESISTANCE: ("a resistance", "Ohm"),
    INDUCTANCE: ("an inductance", "H"),
}  # fmt: skip


def si_unit(dimension: Dimension) -> str:
    """Return the SI unit of a dimension; empty for a plain number."""
    known = _WORDS.get(dimension) or _WORDS.get(dimension._replace(counts=""))
    return known[1] if known else _symbols(dimension)


def fits(dimension: Dimension | None, wanted: Dimension) -> bool:
    """Return whether a number of this dimension is accepted where another dimension is required.

    Exponents must be the same. What is counted matters only if both specify it, or if there are no exponents (an angle
    is not a ratio): N m/rad is accepted as a torque, and an angle times a radius as an arc.
    """
    if dimension is None or dimension.plain:
        return True
    if dimension.exponents != wanted.exponents:
        return False
    if dimension.counts in ("", ANY) or (not wanted.counts and any(wanted.exponents)):
        return True
    return dimension.counts == wanted.counts


def product_dimension(a: Dimension | None, b: Dimension | None) -> Dimension | None:
    """Return the dimension of a product; unknown if one factor's dimension is unknown."""
    if a is None or b is None:
        return None
    counts = ANY if ANY in (a.counts, b.counts) else (a.counts or b.counts) if not (a.counts and b.counts) else ""
    return Dimension(a.length + b.length, a.mass + b.mass, a.time + b.time, counts, a.current + b.current)


def to_power(a: Dimension | None, exponent: float) -> Dimension | None:
    """Return the dimension of a power; a root halves the exponents exactly."""
    if a is None or a.plain:
        return a
    if abs(exponent) > HIGHEST:
        raise InputError(f"the power {exponent:g} of a unit is too high (at most {HIGHEST})", hint="check the exponent")
    share = Fraction(exponent).limit_denominator(1000)
    length, mass, time, current = (_simple(item * share) for item in a.exponents)
    return Dimension(length, mass, time, a.counts if abs(share) == 1 or a.counts == ANY else "", current)


def common_dimension(a: Dimension | None, b: Dimension | None) -> Dimension | None:
    """Return the common dimension of the terms of a sum; a plain number takes that of the other term."""
    if a is None or a.plain:
        return b if b is not None and not b.plain else a if b is not None else b
    if not fits(b, a):
        raise InputError(f"{a} and {b} cannot be added or compared", hint="check their units")
    return a


def require(value: float, wanted: Dimension) -> float:
    """Return the number as a float, if it has the required dimension."""
    if not isinstance(value, Measured) or fits(value.dimension, wanted):
        return float(value)
    hint = None
    if "*" in value.text or "/" in value.text:
        hint = "a number without a unit in a product is a plain factor; add its unit if it has one"
    raise InputError(f"{quote(value.text)} is {value.dimension}, but {wanted} is expected", hint=hint)


def _simple(value: Exponent) -> Exponent:
    return int(value) if value == int(value) else value


def _symbols(dimension: Dimension) -> str:
    """Return the dimension as text, such as `kg m**2 s**-1`."""
    named = {"kg": dimension.mass, "m": dimension.length, "s": dimension.time, "A": dimension.current}
    return " ".join(name if power == 1 else f"{name}**{power}" for name, power in named.items() if power) or "no unit"
