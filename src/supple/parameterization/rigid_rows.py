"""Rows of coefficients of the rigid mechanism at configurations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.compilation import compiled
from supple.compilation.parts import in_parts
from supple.equations.row import RowLayout, local_layout
from supple.formulations.coefficients import Carried, carried
from supple.formulations.elastic_rest.elastic_rest import rigid_rest
from supple.kinematics.closing import bulk
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.kinematics.numbering import Numbering
from supple.parameterization.effort_columns import effort_columns
from supple.parameterization.rigid_kernel import rigid_batch
from supple.parameterization.tree_rows import tree_of_rows, tree_rows

_STEP = 5e-4


def rigid_rows(configuration: Configuration, *, efforts: bool = True) -> tuple[Array, NDArray[np.int64]]:
    """All coefficients at each configuration in one row, (N, width) as `layout_of` says, and where they exist (N,).

    efforts : with those of forces inside; else these are zero
    """
    position = configuration.rest
    load = carried(position)
    layout = layout_of(position.numbering, load)
    X = configuration.X if configuration.X.ndim == 3 else configuration.X[None]
    w = configuration.w if configuration.w.ndim == 2 else configuration.w[None]
    tree = tree_of_rows(position)
    if tree is not None:
        out, regular = tree_rows(tree, configuration, layout), np.ones(len(X), dtype=np.int64)
    else:
        out, regular = _general_rows(configuration, layout, X, w)
    for name in ("efforts", "defforts"):
        layout.part(out, name)[:] = 0.0
    regular[~np.isfinite(out).all(axis=1)] = 0  # the ends of a distance meet: it has no direction there
    if efforts and load.efforts and regular.any():
        theta = np.atleast_2d(configuration.theta)
        here = Configuration(position, theta, X, w, np.ones(len(X)))
        _add_efforts(layout, here, np.flatnonzero(regular), out)
    return out, regular


def _general_rows(configuration: Configuration, layout: RowLayout, X: Array, w: Array) -> tuple[Array, Integers]:
    """From rigid modes of any mechanism, closed chains among them."""
    position = configuration.rest
    load = carried(position)
    out = np.empty((len(X), layout.width))
    regular = np.empty(len(X), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        compiled(rigid_batch, count=(stop - start) * bulk(position.numbering))(
            position.numbering.arrays,
            position.selected,
            load.arrays,
            X[piece],
            w[piece],
            layout.offsets,
            out[piece],
            regular[piece],
        )

    in_parts(part, len(X))
    return out, regular


def _add_efforts(layout: RowLayout, configuration: Configuration, which: NDArray[np.int64], out: Array) -> None:
    """Forces inside and their derivatives by θ, by central differences of fourth order, at some configurations."""
    mechanism, s = configuration.mechanism, configuration.theta.shape[1]
    rest = rigid_rest(mechanism)
    values, slopes = layout.part(out, "efforts"), layout.part(out, "defforts")
    values[which] = effort_columns(rest, chosen(configuration, which))
    size = coordinate_steps(configuration)
    for m in range(s):
        for step, weight in zip((-2.0, -1.0, 1.0, 2.0), (1.0, -8.0, 8.0, -1.0), strict=True):
            moved = configuration.theta[which] + step * size[m] * np.eye(s)[m]
            slopes[which, ..., m] += weight / (12.0 * size[m]) * effort_columns(rest, assemble(mechanism, moved))


def chosen(configuration: Configuration, which: NDArray[np.int64]) -> Configuration:
    """Some of a batch."""
    parts = (configuration.theta, configuration.X, configuration.w, np.asarray(configuration.reached))
    theta, X, w, reached = (np.ascontiguousarray(part[which]) for part in parts)
    return Configuration(configuration.rest, theta, X, w, reached)


def coordinate_steps(configuration: Configuration) -> Array:
    """(s,) steps of θ whose fourth power is rounding: rad, or in extents of the mechanism."""
    numbering = configuration.rest.numbering
    first = numbering.constraints
    angles = numbering.angles()[first : first + len(numbering.coordinates)]
    return np.where(angles, _STEP, _STEP * numbering.arrays.extent)


def layout_of(numbering: Numbering, load: Carried) -> RowLayout:
    """Where each coefficient stands in a row; computed once for each mechanism."""
    s, actuators = len(numbering.coordinates), len(numbering.mechanism.actuators)
    return numbering.mechanism.remembered(
        "layout",
        lambda: local_layout(s, s, actuators, len(load.measured), len(load.dry_forces), efforts=len(load.efforts)),
    )
