"""Map: the results of an analysis over a grid of configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import require_known
from supple.maps.grid import Grid, PostureGrid
from supple.results.result import Result, picture
from supple.results.table import Table, batch_table
from supple.results.text import Text, list_names, number_text


class MapPanel(NamedTuple):
    """Values over the grid in one panel of a plot.

    title    : of the panel, or of the curve
    values   : (n₁, n₂, ...) in `unit`, nan where nothing is drawn
    quantity : name of the quantity; unit : SI
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

    Attributes
    ----------
    grid : PostureGrid or ModelGrid
        Axes, constant coordinates, and which configurations exist.
    values : ndarray, shape (n₁, n₂, ..., k)
        Numbers; nan where the configuration does not exist or the analysis did not converge.
    names : tuple of str
        Names (k,) of the numbers.
    units : tuple of str
        SI units (k,) of the numbers.
    quantity : str
        Quantity of the numbers, such as "frequency".
    each : tuple of str
        Quantity of each number (k,), if they differ.
    """

    grid: Grid
    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    quantity: str
    each: tuple[str, ...] = ()

    @property
    def postures(self) -> Any:
        """Grid of configurations."""
        return self.grid

    @property
    def coordinates(self) -> dict[str, Array]:
        """Values of each axis by name, in the order of the grid's axes."""
        return self.grid.axes

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """Whether each configuration exists (n₁, n₂, ...)."""
        return self.grid.assembled

    @property
    def theta(self) -> Array:
        """Coordinates of the mechanism (n₁, n₂, ..., s); nan where it cannot be assembled."""
        return self.grid.theta

    @property
    def at(self) -> dict[str, float]:
        """Values of the constant coordinates by name."""
        return self.grid.fixed

    @property
    def bounds(self) -> Array:
        """Smallest and largest value of each number over the grid (k, 2); nan if it has no value."""
        flat = self.values.reshape(-1, len(self.names))
        known = [column[np.isfinite(column)] for column in flat.T]
        return np.array([(x.min(), x.max()) if len(x) else (np.nan, np.nan) for x in known]).reshape(-1, 2)

    def of(self, name: str) -> Array:
        """Return one of the numbers over the grid, (n₁, n₂, ...).

        Parameters
        ----------
        name : str
            Name of the number.
        """
        require_known("number", name, self.names, part="map")
        return self.values[..., self.names.index(name)]

    def summary(self) -> str:
        """Return a one-line summary."""
        return f'of "{self.grid.name}" over {self.grid.extent()}: {self.quantity} ({list_names(self.names)})'

    def table(self) -> Table:
        """Return one row per configuration: the axes, θ if it was computed from places, and the numbers."""
        numbers = dict(zip(self.names, self.values.reshape(-1, len(self.names)).T, strict=True))
        units = dict(zip(self.names, self.units, strict=True))
        return batch_table(self.grid.columns(), numbers, units, self.grid.units())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the axes, θ if it was computed from places, and the numbers with their names and units."""
        texts = {"names": self.names, "units": self.units}
        named = {key: np.array(words, dtype=str) for key, words in texts.items()}
        return self.grid.arrays() | {"values": self.values} | named

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` over the axes of the grid: `value` of each `name`, and `assembled`.

        This needs the extra `xarray`.
        """
        names, units = np.array(self.names, dtype=str), np.array(self.units, dtype=str)
        found = {"value": ((*self.coordinates, "name"), self.values, ""), "unit": (("name",), units, "")}
        return self.grid.dataset(found, {"name": (names, "")})

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return self.grid.data() | {"names": self.names, "units": self.units, "values": self.values}

    def text(self) -> Text:
        """Return the smallest, median and largest of each number, and all of them if the grid has one coordinate."""
        out = Text(self.grid.heading())
        rows = []
        for name, unit, values in zip(self.names, self.units, np.moveaxis(self.values, -1, 0), strict=True):
            known = values[np.isfinite(values)]
            kinds = (known.min(), np.median(known), known.max()) if len(known) else (np.nan,) * 3
            rows.append((name, *(number_text(value, "" if unit == "1" else unit) for value in kinds)))
        out.table((self.quantity, "smallest", "median", "largest"), rows)
        pairs = zip(self.names, self.units, strict=True)
        curves(out, self, [name if unit in ("", "1") else f"{name} [{unit}]" for name, unit in pairs])
        return out

    def plot(self, *, axes: Any = None, units: Mapping[str, str] | None = None) -> Any:
        """Draw curves over one coordinate, or a map of each number over two, with matplotlib. Return the panels.

        Parameters
        ----------
        axes : optional
            Axes to draw on. Default: a new figure.
        units : mapping of str to str, optional
            Units of the coordinates on the axes, {"crank": "deg"}. Default: SI.
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
    """Draw the panels of a map."""
    return picture("view.map_plot.map_plot")(grid, shown, axes=axes, units=units or {})


@dataclass(frozen=True, eq=False, repr=False)
class MapView(Result):
    """Map with the names of one analysis; `map` holds all values."""

    map: Map

    @property
    def postures(self) -> Any:
        """Grid of configurations."""
        return self.map.grid

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism that was analysed."""
        assert isinstance(self.map.grid, PostureGrid)
        return self.map.grid.mechanism

    @property
    def coordinates(self) -> dict[str, Array]:
        """Values of each axis by name, in the order of the grid's axes."""
        return self.map.coordinates

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """Whether each configuration exists (n₁, n₂, ...)."""
        return self.map.assembled

    @property
    def theta(self) -> Array:
        """Coordinates of the mechanism (n₁, n₂, ..., s); nan where it cannot be assembled."""
        return self.map.theta

    @property
    def at(self) -> dict[str, float]:
        """Values of the constant coordinates by name."""
        return self.map.at

    def table(self) -> Table:
        """Return one row per configuration: the axes, θ if it was computed from places, and the numbers."""
        return self.map.table()

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return self.map.data()
