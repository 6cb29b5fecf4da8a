"""Forces inside a mechanism as functions of its motion, by a row of coefficients each.

    e = e₀(θ) + Ψ^e δ + E_u u + E_a η̈ + E_v η̇ + E_q[θ̇, η̇] + E_f f

Ψ^e are the forces of the modes (the papers' Ψ^{λδ}); the rest is what loads, inputs u, inertia, damping and dry
friction f in the joints do to what is not among the modes (docs/theory/outputs.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]


class EffortPlaces(NamedTuple):
    """Where each part begins in a row; width : of the whole row. pairs : (j, k), j in θ and k >= j, of η̇_j η̇_k"""

    modes: int
    inputs: int
    accelerations: int
    rates: int
    turning: int
    friction: int
    width: int
    pairs: tuple[tuple[int, int], ...]


def effort_places(n: int, s: int, inputs: int, dry: int) -> EffortPlaces:
    """Of n coordinates, s of them θ, some inputs and joints with dry friction."""
    pairs = tuple((j, k) for j in range(s) for k in range(j, n))
    starts = np.cumsum([1, n - s, inputs, n, n, len(pairs), dry]).tolist()
    modes, after, accelerations, rates, turning, friction, width = starts
    return EffortPlaces(modes, after, accelerations, rates, turning, friction, width, pairs)


class EffortMotion(NamedTuple):
    """What forces inside depend on: δ, u, η̈, η̇ and forces of dry friction, (..., k) each."""

    delta: Numbers
    inputs: Numbers
    accelerations: Numbers
    rates: Numbers
    friction: Numbers


def effort_factors(places: EffortPlaces, motion: EffortMotion) -> Numbers:
    """What the entries of a row are multiplied by, (..., width)."""
    delta, u, a, v, f = motion
    one = np.ones((*delta.shape[:-1], 1))
    if not places.pairs:
        return np.concatenate([one, delta, u, a, v, f], axis=-1)
    turned = np.stack([v[..., j] * v[..., k] for j, k in places.pairs], axis=-1)
    return np.concatenate([one, delta, u, a, v, turned, f], axis=-1)
