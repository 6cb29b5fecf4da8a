"""Margins over a region: one loop at every configuration of a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.control.margins.local_loop import LoopController
from supple.control.margins.margins import Margins, margins
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import named_theta
from supple.reduced.state_arguments import Values, theta_points
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table
from supple.results.units import Units

Array = NDArray[np.float64]
Designed = Callable[[dict[str, float]], LoopController]

_POINTS = 11  # along each coordinate


@dataclass(frozen=True, eq=False, repr=False)
class MarginMap(Result):
    """Margins at every configuration of a grid; zero, and factors of one, where the loop is unstable.

    coordinates : name -> its values, in the order of the grid's axes (n₁, n₂, ...)
    gain        : (..., m, 2) factors of each input alone; phase (..., m) rad, delay (..., m) s, disk (..., m)
    together    : (...) α of all inputs at once
    stable      : (...); at : what the other coordinates stay at
    """

    name: str
    inputs: tuple[str, ...]
    coordinates: dict[str, Array]
    gain: Array
    phase: Array
    delay: Array
    disk: Array
    together: Array
    stable: NDArray[np.bool_]
    at: dict[str, float]
    units: Units

    def summary(self) -> str:
        over = ", ".join(f"{name} {x[0]:.4g} to {x[-1]:.4g} ({len(x)})" for name, x in self.coordinates.items())
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

    def table(self) -> Table:
        """A row a configuration: coordinates, margins of each input (`NAME.phase`, ...), and of all together."""
        grid = np.meshgrid(*self.coordinates.values(), indexing="ij")
        columns: dict[str, NDArray[Any]] = {name: x.ravel() for name, x in zip(self.coordinates, grid, strict=True)}
        units = {name: self.units.coordinates.get(name, "") for name in self.coordinates} | {"together": "1"}
        for k, name in enumerate(self.inputs):
            columns |= {
                f"{name}.gain.low": self.gain[..., k, 0].ravel(), f"{name}.gain.high": self.gain[..., k, 1].ravel(),
                f"{name}.phase": self.phase[..., k].ravel(), f"{name}.delay": self.delay[..., k].ravel(),
                f"{name}.disk": self.disk[..., k].ravel(),
            }  # fmt: skip
            units |= {f"{name}.phase": "rad", f"{name}.delay": "s"}
            units |= {f"{name}.{kind}": "1" for kind in ("gain.low", "gain.high", "disk")}
        return Table({**columns, "together": self.together.ravel()}, units)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Axes of the grid, and margins over it."""
        names = ("gain", "phase", "delay", "disk", "together", "stable")
        return {**self.coordinates, **{name: getattr(self, name) for name in names}}

    def plot(self, *, axes: Any = None) -> Any:
        """Curves over one coordinate, or maps over two, of the least margin of all inputs (matplotlib); the figure."""
        return picture("margin_map_plot")(self, axes)


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
    names = model.layout.coordinates[: model.layout.theta]
    values = _grid(model, names, grid)
    others = [name for name in names if name not in values]
    if others and at is None:
        raise InputError(f'where "{others[0]}" stays is not said', part="margin map", hint="give at=...")
    base = theta_points(model.layout, named_theta(model, at))[0][0] if at is not None else np.zeros(len(names))
    theta = np.broadcast_to(base, (*(len(item) for item in values.values()), len(names))).copy()
    for name, mesh in zip(values, np.meshgrid(*values.values(), indexing="ij"), strict=True):
        theta[..., names.index(name)] = mesh
    found: list[Margins] = []
    for point in theta.reshape(-1, len(names)):
        here = dict(zip(names, point.tolist(), strict=True))
        law: Any = controller(here) if callable(controller) else controller
        found.append(margins(model, law, at=here, computation_delay=computation_delay))
    shape = theta.shape[:-1]

    def gathered(name: str) -> Array:
        items = np.array([getattr(item, name) for item in found])
        return items.reshape(*shape, *items.shape[1:])

    return MarginMap(
        model.name, found[0].inputs, values, gathered("gain"), gathered("phase"), gathered("delay"), gathered("disk"),
        gathered("together"), gathered("stable") > 0.5,
        {name: float(base[names.index(name)]) for name in others}, model.units,
    )  # fmt: skip


def _grid(model: ReducedModel, names: tuple[str, ...], grid: Mapping[str, ArrayLike] | None) -> dict[str, Array]:
    if grid is None:
        roots = model.fitted.arrays.roots_f
        low, high = roots[:, 0].min(axis=0), roots[:, 1].max(axis=0)
        return {name: np.linspace(low[i], high[i], _POINTS) for i, name in enumerate(names)}
    found = {name: np.atleast_1d(np.asarray(x, dtype=float)) for name, x in grid.items()}
    for name in found:
        if name not in names:
            raise InputError(f'"{name}" is not a coordinate of the model', part="margin map",
                             hint=nearest(name, names))  # fmt: skip
    return found
