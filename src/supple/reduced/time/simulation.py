"""Motion of a reduced model in time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.compilation import compiled
from supple.diagnostics import EarlyEnd, InputError, nearest
from supple.integration.generalized_alpha import alpha_of
from supple.reduced.dynamics_kernel import INDEFINITE
from supple.reduced.kernels import INSIDE, OUTSIDE
from supple.reduced.named_values import in_order
from supple.reduced.repertoire import REST, asks_for_rest, named_theta
from supple.reduced.time.explicit_march import explicit_march
from supple.reduced.time.implicit_march import implicit_march
from supple.reduced.time.trajectories import Trajectories
from supple.results.basis import State
from supple.results.signals import Signals

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel, Values

Array = NDArray[np.float64]
Inputs = Mapping[str, float | ArrayLike | Callable[[float], float]] | ArrayLike | None

TOLERANCE = 1e-9  # of a step, where neither a step nor a tolerance is asked for
_METHODS = ("auto", "explicit", "implicit")


def simulate_model(
    model: ReducedModel,
    t: ArrayLike,
    inputs: Inputs,
    start: Values | str | None,
    *,
    rates: Values | None,
    step: float | None,
    tolerance: float | None,
    method: str,
    spectral_radius: float,
    friction_speed: float,
) -> Trajectories:
    """Motion from η, η̇ at t[0] on.

    t               : (N,) rising times of the results, s; or the end alone, for a thousand results from 0 on
    inputs          : {actuator: number, values at t (linear between them), or callable of time}, or (N, a) values;
                      zero if left out. Callables are sampled at t, and at every step if steps are fixed
    start           : θ, or η; by name (δ left out is zero) or in order; a configuration's name, or "equilibrium": at
                      rest without inputs. The state of a linear model (`at["states"]`) brings its rates, and must be in
                      the model's own basis
    step            : fixed step, s (shortened to end at every result); steps follow the tolerance if left out
    tolerance       : error of a step over 1 + |state|; with `step` too, that is the largest one
    method          : "explicit" (Dormand-Prince, order 5), "implicit" (generalized-α, order 2, for stiff models), or
                      "auto": implicit where there are elastic coordinates
    spectral_radius : of "implicit": what a step leaves of the fastest oscillations, 0 to 1
    friction_speed  : over which dry friction changes its sign, in the unit of the joint's rate

    A run that leaves the region, or cannot go on, returns what it has and warns; see `Trajectories.reason`.
    """
    layout = model.layout
    grid = _grid(t)
    _require_options(method, step, tolerance, friction_speed)
    breaks, values = _inputs(layout.inputs, inputs, grid, step)
    start, rates = _state(model, start, rates)
    eta, v = _start(model, start), np.zeros(layout.size)
    if rates is not None:
        v = in_order("rates", rates, layout.coordinates)
    if v.ndim != 1:
        raise InputError("has more than one state", part="rates", hint="simulate one at a time")
    model.evaluate(eta[: layout.theta])  # says so if it starts outside
    state = np.concatenate([eta, v])
    record = np.empty((len(grid), 2 * layout.size))
    span = float(grid[-1] - grid[0])
    error = tolerance if tolerance is not None else (0.0 if step is not None else TOLERANCE)
    options = (float(step if step is not None else span), float(error), float(friction_speed))
    implicit = method == "implicit" or (method == "auto" and layout.size > layout.theta)
    if implicit:
        alpha = tuple(alpha_of(spectral_radius))
        run = compiled(implicit_march)(*model.arrays, options, alpha, grid, breaks, values, state, record)
    else:
        run = compiled(explicit_march)(*model.arrays, options, grid, breaks, values, state, record)
    status, reached, time, steps = run
    reason = "" if status == INSIDE else _reason(model, int(status), float(time), state, v=state[layout.size :])
    if reason:
        warnings.warn(reason, EarlyEnd, stacklevel=3)
    return _trajectories(
        model, grid[:reached], record[:reached], (breaks, values), reason, float(time), int(steps), friction_speed
    )


def _state(
    model: ReducedModel, start: Values | str | None, rates: Values | None
) -> tuple[Values | None, Values | None]:
    """Start and rates, of a configuration's name or of a state that knows its basis."""
    if isinstance(start, State):
        start, moving = start.parted(model.layout.coordinates, model.basis)
        return start, rates if rates is not None else moving
    if asks_for_rest(model, start):
        return model.equilibrium(REST), rates
    return start if start is None else named_theta(model, start), rates


def _grid(t: ArrayLike) -> Array:
    try:
        grid = np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        raise InputError("its values are not numbers", part="t", hint="give rising times in s") from None
    if grid.ndim == 0 and np.isfinite(grid) and grid > 0.0:
        return np.linspace(0.0, float(grid), 1001)
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or not (np.diff(grid) > 0.0).all():
        raise InputError("it is not a row of rising numbers", part="t", hint="give (N,) rising times in s, N > 1")
    return np.ascontiguousarray(grid)


def _require_options(method: str, step: float | None, tolerance: float | None, friction_speed: float) -> None:
    if method not in _METHODS:
        raise InputError(f'there is no method "{method}"', hint=nearest(method, _METHODS))
    for name, value in (("step", step), ("tolerance", tolerance), ("friction speed", friction_speed)):
        if value is not None and not (np.isfinite(value) and value > 0.0):
            raise InputError(f"it is {value:g}", part=name, hint="give a number above 0")


