"""First-order behaviour of a reduced model about a state, from exact derivatives of the fit.

With M a = f(η, η̇, u) and row(θ) = template + P f̂ + Q ∂f̂,

    M δa = (∂f/∂η - ∂M/∂η a) δη + ∂f/∂η̇ δη̇ + B δu,    ∂row/∂θ_m = P ∂_m f̂ + Q ∂_m ∂f̂

M and Γ are those at θ and δ: their derivatives with respect to θ are those of the row, deformed as the row is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple.approximation.curvature import hessian
from supple.array_types import Array
from supple.diagnostics import InputError
from supple.equations.coefficients import Coefficients
from supple.equations.linearized import OperatingPoint, linear_model, state_space
from supple.equations.output_motion import output_matrices
from supple.hardware.linear_hardware import with_hardware, without_drives
from supple.reduced.dynamics_kernel import deform_batch
from supple.reduced.holding import holding
from supple.reduced.named_values import in_order
from supple.reduced.observed import observed_motion
from supple.reduced.repertoire import REST, asks_for_rest, named_theta
from supple.reduced.row_map import row_map
from supple.reduced.state_arguments import states
from supple.results.linear_model import LinearModel, SecondOrder

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values


def linearize_model(
    model: ReducedModel,
    theta: Values | str,
    *,
    rates: Values | None,
    accelerations: Values | None,
    inputs: Values | None,
    delta: ArrayLike | None,
    friction_speed: float,
    drives: bool,
    pade: int,
) -> LinearModel:
    """The linear model with states (η, η̇), the model's inputs, and all its outputs.

    With drives it is from commands to what instruments show, their states behind (η, η̇).

    inputs : about which to linearize. Left out, they hold the state: those (of least norm) that come closest to the
             given accelerations, zero if left out; δ too, unless it is given, is then where it rests. They are forces,
             also where an actuator has a drive: the commands follow, in `at["inputs"]`
    drives : False leaves drives and instruments out; pade : order of what stands for their delays
    The accelerations follow from state and inputs. θ "equilibrium" is where it rests under the inputs, zero if left
    out, close to the mechanism's rest.
    """
    layout = model.layout
    if asks_for_rest(model, theta):
        inputs = np.zeros(len(layout.inputs)) if inputs is None else inputs
        whole = model.equilibrium(REST, inputs)
        theta, delta = whole[: layout.theta], whole[layout.theta :]
    n, s = layout.size, layout.theta
    eta, single = states(model.layout, named_theta(model, theta), delta)
    if not single:
        raise InputError("has more than one state", part="θ", hint="linearize about one at a time")
    names = layout.coordinates
    v = in_order("rates", rates, names) if rates is not None else np.zeros(n)
    a = in_order("accelerations", accelerations, names) if accelerations is not None else np.zeros(n)
    here = eta[0].copy()
    if inputs is not None:
        u = in_order("inputs", inputs, layout.inputs)
    else:
        held = holding(model, here[None], v[None], a[None], free=delta is None, speed=friction_speed)
        u, here = held.inputs[0], held.eta[0]
    a = model.forward(here[:s], v, u, delta=here[s:], friction_speed=friction_speed)
    c = model.evaluate(here[:s], delta=here[s:])
    slopes = row_slopes(model, here[:s], here[s:])
    along_eta = force_slopes(model, c, slopes, here, u, v, a)
    drag, steep = c.dry_friction(v, friction_speed)
    for m in range(s):
        dJ = slopes[m].friction_map
        along_eta[:, m] -= dJ.T @ drag + c.friction_forces(steep * (dJ @ v))
    along_rates = c.rate_slopes(v, friction_speed)
    forces = SecondOrder(c.M, along_eta, along_rates, c.input_map)
    A, B = state_space(forces)
    seen = output_matrices(model.labels.observed, observed_motion(model, here, v, a, u, friction_speed), A[n:], B[n:])
    found = linear_model(model.labels, model.basis, OperatingPoint(here, v, a, u), (A, B), forces, seen)
    return with_hardware(found, model.hardware, pade) if drives else without_drives(found, model.hardware)


def force_slopes(
    model: ReducedModel, c: Coefficients, slopes: list[Coefficients], eta: Array, u: Array, v: Array, a: Array
) -> Array:
    """∂f/∂η - ∂M/∂η a, (n, n), of f without dry friction; c, slopes : coefficients at θ and their derivatives.

    f is linear in the coefficients, so that their derivatives may stand for them.
    """
    s = model.layout.theta
    along = [dc.input_map @ u - dc.required_forces(v, a, eta[s:]) for dc in slopes]
    by_delta = c.stiffness_force_slope(eta[s:]) - c.inertia_slope(v, a)
    return np.hstack([np.array(along).reshape(s, -1).T, by_delta])


def row_slopes(model: ReducedModel, theta: Array, delta: Array | None = None) -> list[Coefficients]:
    """∂row/∂θ_m for each m at θ and δ, zero if left out, by the names of the coefficients."""
    places = row_map(model.layout, model.row)
    _, slopes = model.fitted.with_gradient(theta)  # (t, s)
    bends = hessian(model.fitted, theta)  # (t, s, s)
    t, s = slopes.shape
    found = np.zeros((model.row.width, s))
    found[places.values_to] = slopes[places.values_from]
    along, column = np.divmod(places.slopes_from, max(t, 1))
    found[places.slopes_to] = np.einsum("ek,ekm->em", places.slopes_factor, bends[column, along])
    found[places.copies_to] = found[places.copies_from]
    rows = np.ascontiguousarray(found.T)
    if delta is not None and delta.size:  # a row is deformed linearly in its own numbers
        deform_batch(model.arrays.integers, np.tile(np.append(theta, delta), (s, 1)), rows)
    return [Coefficients(theta, model.labels, model.row, row) for row in rows]
