"""Static compliance over a region: a grid of coordinates or tool positions, what cannot be assembled marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.posture_grid import PostureGrid, over, posture_grid
from supple.analyses.progress_bar import ProgressBar
from supple.analyses.statics.compliance import compliance
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.configuration import At
from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table, batch_table
from supple.results.units import pair_units

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ComplianceMap(Result):
    """Displacements for unit forces on a grid of coordinates, or of positions of a place.

    values : (n₁, n₂, ..., p, p), symmetric, nan where the mechanism cannot be assembled, or the place is out of reach;
             rows and columns are `names`, units[i] is that of a displacement (m or rad)
    """

    postures: PostureGrid
    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def mechanism(self) -> Mechanism:
        return self.postures.mechanism

    @property
    def coordinates(self) -> dict[str, Array]:
        """name -> its values, in the order of the grid's axes"""
        return self.postures.axes

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """(n₁, n₂, ...)"""
        return self.postures.assembled

    @property
    def theta(self) -> Array:
        """(n₁, n₂, ..., s) coordinates of the mechanism; nan where it cannot be assembled"""
        return self.postures.theta

    @property
    def at(self) -> dict[str, float]:
        """What the others stay at, by name."""
        return self.postures.fixed

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
        return f'of "{self.mechanism.name}" over {over(self.coordinates)} at {listed(self.names)}'

    def table(self) -> Table:
        """What varies, θ where a place led to it, and columns `ROW/COLUMN` of the matrix, for every posture."""
        p = len(self.names)
        flat = self.values.reshape(-1, p, p)
        pairs = {f"{a}/{b}": flat[:, i, j] for i, a in enumerate(self.names) for j, b in enumerate(self.names)}
        return batch_table(self.postures.columns(), pairs, pair_units(self.names, self.units), self.postures.units())

    def to_xarray(self) -> Any:
        """A Dataset (the extra `xarray`) over the axes of the grid: `compliance` of `displacement` to `force`."""
        names = (np.array(self.names, dtype=str), "")
        found = {"compliance": ((*self.postures.axes, "displacement", "force"), self.values, "SI")}
        return self.postures.dataset(found, {"displacement": names, "force": names})

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {"names": self.names, "units": self.units}
        named = {key: np.array(names, dtype=str) for key, names in texts.items()}
        return self.postures.arrays() | {"compliance": self.values} | named

    def plot(self, *, axes: Any = None, stiffness: bool = False, units: Mapping[str, str] | None = None) -> Any:
        """Curves over one coordinate, or a map over two, for each direction: c_ii, or 1/c_ii. Returns the panels.

        units : of the coordinates on the axes, {"crank": "deg"}; rad and m where left out
        """
        return picture("compliance_map_plot")(self, stiffness=stiffness, units=units or {}, axes=axes)


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
    assembled = postures.configurations.assembled
    values: Array | None = None
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    with ProgressBar(int(assembled.sum()), "configurations", shown=progress) as bar:
        for piece, here in postures.pieces():
            found = compliance(mechanism, here, places, preload=preload)
            if values is None:
                names, units = found.names, found.units
                values = np.full((len(assembled), len(names), len(names)), np.nan)
            values[piece] = found.values
            bar.advance(len(piece))
    assert values is not None  # a grid has one posture at least
    return ComplianceMap(postures, values.reshape(*postures.shape, *values.shape[1:]), names, units)
