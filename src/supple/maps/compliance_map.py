"""Static compliance over a region: the map of `compliance`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.configuration import At
from supple.maps.grid import posture_grid
from supple.maps.map import MapPanel, MapView, draw_panels
from supple.maps.over import answers
from supple.results.text import Text, listed, number_text
from supple.results.units import force, yields
from supple.statics.compliance import compliance


@dataclass(frozen=True, eq=False, repr=False)
class ComplianceMap(MapView):
    """Displacements for unit forces on a grid of coordinates, or of positions of a place."""

    @property
    def names(self) -> tuple[str, ...]:
        """(p,) rows and columns of the matrix."""
        pairs = self.map.names
        size = round(len(pairs) ** 0.5)
        return tuple(pairs[i * (size + 1)][: (len(pairs[i * (size + 1)]) - 1) // 2] for i in range(size))

    @property
    def units(self) -> tuple[str, ...]:
        """(p,) of the displacements, m or rad."""
        own = self.map.units[:: len(self.names) + 1]
        return tuple(unit.partition("/")[0] for unit in own)

    @property
    def values(self) -> Array:
        """(n₁, n₂, ..., p, p), symmetric; nan where the mechanism cannot be assembled, or the place is out of reach."""
        return self.map.values.reshape(*self.map.grid.shape, len(self.names), len(self.names))

    @property
    def own(self) -> Array:
        """c_ii (n₁, n₂, ..., p): how far each direction yields to a unit force along itself."""
        return np.diagonal(self.values, axis1=-2, axis2=-1)

    @property
    def stiffness(self) -> Array:
        """1/c_ii (n₁, n₂, ..., p): of each direction by itself, the others free to move; inf where nothing yields."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.own

    def of(self, name: str) -> Array:
        """c_ii (n₁, n₂, ...) of a direction by its name."""
        if name not in self.names:
            raise InputError(f'it is not a map of "{name}"', hint=nearest(name, self.names))
        return self.own[..., self.names.index(name)]

    def summary(self) -> str:
        return f'of "{self.map.grid.name}" over {self.map.grid.extent()} at {listed(self.names)}'

    def to_xarray(self) -> Any:
        """A Dataset (the extra `xarray`) over the axes of the grid: `compliance` of `displacement` to `force`."""
        names = (np.array(self.names, dtype=str), "")
        found = {"compliance": ((*self.map.coordinates, "displacement", "force"), self.values, "SI")}
        return self.map.grid.dataset(found, {"displacement": names, "force": names})

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {"names": self.names, "units": self.units}
        named = {key: np.array(names, dtype=str) for key, names in texts.items()}
        return self.map.grid.arrays() | {"compliance": self.values} | named

    def plot(self, *, axes: Any = None, stiffness: bool = False, units: Mapping[str, str] | None = None) -> Any:
        """Curves over one coordinate, or a map over two, for each direction: c_ii, or 1/c_ii. Returns the panels.

        units : of the coordinates on the axes, {"crank": "deg"}; rad and m where left out
        """
        values, quantity = (self.stiffness, "stiffness") if stiffness else (self.own, "compliance")
        shown = []
        for i, (name, unit) in enumerate(zip(self.names, self.units, strict=True)):
            part = np.where(np.isfinite(values[..., i]), values[..., i], np.nan)
            if np.isfinite(part).any():
                shown.append(
                    MapPanel(name, part, quantity, f"{force(unit)}/{unit}" if stiffness else yields(unit, unit))
                )
        return draw_panels(self.map.grid, shown, axes, units)

    def text(self) -> Text:
        """The least, median and largest c_ii of each direction."""
        out = Text(f"{self.postures.heading()}, displacement for a unit force along itself")
        rows = []
        for i, (name, unit) in enumerate(zip(self.names, self.units, strict=True)):
            own = self.own[..., i][self.assembled]
            rows.append(
                (name, *(number_text(value, yields(unit, unit)) for value in (own.min(), np.median(own), own.max())))
            )
        out.table(("direction", "least", "median", "largest"), rows)
        return out

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return self.map.grid.data() | {"names": self.names, "units": self.units, "compliance": self.values}


def compliance_map(
    mechanism: Mechanism,
    grid: Mapping[str, ArrayLike | str],
    places: str | Sequence[str],
    *,
    at: At = None,
    preload: bool = True,
    progress: bool | None = None,
) -> ComplianceMap:
    """The compliance at places, actuators locked, at every combination of the values.

    grid     : coordinate, or component of a place (`tool.x`) -> values (rad or m), or one for what stays there; the
               others stay at `at`
    places   : `E.z`, a sensor's output, or a place for all its directions, as for `compliance`
    preload  : add the geometric stiffness of gravity and all forces at rest; False leaves it out
    progress : a bar on standard error while it runs; if left out, where that is a terminal

    A posture that cannot be assembled, or is out of reach, is marked; where all are, that is an error.
    """
    require_arguments(compliance_map, locals())
    postures = posture_grid(mechanism, grid, at)
    options = {"places": places, "preload": preload}
    return ComplianceMap(answers(postures, mechanism, compliance, options, batches=True, progress=progress))
