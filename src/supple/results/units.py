"""Units of what is measured and pushed: the ones of a coordinate, of its rate, and of the force along it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MODAL = "√kg m"
"""Of the amplitude of a mode of unit mass."""
_FORCES = {"m": "N", "rad": "N m", MODAL: "N/√kg"}


class Units(NamedTuple):
    """coordinates : of η; inputs : of the actuators; outputs : of what sensors see. A name left out is unknown."""

    coordinates: Mapping[str, str] = {}
    inputs: Mapping[str, str] = {}
    outputs: Mapping[str, str] = {}

    @property
    def rates(self) -> dict[str, str]:
        return {name: rate_unit(unit) for name, unit in self.coordinates.items()}

    @property
    def accelerations(self) -> dict[str, str]:
        return {name: rate_unit(unit, 2) for name, unit in self.coordinates.items()}

    @property
    def forces(self) -> dict[str, str]:
        """Along the coordinates."""
        return {name: force(unit) for name, unit in self.coordinates.items()}

    def data(self) -> dict[str, dict[str, str]]:
        """As JSON."""
        return {name: dict(values) for name, values in self._asdict().items()}


UNKNOWN = Units()


def units_from(data: Mapping[str, Any]) -> Units:
    """From JSON; whatever is not a text under a name is unknown."""
    return Units(*(_texts(data.get(name)) for name in Units._fields))


def rate_unit(unit: str, times: int = 1) -> str:
    """Per second, once or twice: rad becomes rad/s or rad/s²; as it is, zero times."""
    return f"{unit}/s{'²' if times == 2 else ''}" if unit and times else unit


def force(unit: str) -> str:
    """What does work along it: N for m, N m for rad."""
    return _FORCES.get(unit, "")


def yields(displacement: str, along: str) -> str:
    """Of a displacement for a unit of force: m/N, rad/N, m/(N m) for what the force acts along."""
    pushed = force(along)
    return f"{displacement}/({pushed})" if " " in pushed else f"{displacement}/{pushed}"


def pair_units(names: Sequence[str], units: Sequence[str]) -> dict[str, str]:
    """Of `ROW/COLUMN` of a compliance."""
    own = list(zip(names, units, strict=True))
    return {f"{a}/{b}": yields(first, second) for a, first in own for b, second in own}


def numbered(names: Iterable[str], turns: Iterable[Any]) -> dict[str, str]:
    """rad for what turns, m for the others."""
    return {name: "rad" if turned else "m" for name, turned in zip(names, turns, strict=True)}


def _texts(found: Any) -> dict[str, str]:
    items = found.items() if isinstance(found, Mapping) else ()
    return {name: unit for name, unit in items if isinstance(name, str) and isinstance(unit, str) and len(unit) < 40}
