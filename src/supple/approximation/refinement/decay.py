"""Convergence of a polynomial fit, and the cost of raising its degree or halving its box.

Along axis i the coefficients fall like ρ_i^n, where z_i = (ρ_i + 1/ρ_i)/2 is the distance from the centre of the box,
in half widths, at which the function ceases to be analytic (Bernstein's ellipse). Halving the box along i moves that
point to 2z - 1 in the near half and to 2z + 1 in the far one, hence

    e(n) = Σ_i C_i ρ_i^n,     ρ(z) = z - √(z² - 1),     z → 2z - 1 and 2z + 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.approximation.fits.chebyshev_products import Indices
from supple.array_types import Array

SLOWEST, FASTEST = 0.98, 0.02


@dataclass(frozen=True, eq=False)
class Decay:
    """Error Σ_i error[i] at a degree, in units of the tolerance, which falls by rate[i] with every degree."""

    degree: float
    error: Array
    rate: Array

    def at(self, degree: float) -> float:
        """Return the expected error at another degree."""
        return float(np.sum(self.error * self.rate ** (degree - self.degree)))

    def halve(self, axis: int) -> tuple[Decay, Decay]:
        """Return the halves of the box: the one nearer to the singularity of the function, and the other."""
        rho = self.rate[axis]
        z = 0.5 * (rho + 1.0 / rho)
        halves = []
        for moved in (2.0 * z - 1.0, 2.0 * z + 1.0):
            error, rate = self.error.copy(), self.rate.copy()
            rate[axis] = np.clip(moved - np.sqrt(moved * moved - 1.0), FASTEST, SLOWEST)
            error[axis] *= (rate[axis] / rho) ** self.degree
            halves.append(Decay(self.degree, error, rate))
        return halves[0], halves[1]


def decay(
    coefficients: Array,
    indices: Indices,
    weight: Array,
    error: float,
    recent_rate: float | None,
    *,
    degree: float | None = None,
    share: Array | None = None,
) -> Decay:
    """Return the decay from the coefficients (terms, t) of a fit whose error is known.

    weight      : (t,) weight of each output in the error, see `influence`
    recent_rate : recent ratio of the error per degree. Coefficients promise too much, and errors of sparse fits
                  scatter: the mean rate is set to the geometric mean of both
    degree      : of the fit; default: its total degree
    share       : (s,) share of each axis in the error; default: that of its last terms
    """
    size = np.abs(coefficients * weight).max(axis=1)
    tail, rate = np.zeros((2, indices.shape[1]))
    for i, along in enumerate(indices[: len(size)].T):
        n = int(along.max())
        profile = np.maximum([size[along == m].max(initial=0.0) for m in range(n + 1)], 1e-300)
        tail[i] = max(profile[n], profile[max(n - 1, 0)])
        step = 2 if n >= 3 else 1
        before = max(profile[max(n - step, 0)], profile[max(n - step - 1, 0)])
        rate[i] = (tail[i] / before) ** (1.0 / step)
    rate = np.clip(rate, FASTEST, SLOWEST)
    share = tail / tail.sum() if share is None else share
    if recent_rate is not None:
        mean = float(np.sum(share * rate))
        rate = np.clip(rate * np.sqrt(np.clip(recent_rate, FASTEST, SLOWEST) / mean), FASTEST, SLOWEST)
    return Decay(int(indices.sum(axis=1).max()) if degree is None else degree, error * share, rate)


def axis_shares(used: Indices, coefficients: Array, wider: Indices, better: Array) -> Array:
    """Return the share of an error that halving along each axis would remove: (s,), with sum 1.

    The difference to a better fit is taken for the error; halving along i reduces a term of it from c to about 2^-α_i
    c.

    used, coefficients : terms of a fit, and their weighted coefficients (terms, t)
    wider, better      : those of the better fit
    """
    known = {tuple(term): row for term, row in zip(used.tolist(), coefficients, strict=True)}
    differ = np.array(
        [np.abs(row - known.get(tuple(term), 0.0)).max() for term, row in zip(wider.tolist(), better, strict=True)]
    )
    gained = (differ[:, None] * (1.0 - 0.5**wider)).sum(axis=0)
    return np.asarray(gained / max(float(gained.sum()), 1e-300))


def cost(expected: Decay, ladder: Sequence[tuple[float, int]], halvings: int) -> float:
    """Return the fewest samples that reach the tolerance, by a higher degree or by up to so many halvings of each part.

    ladder : degrees, rising, and the number of samples for each
    """
    alone = float("inf")
    for degree, samples in ladder:
        if expected.at(degree) <= 1.0:
            alone = samples
            break
    if halvings == 0 or alone <= 2 * ladder[0][1]:
        return alone
    near, far = expected.halve(int(np.argmax(expected.error)))
    halves = cost(near, ladder, halvings - 1)
    if halves < alone:
        halves += cost(far, ladder, halvings - 1)
    return min(alone, halves)
