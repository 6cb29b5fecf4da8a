"""A reduced model as the right side of an ordinary differential equation, as scipy's solvers take it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.equations.forces import FRICTION_SPEED
from supple.reduced.state_arguments import Values, batched_values

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


@dataclass(frozen=True, eq=False)
class Ode:
    """ẋ = f(t, x) = (η̇, η̈(η, η̇, u)) of the state x = (η, η̇), with its exact Jacobian.

    inputs : forces of the actuators, constant, or a function of (t, x) that gives them; zero if left out. Drives
             and instruments are left out

    `solve_ivp(ode, (0, 1), start, method="Radau", jac=ode.jacobian)`
    """

    model: ReducedModel
    inputs: Values | Callable[[float, Array], Values] | None = None
    friction_speed: float = FRICTION_SPEED

    def __call__(self, t: float, x: Array) -> Array:
        n, s = self.model.layout.size, self.model.layout.theta
        u = self.pushed(t, x)
        a = self.model.forward(x[:s], x[n:], u, delta=x[s:n], friction_speed=self.friction_speed)
        return np.concatenate([x[n:], a])

    def jacobian(self, t: float, x: Array) -> Array:
        """∂f/∂x (2 n, 2 n) with the inputs held."""
        n, s = self.model.layout.size, self.model.layout.theta
        linear = self.model.linearize(
            x[:s], rates=x[n:], inputs=self.pushed(t, x), delta=x[s:n], friction_speed=self.friction_speed, drives=False
        )
        return linear.A

    def pushed(self, t: float, x: Array) -> Array:
        """Inputs at a time and state, in the order of the model."""
        given = self.inputs
        return batched_values("inputs", given(t, x) if callable(given) else given, self.model.layout.inputs, 1)[0]
