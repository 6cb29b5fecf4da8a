"""Polynomials of time on pieces of their own, brought onto common pieces."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from scipy.interpolate import PPoly

from supple.array_types import Array

_SAME = 1e-12  # of the whole: breaks as close as that are one


def together(parts: Sequence[PPoly]) -> PPoly:
    """Several functions of one time as one, c (d + 1, P, s): breaks are those of all of them.

    parts : c (d_i + 1, P_i) each, over the same time (of a shorter one the last piece goes on)
    """
    breaks = common_breaks([part.x for part in parts])
    degree = max(len(part.c) for part in parts)
    return PPoly(np.stack([on_breaks(part, breaks, degree) for part in parts], axis=-1), breaks)


def common_breaks(each: Sequence[Array]) -> Array:
    """All breaks in order; those that rounding alone parts are one."""
    breaks = np.unique(np.concatenate(list(each)))
    apart = np.concatenate([[True], np.diff(breaks) > _SAME * max(abs(breaks[0]), abs(breaks[-1]), np.ptp(breaks))])
    kept = breaks[apart]
    kept[-1] = breaks[-1]
    return np.asarray(kept)


def on_breaks(part: PPoly, breaks: Array, degree: int) -> Array:
    """Coefficients (degree, P, ...) of a function, the highest power first, from each of other breaks on.

    With e = b - x_i:  Σ_k a_k (t - x_i)^k = Σ_j (t - b)^j Σ_{k≥j} a_k (k over j) e^{k-j}
    """
    middle = 0.5 * (breaks[:-1] + breaks[1:])
    piece = np.clip(np.searchsorted(part.x, middle, side="right") - 1, 0, len(part.x) - 2)
    rising = part.c[::-1, piece]
    e = (breaks[:-1] - part.x[piece]).reshape(-1, *(1,) * (rising.ndim - 2))
    moved = np.zeros((degree, *rising.shape[1:]))
    for j in range(len(rising)):
        for k in range(j, len(rising)):
            moved[j] += rising[k] * comb(k, j) * e ** (k - j)
    return np.asarray(moved[::-1])
