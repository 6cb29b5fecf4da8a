"""Motion of a reduced model in time, and its equilibrium."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import NumericalError, require_known
from supple.diagnostics.arguments import require_arguments
from supple.integration.input_course import Inputs
from supple.integration.time_steps import StepOptions, require_positive
from supple.reduced.coefficient_slopes import coefficient_slopes, force_slopes
from supple.reduced.state_arguments import in_order, theta_points
from supple.results.simulation import Simulation

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values


_METHODS = ("auto", "explicit", "implicit")


def simulate_model(
    model: ReducedModel,
    t: ArrayLike | str | Mapping[str, Any] | None = None,
    inputs: Inputs = None,
    start: Values | str | None = None,
    *,
    until: float | None = None,
    step: float | None = None,
    rates: Values | None = None,
    input_times: ArrayLike | None = None,
    motion: Any = None,
    tolerance: float | None = None,
    method: str = "auto",
    spectral_radius: float = 0.9,
    output_step: float | None = None,
    friction_speed: float = 1e-3,
    rigid: bool = False,
    drives: bool = True,
) -> Simulation:
    """Motion from η, η̇ at t[0] on; the call is that of `supple.simulate`.

    t               : (N,) rising times of the results, s; or the end alone; or a scenario, its name or its fields, of
                      which the other arguments replace parts
    inputs          : {actuator: number, values at `input_times` or else at t (linear between them), or callable of
                      time}, or (N, a) values: forces, or commands of drives. Zero if left out; drives that move stay
                      where they are. Callables are followed at every step, whatever t is: see `followed_course`
    start           : θ, or η; by name (δ left out is zero) or in order; a configuration's name, or "equilibrium": at
                      rest under the inputs at the start. The state of a linear model (`at["states"]`) brings its rates,
                      and must be in the model's own basis. If left out, `rest`, where the model knows it
    until, output_step : instead of t: the end, s, and the time between results: if left out, as `supple.simulate`
    step            : fixed step, s (shortened to end at every result); steps follow the tolerance if left out
    rates           : η̇ at the start, by name or in order
    motion          : a Trajectory of the model's θ that leads it, δ free; its forces are `Simulation.driving_forces`
    tolerance       : error of a step over 1 + |state|; with `step` too, that is the largest one
    method          : "explicit" (Dormand-Prince, order 5), "implicit" (generalized-α, order 2, for stiff models), or
                      "auto": implicit where there are elastic coordinates
    spectral_radius : of "implicit": what a step leaves of the fastest oscillations, 0 to 1
    friction_speed  : over which dry friction changes its sign, in the unit of the joint's rate
    rigid           : of a mechanism alone: a model has been reduced with its elastic parts, or without
    drives          : False leaves drives out: inputs are forces. A motion leaves them out as well. With drives the
                      method is that of models between samples (`driven_march`), explicit

    A run that leaves the region, or cannot go on, returns what it has and warns; see `Simulation.reason`. How well its
    energies balance is told by `Simulation.energy_defect`.
    """
    require_arguments(simulate_model, locals())
    require_positive(tolerance=tolerance, friction_speed=friction_speed)
    require_known("method", method, _METHODS)
    options = StepOptions(step, tolerance, spectral_radius, friction_speed)
    simulated = import_module("supple.simulation.model_simulation").simulated  # above this layer, so found by name
    found: Simulation = simulated(
        model, t, inputs, start, options, until=until, rates=rates, input_times=input_times, motion=motion,
        method=method, output_step=output_step, drives=drives,
    )  # fmt: skip
    return found


_STEPS = 50
_SMALL = 1e-11  # of the largest single force: what is left of their sum
_LONGEST = 0.2  # of the region's width: a step of θ


def equilibrium_of(model: ReducedModel, theta: Values, inputs: Values | None) -> Array:
    """The equilibrium of a reduced model under constant inputs, close to θ: η (n,), deflection included.

    f(η, 0, u) = 0 is solved by Newton's method with exact derivatives. Nothing is pushed there. Without inputs, all
    are zero.
    """
    layout = model.layout
    s, n = layout.theta, layout.size
    eta = np.concatenate([theta_points(layout, theta)[0][0], np.zeros(n - s)])
    u = np.zeros(len(layout.inputs)) if inputs is None else in_order("inputs", inputs, layout.inputs)
    roots = model.fitted.arrays.roots_f
    width = (roots[:, 1] - roots[:, 0]).max(axis=0)
    still = np.zeros(n)
    for _ in range(_STEPS):
        c = model.evaluate(eta[:s])
        force = c.input_map @ u - model.inverse(eta[:s], delta=eta[s:])
        largest = max(np.abs(part).max() for part in (c.force, c.K @ eta, c.input_map @ u, np.full(1, 1e-300)))
        slopes = force_slopes(model, c, coefficient_slopes(model, eta[:s], eta[s:]), eta, u, still, still)
        # Where all forces vanish together, what they grow to across the region is what a rest is small against.
        largest = max(largest, float((np.abs(slopes[:, :s]) @ width).max()))
        if np.abs(force).max() <= _SMALL * largest:
            return eta
        try:
            step = -np.linalg.solve(slopes, force)
        except np.linalg.LinAlgError:
            break
        eta = eta + step / max(1.0, float((np.abs(step[:s]) / (_LONGEST * width)).max()))
    where = ", ".join(f"{name}={value:.6g}" for name, value in zip(layout.coordinates, eta[:s], strict=False))
    raise NumericalError(
        f"no equilibrium was found near {where}; the largest force left is {np.abs(force).max():.3g}",
        part=f'model "{model.name}"',
        hint="start closer to it, or give the inputs that hold it (`linearize` tells them)",
    )
