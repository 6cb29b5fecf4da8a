"""Initial state of a run of a reduced model, reasons for an early end, and prescribed courses of θ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import real_numbers
from supple.diagnostics.errors import quote
from supple.reduced.dynamics_kernel import INDEFINITE
from supple.reduced.kernels import OUTSIDE
from supple.reduced.repertoire import REST, named_theta, requests_equilibrium
from supple.reduced.state_arguments import in_order
from supple.results.basis import NamedState
from supple.time_functions.function_of_time import Trajectory

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values


# Prescribed courses of θ, and the quasi-static deformation along them: δ̇ = δ̈ = 0, and δ balances the inertia of θ and
# the loads.


_ITERATIONS = 50
_SETTLED = 1e-12  # of the largest deformation: change at which the iteration ends


def quasi_static(model: ReducedModel, theta: Array, rates: Array, accelerations: Array) -> Array:
    """Return δ (N, n - s) at θ, θ̇, θ̈ (N, s) with δ̇ = δ̈ = 0, by iteration with K and the stiffness from inertia."""
    s, n = model.layout.theta, model.layout.size
    v, a = (np.hstack([part, np.zeros((len(theta), n - s))]) for part in (rates, accelerations))
    delta = np.zeros((len(theta), n - s))
    c = model.evaluate(theta)
    K = c.K[:, s:, s:] + c.inertia_slope(v, a)[:, s:]
    last = np.inf
    for _ in range(_ITERATIONS):
        residual = model.inverse(theta, v, a, delta=delta)[:, s:]
        change = np.linalg.solve(K, residual[..., None])[..., 0]
        delta = delta - change
        size = float(np.abs(change).max())
        if size <= _SETTLED * float(np.abs(delta).max()) or size == 0.0:
            return delta
        if not size < last:
            break
        last = size
    if size <= 1e-9 * float(np.abs(delta).max()):  # rounding prevents further progress
        return delta
    raise NumericalError(
        "no quasi-static deformation was found: the motion is too fast for the stiffness of the model",
        part=f'model "{model.name}"', hint="move more slowly, or simulate the model along the motion",
    )  # fmt: skip


def course_at(course: Trajectory, time: Array) -> Trajectory:
    """Return the course at other times, by the quintics through its values, rates and accelerations."""
    if time[0] < course.time[0] or time[-1] > course.time[-1] * (1.0 + 1e-9):
        raise InputError(
            f"lasts from {course.time[0]:.6g} to {course.time[-1]:.6g} s, but results are requested from "
            f"{time[0]:.6g} to {time[-1]:.6g} s", part="motion", hint="request results within this time",
        )  # fmt: skip
    theta, rates, accelerations = course.function.derivatives(np.minimum(time, course.time[-1]), closed=True)
    theta = np.clip(theta, course.theta.min(axis=0), course.theta.max(axis=0))
    return Trajectory(course.coordinates, time, theta, rates, accelerations)


def require_course(course: Any) -> None:
    """Require a Trajectory."""
    if not isinstance(course, Trajectory):
        raise InputError(
            f"expected a Trajectory of the model's coordinates (got {quote(course)})", part="motion",
            hint="create one with supple.trajectory, or use `supple simulate ROM --motion NAME`",
        )  # fmt: skip


# The beginning and the end of a run.


def begin_state(
    model: ReducedModel,
    start: Values | str | None,
    rates: Values | None,
    u: Array,
    *,
    held: bool = False,
    standing: bool = False,
) -> tuple[Array, Array]:
    """Return η and η̇ (n,) of a start as `simulate` accepts it, under inputs u (a,).

    held     : θ is held at the start: δ that is not given, or that of an equilibrium, is that at equilibrium with θ
               fixed
    standing : the same, but an equilibrium is that under the inputs, including θ
    """
    layout = model.layout
    s = layout.theta
    if held and requests_equilibrium(model, start):
        start = REST
    held = held or (standing and not requests_equilibrium(model, start))
    start, rates = _state(model, start, rates, u)
    eta, v = _start(model, start), np.zeros(layout.size)
    if rates is not None:
        v = in_order("rates", rates, layout.coordinates)
    if v.ndim != 1:
        raise InputError("has more than one state", part="rates", hint="simulate one at a time")
    model.evaluate(eta[:s])  # raises the error if it starts outside
    if held and layout.size > s and not _has_deformation(layout.coordinates, s, start):
        still = np.zeros((1, s))
        eta[s:] = quasi_static(model, eta[None, :s], still, still)[0]
    return eta, v


def _has_deformation(names: tuple[str, ...], s: int, start: Values | None) -> bool:
    """Return whether a start includes δ."""
    if isinstance(start, Mapping):
        return any(name in start for name in names[s:])
    return np.asarray(start).shape == (len(names),)


def _state(
    model: ReducedModel, start: Values | str | None, rates: Values | None, u: Array
) -> tuple[Values | None, Values | None]:
    """Return start and rates, from a configuration's name or a state with its basis; u (a,) : inputs at the start."""
    if isinstance(start, NamedState):
        start, moving = start.split_state(model.layout.coordinates, model.basis)
        return start, rates if rates is not None else moving
    if requests_equilibrium(model, start):
        return model.equilibrium(REST, u), rates
    if start is None and model.repertoire is not None and REST in model.repertoire.configurations:
        start = REST
    return start if start is None else named_theta(model, start), rates


def _start(model: ReducedModel, start: Values | None) -> Array:
    names, s = model.layout.coordinates, model.layout.theta
    if start is None:
        raise InputError("no start is given", part="start", hint="give values for " + ", ".join(names[:s]))
    if isinstance(start, Mapping):
        missing = [name for name in names[:s] if name not in start]
        if missing:
            raise InputError(f'"{missing[0]}" has no value', part="start", hint="give all of " + ", ".join(names[:s]))
        return in_order("start", start, names)
    given = real_numbers("start", start, finite=False)
    eta = in_order("start", start, names if given.shape[-1:] == (len(names),) else names[:s])
    if eta.ndim != 1:
        raise InputError("has more than one state", part="start", hint="simulate one at a time")
    return np.concatenate([eta, np.zeros(len(names) - len(eta))])


def early_end(model: ReducedModel, status: int, time: float, state: Array) -> str:
    """Return why a run ended, as text; state : (2n or more,) η and η̇ at the end."""
    names, v = model.layout.coordinates, state[model.layout.size :]
    if status == OUTSIDE:
        fastest = max(range(model.layout.theta), key=lambda i: abs(v[i]))
        where = ", ".join(f"{names[i]}={state[i]:.6g}" for i in range(model.layout.theta))
        return (
            f'the motion leaves the region of the model at {time:.6g} s, at {where} ("{names[fastest]}" moves '
            "fastest); keep the motion inside, or reduce over a larger region"
        )
    if status == INDEFINITE:
        far = "" if not model.layout.bent else ", or the deformation is too large for a mass matrix linear in δ"
        return (
            f"the fitted mass matrix is not positive definite after {time:.6g} s; the tolerance of the reduction is "
            f"too large{far}"
        )
    return (
        f"no step from {time:.6g} s on meets the tolerance or converges; forces or speeds are too large, as in an "
        "unstable loop"
    )
