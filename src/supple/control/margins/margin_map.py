"""Margins over a region: one loop at every configuration of a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.control.laws.law_kernel import clamped_between
from supple.control.margins.loop_check import LoopController
from supple.control.margins.margins import Margins, margins
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.maps.grid import model_grid
from supple.maps.map import MapPanel, MapView, draw_panels
from supple.maps.over import answers
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.results.units import Units

Designed = Callable[[dict[str, float]], LoopController]

_POINTS = 11  # along each coordinate
_EVEN = 1e-3  # of a margin: less of a change is none


@dataclass(frozen=True, eq=False, repr=False)
class MarginMap(MapView):
    """Margins at every configuration of a grid; zero, and factors of one, where the loop is unstable."""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.map.grid.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, m of them."""
        return tuple(name.removesuffix(".disk") for name in self.map.names if name.endswith(".disk"))

    @property
    def _each(self) -> Array:
        """(..., m, 5): the two gains, phase, delay and disk of each input."""
        return self.map.values[..., :-1].reshape(*self.map.grid.shape, len(self.inputs), -1)

    @property
    def gain(self) -> Array:
        """(..., m, 2) factors of each input alone."""
        return self._each[..., :2]

    @property
    def phase(self) -> Array:
        """(..., m) rad."""
        return self._each[..., 2]

    @property
    def delay(self) -> Array:
        """(..., m) s."""
        return self._each[..., 3]

    @property
    def disk(self) -> Array:
        """(..., m) α of each input alone."""
        return self._each[..., 4]

    @property
    def together(self) -> Array:
        """(...) α of all inputs at once."""
        return self.map.values[..., -1]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """(...) whether the loop is stable: the disk of a stable loop is never empty."""
        return self.together > 0.0

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
        """The configuration where least may be changed at all inputs at once."""
        place = np.unravel_index(int(self.together.argmin()), self.together.shape)
        found = {name: float(x[i]) for (name, x), i in zip(self.coordinates.items(), place, strict=True)}
        return {**self.at, **found}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Axes of the grid, and margins over it."""
        names = ("gain", "phase", "delay", "disk", "together", "stable")
        return {**self.coordinates, **{name: getattr(self, name) for name in names}}

    def plot(self, *, axes: Any = None) -> Any:
        """Curves over one coordinate, or maps over two, of the least margin of all inputs (matplotlib); the figure."""
        kinds = {
            "gain": (self.gain[..., 1].min(axis=-1), "1"), "phase": (self.phase.min(axis=-1), "rad"),
            "delay": (self.delay.min(axis=-1), "s"), "disk of all inputs": (self.together, "1"),
        }  # fmt: skip
        shown = [MapPanel("", np.where(self.stable & np.isfinite(x), x, np.nan), kind, unit, _EVEN)
                 for kind, (x, unit) in kinds.items()]  # fmt: skip
        shown = [panel for panel in shown if np.isfinite(panel.values).any()]
        if not shown:
            raise InputError("the loop is unstable everywhere", part="margin map", hint="look at the controller first")
        return draw_panels(self.map.grid, shown, axes, None)


def margin_map(
    model: ReducedModel,
    controller: LoopController | Designed,
    grid: Mapping[str, ArrayLike] | None = None,
    *,
    at: Values | str | None = None,
    computation_delay: float = 0.0,
) -> MarginMap:
    """Margins of a reduced model with a controller, linearized at rest at every configuration of a grid.

    controller : as of `margins`, the same everywhere or scheduled over θ; or a function that designs one at
                 {coordinate: value}
    grid       : coordinate -> values; left out, 11 values of every coordinate over the model's region
    at         : where the other coordinates stay; needed where some are left out of the grid
    """
    require_arguments(margin_map, locals())
    if not isinstance(model, ReducedModel):
        raise InputError(
            f"{type(model).__name__} is no reduced model", part="margin map",
            hint="give supple.reduce(mechanism, internal_modes=...)",
        )  # fmt: skip

    def margins_at(model: ReducedModel, at: dict[str, float]) -> Margins:
        law: Any = controller(at) if callable(controller) else controller
        return margins(model, law, at=at, computation_delay=computation_delay)

    return MarginMap(answers(model_grid(model, _region(model) if grid is None else grid, at), model, margins_at, {}))


def _region(model: ReducedModel) -> dict[str, ArrayLike]:
    """Values of every coordinate over the region of the model."""
    names = model.layout.coordinates[: model.layout.theta]
    low, high = clamped_between(model.fitted)
    return {name: np.linspace(low[i], high[i], _POINTS) for i, name in enumerate(names)}
