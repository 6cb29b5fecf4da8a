"""A fit: where a box is sampled and which polynomials it carries, as one record.

Polynomials are sums of products T_α(ξ) = Π_i T_{α_i}(ξ_i) of Chebyshev polynomials. Kernels, files and exported code
know no others, and every polynomial is one. A fit chooses the points and the α; who divides boxes, judges errors,
saves and exports asks the record and never its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from supple.approximation.fits.multi_index import Indices
from supple.approximation.fits.polynomials import Polynomials
from supple.array_types import Array
from supple.diagnostics import InputError

DEGREES = range(1, 21)


@dataclass(frozen=True)
class Fit:
    """How a function is fitted on a box [-1, 1]^s, by least squares of its values.

    name       : as in `reduce(mechanism, fit=name)`
    says       : what it is, one line of help
    design     : of s and a degree, the points (N, s), at least as many as there are terms
    indices    : of s and a degree, the α (terms, s), by rising degree
    degree     : where none is asked for
    degrees    : those that may be asked for
    structured : M and the potential are fitted, Γ and the force follow from them; otherwise each by itself
    continuous : polynomials of two boxes agree on a face where they agree at its points
    raises_degree : refinement chooses a total degree box by box, up to the one asked for, and fits it to scattered
                 points, with gradients where they are known; design and indices are then those of a grid of boxes
    """

    name: str
    says: str
    design: Callable[[int, int], Array]
    indices: Callable[[int, int], Indices]
    degree: int
    degrees: range
    structured: bool = False
    continuous: bool = False
    raises_degree: bool = False

    def settled(self, degree: int | None) -> int:
        """The degree asked for, or the fit's own."""
        if degree is None:
            return self.degree
        if degree not in self.degrees:
            first, last = self.degrees[0], self.degrees[-1]
            words = f"has degree {first}" if first == last else f"takes a degree from {first} to {last}"
            raise InputError(
                f"a {self.name} fit {words}, not {degree}", part="degree", hint="leave it out, or another fit"
            )
        return degree

    def polynomials(self, dimension: int, degree: int | None = None) -> Polynomials:
        """On boxes of this dimension."""
        n = self.settled(degree)
        return Polynomials(self.design(dimension, n), self.indices(dimension, n), n)

    def grid_samples(self, counts: Sequence[int], degree: int | None = None) -> int:
        """Distinct points of counts[i] boxes along axis i: neighbours share a point on a face that both have."""
        design = np.unique(self.polynomials(len(counts), degree).design, axis=0)
        points = {point.tobytes() for point in design + 0.0}  # 0.0 and -0.0 are one place
        total = 0
        for point in design:
            cells = 1
            for axis, count in enumerate(counts):
                across = point + 0.0
                across[axis] = -1.0
                cells *= 1 if point[axis] == 1.0 and across.tobytes() in points else count
            total += cells
        return total
