"""Grids of configurations: values of coordinates, or of components of the pose of a place, in every combination.

    {"crank": (n₁,)}    {"tool.x": (n₁,), "tool.y": (n₂,), "tool.z": -1.1}

A single number keeps its coordinate constant. Configurations that cannot be assembled, and places that are out of
reach, are marked.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.posture import component_dimension
from supple.description.quantities.dimension import LENGTH
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import real_numbers
from supple.diagnostics.limits import require_within
from supple.formulations.coefficients import units_of
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.coordinate_limits import within_limits
from supple.kinematics.posture_coordinates import coordinate_values, in_numbers
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import named_theta
from supple.reduced.state_arguments import theta_points
from supple.results.table import Variable, dataset
from supple.results.text import fresh, number_text


@dataclass(frozen=True, eq=False)
class Grid(ABC):
    """Values of some coordinates in every combination.

    axes  : {name: values}, in the order of the grid's axes
    fixed : {name: value} of the constant coordinates
    """

    axes: dict[str, Array]
    fixed: dict[str, float]

    @property
    def by_place(self) -> bool:
        """True if components of a place are among the axes, so that θ is computed and not given."""
        return False

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values along each axis."""
        return tuple(len(values) for values in self.axes.values())

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the mechanism or model."""

    @property
    @abstractmethod
    def assembled(self) -> NDArray[np.bool_]:
        """Whether each configuration exists (n₁, n₂, ...)."""

    @property
    @abstractmethod
    def theta(self) -> Array:
        """Coordinates (n₁, n₂, ..., s); nan where the mechanism cannot be assembled."""

    @property
    @abstractmethod
    def theta_names(self) -> tuple[str, ...]:
        """Names of θ."""

    @abstractmethod
    def units_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return the unit of each coordinate or component of a place."""

    @abstractmethod
    def rows(self, kept: NDArray[np.int64]) -> tuple[Array, ...]:
        """Return the arrays (n, ...) that describe the configurations with these indices in the flat grid."""

    def extent(self) -> str:
        """Return the ranges of the axes as text: `tool.x -0.3 to 0.3 (40), tool.y -0.3 to 0.3 (40)`."""
        return ", ".join(f"{name} {x[0]:.4g} to {x[-1]:.4g} ({len(x)})" for name, x in self.axes.items())

    def heading(self) -> str:
        """Return name, ranges and constants as text: `delta over tool.x -0.3 to 0.3 (40), tool.z=-1.1`."""
        fixed = "".join(f", {name}={number_text(value)}" for name, value in self.fixed.items())
        return f"{self.name} over {self.extent()}{fixed}"

    def columns(self) -> dict[str, Array]:
        """Return the grid values of each configuration (n₁ n₂ ...,), and θ if it was computed from places."""
        meshes = np.meshgrid(*self.axes.values(), indexing="ij")
        found = {name: mesh.ravel() for name, mesh in zip(self.axes, meshes, strict=True)}
        if self.by_place:
            theta = self.theta.reshape(-1, len(self.theta_names)).T
            found |= {fresh(name, found): values for name, values in zip(self.theta_names, theta, strict=True)}
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the axes of the grid, `assembled`, and θ if it was computed from places."""
        found: dict[str, NDArray[Any]] = {**self.axes, "assembled": self.assembled}
        return found | {"theta": self.theta} if self.by_place else found

    def data(self) -> dict[str, Any]:
        """Return the JSON keys that all maps have."""
        found = {"coordinates": self.axes, "assembled": self.assembled, "at": self.fixed}
        return found | ({"theta": self.theta} if self.by_place else {})

    def units(self) -> dict[str, str]:
        """Return the unit of every column."""
        own = self.units_of(self.axes)
        return {name: own[name] if name in own else self.units_of([name.rstrip("_")])[name.rstrip("_")]
                for name in self.columns()}  # fmt: skip

    def dataset(self, variables: Mapping[str, Variable], axes: Mapping[str, tuple[ArrayLike, str]]) -> Any:
        """Return variables over the grid as an `xarray.Dataset`, with `assembled`, and θ if computed from places."""
        own = self.units_of(self.axes)
        along = {name: (values, own[name]) for name, values in self.axes.items()}
        found: dict[str, Variable] = {**variables, "assembled": (tuple(self.axes), self.assembled, "")}
        if self.by_place:
            of_theta = self.units_of(self.theta_names)
            found |= {fresh(name, [*found, *along]): (tuple(self.axes), self.theta[..., i], of_theta[name])
                      for i, name in enumerate(self.theta_names)}  # fmt: skip
        return dataset(found, {**along, **axes})


@dataclass(frozen=True, eq=False)
class PostureGrid(Grid):
    """Grid of configurations of a mechanism.

    configurations : of the flat grid (n₁ n₂ ..., s); those that do not exist are marked
    led            : whether components of a place are among the axes
    """

    mechanism: Mechanism
    configurations: Configuration
    led: bool

    @property
    def by_place(self) -> bool:
        """True if components of a place are among the axes."""
        return self.led

    @property
    def name(self) -> str:
        """Name of the mechanism or model."""
        return self.mechanism.name

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """Whether each configuration exists (n₁, n₂, ...)."""
        return self.configurations.assembled.reshape(self.shape)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of θ."""
        return tuple(self.configurations.rest.numbering.coordinates)

    @property
    def theta(self) -> Array:
        """Coordinates (n₁, n₂, ..., s)."""
        theta = np.where(self.configurations.assembled[:, None], self.configurations.theta, np.nan)
        return theta.reshape(*self.shape, -1)

    @property
    def beyond_limits(self) -> int:
        """Number of existing configurations in which an actuator or a joint is outside its limits."""
        here = self.configurations
        return int((~within_limits(here.rest.numbering, here.w[here.assembled])).sum())

    def units_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return the unit of each coordinate or component of a place, rad or m."""
        known = units_of(rest(self.mechanism)).coordinates
        return {name: known.get(name) or ("m" if component_dimension(self.mechanism, name) == LENGTH else "rad")
                for name in names}  # fmt: skip

    def rows(self, kept: NDArray[np.int64]) -> tuple[Array, ...]:
        """Return θ, poses, measures and reach of these configurations."""
        here = self.configurations
        return here.theta[kept], here.X[kept], here.w[kept], here.reached[kept]


@dataclass(frozen=True, eq=False)
class ModelGrid(Grid):
    """Grid of configurations of a reduced model; points : θ of the flat grid (n₁ n₂ ..., s)."""

    model: ReducedModel
    points: Array

    @property
    def name(self) -> str:
        """Name of the mechanism or model."""
        return self.model.name

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """Whether each configuration exists (n₁, n₂, ...)."""
        return np.ones(self.shape, bool)

    @property
    def theta(self) -> Array:
        """Coordinates (n₁, n₂, ..., s)."""
        return self.points.reshape(*self.shape, -1)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of θ."""
        return tuple(self.model.layout.coordinates[: self.model.layout.theta])

    def units_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return the unit of each coordinate."""
        return {name: self.model.units.coordinates.get(name, "") for name in names}

    def rows(self, kept: NDArray[np.int64]) -> tuple[Array, ...]:
        """Return θ of these configurations."""
        return (self.points[kept],)


def posture_grid(mechanism: Mechanism, grid: Mapping[str, ArrayLike | str], at: At = None) -> PostureGrid:
    """Return every combination of the values of a grid; `at` gives the coordinates that are not in the grid.

    If none of them can be assembled, that is an error, which gives the distance if a place is out of reach.
    """
    names = rest(mechanism).numbering.coordinates
    given = _read(mechanism, grid)
    axes = {name: values for name, values in given.items() if values.ndim}
    if not axes:
        hint = f"give several values of one of {', '.join(names) or 'none'}, or of a position such as tool.x"
        raise InputError("a map needs a coordinate to vary", part=f'mechanism "{mechanism.name}"', hint=hint)
    require_within("postures", math.prod(len(values) for values in axes.values()), part="map", hint="take fewer values")
    others = _others(mechanism, at)
    by_place = not set(names) >= {*given, *others}
    if not by_place:
        others = dict(zip(rest(mechanism).numbering.coordinates, rest(mechanism).theta.tolist(), strict=True)) | others
    fixed = others | {name: float(values) for name, values in given.items() if not values.ndim}
    fixed = {name: value for name, value in fixed.items() if name not in axes}
    meshes = np.meshgrid(*axes.values(), indexing="ij")
    varied = {name: mesh.ravel() for name, mesh in zip(axes, meshes, strict=True)}
    found = assemble(mechanism, varied | fixed, failures="mark")
    if not found.assembled.any():
        assemble(
            mechanism, {name: float(values[0]) for name, values in varied.items()} | fixed
        )  # raises with the reason
    return PostureGrid(axes, fixed, mechanism, found, by_place)


def model_grid(model: ReducedModel, grid: Mapping[str, ArrayLike | str], at: Any = None) -> ModelGrid:
    """Return every combination of values of a model's coordinates; `at` gives the others."""
    names = tuple(model.layout.coordinates[: model.layout.theta])
    part = f'map of model "{model.name}"'
    axes: dict[str, Array] = {}
    fixed: dict[str, float] = {}
    for name, given in grid.items():
        require_known("coordinate", name, names, part=part)
        values = _list_of_numbers(name, given)
        if values.ndim:
            axes[name] = values
        else:
            fixed[name] = float(values)
    if not axes:
        raise InputError(
            "a map needs a coordinate to vary", part=part, hint=f"give several values of {', '.join(names)}"
        )
    require_within("postures", math.prod(len(values) for values in axes.values()), part="map", hint="take fewer values")
    others = [name for name in names if name not in axes and name not in fixed]
    if others and at is None:
        raise InputError(f'no value of "{others[0]}", which is not in the grid', part=part, hint="give at=...")
    base = np.zeros(len(names)) if at is None else theta_points(model.layout, named_theta(model, at))[0][0].copy()
    fixed |= {name: float(base[names.index(name)]) for name in others}
    points = np.zeros((*(len(values) for values in axes.values()), len(names)))
    for name, value in fixed.items():
        points[..., names.index(name)] = value
    for name, mesh in zip(axes, np.meshgrid(*axes.values(), indexing="ij"), strict=True):
        points[..., names.index(name)] = mesh
    return ModelGrid(axes, fixed, model, points.reshape(-1, len(names)))


