"""Approximation to a tolerance: boxes are divided, and degrees raised, where the error asks for it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from supple.approximation.approximation import Approximation, Report, checked_region, conclude
from supple.approximation.confidence import Confirmation
from supple.approximation.evaluated import Evaluated
from supple.approximation.fits.fits import FITS
from supple.approximation.refinement.bisection import bisect
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.conforming import conform
from supple.approximation.refinement.hp_refinement import Refinement
from supple.approximation.refinement.problem import AIM, Problem
from supple.approximation.samples import Derived, Placed, Sampler
from supple.approximation.validity import Limits
from supple.diagnostics import InputError, SuppleWarning


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
    placed: Placed | None = None,
    confirmation: Confirmation | None = None,
) -> Approximation:
    """Approximate until the error of every family is below `tolerance`.

    fit             : name of one of `FITS`: its polynomials on every box, bisected along the axis that pays most
                      [Brüls 2007, algorithm 1]; of one that raises its degree, a box is bisected or its degree
                      raised, whichever is expected to take fewer evaluations of the function
    degree          : of the polynomials; the highest of those that are raised
    largest_samples : evaluations after which refinement stops, with a warning and the error reached
    shortest        : width, relative to the region's, below which a box with points where the function does not exist
                      is left out
    floors          : norms of families below which errors are not measured against them, but against the floor
    placed          : where points that a fit asks for are moved to, not far, if some are cheaper than others; for fits
                      that raise their degree, which take points as they come
    confirmation    : fresh points on which the result is checked, and its error stated, see `confidence`; without, the
                      error is stated over all points that were evaluated
    continuous      : the result is continuous across faces; boxes are then the cells of one grid
    """
    boxes = checked_region(region)
    if not tolerance > 0.0:
        raise InputError(f"the tolerance is {tolerance:g}", hint="give a positive one, such as 1e-3")
    chosen = FITS[fit]
    chosen.settled(degree)
    limits = Limits(largest_samples, shortest)
    free = chosen.raises_degree and not continuous
    evaluated = Evaluated(sampler, boxes[0].dimension, floors, placed if free else None)
    wanted = tolerance if confirmation is None else tolerance / AIM
    problem = Problem(boxes, evaluated, derived, wanted, limits, seed, progress, confirmation)
    if continuous:
        forest = conform(problem, chosen, degree)
    elif chosen.raises_degree:
        forest = Refinement(problem, degree).run()
    else:
        forest = bisect(problem, chosen.polynomials(problem.dimension, degree))
    result = conclude(boxes, forest, evaluated, derived, confirmation)
    if result.worst > tolerance:
        name = max(result.error, key=lambda item: result.error[item].worst)
        warnings.warn(
            f'family "{name}" is approximated to {result.worst:.2g} only, not {tolerance:g}, after {len(evaluated)} '
            f"evaluations; {_advice(result, name, largest_samples)}",
            SuppleWarning,
            stacklevel=2,
        )
    return result


def _advice(result: Approximation, name: str, budget: int) -> str:
    """Why the tolerance is missed, and what to do about it."""
    place = ", ".join(f"{value:.4g}" for value in result.error[name].at)
    if result.stagnant is not None:
        where = ", ".join(f"{value:.4g}" for value in result.stagnant.center)
        return f"dividing boxes does not lower it any more near ({where}): the function jumps there, or is singular"
    if result.needed:
        why = f"at this rate it would take about {result.needed:.1g}, and refinement ended early"
    else:
        why = f"the budget is {budget}"
    return f"{why}. The error is largest at ({place}): allow a larger error, a smaller region or a larger budget"
