"""Reduced model as the right-hand side of an ordinary differential equation, for scipy's solvers."""

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
    """Right-hand side ẋ = f(t, x) = (η̇, η̈(η, η̇, u)) of the state x = (η, η̇), with its exact Jacobian.

    Parameters
    ----------
    model : ReducedModel
        Model to integrate.
    inputs : array_like, mapping or callable, optional
        Forces of the actuators: constant, or a function of (t, x). Default: zero. Drives and instruments are left out.
    friction_speed : float, optional
        Speed v₀ over which dry friction changes its sign. Default: 1e-3.

    Examples
    --------
    >>> import supple
    >>> from scipy.integrate import solve_ivp
    >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
    >>> ode = rom.ode({"crank": 2.0})
    >>> run = solve_ivp(ode, (0.0, 0.1), [0.3, 0.0], method="Radau", jac=ode.jacobian)
    >>> run.success
    True
    """

    model: ReducedModel
    inputs: Values | Callable[[float, Array], Values] | None = None
    friction_speed: float = FRICTION_SPEED

    def __call__(self, t: float, x: Array) -> Array:
        n, s = self.model.layout.size, self.model.layout.theta
        u = self.evaluate_inputs(t, x)
        a = self.model.forward(x[:s], x[n:], u, delta=x[s:n], friction_speed=self.friction_speed)
        return np.concatenate([x[n:], a])

    def jacobian(self, t: float, x: Array) -> Array:
        """Return ∂f/∂x (2 n, 2 n) with constant inputs.

        Parameters
        ----------
        t : float
            Time, s.
        x : ndarray, shape (2 n,)
            State.

        Returns
        -------
        ndarray, shape (2 n, 2 n)
            Jacobian.
        """
        n, s = self.model.layout.size, self.model.layout.theta
        linear = self.model.linearize(
            x[:s],
            rates=x[n:],
            inputs=self.evaluate_inputs(t, x),
            delta=x[s:n],
            friction_speed=self.friction_speed,
            drives=False,
        )
        return linear.A

    def evaluate_inputs(self, t: float, x: Array) -> Array:
        """Return the inputs at a time and state, in the order of the model."""
        given = self.inputs
        return batched_values("inputs", given(t, x) if callable(given) else given, self.model.layout.inputs, 1)[0]
