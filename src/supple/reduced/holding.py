"""Inputs that hold a reduced model at θ, its deformation at equilibrium there, and its sensor outputs.

    B u = M a + Γ[v, v] + D_d v + K η - p         for u, and for δ where it is free: n equations, of least norm in u

At rest, v = a = 0, this is the equilibrium of the potential of the model with θ held by its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.equations.equations_of_motion import EquationsOfMotion
from supple.equations.forces import FRICTION_SPEED
from supple.reduced.observed import ObservedMotion, outputs_along

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


_STEPS = 4  # Newton steps: δ enters almost linearly, and the second step corrects for ∂K/∂θ
_SINGULAR = 1e-15  # of the largest singular value: smaller ones are rounding


class HoldingStates(NamedTuple):
    """States η (N, n) and the inputs u (N, a) that hold them."""

    eta: Array
    inputs: Array


class Resting(NamedTuple):
    """States η (N, n) at rest, inputs (N, a) that hold them there, and outputs (N, o)."""

    eta: Array
    inputs: Array
    outputs: Array


def holding_state(
    c: EquationsOfMotion, eta: Array, needed: Callable[[Array], Array], slope: Callable[[Array], Array] | None
) -> HoldingStates:
    """Return the inputs of least norm that supply the forces of a motion, and δ at equilibrium, by Newton's method.

    Parameters
    ----------
    c
        Coefficients at one θ, or at N.
    eta
        (n,) or (N, n) initial state.
    needed
        δ -> forces (..., n) that inputs must supply.
    slope
        δ -> -∂(those forces)/∂δ, (..., n, n - s); None keeps δ.
    """
    s, inputs = c.theta.shape[-1], c.input_map.shape[-1]
    held, u = eta.copy(), np.zeros((*eta.shape[:-1], inputs))
    for _ in range(1 if slope is None else _STEPS):
        delta = np.ascontiguousarray(held[..., s:])
        missing = needed(delta) - np.einsum("...ia,...a->...i", c.input_map, u)
        matrix = c.input_map if slope is None else np.concatenate([c.input_map, slope(delta)], axis=-1)
        if not matrix.shape[-1]:
            break
        # Forces and displacements differ by orders of magnitude: columns are scaled so that none is truncated as zero.
        size = np.linalg.norm(matrix, axis=-2)
        size[size == 0.0] = 1.0
        inverse = np.linalg.pinv(matrix / size[..., None, :], rcond=_SINGULAR * max(matrix.shape[-2:]))
        found = np.einsum("...ki,...i->...k", inverse, missing) / size
        u = u + found[..., :inputs]
        if slope is not None:
            held[..., s:] += found[..., inputs:]
    return HoldingStates(held, u)


def inputs_for_accelerations(
    model: ReducedModel, eta: Array, v: Array, a: Array, *, free: bool, speed: float = FRICTION_SPEED
) -> HoldingStates:
    """Return the inputs that come closest to accelerations a (N, n) at η, v (N, n).

    free : replace δ by the deformation at equilibrium
    """
    n, s = model.layout.size, model.layout.theta
    c = model.evaluate(np.ascontiguousarray(eta[:, :s]))

    def compute_forces(delta: Array) -> Array:
        return model.inverse(c.theta, v, a, delta=delta, friction_speed=speed)

    def slope(delta: Array) -> Array:
        return c.stiffness_force_slope(delta) - c.inertia_slope(v, a)

    return holding_state(c, eta, compute_forces, slope if free and n > s else None)


def find_rest(model: ReducedModel, theta: Array) -> Resting:
    """Return the equilibrium of the model with θ (N, s) held by its inputs."""
    layout = model.layout
    n, s = layout.size, layout.theta
    eta = np.zeros((len(theta), n))
    eta[:, :s] = theta
    still = np.zeros((len(theta), n))
    held = inputs_for_accelerations(model, eta, still, still, free=True)
    y = outputs_along(model, ObservedMotion(held.eta, still, still, held.inputs, FRICTION_SPEED))
    return Resting(held.eta, held.inputs, y)
