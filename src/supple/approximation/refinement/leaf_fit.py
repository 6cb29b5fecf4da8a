"""Leaves of a grid, each fitted to its design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.approximation.evaluated import Evaluated
from supple.approximation.fits.polynomials import Polynomials
from supple.approximation.refinement.box_tree import BoxNode


def fit_leaves(leaves: Sequence[BoxNode], chosen: Polynomials, evaluated: Evaluated) -> None:
    """Fit every leaf to its design, all points in one batch; a leaf with invalid points gets no coefficients."""
    size = len(chosen.design)
    rows = evaluated.rows(np.vstack([leaf.box.from_unit(chosen.design) for leaf in leaves]))
    evaluated.fitted[rows] = True
    for n, leaf in enumerate(leaves):
        mine = rows[n * size : (n + 1) * size]
        valid = bool(evaluated.valid(mine).all())
        leaf.coefficients = chosen.coefficients(evaluated.known.values[mine]) if valid else None
