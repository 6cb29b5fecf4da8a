"""What accelerations need of the actuators, from each kind of model that computed torque may have.

    B u = M(θ) a + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ_j J_jᵀ f_j tanh(J_j θ̇_d / v₀)

Dry friction is cancelled along the wanted rates: along the measured ones it would chatter at every standstill. A
flexible model is asked at the deformation that the wanted motion keeps up, δ_qs with δ̇ = δ̈ = 0:

    M_δθ θ̈_d + Γ_δ[θ̇_d, θ̇_d] + K δ_qs = p_δ

or, along a motion that was planned with it, at δ, δ̇ and δ̈ as planned, which are in the rows of θ then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from supple.array_types import Array
from supple.control.redundancy.needed import Needed
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError
from supple.equations.dry_friction import FRICTION_SPEED
from supple.inverse_dynamics.force_distribution import Objective, multiplier_objective
from supple.inverse_dynamics.joint_reactions import unknown_multipliers
from supple.kinematics.motion import motion as motion_of
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel

_ITERATIONS = 20
_SETTLED = 1e-7  # of the deformation: its last change
_PUSHED = 1e-9  # of B: what counts as a push on the deformation


class Aim(NamedTuple):
    """The wanted θ, θ̇, θ̈, (s,) each; bending : δ, δ̇, δ̈ (3, n - s) where the motion was planned with them."""

    theta: Array
    rates: Array
    accelerations: Array
    bending: Array | None = None


class ActuatorForceModel(Protocol):
    """What is needed of the chosen actuators for accelerations a (s,) at θ, θ̇ (s,) as measured."""

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed: ...


@dataclass(frozen=True, eq=False)
class MechanismEquations:
    """The mechanism itself, its elastic parts as rigid. numbers : of the actuators that work; weights : theirs."""

    mechanism: Mechanism
    numbers: list[int]
    weights: Array

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
        here = local(self.mechanism, theta, rigid=True)
        drag, _ = here.dry_friction(aim.rates, FRICTION_SPEED)
        Q = here.required_forces(rates, a) + here.friction_forces(drag)

        def multipliers() -> Objective:
            moving = motion_of(local(self.mechanism, theta[None], rigid=True).configuration, rates[None], a[None])
            free, unit = unknown_multipliers(moving, drag[None])
            return multiplier_objective(free, unit[..., self.numbers], self.weights)

        return Needed(here.input_map[:, self.numbers], Q, lambda: here.M, multipliers)


@dataclass(frozen=True, eq=False)
class ModelEquations:
    """A reduced model, rigid or at δ = 0."""

    model: ReducedModel
    numbers: list[int]

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
        return _needed(self, theta, rates, a, aim._replace(bending=None))


class FlexibleEquations:
    """A flexible reduced model, which deforms as the wanted motion makes it, quasi-statically."""

    def __init__(self, model: ReducedModel, numbers: list[int]) -> None:
        self.model, self.numbers = model, numbers
        self._delta = self._still = np.zeros(model.layout.size - model.layout.theta)

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
        if aim.bending is None:
            aim = aim._replace(bending=np.stack([self.deformation(aim), self._still, self._still]))
        return _needed(self, theta, rates, a, aim)

    def deformation(self, aim: Aim) -> Array:
        """δ_qs (n - s,), by iteration with K from where the last call ended."""
        model, s = self.model, self.model.layout.theta
        v, a = self._whole(aim.rates), self._whole(aim.accelerations)
        K = model.evaluate(aim.theta).K[s:, s:]
        delta = self._delta
        for _ in range(_ITERATIONS):
            left = model.inverse(aim.theta, v, a, delta=delta, friction_speed=np.inf)[s:]
            change = np.linalg.solve(K, left)
            delta = delta - change
            if np.abs(change).max() <= _SETTLED * np.abs(delta).max():
                self._delta = delta
                return delta
        raise NumericalError(
            "its deformation under the wanted motion was not found: it moves too fast for its stiffness",
            part=f'model "{model.name}"', hint="move more slowly, or take it as rigid (rigid=True)",
        )  # fmt: skip

    def _whole(self, part: Array) -> Array:
        return np.concatenate([part, self._still])


def _needed(of: ModelEquations | FlexibleEquations, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
    """The rows of θ at δ, δ̇ and δ̈ as they are wanted; all zero if nothing is said of them."""
    model, layout = of.model, of.model.layout
    s = layout.theta
    bending = np.zeros((3, layout.size - s)) if aim.bending is None else aim.bending
    delta = None if aim.bending is None else bending[0]
    v, whole = np.concatenate([rates, bending[1]]), np.concatenate([a, bending[2]])
    # Friction is that of the wanted rates, below: at an infinite speed of sliding there is none.
    Q = model.inverse(theta, v, whole, delta=delta, friction_speed=np.inf)[:s]
    here = model.evaluate(theta, delta=delta)
    if layout.dry_forces:
        drag, _ = here.dry_friction(np.concatenate([aim.rates, bending[1]]), FRICTION_SPEED)
        Q = Q + here.friction_forces(drag)[:s]
    return Needed(here.input_map[:s, of.numbers], Q, lambda: here.M[:s, :s])


def require_unpushed(model: ReducedModel, theta: Array, numbers: list[int]) -> None:
    """Actuators that push the deformation as well are beyond a law that takes it as given by the motion."""
    B = model.evaluate(theta).input_map[:, numbers]
    s = model.layout.theta
    if np.abs(B[s:]).max(initial=0.0) > _PUSHED * np.abs(B).max(initial=0.0):
        raise InputError(
            "its actuators push modes of deformation as well, which a quasi-static law does not know",
            part=f'model "{model.name}"', hint="take the actuators as coordinates, or rigid=True",
        )  # fmt: skip
