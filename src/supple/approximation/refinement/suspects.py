"""Points at which a fit is suspected to be worst, before the function is asked there.

A fit of higher degree to all that is known in a box stands in for the function: where the two differ most, the error
is expected to be largest. Evaluated there, the function either confirms it, or the better fit learns from it; done
again and again, this climbs to the largest errors with a few evaluations each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.approximation.check_points import candidates, cloud, peaks
from supple.approximation.evaluated import Evaluated, Rows
from supple.approximation.fit_error import point_errors
from supple.approximation.fits.multi_index import Indices
from supple.approximation.fits.scattered_fit import fit_rows, fitted_families, leverage
from supple.approximation.refinement.bases import Bases, Weight
from supple.approximation.refinement.box_tree import Node
from supple.approximation.refinement.leaf import Leaf
from supple.approximation.samples import Derived
from supple.array_types import Array

_SEARCHED = 64  # boxes, those that look worst, searched for the largest errors


class Better(NamedTuple):
    """Coefficients (terms, t) of a fit that stands in for the function, and its terms (terms, s)."""

    coefficients: Array
    indices: Indices


@dataclass(frozen=True, eq=False)
class Suspicion:
    """What is needed to suspect a fit.

    bases : the polynomials that are fitted
    """

    evaluated: Evaluated
    derived: Derived
    bases: Bases

    @property
    def _dimension(self) -> int:
        return self.bases.indices.shape[1]

    def of_leaf(self, leaf: Leaf, medians: dict[str, float], weight: Weight) -> Array:
        """Points ξ where the fit is expected to be worst, for each family, and the widest gaps between its samples."""
        xi = candidates(self._dimension)
        each = 1 + self._dimension
        better = self.better(leaf.node, np.union1d(leaf.fitted, leaf.checks), weight)
        expected = self.errors(leaf.node, better, xi, medians)
        loose = leverage(leaf.box, leaf.fitted, self.evaluated, leaf.node.terms(self.bases.indices), xi)
        return np.vstack([peaks(xi, height, each) for height in [*expected.values(), loose]])

    def of_all(
        self, nodes: list[Node], worst: Array, rows_of: list[Rows], medians: dict[str, float], weight: Weight
    ) -> Array:
        """The highest expected peaks of each family over all boxes: (N, s).

        worst : (boxes,) errors so far; rows_of : known points of each box
        """
        xi = candidates(self._dimension)
        places: dict[str, list[tuple[float, Array]]] = {name: [] for name in medians}
        for n in np.argsort(-worst, kind="stable")[:_SEARCHED]:
            better = self.better(nodes[n], rows_of[n], weight)
            coarse = self.errors(nodes[n], better, xi, medians)
            fine = np.vstack([cloud(peaks(xi, height, 3)) for height in coarse.values()])
            for name, height in self.errors(nodes[n], better, fine, medians).items():
                for point in peaks(fine, height, 3):
                    high = float(height[(fine == point).all(axis=1)].max())
                    places[name].append((high, nodes[n].box.from_unit(point)))
        each = 2 * (1 + self._dimension)
        ordered = (sorted(peaks_of, key=lambda item: -item[0])[:each] for peaks_of in places.values())
        return np.array([point for peaks_of in ordered for _, point in peaks_of]).reshape(-1, self._dimension)

    def better(self, node: Node, rows: Rows, weight: Weight) -> Better:
        """A larger polynomial than that of a node, fitted to all known points `rows` of its box."""
        indices = self.bases.better(node, rows, self.evaluated, weight)
        return Better(fit_rows(node.box, rows, self.evaluated, indices), indices)

    def errors(self, node: Node, better: Better, xi: Array, medians: dict[str, float]) -> dict[str, Array]:
        """Errors of a fit at points ξ, as a better one sees them."""
        assert node.coefficients is not None
        exact = fitted_families(node.box, xi, better.coefficients, better.indices, self.derived)
        fitted = fitted_families(node.box, xi, node.coefficients, node.terms(self.bases.indices), self.derived)
        return point_errors(exact, fitted, medians)
