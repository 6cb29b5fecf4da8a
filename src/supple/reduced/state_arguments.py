"""States of a reduced model as its user gives them, θ with or without δ, single or many, by name or in order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation.native_array import native_array
from supple.reduced.layout import CoefficientLayout
from supple.reduced.named_values import in_order

Values = Mapping[str, float] | ArrayLike


def theta_points(layout: CoefficientLayout, theta: Values) -> tuple[Array, bool]:
    """θ as (N, s), and whether it was a single one."""
    points = in_order("θ", theta, layout.coordinates[: layout.theta], required=True)
    return native_array(np.atleast_2d(points)), points.ndim == 1


def states(layout: CoefficientLayout, theta: Values, delta: ArrayLike | None) -> tuple[Array, bool]:
    """η as (N, n), and whether it was a single one."""
    points, single = theta_points(layout, theta)
    names = layout.coordinates[layout.theta :]
    if delta is None:
        return np.hstack([points, np.zeros((len(points), len(names)))]), single
    given = in_order("δ", delta, names, required=True)
    single = single and given.ndim == 1
    both = np.broadcast_arrays(points[:, :1], np.atleast_2d(given)[:, :1])[0]
    parts = [np.broadcast_to(x, (len(both), x.shape[1])) for x in (points, np.atleast_2d(given))]
    return native_array(np.hstack(parts)), single


def batched_values(part: str, values: Values | None, names: tuple[str, ...], count: int) -> Array:
    """Values as (N, k), zero if left out."""
    if values is None:
        return np.zeros((count, len(names)))
    return np.atleast_2d(in_order(part, values, names))


def matching_batches(*parts: Array) -> list[Array]:
    """Batches of the same length: one state goes with many of another kind."""
    count = max(len(part) for part in parts)
    return [native_array(np.broadcast_to(part, (count, part.shape[1]))) for part in parts]


def is_one(values: Values | None) -> bool:
    """Whether values stand for a single state."""
    return values is None or isinstance(values, Mapping) or np.ndim(values) == 1
