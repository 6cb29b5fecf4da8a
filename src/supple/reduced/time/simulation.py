"""Simulation of a reduced model in time, and its equilibrium."""

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
    """Simulate the motion of a reduced model; the arguments are those of `supple.simulate`.

    Parameters
    ----------
    model : ReducedModel
        Model to simulate.
    t : array_like, str or mapping, optional
        Times of the results, shape (N,), rising, in s; or the end time; or a scenario.

        A scenario is its name, or its fields; the other arguments replace parts of it.
    inputs : mapping, array_like or callable, optional
        Forces of the actuators, or commands of drives. Default: zero.

        {actuator: number, values or callable of time}, or values of shape (N, a). Values belong to `input_times`, or
        else to `t`, and are linear between. Callables are followed at every step. A drive that prescribes motion keeps
        its position by default.
    start : array_like, mapping or str, optional
        Initial θ, or η, by name or in order; the name of a configuration; or "equilibrium". Default: `rest`.

        "equilibrium" is the equilibrium under the initial inputs. δ that is not given is zero. The state of a linear
        model (``at["states"]``) includes its rates and must be in the model's own basis.
    until : float, optional
        End time, s, instead of `t`.
    step : float, optional
        Fixed step, s, shortened to end at every result. Default: steps follow the tolerance.
    rates : array_like or mapping, optional
        Initial rates η̇, shape (n,), by name or in order. Default: zero.
    input_times : array_like, optional
        Times of the values in `inputs`, s. Default: `t`.
    motion : Trajectory, optional
        Motion that prescribes the model's θ, with δ free; its forces are `Simulation.driving_forces`.
    tolerance : float, optional
        Error of a step relative to 1 + |state|. Default: 1e-9. With `step`, that is the largest step.
    method : {"auto", "explicit", "implicit"}, optional
        Integration method. Default: "auto", implicit if there are elastic coordinates.

        "explicit" is the pair of Dormand and Prince of order 5, "implicit" the generalized-α method of order 2, for
        stiff models.
    spectral_radius : float, optional
        Remaining fraction of the fastest oscillations after an implicit step, 0 to 1. Default: 0.9.
    output_step : float, optional
        Time between results, s. Default: as for `supple.simulate`.
    friction_speed : float, optional
        Speed over which dry friction changes its sign, in the unit of the joint's rate. Default: 1e-3.
    rigid : bool, optional
        Accepted for mechanisms only; a model was reduced with elastic bodies, or without. Default: False.
    drives : bool, optional
        Include drives. Default: True. With a motion, and with False, inputs are forces. With drives the method is
        explicit.

    Returns
    -------
    Simulation
        Coordinates, rates, outputs, inputs and energies over time. `energy_defect` is the relative error of the energy
        balance.

    Raises
    ------
    InputError
        If the start, the inputs or the scenario do not belong to the model.

    Warns
    -----
    EarlyEnd
        If the motion leaves the region of the model or cannot be continued; the results end there, see
        `Simulation.reason`.

    See Also
    --------
    supple.simulate : The same for a mechanism.

    Examples
    --------
    >>> import supple
    >>> rom = supple.reduce(supple.load("four-bar"), progress=False)
    >>> run = rom.simulate(0.2, start={"crank": 0.0})
    >>> round(float(run.coordinates["crank"][-1]), 2)
    -0.34
    """
    require_arguments(simulate_model, locals())
    require_positive(tolerance=tolerance, friction_speed=friction_speed)
    require_known("method", method, _METHODS)
    options = StepOptions(step, tolerance, spectral_radius, friction_speed)
    # Imported by name, because the module is above this layer.
    simulated = import_module("supple.simulation.model_simulation").simulate_reduced
    found: Simulation = simulated(
        model, t, inputs, start, options, until=until, rates=rates, input_times=input_times, motion=motion,
        method=method, output_step=output_step, drives=drives,
    )  # fmt: skip
    return found


_STEPS = 50
_SMALL = 1e-11  # of the largest single force: largest residual of their sum
_LONGEST = 0.2  # of the region's width: longest step of θ


def equilibrium_of(model: ReducedModel, theta: Values, inputs: Values | None) -> Array:
    """Return the equilibrium η (n,) of a reduced model under constant inputs, close to θ, including its deflection.

    f(η, 0, u) = 0 is solved by Newton's method with exact derivatives. The default of the inputs is zero.
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
        # Where all forces vanish together, the residual is relative to their growth across the region.
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
        f"no equilibrium was found near {where}; the largest residual force is {np.abs(force).max():.3g}",
        part=f'model "{model.name}"',
        hint="start closer to the equilibrium, or give the inputs that hold it (`linearize` computes them)",
    )
