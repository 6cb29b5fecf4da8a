"""Natural frequencies over a region: the map of `modes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.configuration import At
from supple.maps.grid import posture_grid
from supple.maps.map import MapPanel, MapView, curves, draw_panels
from supple.maps.over import answers
from supple.modal_analysis.modes import modes, require_count
from supple.results.text import Text, number_text


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyMap(MapView):
    """Frequencies on a grid of coordinates, or of positions of a place."""

    @property
    def frequencies_hz(self) -> Array:
        """(n₁, n₂, ..., k) rising; nan where the mechanism cannot be assembled, the place is out of reach, or modes
        were not found."""
        return self.map.values

    @property
    def bands_hz(self) -> Array:
        """(k, 2): lowest and highest frequency of each mode over the region."""
        return self.map.bounds

    def plot(self, *, axes: Any = None, count: int | None = None, units: Mapping[str, str] | None = None) -> Any:
        """Curves over one coordinate, or a map for each of the first `count` modes over two. Returns the panels.

        units : of the coordinates on the axes, {"crank": "deg"}; rad and m where left out
        """
        values = np.moveaxis(self.frequencies_hz, -1, 0)[:count]
        shown = [MapPanel(f"mode {i + 1}", part, "frequency", "Hz") for i, part in enumerate(values)]
        return draw_panels(self.map.grid, shown, axes, units)

    def summary(self) -> str:
        extent = self.map.grid.extent()
        return f'of "{self.map.grid.name}" over {extent}: {self.frequencies_hz.shape[-1]} modes'

    def to_xarray(self) -> Any:
        """A Dataset (the extra `xarray`) over the axes of the grid: `frequency` of each `mode`, and `assembled`."""
        modes = np.arange(1, self.frequencies_hz.shape[-1] + 1)
        found = {"frequency": ((*self.coordinates, "mode"), self.frequencies_hz, "Hz")}
        return self.map.grid.dataset(found, {"mode": (modes, "")})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Axes of the grid, θ, and frequencies over it."""
        return self.map.grid.arrays() | {"frequencies_hz": self.frequencies_hz}

    def text(self) -> Text:
        """The band of each mode, and all frequencies over a single coordinate."""
        out = Text(self.postures.heading())
        rows = [(str(i + 1), number_text(low), number_text(high)) for i, (low, high) in enumerate(self.bands_hz)]
        out.table(("mode", "lowest [Hz]", "highest [Hz]"), rows)
        curves(out, self.map, [f"{i + 1} [Hz]" for i in range(self.frequencies_hz.shape[-1])])
        return out

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return self.map.grid.data() | {"frequencies_hz": self.frequencies_hz, "bands_hz": self.bands_hz}


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
    options = {"count": count, "free_actuators": free_actuators, "preload": preload}
    postures = posture_grid(mechanism, grid, at)
    return FrequencyMap(answers(postures, mechanism, modes, options, batches=True, progress=progress, cluster=cluster))
