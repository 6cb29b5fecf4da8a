"""How much a reduction will cost, from samples on a few lines through the region.

Along a line an analytic function has Chebyshev coefficients that fall like ρ⁻ᵏ. What remains beyond degree n is the
error of a fit of that degree on the whole line, and on a part 2ˡ times shorter about 2⁻ˡ⁽ⁿ⁺¹⁾ of it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.box import Box
from supple.approximation.chebyshev import basis
from supple.approximation.multi_index import tensor
from supple.approximation.samples import Sampler
from supple.approximation.scattered_fit import samples_for

Array = NDArray[np.float64]

_NODES = 9  # along a line
_DIAGONALS = 8  # at most
_DEGREES = range(2, 9)


class Estimate(NamedTuple):
    """What to expect: boxes, samples to fit, and s to compute them and as many checks on this machine."""

    boxes: int
    samples: int
    seconds: float


def estimate(
    region: Sequence[Box],
    sampler: Sampler,
    *,
    fit: str,
    boxes: Sequence[int] | None = None,
    degree: int | None = None,
    tolerance: float = 1e-3,
) -> Estimate:
    """Samples and time of a reduction, good to a factor of two or three where refinement decides, exact otherwise."""
    total_boxes = samples = 0
    lines = [_lines(box) for box in region]
    sampler(lines[0][:1].reshape(-1, region[0].dimension)[:2])  # reading compiled kernels does not count
    start = time.perf_counter()
    found = [sampler(points.reshape(-1, box.dimension)) for points, box in zip(lines, region, strict=True)]
    each = (time.perf_counter() - start) / sum(len(item.valid) for item in found)
    for box, item in zip(region, found, strict=True):
        if boxes is not None:
            one, these = math.prod(boxes), grid_samples(boxes, fit, degree)
        else:
            shape = (-1, _NODES)
            ok = item.valid.reshape(shape).all(axis=1)
            tails = np.max([_tails(f.reshape(*shape, f.shape[1])[ok]) for f in item.families.values()], axis=0)
            one, these = _tree(box.dimension, tails, fit, degree, tolerance)
        total_boxes, samples = total_boxes + one, samples + these
    return Estimate(total_boxes, samples, 2.0 * each * samples)


def _lines(box: Box) -> Array:
    """Points on the axes, on edges and on diagonals of a box: (lines, nodes, s)."""
    s = box.dimension
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    signs = [np.array(item) for item in product((1.0,), *[(1.0, -1.0)] * (s - 1))] if s > 1 else []
    chosen = [signs[i] for i in np.linspace(0, len(signs) - 1, min(len(signs), _DIAGONALS)).astype(int)]
    directions = np.array([*np.eye(s), *chosen])
    lines = [np.outer(nodes, direction) for direction in directions]
    if s > 1:
        lines += [side * (1.0 - axis) + np.outer(nodes, axis) for side in (-1.0, 1.0) for axis in np.eye(s)]
    return np.array([box.from_unit(line) for line in lines])


def _tails(lines: Array) -> Array:
    """Sum of the coefficients beyond degree n, of the family's size: the worst line, (degrees,)."""
    if not len(lines):
        return np.ones(_NODES)
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    T = basis(nodes[:, None], tensor(1, _NODES - 1))
    coefficients = np.linalg.norm(np.linalg.solve(T, lines), axis=-1)  # (lines, degree)
    size = np.median(np.linalg.norm(lines, axis=-1)) or 1.0
    beyond = np.cumsum(coefficients[:, ::-1], axis=1)[:, ::-1] - coefficients
    return np.asarray(beyond.max(axis=0) / size)


def _tree(s: int, tails: Array, fit: str, degree: int | None, tolerance: float) -> tuple[int, int]:
    """Boxes and samples of the cheapest tree of equal boxes that meets the tolerance."""
    fixed = degree if degree is not None else 2 if fit in ("quadratic", "lagrange") else None
    best = None
    for n in [fixed] if fixed is not None else _DEGREES:
        lost = 0 if fixed is not None else 1  # Γ and the force are gradients of what auto fits
        tail = tails[min(n - lost, _NODES - 2)]
        levels = max(0, math.ceil(math.log2(max(tail / tolerance, 1e-300)) / (n + 1)))
        boxes = 2 ** (levels * s)
        each = grid_samples([2**levels] * s, fit, n) if fixed is not None else boxes * samples_for(s, n, gradients=True)
        if best is None or each < best[1]:
            best = (boxes, each)
    assert best is not None
    return best


def grid_samples(counts: Sequence[int], fit: str, degree: int | None) -> int:
    """Distinct points of a grid of boxes; neighbours share those on their faces."""
    cells = math.prod(counts)
    if fit == "quadratic":  # corners, centres of faces, centres
        faces = sum((n + 1) * cells // n for n in counts)
        return math.prod(n + 1 for n in counts) + (faces if len(counts) > 1 else 0) + cells
    return math.prod((2 if fit == "lagrange" else degree or 4) * n + 1 for n in counts)