def _read(mechanism: Mechanism, grid: Mapping[str, Any]) -> dict[str, Array]:
    found = {}
    for name, values in in_numbers(mechanism, grid).items():
        found[name] = _list_of_numbers(name, values)
    return found


def _list_of_numbers(name: str, values: Any) -> Array:
    read: Array = real_numbers(name, values, finite=False)
    if read.ndim > 1 or read.size == 0 or not np.isfinite(read).all():
        raise InputError(f'the values of "{name}" must be a list of finite numbers', hint="give (n,) values")
    return read


def _others(mechanism: Mechanism, at: At) -> dict[str, float]:
    """Return the values of `at` by name."""
    if at is None:
        return {}
    if isinstance(at, str):
        coordinate_values(mechanism, at)  # refuses an unknown name
        at = mechanism.configurations[at]
    if isinstance(at, Mapping):
        values = {name: real_numbers(name, value) for name, value in in_numbers(mechanism, at).items()}
    else:
        values = dict(zip(rest(mechanism).numbering.coordinates, coordinate_values(mechanism, at).T, strict=True))
    if any(value.ndim for value in values.values()):
        raise InputError(
            "at must be one configuration, not a batch", part="at", hint="vary coordinates by the grid alone"
        )
    return {name: float(value) for name, value in values.items()}
