"""Units of coordinates, of their rates, and of the forces along them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MODAL = "√kg m"
"""Unit of the amplitude of a mode of unit mass."""
_FORCES = {"m": "N", "rad": "N m", MODAL: "N/√kg"}


class Units(NamedTuple):
    """Units of coordinates η, of inputs and of outputs, by name; the unit of a missing name is unknown."""

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
        """Units of the forces along the coordinates."""
        return {name: force(unit) for name, unit in self.coordinates.items()}

    def data(self) -> dict[str, dict[str, str]]:
        """Return the units as data for JSON."""
        return {name: dict(values) for name, values in self._asdict().items()}


UNKNOWN = Units()


def units_from(data: Mapping[str, Any]) -> Units:
    """Return units from JSON data; entries that are not text are unknown."""
    return Units(*(_texts(data.get(name)) for name in Units._fields))


def rate_unit(unit: str, times: int = 1) -> str:
    """Return a unit per second, once or twice: rad becomes rad/s or rad/s²; zero times leaves it unchanged."""
    return f"{unit}/s{'²' if times == 2 else ''}" if unit and times else unit


def force(unit: str) -> str:
    """Return the unit of the force that does work along a displacement: N for m, N m for rad."""
    return _FORCES.get(unit, "")


def yields(displacement: str, along: str) -> str:
    """Return the unit of displacement per unit of force: m/N, rad/N, or m/(N m), depending on the force."""
    pushed = force(along)
    return f"{displacement}/({pushed})" if " " in pushed else f"{displacement}/{pushed}"


def pair_units(names: Sequence[str], units: Sequence[str]) -> dict[str, str]:
    """Return the units of the entries `ROW/COLUMN` of a compliance matrix."""
    own = list(zip(names, units, strict=True))
    return {f"{a}/{b}": yields(first, second) for a, first in own for b, second in own}


def assign_units(names: Iterable[str], turns: Iterable[Any]) -> dict[str, str]:
    """Return units by name: rad for rotations, m for translations."""
    return {name: "rad" if turned else "m" for name, turned in zip(names, turns, strict=True)}


def _texts(found: Any) -> dict[str, str]:
    items = found.items() if isinstance(found, Mapping) else ()
    return {name: unit for name, unit in items if isinstance(name, str) and isinstance(unit, str) and len(unit) < 40}
