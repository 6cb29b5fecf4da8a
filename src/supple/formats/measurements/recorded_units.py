"""Units as instruments write them: `mm/s^2`, `g`, `lbf`, `(m/s2)/N`; their factor to SI, and what they can be of."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from supple.description.quantities.unit_parsing import named_unit
from supple.diagnostics import InputError
from supple.diagnostics.quoting import quoted

Exponents = tuple[float, float, float, float]  # of length, mass, time, current

GRAVITY = 9.80665  # m/s²
_MORE = {"kgf": (GRAVITY, "N"), "kip": (4448.2216152605, "N"), "dyn": (1e-5, "N"), "gal": (1e-2, "m/s2")}
_STRAINS = {"m/m": 1.0, "strain": 1.0, "ε": 1.0, "ue": 1e-6, "µe": 1e-6, "µε": 1e-6, "um/m": 1e-6}
_PLAIN = str.maketrans({"²": "2", "³": "3", "·": " ", "⋅": " ", "*": " ", "^": "", "\u03bc": "\u00b5"})
_TOKEN = re.compile(r"(?P<unit>[A-Za-zµΩ]+)(?P<power>-?\d)?$")

_EXPECTED: dict[tuple[str, bool], Exponents] = {
    ("force", False): (1, 1, -2, 0), ("force", True): (2, 1, -2, 0),
    ("displacement", False): (1, 0, 0, 0), ("displacement", True): (0, 0, 0, 0),
    ("velocity", False): (1, 0, -1, 0), ("velocity", True): (0, 0, -1, 0),
    ("acceleration", False): (1, 0, -2, 0), ("acceleration", True): (0, 0, -2, 0),
    ("strain", False): (0, 0, 0, 0), ("strain", True): (0, 0, 0, 0),
}  # fmt: skip


class RecordedUnit(NamedTuple):
    """Its size in SI units, and the exponents of length, mass, time and current."""

    factor: float
    exponents: Exponents


def factor_of(text: str, quantity: str, turns: bool, part: str) -> float:
    """What numbers in a unit are multiplied by to be in SI; the unit must be one of the quantity.

    part : the channel, for messages. A `g` of an acceleration is 9.80665 m/s².
    """
    if quantity == "other" or not text:
        return 1.0
    if quantity == "acceleration" and text.strip().lower() in ("g", "gn", "g0", "g's"):
        return GRAVITY
    if quantity == "strain" and text.strip().lower() in _STRAINS:
        return _STRAINS[text.strip().lower()]
    found = recorded_unit(text)
    if found is None:
        raise InputError(
            f"its unit {quoted(text)} is not known", part=part,
            hint='say what its numbers are in: units={"NAME": "mm/s^2"}, --unit NAME=mm/s^2',
        )  # fmt: skip
    if found.exponents != _EXPECTED[quantity, turns]:
        raise InputError(
            f"its unit {quoted(text)} is not one of {quantity}{' about an axis' if turns else ''}", part=part,
            hint="correct the quantity or the unit: quantities={...}, units={...}; --quantity, --unit",
        )  # fmt: skip
    return found.factor


def quantity_of_unit(text: str) -> str | None:
    """What a unit is of where nothing else says so: displacement, velocity, acceleration or force; None if of neither.

    A unit of turning (rad/s) is none of these here: an angle and a plain number look alike.
    """
    if text.strip() in ("g", "gn", "G"):
        return "acceleration"
    found = recorded_unit(text)
    for (quantity, turns), exponents in _EXPECTED.items():
        if found is not None and not turns and any(exponents) and exponents == found.exponents:
            return quantity
    return None


@lru_cache(maxsize=1024)
def recorded_unit(text: str) -> RecordedUnit | None:
    """A product and quotient of units, such as `mm/s^2`, `N m`, `m s-2`; None if a part of it is not known."""
    factor, total = 1.0, [0.0, 0.0, 0.0, 0.0]
    plain = text.replace("**", "").translate(_PLAIN).replace("(", " ").replace(")", " ").strip()
    if not plain:
        return None
    for number, piece in enumerate(plain.split("/")):
        for token in piece.split():
            found = _TOKEN.fullmatch(token)
            one = None if found is None else _named(found["unit"])
            if found is None or one is None:
                return None
            power = int(found["power"] or 1) * (-1 if number else 1)
            factor *= one.factor**power
            total = [a + power * b for a, b in zip(total, one.exponents, strict=True)]
    return RecordedUnit(factor, (total[0], total[1], total[2], total[3]))


def ratio_of(text: str) -> tuple[str, str] | None:
    """Numerator and denominator of a unit that is a response's: `(m/s2)/N` is m/s2 and N, `m/s^2/N` too."""
    head, _, last = text.rpartition("/")
    below = recorded_unit(last)
    if not head or below is None or below.exponents not in (_EXPECTED["force", False], _EXPECTED["force", True]):
        return None
    return head.strip().removeprefix("(").removesuffix(")"), last.strip().removeprefix("(").removesuffix(")")


def _named(name: str) -> RecordedUnit | None:
    if name in _MORE:
        times, of = _MORE[name]
        known = recorded_unit(of)
        return None if known is None else known._replace(factor=times * known.factor)
    unit = named_unit(name)
    if unit is None:
        return None
    a, b, c, d = (float(value) for value in unit.dimension.exponents)
    return RecordedUnit(unit.factor, (a, b, c, d))
