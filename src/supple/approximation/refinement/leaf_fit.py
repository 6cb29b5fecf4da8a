"""Leaves of a grid, each fitted to its design, and the points in which they are suspected to be worst."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.approximation.evaluated import Evaluated
from supple.approximation.fits.polynomials import Polynomials
from supple.approximation.fits.scattered_designs import scattered
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Node

Array = NDArray[np.float64]


def fit_leaves(leaves: Sequence[Node], chosen: Polynomials, evaluated: Evaluated) -> None:
    """Fit every leaf to its design, all points in one batch; a leaf with invalid points gets no coefficients."""
    size = len(chosen.design)
    rows = evaluated.rows(np.vstack([leaf.box.from_unit(chosen.design) for leaf in leaves]))
    evaluated.fitted[rows] = True
    for n, leaf in enumerate(leaves):
        mine = rows[n * size : (n + 1) * size]
        valid = bool(evaluated.valid(mine).all())
        leaf.coefficients = chosen.coefficients(evaluated.known.values[mine]) if valid else None


def suspected(boxes: Sequence[Box], worst: Array, wanted: int, seed: int) -> Array:
    """Points in the boxes with the largest errors at their own samples, which are `worst`.

    Families that follow from gradients are wrong there too, least squares leaves residuals, and errors of a fit are
    largest near corners: the boxes that look worst from their samples are where to look closer.
    """
    s = boxes[0].dimension
    if wanted == 0:
        return np.zeros((0, s))
    each = max(4, -(-wanted // 8))
    first = np.argsort(-worst, kind="stable")[: -(-wanted // each)]
    outward = np.sin(0.5 * np.pi * scattered(s, each, seed + 1))
    return np.vstack([boxes[n].from_unit(outward) for n in first])[:wanted]
