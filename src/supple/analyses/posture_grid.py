"""A grid of postures: values of coordinates, or of components of the pose of a place, in every combination.

    {"crank": (n₁,)}    {"tool.x": (n₁,), "tool.y": (n₂,), "tool.z": -1.1}

What has one number stays there. Postures that cannot be assembled, or places that are out of reach, are marked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.description.mechanism import Mechanism
from supple.description.posture import component_dimension
from supple.description.quantities.dimension import LENGTH
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.diagnostics.limits import require_within
from supple.formulations.measured_units import units_of
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.limits import within_limits
from supple.kinematics.posture import coordinate_values, in_numbers
from supple.kinematics.rest import rest
from supple.results.labelled_arrays import Variable, dataset
from supple.results.names import fresh

Array = NDArray[np.float64]

TOGETHER = 64  # configurations between two signs of life


@dataclass(frozen=True, eq=False)
class PostureGrid:
    """axes : name -> its values, in the order of the grid's; fixed : what stays, by name

    configurations : of all of the grid (n₁ n₂ ..., s), those that do not exist marked
    by_place       : whether components of a place are among the axes, so that θ is found and not given
    """

    mechanism: Mechanism
    axes: dict[str, Array]
    fixed: dict[str, float]
    configurations: Configuration
    by_place: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.axes.values())

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """(n₁, n₂, ...)"""
        return self.configurations.assembled.reshape(self.shape)

    @property
    def theta(self) -> Array:
        """(n₁, n₂, ..., s); nan where the mechanism cannot be assembled."""
        theta = np.where(self.configurations.assembled[:, None], self.configurations.theta, np.nan)
        return theta.reshape(*self.shape, -1)

    @property
    def beyond_limits(self) -> int:
        """At how many of the postures that exist an actuator or a joint is outside its limits."""
        here = self.configurations
        return int((~within_limits(here.rest.numbering, here.w[here.assembled])).sum())

    def columns(self) -> dict[str, Array]:
        """One value for each posture (n₁ n₂ ...,) of what varies, and of θ where a place led to it."""
        meshes = np.meshgrid(*self.axes.values(), indexing="ij")
        found = {name: mesh.ravel() for name, mesh in zip(self.axes, meshes, strict=True)}
        if self.by_place:
            names = self.configurations.rest.numbering.coordinates
            theta = self.theta.reshape(-1, len(names)).T
            found |= {fresh(name, found): values for name, values in zip(names, theta, strict=True)}
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Axes of the grid, what is assembled, and θ over it where a place led to it."""
        found: dict[str, NDArray[Any]] = {**self.axes, "assembled": self.assembled}
        return found | {"theta": self.theta} if self.by_place else found

    def units(self) -> dict[str, str]:
        """rad or m of every column."""
        own = axis_units(self.mechanism, self.axes)
        return {name: own.get(name) or axis_units(self.mechanism, [name.rstrip("_")])[name.rstrip("_")]
                for name in self.columns()}  # fmt: skip

    def dataset(self, variables: Mapping[str, Variable], axes: Mapping[str, tuple[ArrayLike, str]]) -> Any:
        """Variables over the grid as a Dataset of xarray, with what is assembled, and θ where a place led to it."""
        own = axis_units(self.mechanism, self.axes)
        along = {name: (values, own[name]) for name, values in self.axes.items()}
        found: dict[str, Variable] = {**variables, "assembled": (tuple(self.axes), self.assembled, "")}
        if self.by_place:
            names = self.configurations.rest.numbering.coordinates
            of_theta = axis_units(self.mechanism, names)
            found |= {fresh(name, [*found, *along]): (tuple(self.axes), self.theta[..., i], of_theta[name])
                      for i, name in enumerate(names)}  # fmt: skip
        return dataset(found, {**along, **axes})

    def pieces(self) -> Iterator[tuple[NDArray[np.int64], Configuration]]:
        """Those that exist, some at a time, with their numbers in the flat grid."""
        found = self.configurations
        kept = np.flatnonzero(found.assembled)
        for start in range(0, len(kept), TOGETHER):
            piece = kept[start : start + TOGETHER]
            parts = found.theta[piece], found.X[piece], found.w[piece], found.reached[piece]
            yield piece, Configuration(found.rest, *parts)


def posture_grid(mechanism: Mechanism, grid: Mapping[str, ArrayLike | str], at: At = None) -> PostureGrid:
    """Every combination of the values, (n,) each, or a number for what stays; `at` gives the others.

    Where none of them can be assembled, that is an error, with the distance where a place is out of reach.
    """
    names = rest(mechanism).numbering.coordinates
    given = _read(mechanism, grid)
    axes = {name: values for name, values in given.items() if values.ndim}
    if not axes:
        hint = f"give values of one of {', '.join(names) or 'none'}, or of where a place is, such as tool.x"
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
        assemble(mechanism, {name: float(values[0]) for name, values in varied.items()} | fixed)  # which says why
    return PostureGrid(mechanism, axes, fixed, found, by_place)


def axis_units(mechanism: Mechanism, names: Iterable[str]) -> dict[str, str]:
    """rad or m of coordinates and of components of a place."""
    known = units_of(rest(mechanism)).coordinates
    return {name: known.get(name) or ("m" if component_dimension(mechanism, name) == LENGTH else "rad")
            for name in names}  # fmt: skip


def over(axes: Mapping[str, Array]) -> str:
    """`tool.x -0.3 to 0.3 (40), tool.y -0.3 to 0.3 (40)`"""
    return ", ".join(f"{name} {x[0]:.4g} to {x[-1]:.4g} ({len(x)})" for name, x in axes.items())


def _read(mechanism: Mechanism, grid: Mapping[str, Any]) -> dict[str, Array]:
    found = {}
    for name, values in in_numbers(mechanism, grid).items():
        read = real_numbers(name, values, finite=False)
        if read.ndim > 1 or read.size == 0 or not np.isfinite(read).all():
            raise InputError(f'the values of "{name}" are not a list of finite numbers', hint="give (n,) values")
        found[name] = read
    return found


def _others(mechanism: Mechanism, at: At) -> dict[str, float]:
    """What `at` says, by name."""
    if at is None:
        return {}
    if isinstance(at, str):
        coordinate_values(mechanism, at)  # a wrong name is told
        at = mechanism.configurations[at]
    if isinstance(at, Mapping):
        values = {name: real_numbers(name, value) for name, value in in_numbers(mechanism, at).items()}
    else:
        values = dict(zip(rest(mechanism).numbering.coordinates, coordinate_values(mechanism, at).T, strict=True))
    if any(value.ndim for value in values.values()):
        raise InputError("a map stands at one configuration, not a batch", hint="vary coordinates by the grid alone")
    return {name: float(value) for name, value in values.items()}
