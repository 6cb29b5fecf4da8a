"""Inputs that hold a reduced model at θ, the deformation that it rests with there, and what its sensors show.

    B u = M a + Γ[v, v] + D_d v + K η - p         for u, and for δ where it is free: n equations, of least norm in u

At rest, v = a = 0, this is the equilibrium of the potential of the model with θ held by its inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.equations.dry_friction import FRICTION_SPEED
from supple.reduced.observed import ObservedMotion, outputs_along

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


_STEPS = 4  # Newton's: δ enters almost linearly, the second takes care of what ∂K/∂θ adds
_SINGULAR = 1e-15  # of the largest singular value, as of rounding


class HoldingStates(NamedTuple):
    """States η (N, n) and inputs u (N, a)."""

    eta: Array
    inputs: Array


class Resting(NamedTuple):
    """States η (N, n) at rest, inputs (N, a) that hold them there, and outputs (N, o)."""

    eta: Array
    inputs: Array
    outputs: Array


def inputs_for_accelerations(
    model: ReducedModel, eta: Array, v: Array, a: Array, *, free: bool, speed: float = FRICTION_SPEED
) -> HoldingStates:
    """Inputs that come closest to accelerations a (N, n) at η, v (N, n), by Newton's steps.

    free : δ is not as it is given, but where it rests
    """
    layout = model.layout
    n, s, inputs = layout.size, layout.theta, len(layout.inputs)
    held, u = eta.copy(), np.zeros((len(eta), inputs))
    free = free and n > s
    c = model.evaluate(np.ascontiguousarray(eta[:, :s]))
    for _ in range(_STEPS if free else 1):
        delta = np.ascontiguousarray(held[:, s:])
        needed = model.inverse(c.theta, v, a, delta=delta, friction_speed=speed)
        missing = needed - np.einsum("nia,na->ni", c.input_map, u)
        matrix = c.input_map
        if free:
            matrix = np.concatenate([matrix, c.stiffness_force_slope(delta) - c.inertia_slope(v, a)], axis=2)
        if not matrix.shape[2]:
            break
        # Forces and displacements differ by orders of magnitude: columns of one size, so that none is taken for zero.
        size = np.linalg.norm(matrix, axis=1)
        size[size == 0.0] = 1.0
        inverse = np.linalg.pinv(matrix / size[:, None], rcond=_SINGULAR * max(matrix.shape[1:]))
        found = np.einsum("nki,ni->nk", inverse, missing) / size
        u = u + found[:, :inputs]
        if free:
            held[:, s:] += found[:, inputs:]
    return HoldingStates(held, u)


def resting(model: ReducedModel, theta: Array) -> Resting:
    """Where the model rests with θ (N, s) held by its inputs."""
    layout = model.layout
    n, s = layout.size, layout.theta
    eta = np.zeros((len(theta), n))
    eta[:, :s] = theta
    still = np.zeros((len(theta), n))
    held = inputs_for_accelerations(model, eta, still, still, free=True)
    seen = outputs_along(model, ObservedMotion(held.eta, still, still, held.inputs, FRICTION_SPEED))
    return Resting(held.eta, held.inputs, seen)
