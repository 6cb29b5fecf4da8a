"""Natural frequencies over a region: a grid of coordinates or tool positions, what cannot be assembled marked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.posture_grid import TOGETHER, PostureGrid, over, posture_grid
from supple.analyses.progress_bar import ProgressBar
from supple.analyses.vibration.modal import modes, require_count
from supple.description.mechanism import Mechanism
from supple.diagnostics import NumericalError, SuppleWarning
from supple.diagnostics.arguments import require_arguments
from supple.distribution.workplace import workplace
from supple.formats.travelling import Travelling
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.rest import rest
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table, batch_table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyMap(Result):
    """Frequencies on a grid of coordinates, or of positions of a place.

    frequencies_hz : (n₁, n₂, ..., k) rising; nan where the mechanism cannot be assembled, the place is
    out of reach, or modes were not found
    """

    postures: PostureGrid
    frequencies_hz: Array

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
    def bands_hz(self) -> Array:
        """(k, 2): lowest and highest frequency of each mode over the region."""
        found = self.frequencies_hz[self.assembled]
        return np.column_stack([np.nanmin(found, axis=0), np.nanmax(found, axis=0)])

    def plot(self, *, axes: Any = None, count: int | None = None, units: Mapping[str, str] | None = None) -> Any:
        """Curves over one coordinate, or a map for each of the first `count` modes over two. Returns the panels.

        units : of the coordinates on the axes, {"crank": "deg"}; rad and m where left out
        """
        return picture("frequency_map_plot")(self, axes=axes, count=count, units=units or {})

    def summary(self) -> str:
        return f'of "{self.mechanism.name}" over {over(self.coordinates)}: {self.frequencies_hz.shape[-1]} modes'

    def table(self) -> Table:
        """What varies, θ where a place led to it, and `mode 1`, ... in Hz, of every posture of the grid."""
        modes = self.frequencies_hz.reshape(-1, self.frequencies_hz.shape[-1]).T
        named = {f"mode {i + 1}": values for i, values in enumerate(modes)}
        return batch_table(self.postures.columns(), named, "Hz", self.postures.units())

    def to_xarray(self) -> Any:
        """A Dataset (the extra `xarray`) over the axes of the grid: `frequency` of each `mode`, and `assembled`."""
        modes = np.arange(1, self.frequencies_hz.shape[-1] + 1)
        found = {"frequency": ((*self.coordinates, "mode"), self.frequencies_hz, "Hz")}
        return self.postures.dataset(found, {"mode": (modes, "")})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Axes of the grid, θ, and frequencies over it."""
        return self.postures.arrays() | {"frequencies_hz": self.frequencies_hz}


def frequency_map(
    mechanism: Mechanism,
    grid: Mapping[str, ArrayLike | str],
    *,
    at: At = None,
    count: int = 6,
    free_actuators: bool = False,
    preload: bool = True,
    progress: bool | None = None,
    cluster: Any = None,
) -> FrequencyMap:
    """The lowest frequencies at every combination of the values of some coordinates, or of where a place is.

    grid     : coordinate, or component of a place (`tool.x`) -> values (rad or m), or one for what stays there; the
               others stay at `at`
    preload  : add the geometric stiffness of gravity and all forces at rest; False leaves it out
    progress : a bar on standard error while it runs; if left out, where that is a terminal
    cluster  : of dask.distributed, as `reduce` takes it

    A posture that cannot be assembled, or is out of reach, is marked, and so is one whose modes are not found, of which
    is warned; where all are, that is an error.
    """
    require_arguments(frequency_map, locals())
    require_count(count)
    postures = posture_grid(mechanism, grid, at)
    work = _Frequencies(Travelling(mechanism), count, free_actuators, preload)
    here = postures.configurations
    assembled = here.assembled
    kept = np.flatnonzero(assembled)
    frequencies = np.full((len(assembled), count), np.nan)
    with ProgressBar(len(kept), "configurations", shown=progress) as bar, workplace(cluster=cluster) as place:
        arrays = here.theta[kept], here.X[kept], here.w[kept], here.reached[kept]
        for part, found in place.results(work, *arrays, together=TOGETHER):
            frequencies[kept[part], : found.shape[1]] = found
            bar.advance(len(found))
    _warn_of_lost(postures, kept[np.isnan(frequencies[kept]).all(axis=1)])
    existing = int(np.isfinite(frequencies[assembled]).any(axis=0).sum())
    return FrequencyMap(postures, frequencies[:, :existing].reshape(*postures.shape, existing))


def _warn_of_lost(postures: PostureGrid, lost: NDArray[np.int64]) -> None:
    """Postures that are assembled, and of which no mode was found."""
    if not len(lost):
        return
    here, names = postures.configurations, rest(postures.mechanism).numbering.coordinates
    where = ", ".join(f"{name}={value:.6g}" for name, value in zip(names, here.theta[lost[0]], strict=True))
    count, part = int(here.assembled.sum()), f'mechanism "{postures.mechanism.name}"'
    if len(lost) == count:
        raise NumericalError(
            f"its modes did not converge at any of {count} postures", part=part,
            hint="ask for fewer modes, or look for parts whose stiffness differs by more than 1e12",
        )  # fmt: skip
    warnings.warn(
        f"{part}: modes did not converge at {len(lost)} of {count} postures, the first {where}; they are marked (nan)",
        SuppleWarning,
        stacklevel=3,
    )


@dataclass(frozen=True, eq=False)
class _Frequencies:
    """The work of a map, as it travels: frequencies (n, k) of configurations that are assembled already."""

    described: Travelling
    count: int
    free_actuators: bool
    preload: bool

    def __call__(self, *rows: Array) -> Array:
        try:
            return self._found(*rows)
        except NumericalError:  # at one of them: the others are not lost for it
            count = len(rows[0])
            if count == 1:
                return np.full((1, self.count), np.nan)
            frequencies = np.full((count, self.count), np.nan)
            for n in range(count):
                one = self(*(item[n : n + 1] for item in rows))[0]
                frequencies[n, : len(one)] = one
            return frequencies

    def _found(self, *rows: Array) -> Array:
        mechanism = self.described.mechanism
        theta, X, w, reached = rows
        here = Configuration(rest(mechanism), theta, X, w, reached)
        found = modes(mechanism, here, count=self.count, free_actuators=self.free_actuators, preload=self.preload)
        return found.frequencies_hz
