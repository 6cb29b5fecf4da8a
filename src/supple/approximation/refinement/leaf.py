"""Boxes that are being fitted: one leaf with its rows, level and errors, or all leaves of a grid at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.approximation.evaluated import Evaluated, Rows
from supple.approximation.fits.fits import Polynomials
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode

FIRST_DEGREE = 3
NO_ROWS: Rows = np.zeros(0, dtype=np.int64)


@dataclass(eq=False)
class Leaf:
    """Box that is being fitted.

    fitted, checks : rows of known points in the box, for the fit and held out
    level          : level of the samples (`bases`); the fit itself may be higher
    errors         : best error, in units of the tolerance, at each level so far
    stage          : "fit", then "verify" (the suspected worst points are evaluated), then "done"; or "stuck", if
                     neither a higher degree nor halves are possible
    validated      : whether fresh points have been evaluated since
    ancestors      : errors of the boxes that this one is a part of, when they were halved, oldest first
    """

    node: BoxNode
    seed: int
    fitted: Rows = field(default_factory=NO_ROWS.copy)
    checks: Rows = field(default_factory=NO_ROWS.copy)
    level: int = FIRST_DEGREE
    errors: list[tuple[int, float]] = field(default_factory=list)
    stage: str = "fit"
    validated: bool = False
    ancestors: tuple[float, ...] = ()

    @property
    def box(self) -> Box:
        return self.node.box


def check_count(dimension: int) -> int:
    """Return the number of points held out in every box while its degree is raised."""
    return min(4 + 6 * dimension, 28)


def fit_leaves(leaves: Sequence[BoxNode], chosen: Polynomials, evaluated: Evaluated) -> None:
    """Fit all leaves of a grid to one design, in one batch; a leaf with invalid points gets no coefficients."""
    size = len(chosen.design)
    rows = evaluated.rows(np.vstack([leaf.box.from_unit(chosen.design) for leaf in leaves]))
    evaluated.fitted[rows] = True
    for n, leaf in enumerate(leaves):
        mine = rows[n * size : (n + 1) * size]
        valid = bool(evaluated.valid(mine).all())
        leaf.coefficients = chosen.coefficients(evaluated.known_samples.values[mine]) if valid else None
