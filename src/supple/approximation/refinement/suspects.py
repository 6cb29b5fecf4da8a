"""Points at which a fit is suspected to be worst, before the function is asked there.

A fit of higher degree to all that is known in a box stands in for the function: where the two differ most, the error
is expected to be largest. Evaluated there, the function either confirms it, or the better fit learns from it; done
again and again, this climbs to the largest errors with a few evaluations each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.approximation.check_points import candidates, cloud, peaks
from supple.approximation.evaluated import Evaluated, Rows
from supple.approximation.fit_error import point_errors
from supple.approximation.fits.multi_index import Indices, count, total_degree
from supple.approximation.fits.scattered_fit import LEAST_OVERSAMPLING, fit_rows, fitted_families, leverage
from supple.approximation.refinement.box_tree import Node
from supple.approximation.refinement.leaf import Leaf
from supple.approximation.samples import Derived

Array = NDArray[np.float64]

_HIGHER = 3  # degrees by which the better fit may exceed the highest
_SEARCHED = 64  # boxes, those that look worst, searched for the largest errors


@dataclass(frozen=True, eq=False)
class Suspicion:
    """What is needed to suspect a fit.

    indices : of its terms; highest : degree
    """

    evaluated: Evaluated
    derived: Derived
    indices: Indices
    highest: int

    @property
    def _dimension(self) -> int:
        return self.indices.shape[1]

    def of_leaf(self, leaf: Leaf, medians: dict[str, float]) -> Array:
        """Points ξ where the fit is expected to be worst, for each family, and the widest gaps between its samples."""
        xi = candidates(self._dimension)
        assert leaf.node.coefficients is not None
        each = 1 + self._dimension
        expected = self.errors(leaf.node, np.union1d(leaf.fitted, leaf.checks), xi, medians)
        loose = leverage(leaf.box, leaf.fitted, self.evaluated, self.indices[: len(leaf.node.coefficients)], xi)
        return np.vstack([peaks(xi, height, each) for height in [*expected.values(), loose]])

    def of_all(self, nodes: list[Node], worst: Array, rows_of: list[Rows], medians: dict[str, float]) -> Array:
        """The highest expected peaks of each family over all boxes: (N, s).

        worst : (boxes,) errors so far; rows_of : known points of each box
        """
        xi = candidates(self._dimension)
        places: dict[str, list[tuple[float, Array]]] = {name: [] for name in medians}
        for n in np.argsort(-worst, kind="stable")[:_SEARCHED]:
            coarse = self.errors(nodes[n], rows_of[n], xi, medians)
            fine = np.vstack([cloud(peaks(xi, height, 3)) for height in coarse.values()])
            for name, height in self.errors(nodes[n], rows_of[n], fine, medians).items():
                for point in peaks(fine, height, 3):
                    high = float(height[(fine == point).all(axis=1)].max())
                    places[name].append((high, nodes[n].box.from_unit(point)))
        each = 2 * (1 + self._dimension)
        ordered = (sorted(peaks_of, key=lambda item: -item[0])[:each] for peaks_of in places.values())
        return np.array([point for peaks_of in ordered for _, point in peaks_of]).reshape(-1, self._dimension)

    def errors(self, node: Node, rows: Rows, xi: Array, medians: dict[str, float]) -> dict[str, Array]:
        """Errors of a fit at points ξ, as a fit of higher degree to the known points `rows` sees them."""
        assert node.coefficients is not None
        s = self._dimension
        equations = len(rows) * (1 + self.evaluated.slopes)
        degrees = range(self.highest + _HIGHER + 1)
        degree = max(n for n in degrees if n == 0 or LEAST_OVERSAMPLING * count(s, n) <= equations)
        indices = total_degree(s, degree)
        better = fit_rows(node.box, rows, self.evaluated, indices)
        exact = fitted_families(node.box, xi, better, indices, self.derived)
        fitted = fitted_families(node.box, xi, node.coefficients, self.indices, self.derived)
        return point_errors(exact, fitted, medians)