def _start(model: ReducedModel, start: Values | None) -> Array:
    names, s = model.layout.coordinates, model.layout.theta
    if start is None:
        raise InputError("it is missing", part="start", hint="give values for " + ", ".join(names[:s]))
    if isinstance(start, Mapping):
        missing = [name for name in names[:s] if name not in start]
        if missing:
            raise InputError(f'"{missing[0]}" has no value', part="start", hint="give all of " + ", ".join(names[:s]))
        return in_order("start", start, names)
    given = np.asarray(start)
    eta = in_order("start", start, names if given.shape[-1:] == (len(names),) else names[:s])
    if eta.ndim != 1:
        raise InputError("has more than one state", part="start", hint="simulate one at a time")
    return np.concatenate([eta, np.zeros(len(names) - len(eta))])


def _inputs(names: tuple[str, ...], inputs: Inputs, grid: Array, step: float | None) -> tuple[Array, Array]:
    """Breaks (B,) and values (B, a); linear between, constant before and after."""
    ends = np.array([grid[0], grid[-1]])
    if inputs is None:
        return ends, np.zeros((2, len(names)))
    if not isinstance(inputs, Mapping):
        given = in_order("inputs", inputs, names)
        if given.ndim == 2 and len(given) != len(grid):
            raise InputError(f"has {len(given)} rows for {len(grid)} times", part="inputs", hint="give (N, a) at t")
        return (grid, np.ascontiguousarray(given)) if given.ndim == 2 else (ends, np.stack([given, given]))
    for name in inputs:
        if name not in names:
            raise InputError(f'there is no actuator "{name}"', part="inputs", hint=nearest(name, names))
    breaks = grid
    if any(callable(signal) for signal in inputs.values()):
        if step is not None:  # at every step as well
            counts = [int(np.ceil(span / step - 1e-9)) for span in np.diff(grid)]
            fine = [np.linspace(a, b, n, endpoint=False) for (a, b), n in zip(pairwise(grid), counts, strict=True)]
            breaks = np.concatenate([*fine, grid[-1:]])
    elif all(np.ndim(signal) == 0 for signal in inputs.values()):  # type: ignore[arg-type]
        breaks = ends
    values = np.zeros((len(breaks), len(names)))
    for i, name in enumerate(names):
        signal = inputs.get(name, 0.0)
        values[:, i] = _sampled(name, signal, breaks, grid)
    if not np.isfinite(values).all():
        raise InputError("holds values that are not finite", part="inputs", hint="check the file or the callable")
    return breaks, values


def _sampled(name: str, signal: float | ArrayLike | Callable[[float], float], breaks: Array, grid: Array) -> Array:
    if callable(signal):
        return np.array([float(signal(float(time))) for time in breaks])
    array = np.asarray(signal, dtype=float)
    if array.ndim == 0:
        return np.full(len(breaks), float(array))
    if array.shape != grid.shape:
        raise InputError(
            f"has {array.shape} values for {len(grid)} times",
            part=f'input "{name}"',
            hint="give values at t, a number, or a callable of time",
        )
    return np.interp(breaks, grid, array)


def _reason(model: ReducedModel, status: int, time: float, state: Array, v: Array) -> str:
    names = model.layout.coordinates
    if status == OUTSIDE:
        fastest = max(range(model.layout.theta), key=lambda i: abs(v[i]))
        where = ", ".join(f"{names[i]}={state[i]:.6g}" for i in range(model.layout.theta))
        return f'it leaves the region of the model at {time:.6g} s, at {where} ("{names[fastest]}" moves fastest)'
    if status == INDEFINITE:
        return f"the fitted mass matrix is not positive definite after {time:.6g} s; reduce with a smaller tolerance"
    return f"no step from {time:.6g} s on keeps the tolerance or converges; forces or speeds are too large"


def _trajectories(
    model: ReducedModel,
    time: Array,
    record: Array,
    programme: tuple[Array, Array],
    reason: str,
    stopped: float,
    steps: int,
    friction_speed: float,
) -> Trajectories:
    layout = model.layout
    n, s = layout.size, layout.theta
    eta, v = np.ascontiguousarray(record[:, :n]), np.ascontiguousarray(record[:, n:])
    u = (
        np.stack([np.interp(time, programme[0], column) for column in programme[1].T], axis=1)
        if layout.inputs
        else (np.zeros((len(time), 0)))
    )
    outputs, energy = model.observe(eta, v)
    a = model.forward(eta[:, :s], v, u, delta=eta[:, s:], friction_speed=friction_speed)

    def signals(names: tuple[str, ...], values: Array, units: Mapping[str, str]) -> Signals:
        return Signals(time, {name: values[:, i] for i, name in enumerate(names)}, dict(units))

    energies = {"kinetic": energy[:, 0]}
    if np.isfinite(energy[:, 1]).all():
        energies |= {"potential": energy[:, 1], "total": energy[:, 0] + energy[:, 1]}
    return Trajectories(
        time,
        signals(layout.coordinates, eta, model.units.coordinates),
        signals(layout.coordinates, v, model.units.rates),
        signals(layout.coordinates, a, model.units.accelerations),
        signals(layout.outputs, outputs, model.units.outputs),
        signals(layout.inputs, u, model.units.inputs),
        Signals(time, energies, dict.fromkeys(energies, "J")),
        reason,
        stopped,
        steps,
    )
