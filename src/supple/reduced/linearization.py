"""First-order behaviour of a reduced model about a state, from exact derivatives of the fit.

With M a = f(η, η̇, u) and row(θ) = template + P f̂ + Q ∂f̂,

    M δa = (∂f/∂η - ∂M/∂η a) δη + ∂f/∂η̇ δη̇ + B δu,    ∂row/∂θ_m = P ∂_m f̂ + Q ∂_m ∂f̂
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.approximation.curvature import hessian
from supple.diagnostics import InputError
from supple.reduced.coefficients import Coefficients
from supple.reduced.named_values import in_order
from supple.reduced.repertoire import REST, asks_for_rest, named_theta
from supple.reduced.row import row_map
from supple.reduced.state_arguments import states
from supple.results.basis import State
from supple.results.linear_model import LinearModel, SecondOrder

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values

Array = NDArray[np.float64]

_STEPS = 4


def linearize_model(
    model: ReducedModel,
    theta: Values | str,
    *,
    rates: Values | None,
    accelerations: Values | None,
    inputs: Values | None,
    delta: ArrayLike | None,
    friction_speed: float,
) -> LinearModel:
    """The linear model with states (η, η̇), the model's inputs, and all its outputs.

    inputs : about which to linearize. Left out, they hold the state: those (of least norm) that come closest to the
             given accelerations, zero if left out; δ too, unless it is given, is then where it rests
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
    c = model.evaluate(here[:s])
    if inputs is not None:
        u = in_order("inputs", inputs, layout.inputs)
    else:
        u, here = _holding(model, c, here, v, a, free=delta is None, speed=friction_speed)
    a = model.forward(here[:s], v, u, delta=here[s:], friction_speed=friction_speed)
    slopes = row_slopes(model, here[:s])
    along_eta = force_slopes(model, c, here, u, v)
    for m in range(s):
        dc = Coefficients(here[:s], layout, model.row, np.ascontiguousarray(slopes[:, m]))
        along_eta[:, m] -= dc.M @ a + _friction_slope(c, dc, v, friction_speed)
    along_rates = -2.0 * np.einsum("ijk,k->ij", c.christoffel, v) - c.damping - _friction_damping(c, v, friction_speed)
    solved = np.linalg.solve(c.M, np.hstack([along_eta, along_rates, c.input_map]))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [solved[:, : 2 * n]]])
    B = np.vstack([np.zeros((n, len(layout.inputs))), solved[:, 2 * n :]])
    C = np.zeros((len(layout.outputs), 2 * n))
    y = {}
    modes = model.row.part(slopes.T, "modes")  # ∂Ψ_o/∂θ_m: (s, o, n - s)
    for o, (name, output) in enumerate(c.outputs.items()):
        C[o, :s] = output.rigid + modes[:, o] @ here[s:]
        C[o, s:n] = output.modes
        y[name] = float(output.value + output.modes @ here[s:])
    rated = tuple(f"{name}.rate" for name in names)
    at: dict[str, dict[str, float]] = {
        "states": State(dict(zip((*names, *rated), [*here.tolist(), *v.tolist()], strict=True)), model.basis),
        "inputs": dict(zip(layout.inputs, u.tolist(), strict=True)),
        "outputs": y,
        "accelerations": dict(zip(names, a.tolist(), strict=True)),
    }
    D = np.zeros((len(layout.outputs), len(layout.inputs)))
    forces = SecondOrder(c.M, along_eta, along_rates, c.input_map)
    return LinearModel(A, B, C, D, (*names, *rated), layout.inputs, layout.outputs, at, forces,
                       basis=model.basis, units=model.units)  # fmt: skip


