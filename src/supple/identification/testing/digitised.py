"""What channels make of what they are shown: noise, steps of a converter, ends of a range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.channel import Channel

_ROOM = 1.25  # of the largest number: the range that is set


class Digits(NamedTuple):
    """What channels make of what they are shown."""

    noise: float
    floor: float
    bits: int | None
    ranges: Mapping[str, float]


def shown_by_channels(
    x: Array,
    y: Array,
    channels: Sequence[Channel],
    digits: Digits,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array | None]:
    """What the channels show of it, and their full scales."""
    both = np.concatenate([x, y], axis=1)
    noise, floor, bits, ranges = digits
    for name in ranges:
        if name not in {one.name for one in channels} | {one.quantity for one in channels}:
            raise InputError("is no channel and no quantity of the test", part=f'ranges "{name}"', hint="such as force")
    if noise:
        size = np.sqrt(np.mean(both**2, axis=2, keepdims=True))
        least = [max(size[:, k].max() for k, other in enumerate(channels) if other.quantity == one.quantity)
                 for one in channels]  # fmt: skip
        size = np.maximum(size, floor * np.array(least)[:, None])
        both = both + noise * size * rng.normal(size=both.shape)
    if bits is None and not ranges:
        return both[:, : x.shape[1]], both[:, x.shape[1] :], None
    needed = _ROOM * np.abs(both).max(axis=(0, 2))
    full = np.array(
        [ranges.get(one.name, ranges.get(one.quantity, n)) for one, n in zip(channels, needed, strict=True)]
    )
    full = np.where(full > 0.0, full, 1.0)
    if bits is not None:
        step = full / 2.0 ** (bits - 1)
        both = np.round(both / step[:, None]) * step[:, None]
    both = np.clip(both, -full[:, None], full[:, None])
    return both[:, : x.shape[1]], both[:, x.shape[1] :], full
