"""How the plants of a study differ: each quantity with its spread, drawn so that every part of it is met.

A spread is a pair (low, high), evenly likely between; a list of values, each as likely; or anything with `ppf`, the
inverse of its distribution, as those of scipy.stats. Quantities are drawn by a Latin hypercube [McKay 1979]: of N
plants, one falls into every N-th part of each spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import qmc

from supple.array_types import Array
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError
from supple.diagnostics.limits import require_within


class Distribution(Protocol):
    """ppf(p): the value below which a share p lies."""

    def ppf(self, q: ArrayLike) -> Any: ...


Spread = tuple[float | str, float | str] | Sequence[float | str] | Distribution


def drawn(spreads: Mapping[str, Spread], count: int, seed: int) -> list[dict[str, float]]:
    """So many settings {name: value}, the same for the same seed."""
    if count < 1:
        raise InputError(f"{count} plants are asked for", part="study", hint="ask for 1 or more")
    require_within("runs", count, part="study")
    if not spreads:
        return [{} for _ in range(count)]
    shares = qmc.LatinHypercube(len(spreads), rng=np.random.default_rng(seed)).random(count)
    columns = [_values(name, spread, shares[:, k]) for k, (name, spread) in enumerate(spreads.items())]
    return [dict(zip(spreads, map(float, row), strict=True)) for row in zip(*columns, strict=True)]


def _values(name: str, spread: Spread, shares: Array) -> Array:
    if hasattr(spread, "ppf"):
        found = np.asarray(spread.ppf(shares), dtype=float)
    else:
        numbers = np.array([quantity(item) if isinstance(item, str) else float(item) for item in spread])
        if isinstance(spread, tuple):
            if numbers.shape != (2,) or not numbers[0] <= numbers[1]:
                raise InputError(
                    f"{spread} is no pair (low, high)", part=f'spread of "{name}"',
                    hint="give (low, high), a list of values, or a distribution of scipy.stats",
                )  # fmt: skip
            found = numbers[0] + shares * (numbers[1] - numbers[0])
        else:
            if not len(numbers):
                raise InputError("no value is given", part=f'spread of "{name}"', hint="give at least one")
            found = numbers[np.minimum((shares * len(numbers)).astype(int), len(numbers) - 1)]
    if not np.isfinite(found).all():
        raise InputError("it has values that are not finite", part=f'spread of "{name}"', hint="bound it")
    return found
