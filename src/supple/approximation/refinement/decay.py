"""How fast a polynomial fit converges, and what it would cost to raise its degree or to halve its box.

Along axis i the coefficients fall like ρ_i^n, where z_i = (ρ_i + 1/ρ_i)/2 is how far from the centre of the box, in
half widths, the function ceases to be analytic (Bernstein's ellipse). Halving the box along i takes that point to
2z - 1 in the near half and to 2z + 1 in the far one, hence

    e(n) = Σ_i C_i ρ_i^n,     ρ(z) = z - √(z² - 1),     z → 2z - 1 and 2z + 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fits.multi_index import Indices

Array = NDArray[np.float64]

SLOWEST, FASTEST = 0.98, 0.02


@dataclass(frozen=True, eq=False)
class Decay:
    """The error at degree n is Σ_i error[i], in units of the tolerance, and falls by rate[i] with every degree."""

    degree: int
    error: Array
    rate: Array

    def at(self, degree: int) -> float:
        """Expected error at another degree."""
        return float(np.sum(self.error * self.rate ** (degree - self.degree)))

    def halved(self, axis: int) -> tuple[Decay, Decay]:
        """The halves of the box: the one nearer to where the function ceases to be analytic, and the other."""
        rho = self.rate[axis]
        z = 0.5 * (rho + 1.0 / rho)
        halves = []
        for moved in (2.0 * z - 1.0, 2.0 * z + 1.0):
            error, rate = self.error.copy(), self.rate.copy()
            rate[axis] = np.clip(moved - np.sqrt(moved * moved - 1.0), FASTEST, SLOWEST)
            error[axis] *= (rate[axis] / rho) ** self.degree
            halves.append(Decay(self.degree, error, rate))
        return halves[0], halves[1]


def decay(coefficients: Array, indices: Indices, weight: Array, error: float, seen_rate: float | None) -> Decay:
    """From the coefficients (terms, t) of a fit whose error is known.

    weight    : (t,) what a unit of each output counts in the error, see `influence`
    seen_rate : by how much a degree has lowered the error lately. Coefficients promise too much, errors of sparse fits
                scatter: the mean rate is set to the geometric mean of both
    """
    n = int(indices.sum(axis=1).max())
    size = np.abs(coefficients * weight).max(axis=1)
    profile = np.array(
        [[size[indices[: len(size), i] == m].max(initial=0.0) for m in range(n + 1)] for i in range(indices.shape[1])]
    )
    profile = np.maximum(profile, 1e-300)
    tail = np.maximum(profile[:, n], profile[:, max(n - 1, 0)])
    step = 2 if n >= 3 else 1
    before = np.maximum(profile[:, max(n - step, 0)], profile[:, max(n - step - 1, 0)])
    rate = np.clip((tail / before) ** (1.0 / step), FASTEST, SLOWEST)
    share = tail / tail.sum()
    if seen_rate is not None:
        mean = float(np.sum(share * rate))
        rate = np.clip(rate * np.sqrt(np.clip(seen_rate, FASTEST, SLOWEST) / mean), FASTEST, SLOWEST)
    return Decay(n, error * share, rate)


def cost(expected: Decay, samples: Callable[[int], int], highest: int, halvings: int) -> float:
    """The fewest samples that reach the tolerance: by a higher degree, or by up to so many halvings of each part.

    samples : number of samples a degree takes
    """
    alone = float("inf")
    for n in range(2, highest + 1):
        if expected.at(n) <= 1.0:
            alone = samples(n)
            break
    if halvings == 0 or alone <= 2 * samples(2):
        return alone
    near, far = expected.halved(int(np.argmax(expected.error)))
    halves = cost(near, samples, highest, halvings - 1)
    if halves < alone:
        halves += cost(far, samples, highest, halvings - 1)
    return min(alone, halves)
