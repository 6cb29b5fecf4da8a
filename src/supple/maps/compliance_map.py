"""Static compliance over a region: the map of `compliance`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import require_known
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.configuration import At
from supple.maps.grid import posture_grid
from supple.maps.map import MapPanel, MapView, draw_panels
from supple.maps.over import compute_map
from supple.results.text import Text, list_names, number_text
from supple.results.units import force, yields
from supple.statics.compliance import compliance


@dataclass(frozen=True, eq=False, repr=False)
class ComplianceMap(MapView):
    """Displacements for unit forces on a grid of coordinates, or of positions of a place.

    Attributes
    ----------
    map : Map
        All values over the grid.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names (p,) of the rows and columns of the matrix."""
        pairs = self.map.names
        size = round(len(pairs) ** 0.5)
        return tuple(pairs[i * (size + 1)][: (len(pairs[i * (size + 1)]) - 1) // 2] for i in range(size))

    @property
    def units(self) -> tuple[str, ...]:
        """Units (p,) of the displacements, m or rad."""
        own = self.map.units[:: len(self.names) + 1]
        return tuple(unit.partition("/")[0] for unit in own)

    @property
    def values(self) -> Array:
        """Compliance matrices (n₁, n₂, ..., p, p), symmetric; nan where no configuration exists."""
        return self.map.values.reshape(*self.map.grid.shape, len(self.names), len(self.names))

    @property
    def own(self) -> Array:
        """Direct compliances c_ii (n₁, n₂, ..., p): displacement in each direction for a unit force along it."""
        return np.diagonal(self.values, axis1=-2, axis2=-1)

    @property
    def stiffness(self) -> Array:
        """Direct stiffnesses 1/c_ii (n₁, n₂, ..., p), other directions free; inf where a direction is rigid."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.own

    def of(self, name: str) -> Array:
        """Return the direct compliance c_ii (n₁, n₂, ...) of a direction.

        Parameters
        ----------
        name : str
            Name of the direction, such as "tip.z".
        """
        require_known("direction", name, self.names, part="compliance map")
        return self.own[..., self.names.index(name)]

    def summary(self) -> str:
        """Return a one-line summary."""
        return f'of "{self.map.grid.name}" over {self.map.grid.extent()} at {list_names(self.names)}'

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` over the axes of the grid: `compliance` of `displacement` to `force`.

        This needs the extra `xarray`.
        """
        names = (np.array(self.names, dtype=str), "")
        found = {"compliance": ((*self.map.coordinates, "displacement", "force"), self.values, "SI")}
        return self.map.grid.dataset(found, {"displacement": names, "force": names})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, as saved in .npz and .mat files."""
        texts = {"names": self.names, "units": self.units}
        named = {key: np.array(names, dtype=str) for key, names in texts.items()}
        return self.map.grid.arrays() | {"compliance": self.values} | named

    def plot(self, *, axes: Any = None, stiffness: bool = False, units: Mapping[str, str] | None = None) -> Any:
        """Draw c_ii or 1/c_ii of each direction: curves over one coordinate, a map over two. Return the panels.

        Parameters
        ----------
        axes : optional
            Axes to draw on. Default: a new figure.
        stiffness : bool, optional
            Draw 1/c_ii instead of c_ii. Default: False.
        units : mapping of str to str, optional
            Units of the coordinates on the axes, {"crank": "deg"}. Default: rad and m.
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
        """Return the smallest, median and largest c_ii of each direction."""
        out = Text(f"{self.postures.heading()}, displacement for a unit force along itself")
        rows = []
        for i, (name, unit) in enumerate(zip(self.names, self.units, strict=True)):
            own = self.own[..., i][self.assembled]
            rows.append(
                (name, *(number_text(value, yields(unit, unit)) for value in (own.min(), np.median(own), own.max())))
            )
        out.table(("direction", "smallest", "median", "largest"), rows)
        return out

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
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
    """Compute the static compliance at places, actuators locked, over a grid of configurations.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with elastic parts.
    grid : mapping of str to array_like or str
        Values (rad or m) of coordinates, or of components of a place such as `tool.x`, in every combination.

        A single number keeps that coordinate constant. The others have their values at `at`.
    places : str or sequence of str
        Directions `place.axis`, outputs of sensors, or places for all their directions, as in `compliance`.
    at : str, mapping or array_like, optional
        Configuration of the coordinates that are not in the grid. Default: rest.
    preload : bool, optional
        Include the geometric stiffness of gravity and all forces at rest. Default: True.
    progress : bool, optional
        Show a progress bar on standard error. Default: only in a terminal.

    Returns
    -------
    ComplianceMap
        Compliances over the grid; nan where the mechanism cannot be assembled or the place is out of reach.

    Raises
    ------
    InputError
        If no configuration of the grid can be assembled.

    See Also
    --------
    compliance : Compliance at one configuration.
    over : Map of any analysis.

    Examples
    --------
    >>> import supple
    >>> found = supple.compliance_map(supple.load("ralf"), {"lift": [0.9, 1.0, 1.1]}, ["tip.x", "tip.z"])
    >>> found.values.shape
    (3, 2, 2)
    """
    require_arguments(compliance_map, locals())
    postures = posture_grid(mechanism, grid, at)
    options = {"places": places, "preload": preload}
    return ComplianceMap(compute_map(postures, mechanism, compliance, options, batches=True, progress=progress))
