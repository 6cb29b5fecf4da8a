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
from supple.maps.over import compute_map
from supple.modal_analysis.modes import modes, require_count
from supple.results.text import Text, number_text


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyMap(MapView):
    """Natural frequencies on a grid of coordinates, or of positions of a place.

    Attributes
    ----------
    map : Map
        All values over the grid.
    """

    @property
    def frequencies_hz(self) -> Array:
        """Natural frequencies (n₁, n₂, ..., k), Hz, ascending.

        They are nan where the mechanism cannot be assembled, the place is out of reach, or the modes did not converge.
        """
        return self.map.values

    @property
    def bands_hz(self) -> Array:
        """Lowest and highest frequency of each mode over the region (k, 2), Hz."""
        return self.map.bounds

    def plot(self, *, axes: Any = None, count: int | None = None, units: Mapping[str, str] | None = None) -> Any:
        """Draw curves over one coordinate, or a map of each mode over two. Return the panels.

        Parameters
        ----------
        axes : optional
            Axes to draw on. Default: a new figure.
        count : int, optional
            Number of modes to draw. Default: all.
        units : mapping of str to str, optional
            Units of the coordinates on the axes, {"crank": "deg"}. Default: rad and m.
        """
        values = np.moveaxis(self.frequencies_hz, -1, 0)[:count]
        shown = [MapPanel(f"mode {i + 1}", part, "frequency", "Hz") for i, part in enumerate(values)]
        return draw_panels(self.map.grid, shown, axes, units)

    def summary(self) -> str:
        """Return a one-line summary."""
        extent = self.map.grid.extent()
        return f'of "{self.map.grid.name}" over {extent}: {self.frequencies_hz.shape[-1]} modes'

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` over the axes of the grid: `frequency` of each `mode`, and `assembled`.

        This needs the extra `xarray`.
        """
        modes = np.arange(1, self.frequencies_hz.shape[-1] + 1)
        found = {"frequency": ((*self.coordinates, "mode"), self.frequencies_hz, "Hz")}
        return self.map.grid.dataset(found, {"mode": (modes, "")})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the axes of the grid, θ, and the frequencies over it."""
        return self.map.grid.arrays() | {"frequencies_hz": self.frequencies_hz}

    def text(self) -> Text:
        """Return the frequency band of each mode, and all frequencies if the grid has one coordinate."""
        out = Text(self.postures.heading())
        rows = [(str(i + 1), number_text(low), number_text(high)) for i, (low, high) in enumerate(self.bands_hz)]
        out.table(("mode", "lowest [Hz]", "highest [Hz]"), rows)
        curves(out, self.map, [f"mode {i + 1} [Hz]" for i in range(self.frequencies_hz.shape[-1])])
        return out

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
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
    """Compute the lowest natural frequencies over a grid of configurations.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with elastic parts.
    grid : mapping of str to array_like or str
        Values (rad or m) of coordinates, or of components of a place such as `tool.x`, in every combination.

        A single number keeps that coordinate constant. The others have their values at `at`.
    at : str, mapping or array_like, optional
        Configuration of the coordinates that are not in the grid. Default: rest.
    count : int, optional
        Number of modes. Default: 6.
    free_actuators : bool, optional
        Let the actuators move freely instead of locking them. Default: False.
    preload : bool, optional
        Include the geometric stiffness of gravity and all forces at rest. Default: True.
    progress : bool, optional
        Show a progress bar on standard error. Default: only in a terminal.
    cluster : optional
        Cluster of dask.distributed, as in `reduce`. Default: this computer.

    Returns
    -------
    FrequencyMap
        Frequencies over the grid; nan where the mechanism cannot be assembled, the place is out of reach, or the modes
        did not converge.

    Raises
    ------
    InputError
        If no configuration of the grid can be assembled.
    NumericalError
        If the modes do not converge at any configuration.

    Warns
    -----
    SuppleWarning
        If the modes do not converge at some configurations.

    See Also
    --------
    modes : Natural frequencies at one configuration.
    over : Map of any analysis.

    Examples
    --------
    >>> import supple
    >>> found = supple.frequency_map(supple.load("ralf"), {"lift": [0.9, 1.0, 1.1]}, count=2)
    >>> found.frequencies_hz.shape
    (3, 2)
    """
    require_arguments(frequency_map, locals())
    require_count(count)
    options = {"count": count, "free_actuators": free_actuators, "preload": preload}
    postures = posture_grid(mechanism, grid, at)
    return FrequencyMap(
        compute_map(postures, mechanism, modes, options, batches=True, progress=progress, cluster=cluster)
    )