def force_slopes(model: ReducedModel, c: Coefficients, eta: Array, u: Array, rates: Array | None = None) -> Array:
    """∂f/∂η (n, n) of f without dry friction; c : coefficients at θ."""
    n, s = model.layout.size, model.layout.theta
    v = np.zeros(n) if rates is None else rates
    slopes = row_slopes(model, eta[:s])
    found = -c.K
    for m in range(s):
        dc = Coefficients(eta[:s], model.layout, model.row, np.ascontiguousarray(slopes[:, m]))
        found[:, m] += _linear_forces(dc, eta, v, u)
    found[:s, s:] += c.force_slope - c.stiffness_slope @ eta[s:]
    return found


def row_slopes(model: ReducedModel, theta: Array) -> Array:
    """∂row/∂θ: (width, s)."""
    places = row_map(model.layout, model.row)
    _, slopes = model.fitted.with_gradient(theta)  # (t, s)
    bends = hessian(model.fitted, theta)  # (t, s, s)
    t, s = slopes.shape
    found = np.zeros((model.row.width, s))
    found[places.values_to] = slopes[places.values_from]
    along, column = np.divmod(places.slopes_from, max(t, 1))
    found[places.slopes_to] = np.einsum("ek,ekm->em", places.slopes_factor, bends[column, along])
    found[places.copies_to] = found[places.copies_from]
    return found


def _linear_forces(c: Coefficients, eta: Array, v: Array, u: Array) -> Array:
    """f without dry friction: linear in the coefficients, so that their derivatives may stand for them."""
    s = c.force_slope.shape[0]
    found = c.force + c.input_map @ u - np.einsum("ijk,j,k->i", c.christoffel, v, v) - c.damping @ v - c.K @ eta
    found[:s] += c.force_slope @ eta[s:] - 0.5 * (c.stiffness_slope @ eta[s:]) @ eta[s:]
    return np.asarray(found)


def _friction(c: Coefficients, v: Array, speed: float) -> tuple[Array, Array]:
    """Forces f_j tanh(J_j η̇ / v₀), and their derivatives with respect to J_j η̇."""
    limit = np.array(list(c.dry_forces.values()), dtype=float)
    part = np.tanh(c.friction_map @ v / speed)
    return limit * part, limit / speed * (1.0 - part**2)


def _friction_slope(c: Coefficients, dc: Coefficients, v: Array, speed: float) -> Array:
    drag, steep = _friction(c, v, speed)
    return np.asarray(dc.friction_map.T @ drag + c.friction_map.T @ (steep * (dc.friction_map @ v)))


def _friction_damping(c: Coefficients, v: Array, speed: float) -> Array:
    return np.asarray(c.friction_map.T @ (_friction(c, v, speed)[1][:, None] * c.friction_map))


def _holding(
    model: ReducedModel, c: Coefficients, eta: Array, v: Array, a: Array, *, free: bool, speed: float
) -> tuple[Array, Array]:
    """Inputs, and δ if it is free, that come closest to the accelerations: B u = M a - f(η, η̇, 0), by Newton's steps.

    δ enters almost linearly: the second step takes care of what ∂K/∂θ adds.
    """
    n, s, inputs = model.layout.size, model.layout.theta, len(model.layout.inputs)
    held, u = eta.copy(), np.zeros(inputs)
    for _ in range(_STEPS if free and n > s else 1):
        missing = model.inverse(held[:s], v, a, delta=held[s:], friction_speed=speed) - c.input_map @ u
        matrix = c.input_map
        if free and n > s:
            give = -c.K[:, s:]
            give[:s] += c.force_slope - c.stiffness_slope @ held[s:]
            matrix = np.hstack([matrix, give])
        if not matrix.shape[1]:
            return u, held
        # Forces and displacements differ by orders of magnitude: columns of one size, so that none is taken for zero.
        size = np.linalg.norm(matrix, axis=0)
        size[size == 0.0] = 1.0
        found = np.linalg.lstsq(matrix / size, missing, rcond=None)[0] / size
        u = u + found[:inputs]
        held[s:] += found[inputs:] if free else 0.0
    return u, held
