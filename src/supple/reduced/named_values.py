"""Values of coordinates or inputs, by name or in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import real_numbers


def in_order(
    part: str,
    values: Mapping[str, float] | ArrayLike,
    names: Sequence[str],
    *,
    required: bool = False,
    finite: bool = True,
) -> Array:
    """Finite values (k,) or (N, k) for the names; those a mapping leaves out are zero, or an error if required.

    finite : False lets any number pass
    """
    if isinstance(values, Mapping):
        for name in values:
            if name not in names:
                raise InputError(f'there is no "{name}"', part=part, hint=nearest(name, names))
        missing = [name for name in names if name not in values]
        if required and missing:
            raise InputError(f'"{missing[0]}" has no value', part=part, hint="give a value for " + ", ".join(names))
        values = [values.get(name, 0.0) for name in names]
    try:
        found = real_numbers(part, values, finite=False)
    except InputError:
        raise InputError("its values are not numbers", part=part, hint=f"give ({len(names)},) values") from None
    if found.ndim not in (1, 2) or found.shape[-1] != len(names):
        raise InputError(
            f"has the shape {found.shape}", part=part, hint=f"give ({len(names)},) or (N, {len(names)}) values"
        )
    if finite and not np.isfinite(found).all():
        raise InputError("holds values that are not finite", part=part, hint="leave them out")
    return found
