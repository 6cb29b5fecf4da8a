"""Approximation to a tolerance: boxes are divided, and degrees raised, where the error asks for it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from supple.approximation.approximation import Approximation, Report, checked_region, conclude
from supple.approximation.evaluated import Evaluated
from supple.approximation.fits.polynomial_kinds import kind
from supple.approximation.refinement.bisection import bisect
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest
from supple.approximation.refinement.conforming import conform
from supple.approximation.refinement.hp_refinement import Refinement
from supple.approximation.samples import Derived, Sampler
from supple.approximation.validity import Limits
from supple.diagnostics import InputError, SuppleWarning, nearest

KINDS = ("auto", "quadratic", "lagrange", "chebyshev")


def adaptive(
    region: Sequence[Box],
    tolerance: float,
    sampler: Sampler,
    derived: Derived,
    *,
    fit: str = "auto",
    degree: int | None = None,
    largest_samples: int = 100_000,
    shortest: float = 1 / 64,
    continuous: bool = False,
    seed: int = 0,
    floors: Mapping[str, float] | None = None,
    progress: Report | None = None,
) -> Approximation:
    """Approximate until the error of every family is below `tolerance`.

    fit             : quadratic, lagrange or chebyshev: that kind on every box, bisected along the axis that pays most
                      [Brüls 2007, algorithm 1]; auto: a box is bisected or its degree raised, whichever is
                      expected to take fewer evaluations of the function
    degree          : of chebyshev (4 if left out); the highest that auto may use
    largest_samples : evaluations after which refinement stops, with a warning and the error reached
    shortest        : width, relative to the region's, below which a box with points where the function does not exist
                      is left out
    floors          : norms of families below which errors are not measured against them, but against the floor
    continuous      : the result is continuous across faces; boxes are then the cells of one grid
    """
    boxes = checked_region(region)
    if not tolerance > 0.0:
        raise InputError(f"the tolerance is {tolerance:g}", hint="give a positive one, such as 1e-3")
    if fit not in KINDS:
        raise InputError(f'there is no fit "{fit}"', hint=nearest(fit, KINDS))
    if continuous and fit == "quadratic":
        raise InputError("quadratic fits are not continuous across faces", hint='take "lagrange" or "auto"')
    if degree is not None and degree < 1:
        raise InputError(f"a degree of {degree} is too low", hint="give 1 or more")
    evaluated = Evaluated(sampler, boxes[0].dimension, floors)
    limits = Limits(largest_samples, shortest)
    forest: Forest
    if continuous:
        forest = conform(boxes, evaluated, derived, tolerance, limits, fit, degree, seed, progress)
    elif fit == "auto":
        forest = Refinement(boxes, evaluated, derived, tolerance, limits, degree, seed, progress).run()
    else:
        chosen = kind(fit, boxes[0].dimension, 4 if degree is None else degree)
        forest = bisect(boxes, evaluated, derived, tolerance, limits, chosen, seed, progress)
    result = conclude(boxes, forest, evaluated, derived)
    if result.worst > tolerance:
        name = max(result.error, key=lambda item: result.error[item].worst)
        advice = "allow more samples, a higher degree or a smaller region"
        if result.stagnant is not None:
            where = ", ".join(f"{value:.4g}" for value in result.stagnant.center)
            advice = f"dividing boxes does not lower it any more near ({where}): the function jumps there, or nearly so"
        warnings.warn(
            f'family "{name}" is approximated to {result.worst:.2g} only, not {tolerance:g}, after {len(evaluated)} '
            f"evaluations; {advice}",
            SuppleWarning,
            stacklevel=2,
        )
    return result
