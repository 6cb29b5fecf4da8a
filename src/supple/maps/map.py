"""The answers to a question over a grid of configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.maps.grid import Grid, PostureGrid
from supple.results.result import Result, picture
from supple.results.table import Table, batch_table
from supple.results.text import Text, listed, number_text


class MapPanel(NamedTuple):
    """What a panel of the picture shows over the grid.

    title    : of the panel, or of the curve
    values   : (n₁, n₂, ...) in `unit`, nan where nothing is drawn
    quantity : what they are; unit : SI
    even     : a relative range below this is drawn in one colour
    """

    title: str
    values: Array
    quantity: str
    unit: str
    even: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Map(Result):
    """Numbers over a grid of configurations.

    grid     : axes, what stays, and which configurations exist
    values   : (n₁, n₂, ..., k); nan where the configuration does not exist or there is no answer
    names    : (k,) of the numbers
    units    : (k,) of the numbers, SI
    quantity : what the numbers are, "frequency"
    each     : (k,) the quantity of each number, where they differ
    """

    grid: Grid
    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    quantity: str
    each: tuple[str, ...] = ()

    @property
    def postures(self) -> Any:
        """The grid of configurations."""
        return self.grid

    @property
    def coordinates(self) -> dict[str, Array]:
        """name -> its values, in the order of the grid's axes"""
        return self.grid.axes

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """(n₁, n₂, ...) whether each configuration exists."""
        return self.grid.assembled

    @property
    def theta(self) -> Array:
        """(n₁, n₂, ..., s) coordinates of the mechanism; nan where it cannot be assembled."""
        return self.grid.theta

    @property
    def at(self) -> dict[str, float]:
        """What the others stay at, by name."""
        return self.grid.fixed

    @property
    def bounds(self) -> Array:
        """(k, 2): the lowest and highest value of each number over the grid; nan where there is none."""
        flat = self.values.reshape(-1, len(self.names))
        known = [column[np.isfinite(column)] for column in flat.T]
        return np.array([(x.min(), x.max()) if len(x) else (np.nan, np.nan) for x in known]).reshape(-1, 2)

    def of(self, name: str) -> Array:
        """(n₁, n₂, ...) one of the numbers by its name."""
        if name not in self.names:
            raise InputError(f'it is not a map of "{name}"', hint=nearest(name, self.names))
        return self.values[..., self.names.index(name)]

    def summary(self) -> str:
        return f'of "{self.grid.name}" over {self.grid.extent()}: {self.quantity} ({listed(self.names)})'

    def table(self) -> Table:
        """What varies, θ where a place led to it, and the numbers, for every configuration of the grid."""
        numbers = dict(zip(self.names, self.values.reshape(-1, len(self.names)).T, strict=True))
        units = dict(zip(self.names, self.units, strict=True))
        return batch_table(self.grid.columns(), numbers, units, self.grid.units())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Axes of the grid, θ where a place led to it, and the numbers over it with their names and units."""
        texts = {"names": self.names, "units": self.units}
        named = {key: np.array(words, dtype=str) for key, words in texts.items()}
        return self.grid.arrays() | {"values": self.values} | named

    def to_xarray(self) -> Any:
        """A Dataset (the extra `xarray`) over the axes of the grid: `value` of each `name`, and `assembled`."""
        names, units = np.array(self.names, dtype=str), np.array(self.units, dtype=str)
        found = {"value": ((*self.coordinates, "name"), self.values, ""), "unit": (("name",), units, "")}
        return self.grid.dataset(found, {"name": (names, "")})

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return self.grid.data() | {"names": self.names, "units": self.units, "values": self.values}

    def text(self) -> Text:
        """The least, median and largest of each number, and all of them over a single coordinate."""
        out = Text(self.grid.heading())
        rows = []
        for name, unit, values in zip(self.names, self.units, np.moveaxis(self.values, -1, 0), strict=True):
            known = values[np.isfinite(values)]
            kinds = (known.min(), np.median(known), known.max()) if len(known) else (np.nan,) * 3
            rows.append((name, *(number_text(value, "" if unit == "1" else unit) for value in kinds)))
        out.table((self.quantity, "least", "median", "largest"), rows)
        pairs = zip(self.names, self.units, strict=True)
        curves(out, self, [name if unit in ("", "1") else f"{name} [{unit}]" for name, unit in pairs])
        return out

    def plot(self, *, axes: Any = None, units: Mapping[str, str] | None = None) -> Any:
        """Draw curves over one coordinate, or a map of each number over two (matplotlib). Returns the panels.

        units : of the coordinates on the axes, {"crank": "deg"}; SI where left out
        """
        each = self.each or (self.quantity,) * len(self.names)
        labels = zip(self.names, each, self.units, strict=True)
        shown = [MapPanel(name, self.values[..., i], what, unit) for i, (name, what, unit) in enumerate(labels)]
        return draw_panels(self.grid, shown, axes, units)


def curves(out: Text, found: Map, heads: Sequence[str]) -> None:
    """Add all numbers of a map over a single coordinate to its text."""
    if len(found.coordinates) == 1:
        ((name, along),) = found.coordinates.items()
        lines = [
            (number_text(value), *("-" if x != x else f"{x + 0.0:.5g}" for x in line))
            for value, line in zip(along, found.values, strict=True)
        ]
        out.table((name, *heads), lines)


def draw_panels(grid: Grid, shown: Sequence[MapPanel], axes: Any, units: Mapping[str, str] | None) -> Any:
    """The picture that every map has."""
    return picture("view.map_plot.map_plot")(grid, shown, axes=axes, units=units or {})


@dataclass(frozen=True, eq=False, repr=False)
class MapView(Result):
    """A map under the names of one question; `map` is the map itself."""

    map: Map

    @property
    def postures(self) -> Any:
        """The grid of configurations."""
        return self.map.grid

    @property
    def mechanism(self) -> Mechanism:
        assert isinstance(self.map.grid, PostureGrid)
        return self.map.grid.mechanism

    @property
    def coordinates(self) -> dict[str, Array]:
        """name -> its values, in the order of the grid's axes"""
        return self.map.coordinates

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """(n₁, n₂, ...)"""
        return self.map.assembled

    @property
    def theta(self) -> Array:
        """(n₁, n₂, ..., s) coordinates of the mechanism; nan where it cannot be assembled"""
        return self.map.theta

    @property
    def at(self) -> dict[str, float]:
        """What the others stay at, by name."""
        return self.map.at

    def table(self) -> Table:
        """What varies, θ where a place led to it, and the numbers, for every configuration of the grid."""
        return self.map.table()

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return self.map.data()
