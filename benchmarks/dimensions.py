"""How samples grow with dimensions: a function of one to eight coordinates to 1 %, beside tensor and composite designs.

f = 3 + Σ sin(3 x_i + 0.3) + x_1 x_s cos(2 x_m): it bends along every coordinate and holds one product of three.
`supple` counts all evaluations, those that only check the error included, from values alone and with slopes. Beside it:
the papers' designs, quadratics on 2^s + 2s + 1 points and on 3^s points, with the error they reach on one box; and
Chebyshev grids of the degree that reaches 1 %, (n + 1)^s points. Errors are the largest found on fresh points, of the
larger of |f| and its median.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from supple.approximation.evaluated import Samples
from supple.approximation.fits.chebyshev_products import basis, one_dimensional, tensor, total_degree
from supple.approximation.fits.fits import central_composite, chebyshev_grid, fit
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive

Array = NDArray[np.float64]

TOLERANCE, FRESH = 1e-2, 2000
LARGEST_GRID = 400_000  # points that are evaluated; larger grids are only counted
MOST = 3**8  # evaluations allowed in eight dimensions


def function(x: Array) -> tuple[Array, Array]:
    """f (N, 1) and its slopes (N, 1, s) at x in [-1, 1]^s."""
    s = x.shape[1]
    first, middle, last = x[:, 0], x[:, s // 2], x[:, s - 1]
    slopes = 3.0 * np.cos(3.0 * x + 0.3)
    slopes[:, 0] += last * np.cos(2.0 * middle)
    slopes[:, s - 1] += first * np.cos(2.0 * middle)
    slopes[:, s // 2] -= 2.0 * first * last * np.sin(2.0 * middle)
    value = 3.0 + np.sin(3.0 * x + 0.3).sum(axis=1) + first * last * np.cos(2.0 * middle)
    return value[:, None], slopes[:, None]


def sampler(x: Array, *, slopes: bool) -> Samples:
    value, slope = function(x)
    return Samples(value, slope if slopes else None, {"f": value}, np.ones(len(x), dtype=bool))


def error(x: Array, fitted: Array) -> float:
    exact = function(x)[0]
    size = np.linalg.norm(exact, axis=1)
    return float((np.linalg.norm(fitted - exact, axis=1) / np.maximum(size, np.median(size))).max())


def of_supple(s: int, x: Array, slopes: bool) -> tuple[int, float, float, int]:
    """Evaluations, stated and found error, terms."""
    found = adaptive(
        [Box((-1.0,) * s, (1.0,) * s)], TOLERANCE, partial(sampler, slopes=slopes), lambda value, _: {"f": value}
    )
    terms = int(found.piecewise.arrays.leaves_i[:, 1].max())
    return found.samples + found.checks, found.worst, error(x, found.piecewise.evaluate(x)), terms


def of_composite(s: int, x: Array) -> tuple[int, float]:
    points, indices = central_composite(s), total_degree(s, 2)
    return len(points), error(x, basis(x, indices) @ fit(points, function(points)[0], indices))


def of_grid(s: int, degree: int, x: Array) -> tuple[int, float | None]:
    """Interpolation on (n + 1)^s points, one axis after the other."""
    count = (degree + 1) ** s
    if count > LARGEST_GRID:
        return count, None
    nodes = chebyshev_grid(1, degree)
    inverse = np.linalg.inv(basis(nodes, tensor(1, degree)))
    values = function(chebyshev_grid(s, degree))[0].reshape(*[degree + 1] * s, 1)
    for axis in range(s):
        values = np.moveaxis(np.tensordot(inverse, values, axes=(1, axis)), 0, axis)
    T = one_dimensional(x, degree)[0]
    found = np.empty((len(x), 1))
    for n in range(len(x)):
        left = values
        for axis in range(s):
            left = np.tensordot(T[:, n, axis], left, axes=(0, 0))
        found[n] = left
    return count, error(x, found)


def main(dimensions: Sequence[int]) -> None:
    print(f"to {TOLERANCE:.0%}; evaluations, largest error found on {FRESH} fresh points")
    print("        supple, values      with slopes      composite 2^s+2s+1    tensor 3^s     Chebyshev (n+1)^s")
    degree, start, last = 2, time.process_time(), (0, 0.0)
    for s in dimensions:
        x = np.random.default_rng(s).uniform(-1.0, 1.0, (FRESH, s))
        alone, stated, found, terms = of_supple(s, x, slopes=False)
        with_slopes, _, also, _ = of_supple(s, x, slopes=True)
        composite, rough = of_composite(s, x)
        _, cubes = of_grid(s, 2, x[:200])
        size, reached = of_grid(s, degree, x[:200])
        while reached is not None and reached > TOLERANCE:
            degree += 1
            size, reached = of_grid(s, degree, x[:200])
        told = f"{size} (n = {degree}), {reached:.2%}" if reached is not None else f"{size} (n = {degree}), not run"
        print(f"  s = {s}  {alone:5d}, {found:.2%} ({terms:3d} terms)  {with_slopes:5d}, {also:.2%}"
              f"   {composite:6d}, {rough:.0%}   {3**s:8d}, {cubes:.0%}   {told}")  # fmt: skip
        assert max(stated, found) <= TOLERANCE, f"{stated:.2%} stated and {found:.2%} found in {s} dimensions"
        last = alone, time.process_time() - start
    assert last[0] < MOST, f"{last[0]} evaluations in {dimensions[-1]} dimensions"
    print(f"{last[1]:.0f} s of processor")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimensions", type=int, nargs="+", default=range(1, 9), help="all from 1 to 8 if left out")
    main(parser.parse_args().dimensions)
