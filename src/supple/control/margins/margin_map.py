"""Margin map: stability margins of a loop at every configuration of a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.control.laws.law_kernel import find_clamp_bounds
from supple.control.margins.loop_check import LoopController
from supple.control.margins.margins import Margins, margins
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.maps.grid import model_grid
from supple.maps.map import MapPanel, MapView, draw_panels
from supple.maps.over import compute_map
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.results.units import Units

Designed = Callable[[dict[str, float]], LoopController]

_POINTS = 11  # default number along each coordinate
_EVEN = 1e-3  # of a margin: a smaller change is none


@dataclass(frozen=True, eq=False, repr=False)
class MarginMap(MapView):
    """Stability margins at every configuration of a grid.

    Margins are zero, and gain factors one, where the loop is unstable. Arrays have the shape of the grid, (...), and m
    is the number of inputs.
    """

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.map.grid.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the m inputs."""
        return tuple(name.removesuffix(".disk") for name in self.map.names if name.endswith(".disk"))

    @property
    def _each(self) -> Array:
        """Gains (two), phase, delay and disk of each input, (..., m, 5)."""
        return self.map.values[..., :-1].reshape(*self.map.grid.shape, len(self.inputs), -1)

    @property
    def gain(self) -> Array:
        """Lower and upper gain factors of each input alone, (..., m, 2)."""
        return self._each[..., :2]

    @property
    def phase(self) -> Array:
        """Phase margins of each input, rad, (..., m)."""
        return self._each[..., 2]

    @property
    def delay(self) -> Array:
        """Delay margins of each input, s, (..., m)."""
        return self._each[..., 3]

    @property
    def disk(self) -> Array:
        """Disk margins α of each input alone, (..., m)."""
        return self._each[..., 4]

    @property
    def together(self) -> Array:
        """Disk margins α of all inputs at once, (...)."""
        return self.map.values[..., -1]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether the loop is stable, (...)."""
        return self.together > 0.0  # the disk of a stable loop is never empty

    @property
    def units(self) -> Units:
        """Units of the coordinates."""
        return Units(coordinates=self.map.grid.units_of(self.map.grid.theta_names))

    def summary(self) -> str:
        over = self.map.grid.extent()
        if not self.stable.all():
            return f'of "{self.name}" over {over}: unstable at {int((~self.stable).sum())} of {self.stable.size}'
        low, high = self.gain[..., 0].max(), self.gain[..., 1].min()
        return (
            f'of "{self.name}" over {over}: at least gains {low:.3g} to {high:.3g}, '
            f"phase {np.degrees(self.phase.min()):.3g}°, delay {1e3 * self.delay.min():.4g} ms, "
            f"disk {self.disk.min():.3g}, together {self.together.min():.3g}"
        )

    @property
    def worst(self) -> dict[str, float]:
        """Configuration with the smallest disk margin of all inputs at once."""
        place = np.unravel_index(int(self.together.argmin()), self.together.shape)
        found = {name: float(x[i]) for (name, x), i in zip(self.coordinates.items(), place, strict=True)}
        return {**self.at, **found}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the axes of the grid and the margins over it."""
        names = ("gain", "phase", "delay", "disk", "together", "stable")
        return {**self.coordinates, **{name: getattr(self, name) for name in names}}

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the smallest margins of all inputs over one or two coordinates (matplotlib); return the figure."""
        kinds = {
            "gain": (self.gain[..., 1].min(axis=-1), "1"), "phase": (self.phase.min(axis=-1), "rad"),
            "delay": (self.delay.min(axis=-1), "s"), "disk of all inputs": (self.together, "1"),
        }  # fmt: skip
        panels = [MapPanel("", np.where(self.stable & np.isfinite(x), x, np.nan), kind, unit, _EVEN)
                 for kind, (x, unit) in kinds.items()]  # fmt: skip
        panels = [panel for panel in panels if np.isfinite(panel.values).any()]
        if not panels:
            raise InputError("the loop is unstable everywhere", part="margin map", hint="check the controller first")
        return draw_panels(self.map.grid, panels, axes, None)


def margin_map(
    model: ReducedModel,
    controller: LoopController | Designed,
    grid: Mapping[str, ArrayLike] | None = None,
    *,
    at: Values | str | None = None,
    computation_delay: float = 0.0,
) -> MarginMap:
    """Compute stability margins of a reduced model with a controller at every configuration of a grid.

    The model is linearized at rest at every configuration.

    Parameters
    ----------
    model : ReducedModel
        Plant, with its drives and instruments.
    controller : FeedbackGain, LinearModel, AffineLaw, AffineController or callable
        Controller as in `margins`, the same everywhere or scheduled over θ; or a function that designs one at
        {coordinate: value}.
    grid : mapping of str to array_like, optional
        Values of the coordinates, rad or m. Default: 11 values of every coordinate over the region of the model.
    at : mapping, array_like or str, optional
        Configuration for the coordinates that are not in the grid. Default: none, if the grid has all coordinates.
    computation_delay : float, optional
        Computation delay of a sampled controller, s. Default: 0.

    Returns
    -------
    MarginMap
        Margins over the grid.

    Raises
    ------
    InputError
        If the model is not a reduced model, or coordinates are missing.

    See Also
    --------
    margins : Margins at one configuration.
    """
    require_arguments(margin_map, locals())
    if not isinstance(model, ReducedModel):
        raise InputError(
            f"a {type(model).__name__} is not a reduced model", part="margin map",
            hint="give supple.reduce(mechanism, internal_modes=...)",
        )  # fmt: skip

    def margins_at(model: ReducedModel, at: dict[str, float]) -> Margins:
        law: Any = controller(at) if callable(controller) else controller
        return margins(model, law, at=at, computation_delay=computation_delay)

    return MarginMap(
        compute_map(model_grid(model, _region(model) if grid is None else grid, at), model, margins_at, {})
    )


def _region(model: ReducedModel) -> dict[str, ArrayLike]:
    """Return values of every coordinate over the region of the model."""
    names = model.layout.coordinates[: model.layout.theta]
    low, high = find_clamp_bounds(model.fitted)
    return {name: np.linspace(low[i], high[i], _POINTS) for i, name in enumerate(names)}
