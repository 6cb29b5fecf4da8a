"""Channels in a universal file (nodes, entity names, directions, units) as points, quantities and SI units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from supple.description.quantities.unit_parsing import named_unit
from supple.diagnostics import InputError, SuppleWarning
from supple.diagnostics.errors import quote
from supple.formats.measurements.universal_file import QUANTITIES, Function, Side, UniversalFile, quantity_of_code
from supple.results.channel import Channel, Vector3, channel

# Units as instruments write them: `mm/s^2`, `g`, `lbf`, `(m/s2)/N`; their factor to SI, and their quantity.


Exponents = tuple[float, float, float, float]  # of length, mass, time, current

GRAVITY = 9.80665  # m/s²
_MORE = {"kgf": (GRAVITY, "N"), "kip": (4448.2216152605, "N"), "dyn": (1e-5, "N"), "gal": (1e-2, "m/s2")}
_STRAINS = {"m/m": 1.0, "strain": 1.0, "ε": 1.0, "ue": 1e-6, "µe": 1e-6, "µε": 1e-6, "um/m": 1e-6}
_PLAIN_UNITS = str.maketrans({"²": "2", "³": "3", "·": " ", "⋅": " ", "*": " ", "^": "", "\u03bc": "\u00b5"})
_TOKEN = re.compile(r"(?P<unit>[A-Za-zµΩ]+)(?P<power>-?\d)?$")

_EXPECTED: dict[tuple[str, bool], Exponents] = {
    ("force", False): (1, 1, -2, 0), ("force", True): (2, 1, -2, 0),
    ("displacement", False): (1, 0, 0, 0), ("displacement", True): (0, 0, 0, 0),
    ("velocity", False): (1, 0, -1, 0), ("velocity", True): (0, 0, -1, 0),
    ("acceleration", False): (1, 0, -2, 0), ("acceleration", True): (0, 0, -2, 0),
    ("strain", False): (0, 0, 0, 0), ("strain", True): (0, 0, 0, 0),
}  # fmt: skip


class RecordedUnit(NamedTuple):
    """Unit: its size in SI units, and the exponents of length, mass, time and current."""

    factor: float
    exponents: Exponents


def factor_of(text: str, quantity: str, turns: bool, part: str) -> float:
    """Return the factor from a unit to SI units; the unit must fit the quantity.

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
            f"unknown unit {quote(text)}", part=part,
            hint='set its unit: units={"NAME": "mm/s^2"}, --unit NAME=mm/s^2',
        )  # fmt: skip
    if found.exponents != _EXPECTED[quantity, turns]:
        raise InputError(
            f"its unit {quote(text)} is not a unit of {quantity}{' about an axis' if turns else ''}", part=part,
            hint="correct the quantity or the unit: quantities={...}, units={...}; --quantity, --unit",
        )  # fmt: skip
    return found.factor


def quantity_of_unit(text: str) -> str | None:
    """Return the quantity of a unit (displacement, velocity, acceleration or force), or None.

    A unit of rotation (rad/s) gives None: an angle and a plain number look alike.
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
    """Return a product or quotient of units, such as `mm/s^2`, `N m`, `m s-2`; None if a part is unknown."""
    factor, total = 1.0, [0.0, 0.0, 0.0, 0.0]
    plain = text.replace("**", "").translate(_PLAIN_UNITS).replace("(", " ").replace(")", " ").strip()
    if not plain:
        return None
    for number, piece in enumerate(plain.split("/")):
        for token in piece.split():
            found = _TOKEN.fullmatch(token)
            one = None if found is None else _find_unit(found["unit"])
            if found is None or one is None:
                return None
            power = int(found["power"] or 1) * (-1 if number else 1)
            factor *= one.factor**power
            total = [a + power * b for a, b in zip(total, one.exponents, strict=True)]
    return RecordedUnit(factor, (total[0], total[1], total[2], total[3]))


def ratio_of(text: str) -> tuple[str, str] | None:
    """Split the unit of a response into numerator and denominator: `(m/s2)/N` and `m/s^2/N` give m/s2 and N."""
    head, _, last = text.rpartition("/")
    below = recorded_unit(last)
    if not head or below is None or below.exponents not in (_EXPECTED["force", False], _EXPECTED["force", True]):
        return None
    return head.strip().removeprefix("(").removesuffix(")"), last.strip().removeprefix("(").removesuffix(")")


def _find_unit(name: str) -> RecordedUnit | None:
    if name in _MORE:
        times, of = _MORE[name]
        known = recorded_unit(of)
        return None if known is None else known._replace(factor=times * known.factor)
    unit = named_unit(name)
    if unit is None:
        return None
    a, b, c, d = (float(value) for value in unit.dimension.exponents)
    return RecordedUnit(unit.factor, (a, b, c, d))


# Channels.


_LONGEST = 80  # characters of an ID line
_ENTITY = 10
_PAIR = re.compile(r"(?P<response>\S.*) / (?P<reference>\S.*)")
_PLAIN = str.maketrans({"²": "^2"})


@dataclass
class FileChannels:
    """Channels of one file, each created once; notes list the assumptions."""

    file: UniversalFile
    quantities: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def pair(self, function: Function) -> tuple[tuple[Channel, float], tuple[Channel, float]]:
        """Return response and reference of a function, each with the factor of its numbers to SI."""
        names = _names(function)
        top, below = function.response, function.reference
        whole = ratio_of(top.label) if not below.label else None
        if whole is not None:  # `(m/s2)/N` in the label of the numerator
            top, below = top._replace(label=whole[0]), below._replace(label=whole[1])
        reference = self._channel(below, names[1], "force", function)
        return self._channel(top, names[0], "acceleration", function), reference

    def alone(self, function: Function) -> tuple[Channel, float]:
        """Return the channel of a time function with its factor."""
        return self._channel(function.response, _names(function)[0], "acceleration", function)

    def _channel(self, side: Side, name: str, usual: str, function: Function) -> tuple[Channel, float]:
        where = f"set {function.number}"
        given = self.quantities.get(name) or self.quantities.get("*" if usual != "force" else "reference *")
        coded, labelled = quantity_of_code(side.kind), quantity_of_unit(side.label)
        quantity = given or (labelled if coded in (None, "other") else coded)
        if quantity is None:
            quantity = usual if not side.label else "other"
            self._note(f"{name}: no quantity in the file; assumed to be {quantity}, in SI")
        made = channel(name, quantity, self.file.place(side.node), side.label)
        try:
            factor = factor_of(side.label, quantity, made.turns, f'channel "{name}" ({where})')
        except InputError:
            if given is None and coded is not None and labelled not in (None, coded):
                raise InputError(
                    f"the file declares it as {coded}, but with the unit {quote(side.label)}",
                    part=f'channel "{name}" ({where})',
                    hint="correct one of the two: quantities={...}, units={...}; --quantity, --unit",
                ) from None  # fmt: skip
            raise
        if not side.label and quantity != "other":
            factor = self._of_system(made)
        return made, factor

    def _of_system(self, made: Channel) -> float:
        """Return the factor of the file's own system of units (set 164); 1 if it has none."""
        if self.file.length is None or self.file.force is None:
            if made.quantity != "strain":
                self._note("no units in the file: assumed to be SI")
            return 1.0
        length, force = 1.0 / self.file.length, 1.0 / self.file.force
        if made.quantity == "force":
            return force * (length if made.turns else 1.0)
        return 1.0 if made.turns or made.quantity == "strain" else length

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


