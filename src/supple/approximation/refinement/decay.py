"""How fast a polynomial fit converges, and what it would cost to raise its degree or to halve its box.

Along axis i the coefficients fall like ρ_i^n, where z_i = (ρ_i + 1/ρ_i)/2 is how far from the centre of the box, in
half widths, the function ceases to be analytic (Bernstein's ellipse). Halving the box along i takes that point to
2z - 1 in the near half and to 2z + 1 in the far one, hence

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
    """The error at degree n is Σ_i error[i], in units of the tolerance, and falls by rate[i] with every degree."""

    degree: float
    error: Array
    rate: Array

    def at(self, degree: float) -> float:
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


def decay(
    coefficients: Array,
    indices: Indices,
    weight: Array,
    error: float,
    seen_rate: float | None,
    *,
    degree: float | None = None,
    share: Array | None = None,
) -> Decay:
    """From the coefficients (terms, t) of a fit whose error is known.

    weight    : (t,) what a unit of each output counts in the error, see `influence`
    seen_rate : by how much a degree has lowered the error lately. Coefficients promise too much, errors of sparse fits
                scatter: the mean rate is set to the geometric mean of both
    degree    : of the fit, if not its total degree
    share     : (s,) of each axis in the error, if not that of its last terms
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
    if seen_rate is not None:
        mean = float(np.sum(share * rate))
        rate = np.clip(rate * np.sqrt(np.clip(seen_rate, FASTEST, SLOWEST) / mean), FASTEST, SLOWEST)
    return Decay(int(indices.sum(axis=1).max()) if degree is None else degree, error * share, rate)


def left_out(used: Indices, coefficients: Array, wider: Indices, better: Array) -> Array:
    """Which share of an error halving along each axis would take off: (s,), 1 in all.

    used, coefficients : terms of a fit, and theirs (terms, t), weighed; wider, better : those of a better one. What
    they differ by is taken for the error; halving along i takes a term of it from c to about 2^-α_i c.
    """
    known = {tuple(term): row for term, row in zip(used.tolist(), coefficients, strict=True)}
    differ = np.array(
        [np.abs(row - known.get(tuple(term), 0.0)).max() for term, row in zip(wider.tolist(), better, strict=True)]
    )
    gained = (differ[:, None] * (1.0 - 0.5**wider)).sum(axis=0)
    return np.asarray(gained / max(float(gained.sum()), 1e-300))


def cost(expected: Decay, ladder: Sequence[tuple[float, int]], halvings: int) -> float:
    """The fewest samples that reach the tolerance: by a higher degree, or by up to so many halvings of each part.

    ladder : degrees, rising, and the number of samples each takes
    """
    alone = float("inf")
    for degree, samples in ladder:
        if expected.at(degree) <= 1.0:
            alone = samples
            break
    if halvings == 0 or alone <= 2 * ladder[0][1]:
        return alone
    near, far = expected.halved(int(np.argmax(expected.error)))
    halves = cost(near, ladder, halvings - 1)
    if halves < alone:
        halves += cost(far, ladder, halvings - 1)
    return min(alone, halves)
