"""Boxes that cannot be fitted because the function does not exist everywhere in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.approximation.approximation import bounding_half
from supple.approximation.refinement.box import Box
from supple.array_types import Array, Flags

HOPELESS = 1 / 8  # boxes with no valid point at all are halved only down to this width
FINEST = 2.0**-30  # boxes are halved for accuracy down to this width


@dataclass(frozen=True)
class Limits:
    """Where refinement stops: points evaluated, and the width, relative to the region's, below which a box that holds
    invalid points is left out."""

    samples: int
    shortest: float

    def divisible(self, box: Box, region: Sequence[Box], *, for_accuracy: bool) -> Flags:
        """Axes along which a box may be halved."""
        shortest = FINEST if for_accuracy else self.shortest
        return box.half / bounding_half(region) > shortest * (1.0 + 1e-9)


def halve_invalid(box: Box, region: Sequence[Box], xi: Array, valid: Flags, limits: Limits) -> int | None:
    """The axis along which to halve a box with invalid points ξ (N, s), or None to leave it out.

    The halves should differ most in their share of valid points; ties go to the relatively longest axis.
    """
    width = box.half / bounding_half(region)
    allowed = limits.divisible(box, region, for_accuracy=False)
    if not valid.any():
        allowed &= width > HOPELESS * (1.0 + 1e-9)
    if not allowed.any():
        return None
    contrast = np.zeros(box.dimension)
    for axis in range(box.dimension):
        below, above = xi[:, axis] < 0.0, xi[:, axis] > 0.0
        if below.any() and above.any():
            contrast[axis] = abs(valid[below].mean() - valid[above].mean())
    # A thin slab would be cut again and again along one axis: nothing is gained where another is four times as long.
    allowed &= width > 0.2 * width[allowed].max()
    score = np.where(allowed, contrast + 1e-3 * width / width.max(), -1.0)
    return int(np.argmax(score))
