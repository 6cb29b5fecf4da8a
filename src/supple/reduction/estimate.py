"""Estimate of the cost of a reduction, from samples on a few lines through the region.

Along a line, the Chebyshev coefficients of an analytic function fall like ρ⁻ᵏ. The remainder beyond degree n is the
error of a fit of that degree on the whole line; on a part 2ˡ times shorter it is about 2⁻ˡ⁽ⁿ⁺¹⁾ of that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.check_points import candidates
from supple.approximation.confidence import points_needed
from supple.approximation.evaluated import Derived, Sampler
from supple.approximation.fits.chebyshev_products import basis, basis_gradient, tensor, total_degree
from supple.approximation.fits.fits import FITS, Fit
from supple.approximation.fits.fits import fit as fit_polynomial
from supple.approximation.fits.scattered_fit import halton_points, samples_for
from supple.approximation.influence import influence
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.leaf import check_count
from supple.array_types import Array
from supple.compilation.patience import natively
from supple.results.text import Text, duration_text

_DECIDING = 4e-3  # s per sample or check that `auto` spends on decisions; 1.5 to 9 ms were measured
_LOOKS = 6  # evaluations of the candidates by `auto`, per box
_NODES = 9  # along a line
_DIAGONALS = 8  # at most
_DEGREES = range(2, 9)
_OFTEN = 5.0  # factor within which most estimates lie
_FALL, _SLOW = 3, 0.1  # from this degree to the last one, the remainder should fall to this fraction


class Estimate(NamedTuple):
    """Estimated cost of a reduction: boxes, samples to fit, check points, and the time (s) to compute and fit them.

    least, most : expected range of samples and checks together; most is None if it cannot be predicted
    doubt       : why it cannot be predicted
    budget      : samples and points at which refinement stops; None for a grid of boxes
    longest     : approximate time (s) for the whole budget and one set of checks
    """

    boxes: int
    samples: int
    checks: int
    seconds: float
    least: int
    most: int | None
    doubt: str = ""
    budget: int | None = None
    longest: float | None = None

    def data(self) -> dict[str, Any]:
        """Return the keys and values that `--json` prints."""
        return self._asdict()

    def text(self) -> Text:
        """Return the samples, the time and their uncertainty as text."""
        total = self.samples + self.checks
        out = Text(
            f"about {self.samples} samples and {self.checks} checks (boxes: {self.boxes}); estimated time "
            f"{duration_text(self.seconds)}"
        )
        if self.budget is not None and self.longest is not None:
            out.line(
                f"budget: {self.budget} samples and held-out points, plus the checks; at most about "
                f"{duration_text(self.longest)} (set with --budget)"
            )
        if self.most is None:
            out.line(f"the number is uncertain: {self.doubt}; at least {self.least}, possibly far more than {total}")
        elif self.most > self.least:
            times = [duration_text(self.seconds / total * count) for count in (self.least, self.most)]
            out.line(f"expected range: {self.least} to {self.most} samples and checks, {' to '.join(times)}")
        return out


class _Expected(NamedTuple):
    """Expected result for one box of the region: boxes it becomes, samples, checks, and the polynomial degree."""

    boxes: int
    samples: int
    checks: int
    degree: int


@natively()  # the estimated run is long enough to be compiled
def estimate(
    region: Sequence[Box],
    sampler: Sampler,
    derived: Derived,
    *,
    fit: str,
    boxes: Sequence[int] | None = None,
    degree: int | None = None,
    tolerance: float = 1e-3,
    checks: int | None = None,
    budget: int | None = None,
    doubt: str = "",
) -> Estimate:
    """Estimate the samples and the time of a reduction.

    The estimate is exact for a grid of boxes, and mostly good to a factor of four for a refinement.
    """
    chosen = FITS[fit]
    lines = [_lines(box) for box in region]
    s = region[0].dimension
    sampler(lines[0][:1].reshape(-1, s)[:2])  # loads the compiled kernels before the timing
    start = time.perf_counter()
    sampled = [sampler(points.reshape(-1, s)) for points in lines]
    each = (time.perf_counter() - start) / sum(len(item.valid) for item in sampled)
    parts: list[_Expected] = []
    doubts: dict[str, None] = {doubt: None} if doubt else {}
    for item in sampled:
        if boxes is not None:
            samples = chosen.grid_samples(boxes, degree)
            parts.append(_Expected(math.prod(boxes), samples, 0, chosen.choose_degree(degree)))
            continue
        shape = (-1, _NODES)
        ok = np.asarray(item.valid.reshape(shape).all(axis=1))
        judged = [family for name, family in item.families.items() if name not in item.relative]
        tails = [_tails(family.reshape(*shape, family.shape[1])[ok]) for family in judged]
        if item.relative and item.valid.any():  # errors of outputs weighted by their influence on the families
            counted = influence(derived, item, s).relative
            outputs = item.values.reshape(*shape, item.values.shape[1])[ok]
            tails += [_tails(outputs * weight, size=1.0) for weight in counted.values()]
        worst = np.max(tails, axis=0)
        doubts |= dict.fromkeys(_doubts(ok, worst, tolerance))
        parts.append(_tree(s, worst, chosen, degree, tolerance, len(item.families)))
    samples, held_out = sum(part.samples for part in parts), sum(part.checks for part in parts)
    final = points_needed(len(sampled[0].families)) if checks is None else checks
    width, known = sampled[0].values.shape[1], sampled[0].gradients
    slopes = 0 if known is None else known.shape[2]
    raised = chosen.raises_degree and boxes is None
    fitting = sum(_time_fit(s, part, width, slopes, None if raised else chosen) for part in parts)
    total = samples + held_out
    seconds = each * (total + final) + fitting
    whole = sum(part.boxes for part in parts)
    if boxes is not None:
        return Estimate(whole, samples, final, seconds, samples + final, samples + final)
    least, most = math.ceil(total / _OFTEN) + final, math.ceil(total * _OFTEN) + final
    longest = None if budget is None else (each + _DECIDING) * budget + each * final
    return Estimate(
        whole, samples, held_out + final, seconds, least, None if doubts else most, "; ".join(doubts), budget, longest
    )


def _doubts(ok: NDArray[np.bool_], tails: Array, tolerance: float) -> list[str]:
    """Return the reasons why samples on lines do not predict the refinement."""
    doubts = []
    if not ok.all():
        doubts.append(f"{np.count_nonzero(~ok)} of {len(ok)} lines leave the workspace of the mechanism")
    first, last = tails[_FALL], tails[-2]
    if last > tolerance and last > _SLOW * first:
        doubts.append(
            f"along a line the remainder beyond degree {_NODES - 2} is still {last:.1g}, of {first:.1g} beyond degree "
            f"{_FALL}: coefficients change faster than the samples resolve"
        )
    return doubts


def _time_fit(s: int, part: _Expected, outputs: int, slopes: int, fixed: Fit | None) -> float:
    """Estimate the time (s) for fits and error searches, by timing one of each.

    fixed : fit of every box, done once and judged at its own points; None: degrees are raised step by step with four
            trials each, and many candidates are evaluated when a box is done and at the end
    """
    if fixed is not None:
        kind = fixed.polynomials(s, part.degree)
        values = np.ones((len(kind.design), outputs))
        start = time.perf_counter()
        kind.coefficients(values)
        return 2.0 * part.boxes * (time.perf_counter() - start)
    indices = total_degree(s, part.degree)
    points = halton_points(s, samples_for(s, part.degree, slopes), seed=0)
    values = np.ones((len(points), outputs))
    gradients = np.zeros((len(points), outputs, slopes)) if slopes else None
    start = time.perf_counter()
    coefficients = fit_polynomial(points, values, indices, gradients)
    once = time.perf_counter() - start
    xi = candidates(s)
    start = time.perf_counter()
    np.einsum("nsk,kt->nts", basis_gradient(xi, indices), coefficients, optimize=True)
    look = time.perf_counter() - start
    trying = part.boxes * (4.0 * max(1, part.degree - 2) * once + _LOOKS * (once + 2.0 * look))
    return trying + _DECIDING * (part.samples + part.checks)


def _lines(box: Box) -> Array:
    """Return points on the axes, edges and diagonals of a box: (lines, nodes, s)."""
    s = box.dimension
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    signs = [np.array(item) for item in product((1.0,), *[(1.0, -1.0)] * (s - 1))] if s > 1 else []
    chosen = [signs[i] for i in np.linspace(0, len(signs) - 1, min(len(signs), _DIAGONALS)).astype(int)]
    directions = np.array([*np.eye(s), *chosen])
    lines = [np.outer(nodes, direction) for direction in directions]
    if s > 1:
        lines += [side * (1.0 - axis) + np.outer(nodes, axis) for side in (-1.0, 1.0) for axis in np.eye(s)]
    return np.array([box.from_unit(line) for line in lines])


def _tails(lines: Array, size: float | None = None) -> Array:
    """Return the sum of coefficients beyond each degree on the worst line, relative to `size`.

    size : default: the median norm of the family
    """
    if not len(lines):
        return np.ones(_NODES)
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    T = basis(nodes[:, None], tensor(1, _NODES - 1))
    coefficients = np.linalg.norm(np.linalg.solve(T, lines), axis=-1)  # (lines, degree)
    size = size or float(np.median(np.linalg.norm(lines, axis=-1))) or 1.0
    beyond = np.cumsum(coefficients[:, ::-1], axis=1)[:, ::-1] - coefficients
    return np.asarray(beyond.max(axis=0) / size)


def _tree(s: int, tails: Array, fit: Fit, degree: int | None, tolerance: float, families: int) -> _Expected:
    """Return the cheapest tree of equal boxes that meets the tolerance.

    Checks where degrees are raised: held-out points in each box, suspects for each family and a gap, fresh points, and
    two evaluations at the highest peaks. Otherwise: the points that each box lacks when half of them come from its
    parent, and fresh points.
    """
    highest = fit.choose_degree(degree)
    degrees = [n for n in _DEGREES if degree is None or n <= degree] if fit.raises_degree else []
    lowered = 1 if fit.structured else 0  # Γ and the force are gradients of the fitted functions
    best: _Expected | None = None
    for n in degrees or [highest]:
        tail = tails[min(max(n - lowered, 0), _NODES - 2)]
        levels = max(0, math.ceil(math.log2(max(tail / tolerance, 1e-300)) / (n + 1)))
        boxes = 2 ** (levels * s)
        if fit.raises_degree:
            each = boxes * samples_for(s, n, s)
            held = boxes * (check_count(s) + (families + 1) * (1 + s) // 2)
            checks = held + max(10 * (1 + s), each) // 2 + 2 * families * (1 + s)
        else:
            each = fit.grid_samples([2**levels] * s, n)
            checks = boxes * (check_count(s) // 2 + s + 1)
        if best is None or each < best.samples:
            best = _Expected(boxes, each, checks, n)
    assert best is not None
    return best