class Nodes:
    """Node numbers of points in a file to write: 1, 2, ... in order, with positions."""

    def __init__(self, channels: Iterable[Channel]):
        self.numbers: dict[str, int] = {}
        self.points: dict[int, Vector3] = {}
        for one in channels:
            number = self.numbers.setdefault(one.point, len(self.numbers) + 1)
            if one.position is not None:
                self.points[number] = one.position

    def side(self, one: Channel) -> Side:
        """Return a channel as a side of a function."""
        direction = one.direction if isinstance(one.direction, str) and one.direction != "angle" else ""
        entity = one.point if len(one.point) <= _ENTITY and one.point.isascii() else ""
        return Side(self.numbers[one.point], entity, direction, QUANTITIES[one.quantity], one.unit.translate(_PLAIN))


def pair_text(response: str, reference: str) -> str:
    """Return the ID line with the names of a pair, since entity names have only ten characters."""
    text = f"{response} / {reference}"
    if len(text) > _LONGEST or not text.isprintable():
        raise InputError(
            f"the names of the pair are too long ({len(text)} characters, at most {_LONGEST})", part=quote(text),
            hint="use shorter names of points, or save as .npz",
        )  # fmt: skip
    return text


def posture_text(at: str | Mapping[str, float]) -> str:
    """Return the ID line with the posture; a posture that is too long is dropped, with a warning."""
    import warnings

    if not at:
        return "NONE"
    given = at if isinstance(at, str) else " ".join(f"{name}={value:.9g}" for name, value in at.items())
    if len(given) > _LONGEST - 3:
        warnings.warn(f"the posture ({given[:40]}...) is too long for a universal file and was not written",
                      SuppleWarning, stacklevel=2)  # fmt: skip
        return "NONE"
    return f"at {given}"


def posture_of(texts: Iterable[str]) -> str | dict[str, float]:
    """Return the posture in the ID lines; "" if there is none."""
    for text in texts:
        if text.strip().startswith("at "):
            given = text.strip()[3:].strip()
            try:
                return {name: float(value) for name, value in (item.split("=") for item in given.split())}
            except ValueError:
                return given
    return ""


def _names(function: Function) -> tuple[str, str]:
    """Return the names of the channels, from the fourth ID line or else from entity or node and direction."""
    found = _PAIR.fullmatch(function.texts[3].strip())
    sides = function.response, function.reference
    if found:
        names = found["response"].strip(), found["reference"].strip()
        if all(_fits(name, side) for name, side in zip(names, sides, strict=True)):
            return names
    made = [side.entity if side.entity and side.entity.strip("0 ") else str(side.node) for side in sides]
    plain = [f"{name}.{side.direction}" if side.direction else name for name, side in zip(made, sides, strict=True)]
    return plain[0], plain[1]


def _fits(name: str, side: Side) -> bool:
    """Return whether a name has the direction of its side, and its entity if there is one."""
    if name == "-":
        return True
    given = channel(name)
    same = (
        given.direction == side.direction
        if isinstance(given.direction, str) and given.direction != "angle"
        else not side.direction
    )
    return same and (not side.entity or side.entity == given.point)
