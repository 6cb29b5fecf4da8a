"""References: what the coordinates shall do, as functions of time made from motions however they are given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.motion import Motion
from supple.diagnostics import InputError
from supple.diagnostics.arguments import is_list, real_numbers, require_arguments, value_text
from supple.formats.model_description import described
from supple.reduced.model import ReducedModel
from supple.reduction.model_trajectory import follows_path, model_trajectory
from supple.results.units import UNKNOWN
from supple.systems.protocols import system_of
from supple.time_functions.function_of_time import (
    DERIVATIVES,
    CalledFunction,
    FunctionOfTime,
    PiecewisePolynomial,
    Trajectory,
)
from supple.trajectories.trajectory import planned_motion, trajectory

Reference = PiecewisePolynomial
AnyReference = FunctionOfTime
Wanted = FunctionOfTime | Motion | Trajectory | str | Path | Callable[[float], Any]
"""A motion's name in the mechanism file, a CSV file, a Motion, a Trajectory, a reference, or t -> (θ, θ̇, θ̈)."""


def reference(motion: Any, of: Mechanism | ReducedModel | None = None, *, until: float | None = None) -> AnyReference:
    """A motion, however it is given, as a reference.

    motion : see `Wanted`, or a PlannedMotion; profiles within bounds become their own polynomials, exactly, tables
             the splines through them, tools' paths and sines quintics between a thousand instants
    of     : the mechanism or model whose coordinates it moves; a Trajectory or a Reference says so itself
    until  : s, of a callable: up to then it is turned into quintics 1 ms long; left out it is asked at every instant
    """
    require_arguments(reference, locals())
    names = None if of is None else system_of(of).rigid_coordinates
    motion = getattr(motion, "reference", motion)  # of a planned motion
    if isinstance(motion, FunctionOfTime):
        found: AnyReference = motion
    elif isinstance(motion, Trajectory):
        found = motion.function
    elif of is None or names is None:
        raise InputError(
            "it does not say which coordinates it moves", part="motion",
            hint="give the mechanism or the model too: reference(motion, mechanism)",
        )  # fmt: skip
    elif callable(motion):
        found = _called(motion, of, names, until)
    else:
        found = _planned(motion, of)
    if names is not None and found.coordinates != names:
        raise InputError(
            f"it moves {', '.join(found.coordinates)}, and the coordinates are {', '.join(names)}",
            part="motion", hint="make it for this mechanism",
        )  # fmt: skip
    return found


def finite_reference(
    motion: Any, model: ReducedModel | None, part: str = "motion", otherwise: str = "a callable motion has no end"
) -> Reference:
    """The same for a motion that must end: a callable, which does not, is refused."""
    found = reference(motion, model)
    if not isinstance(found, Reference):
        raise InputError(otherwise, part=part, hint="give reference(motion, model, until=...)")
    return found


def _called(motion: Callable[[float], Any], of: Any, names: tuple[str, ...], until: float | None) -> AnyReference:
    units = of.units if isinstance(of, ReducedModel) else UNKNOWN

    def called(times: Array) -> Array:
        rows = []
        for t in times:
            given = motion(float(t))
            if not is_list(given) or len(given) < DERIVATIVES - 1:
                raise InputError(
                    f"it gives {value_text(given)}", part="motion", hint="give a function of t with (θ, θ̇, θ̈)"
                )
            row = np.asarray(given)
            if row.dtype.kind not in "fi" or not np.isfinite(row).all():
                row = np.stack([real_numbers("motion", part) for part in given])  # says what is wrong
            rows.append(row)
        return np.array(rows, dtype=float)

    found = CalledFunction(names, called, units)
    first = found.at(0.0)
    if first.shape != (DERIVATIVES, len(names)) or not np.isfinite(first).all():
        raise InputError(
            f"a callable motion gives (θ, θ̇, θ̈) of {len(names)} coordinates each, all finite, not {motion(0.0)!r}",
            part="motion", hint="return three sequences in the order of the coordinates",
        )  # fmt: skip
    if until is None:
        return found
    times = np.linspace(0.0, until, max(2, round(until / 1e-3)) + 1)
    return Trajectory.of_derivatives(names, times, found.derivatives(times), units).function


def _planned(motion: Any, of: Mechanism | ReducedModel) -> Reference:
    mechanism = described(of) if isinstance(of, ReducedModel) else of
    course = model_trajectory(of, motion) if isinstance(of, ReducedModel) else trajectory(of, motion)
    function = planned_motion(mechanism, motion).function
    if not isinstance(function, Reference) or (isinstance(of, ReducedModel) and follows_path(of)):
        return course.function
    chosen = [function.coordinates.index(name) for name in course.coordinates]
    final = function.at(np.inf)[0, chosen]
    return Reference(course.coordinates, function.breaks, function.coefficients[..., chosen], course.units, final)
