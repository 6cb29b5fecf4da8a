"""Natural frequencies over a region: a grid of configurations, those that cannot be assembled marked."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.vibration.modal import modes
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.kinematics.closing import dead_point
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.posture import coordinate_values
from supple.kinematics.rest import rest
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table, batch_table

Array = NDArray[np.float64]

_TOGETHER = 256  # configurations between two signs of life


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyMap(Result):
    """Frequencies on a grid of coordinates.

    coordinates    : name -> its values, in the order of the grid's axes
    frequencies_hz : (n₁, n₂, ..., k) rising; nan where the mechanism cannot be assembled
    assembled      : (n₁, n₂, ...)
    at             : what the other coordinates stay at
    """

    mechanism: Mechanism
    coordinates: dict[str, Array]
    frequencies_hz: Array
    assembled: NDArray[np.bool_]
    at: dict[str, float]

    @property
    def bands_hz(self) -> Array:
        """(k, 2): lowest and highest frequency of each mode over the region."""
        found = self.frequencies_hz[self.assembled]
        return np.column_stack([found.min(axis=0), found.max(axis=0)])

    def plot(self, *, axes: Any = None, count: int | None = None, units: Mapping[str, str] | None = None) -> Any:
        """Curves over one coordinate, or a map for each of the first `count` modes over two. Returns the figure.

        units : of the coordinates on the axes, {"crank": "deg"}; rad and m where left out
        """
        return picture("frequency_map_plot")(self, axes=axes, count=count, units=units or {})

    def summary(self) -> str:
        over = ", ".join(f"{name} {x[0]:.4g} to {x[-1]:.4g} ({len(x)})" for name, x in self.coordinates.items())
        return f'of "{self.mechanism.name}" over {over}: {self.frequencies_hz.shape[-1]} modes'

    def table(self) -> Table:
        """The coordinates, and `mode 1`, ... in Hz, of every configuration of the grid."""
        grid = np.meshgrid(*self.coordinates.values(), indexing="ij")
        modes = self.frequencies_hz.reshape(-1, self.frequencies_hz.shape[-1]).T
        return batch_table(
            {name: values.ravel() for name, values in zip(self.coordinates, grid, strict=True)},
            {f"mode {i + 1}": values for i, values in enumerate(modes)},
            "Hz",
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Axes of the grid, and frequencies over it."""
        return {**self.coordinates, "frequencies_hz": self.frequencies_hz, "assembled": self.assembled}


def frequency_map(
    mechanism: Mechanism,
    grid: Mapping[str, ArrayLike],
    *,
    at: At = None,
    count: int = 6,
    free_actuators: bool = False,
    preload: bool = True,
    progress: bool | None = None,
) -> FrequencyMap:
    """The lowest frequencies at every combination of the values of some coordinates.

    grid     : coordinate -> values (rad or m); the others stay at `at`
    progress : a line on standard error while it runs; if left out, where that is a terminal

    A configuration that cannot be assembled is marked; where none can, that is an error.
    """
    values = {name: np.atleast_1d(np.asarray(given, float)) for name, given in grid.items()}
    origin = coordinate_values(mechanism, at)
    names = rest(mechanism).numbering.coordinates
    _require_grid(mechanism, values, names, origin)
    theta = np.broadcast_to(origin, (*(len(item) for item in values.values()), len(names))).copy()
    for name, mesh in zip(values, np.meshgrid(*values.values(), indexing="ij"), strict=True):
        theta[..., names.index(name)] = mesh
    shape, flat = theta.shape[:-1], theta.reshape(-1, len(names))
    found = assemble(mechanism, flat, failures="mark")
    kept = np.flatnonzero(found.assembled)
    if len(kept) == 0:
        raise dead_point(next(found.each()))
    options: dict[str, Any] = {"count": count, "free_actuators": free_actuators, "preload": preload}
    frequencies = np.full((len(flat), count), np.nan)
    with _Line(progress) as line:
        for start in range(0, len(kept), _TOGETHER):
            piece = kept[start : start + _TOGETHER]
            here = Configuration(found.rest, found.theta[piece], found.X[piece], found.w[piece], found.reached[piece])
            part = modes(mechanism, here, **options).frequencies_hz
            frequencies[piece, : part.shape[1]] = part
            line.show(start + len(piece), len(kept))
    existing = int(np.isfinite(frequencies[kept]).any(axis=0).sum())
    return FrequencyMap(
        mechanism,
        values,
        frequencies[:, :existing].reshape(*shape, existing),
        found.assembled.reshape(shape),
        {name: float(origin[i]) for i, name in enumerate(names) if name not in values},
    )


def _require_grid(mechanism: Mechanism, values: dict[str, Array], names: Sequence[str], origin: Array) -> None:
    part = f'mechanism "{mechanism.name}"'
    if not values:
        raise InputError("a map needs a coordinate to vary", part=part, hint=f"one of {', '.join(names) or 'none'}")
    for name, given in values.items():
        if name not in names:
            raise InputError(f'"{name}" is not a coordinate of "{mechanism.name}"', hint=nearest(name, names))
        if given.ndim != 1 or len(given) == 0 or not np.isfinite(given).all():
            raise InputError(f'the values of "{name}" are not a list of finite numbers', hint="give (n,) values")
    if origin.ndim != 1:
        raise InputError("a map stands at one configuration, not a batch", hint="vary coordinates by the grid alone")


class _Line:
    """How far a map is, renewed in place; silent where nobody watches."""

    def __init__(self, shown: bool | None):
        self.shown = sys.stderr.isatty() if shown is None else shown

    def __enter__(self) -> _Line:
        return self

    def show(self, done: int, total: int) -> None:
        if self.shown:
            sys.stderr.write(f"\r{done} of {total} configurations")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
