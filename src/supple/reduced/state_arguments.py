"""States and inputs of a reduced model as user arguments.

They are single or batches, by name or in order; θ is given with or without δ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation.bundle import native_array
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import real_numbers
from supple.reduced.layout import CoefficientLayout


def in_order(
    part: str,
    values: Mapping[str, float] | ArrayLike,
    names: Sequence[str],
    *,
    required: bool = False,
    finite: bool = True,
) -> Array:
    """Return finite values (k,) or (N, k) in the order of the names.

    Values that a mapping omits are zero, or an error if required.

    finite : False accepts values that are not finite
    """
    if isinstance(values, Mapping):
        for name in values:
            require_known("name", name, names, part=part)
        missing = [name for name in names if name not in values]
        if required and missing:
            raise InputError(f'"{missing[0]}" has no value', part=part, hint="give a value for " + ", ".join(names))
        values = [values.get(name, 0.0) for name in names]
    try:
        found = real_numbers(part, values, finite=False)
    except InputError:
        raise InputError("the values are not numbers", part=part, hint=f"give ({len(names)},) values") from None
    if found.ndim not in (1, 2) or found.shape[-1] != len(names):
        raise InputError(
            f"wrong shape {found.shape}", part=part, hint=f"give ({len(names)},) or (N, {len(names)}) values"
        )
    if finite and not np.isfinite(found).all():
        raise InputError("some values are not finite", part=part, hint="give finite values")
    return found


Values = Mapping[str, float] | ArrayLike


def theta_points(layout: CoefficientLayout, theta: Values) -> tuple[Array, bool]:
    """Return θ as (N, s), and whether it was a single one."""
    points = in_order("θ", theta, layout.coordinates[: layout.theta], required=True)
    return native_array(np.atleast_2d(points)), points.ndim == 1


def states(layout: CoefficientLayout, theta: Values, delta: ArrayLike | None) -> tuple[Array, bool]:
    """Return η as (N, n), and whether it was a single one."""
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
    """Return values as (N, k); None gives zeros."""
    if values is None:
        return np.zeros((count, len(names)))
    return np.atleast_2d(in_order(part, values, names))


def matching_batches(*parts: Array) -> list[Array]:
    """Return batches of equal length; a single state is repeated."""
    count = max(len(part) for part in parts)
    return [native_array(np.broadcast_to(part, (count, part.shape[1]))) for part in parts]


def is_one(values: Values | None) -> bool:
    """Return whether values belong to a single state."""
    return values is None or isinstance(values, Mapping) or np.ndim(values) == 1
