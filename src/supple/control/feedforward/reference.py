"""Reference motions of coordinates, as functions of time made from any description of a motion."""

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
from supple.formats.model_description import restore_mechanism
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
"""Motion: a name in the mechanism file, a CSV file, a Motion, a Trajectory, a reference, or t -> (θ, θ̇, θ̈)."""


def reference(motion: Any, of: Mechanism | ReducedModel | None = None, *, until: float | None = None) -> AnyReference:
    """Convert a motion to a reference, a function of time with derivatives.

    Parameters
    ----------
    motion : str, Motion, Trajectory, path, callable, Reference or PlannedMotion
        Motion: a name in the mechanism file, a CSV file, a function t -> (θ, θ̇, θ̈), or a motion object.

        Profiles within bounds are converted to their exact polynomials, tables to the splines through them. Tool paths
        and sines become quintic polynomials between a thousand samples.
    of : Mechanism or ReducedModel, optional
        Mechanism or model whose coordinates move. Not needed for a Trajectory or a Reference.
    until : float, optional
        End time of a callable, s. Default: it is evaluated at every instant, without an end.

        With an end, it is converted to quintic polynomials of 1 ms.

    Returns
    -------
    Reference or CalledFunction
        Reference with `at(t)` -> (θ, θ̇, θ̈, θ⃛) and `coordinates`.

    Raises
    ------
    InputError
        If the mechanism is missing, the coordinates do not fit, or a callable returns something else.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> arm = supple.load("two-link")
    >>> motion = control.reference(lambda t: ([t, 0.0], [1.0, 0.0], [0.0, 0.0]), arm, until=1.0)
    >>> motion.coordinates
    ('shoulder', 'elbow')
    >>> motion.at(0.5)[0].round(3).tolist()
    [0.5, 0.0]
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
            "the coordinates of the motion are not known", part="motion",
            hint="give the mechanism or the model too: reference(motion, mechanism)",
        )  # fmt: skip
    elif callable(motion):
        found = _wrap_callable(motion, of, names, until)
    else:
        found = _plan_reference(motion, of)
    if names is not None and found.coordinates != names:
        raise InputError(
            f"the motion is of {', '.join(found.coordinates)}, but the coordinates are {', '.join(names)}",
            part="motion", hint="create it for this mechanism",
        )  # fmt: skip
    return found


def finite_reference(
    motion: Any, model: ReducedModel | None, part: str = "motion", otherwise: str = "a callable motion has no end"
) -> Reference:
    """Return a motion as a reference; refuse one without an end, such as a callable."""
    found = reference(motion, model)
    if not isinstance(found, Reference):
        raise InputError(otherwise, part=part, hint="give reference(motion, model, until=...)")
    return found


def _wrap_callable(
    motion: Callable[[float], Any], of: Any, names: tuple[str, ...], until: float | None
) -> AnyReference:
    units = of.units if isinstance(of, ReducedModel) else UNKNOWN

    def evaluate(times: Array) -> Array:
        rows = []
        for t in times:
            given = motion(float(t))
            if not is_list(given) or len(given) < DERIVATIVES - 1:
                raise InputError(
                    f"the callable returns {value_text(given)}", part="motion", hint="return (θ, θ̇, θ̈) at t"
                )
            row = np.asarray(given)
            if row.dtype.kind not in "fi" or not np.isfinite(row).all():
                row = np.stack([real_numbers("motion", part) for part in given])  # raises the error
            rows.append(row)
        return np.array(rows, dtype=float)

    found = CalledFunction(names, evaluate, units)
    first = found.at(0.0)
    if first.shape != (DERIVATIVES, len(names)) or not np.isfinite(first).all():
        raise InputError(
            f"the callable must return (θ, θ̇, θ̈), finite and of {len(names)} coordinates each (got {motion(0.0)!r})",
            part="motion", hint="return three sequences in the order of the coordinates",
        )  # fmt: skip
    if until is None:
        return found
    times = np.linspace(0.0, until, max(2, round(until / 1e-3)) + 1)
    return Trajectory.of_derivatives(names, times, found.derivatives(times), units).function


def _plan_reference(motion: Any, of: Mechanism | ReducedModel) -> Reference:
    mechanism = restore_mechanism(of) if isinstance(of, ReducedModel) else of
    course = model_trajectory(of, motion) if isinstance(of, ReducedModel) else trajectory(of, motion)
    function = planned_motion(mechanism, motion).function
    if not isinstance(function, Reference) or (isinstance(of, ReducedModel) and follows_path(of)):
        return course.function
    chosen = [function.coordinates.index(name) for name in course.coordinates]
    final = function.at(np.inf)[0, chosen]
    return Reference(course.coordinates, function.breaks, function.coefficients[..., chosen], course.units, final)
