"""Distribution of the force of a controller over the actuators at every sample, as `inverse` does along a motion.

    B u = Q,   lower <= u <= upper,   |u - u_last| <= rate (t - t_last)
    "torque": least Σ w (u - u*)²;   "peak": least max w |u - u*|;   "multipliers": least Σ λ² + Σ w (u - u*)²

u* is a preload: its part that does no work, (1 - B⁺B) u*, remains as internal forces of the mechanism. If no forces
within the bounds give Q, those are used that come nearest to the desired accelerations in the Gaussian measure:

    least (B u - Q)ᵀ M⁻¹ (B u - Q)   within the bounds
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, require_known
from supple.formats.model_description import restore_mechanism
from supple.inverse_dynamics.actuation import Actuation, force_bounds, rate_limits, weights_of
from supple.inverse_dynamics.force_distribution import (
    Objective,
    least_peak,
    least_peak_within,
    least_squares,
    least_squares_within,
    nearest_within,
    torque_objective,
)
from supple.inverse_dynamics.inverse_dynamics import Bound, require_objective
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import in_order


class RequiredForce(NamedTuple):
    """Required force at a time: B u = Q with the forces u of the chosen actuators.

    B           : (s, a)
    Q           : (s,)
    inertia     : function that returns M (s, s), called if the forces are not sufficient
    multipliers : function that returns Σ λ² + Σ w u² as a quadratic of u; None if reactions are not known
    """

    B: Array
    Q: Array
    inertia: Callable[[], Array]
    multipliers: Callable[[], Objective] | None = None


Preload = Mapping[str, float] | ArrayLike | Callable[[float], Mapping[str, float] | ArrayLike]

_LOST = 1e-6  # of the largest norm of B so far: below it, forces have no effect


class PreviousForces(NamedTuple):
    """Forces (a,) of a sample at a time, s; hold : the largest norm of B so far."""

    time: float
    forces: Array
    hold: float


@dataclass(frozen=True, eq=False)
class ForceDivision:
    """Distribution of forces; made by `force_division`.

    actuators : names of the actuators that are used
    minimize  : "torque", "peak" or "multipliers"
    weights, lower, upper, rates : w and bounds (a,), infinite where there is none
    preload   : u*, constant (a,), a function of time, or None
    """

    actuators: tuple[str, ...]
    minimize: str
    weights: Array
    lower: Array
    upper: Array
    rates: Array
    preload: Array | Callable[[float], Mapping[str, float] | ArrayLike] | None = None

    @cached_property
    def bounded(self) -> bool:
        """Whether any force or force rate has a bound."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any() or np.isfinite(self.rates).any())

    @cached_property
    def _root(self) -> Array:
        return 1.0 / np.sqrt(self.weights)

    def preload_at(self, t: float) -> Array:
        """Return u* (a,)."""
        if self.preload is None:
            return np.zeros(len(self.actuators))
        if callable(self.preload):
            return in_order(f"preload at {t:.6g} s", self.preload(t), self.actuators)
        return self.preload

    def divide_forces(self, need: RequiredForce, t: float, last: PreviousForces | None = None) -> tuple[Array, bool]:
        """Return u (a,), and whether it gives the required force; last : of the previous sample."""
        start = self.preload_at(t)
        B, Q = need.B, need.Q - need.B @ start
        if not self.bounded and self.minimize == "torque":
            return start + self._least(B, Q, 0.0 if last is None else last.hold), True
        lower, upper = self.lower, self.upper
        if last is not None and np.isfinite(self.rates).any():
            reach = self.rates * (t - last.time)
            lower, upper = np.maximum(lower, last.forces - reach), np.minimum(upper, last.forces + reach)
            # A force outside its bounds returns as fast as the rate limit allows.
            lower, upper = np.minimum(lower, self.upper), np.maximum(upper, self.lower)
        x, met = self._within(need, B, Q, start, lower - start, upper - start)
        return start + x, met

    def _least(self, B: Array, Q: Array, hold: float) -> Array:
        """Return the least Σ w u² with B u = Q; an error if B has lost its rank, or nearly all of its former norm."""
        root = self._root
        U, sigma, Vt = np.linalg.svd(B * root, full_matrices=False)
        if not sigma[-1] > _LOST * max(sigma[0], hold * root.min()):
            raise InputError(
                "the actuators cannot accelerate every coordinate at this configuration", part="computed torque",
                hint="keep the motion away from it, use more actuators, or give bounds",
            )  # fmt: skip
        return root * (Vt.T @ ((U.T @ Q) / sigma))

    def _within(
        self, need: RequiredForce, B: Array, Q: Array, start: Array, lower: Array, upper: Array
    ) -> tuple[Array, bool]:
        """Return u - u* (a,) of the least objective within bounds, or the nearest if there is none."""
        one, required, low, high = B[None], Q[None], lower[None], upper[None]
        if self.minimize == "peak":
            if not self.bounded:
                return least_peak(one, required, self.weights)[0], True
            x, possible = least_peak_within(one, required, self.weights, low, high)
        else:
            objective = self._objective(need, one, start)
            if not self.bounded:
                return least_squares(one, required, objective)[0], True
            x, possible = least_squares_within(one, required, objective, low, high)
        if possible[0]:
            return x[0], True
        return nearest_within(B, Q, need.inertia(), self.weights, lower, upper), False

    def _objective(self, need: RequiredForce, B: Array, start: Array) -> Objective:
        if self.minimize == "torque":
            return torque_objective(B, self.weights)
        assert need.multipliers is not None
        H, f = need.multipliers()
        # Σ λ² + Σ w u² measures u from zero; the preload must cost nothing except for its reactions.
        return Objective(H, f + np.einsum("nab,b->na", H, start) - 2.0 * self.weights * start)


def force_division(
    names: Sequence[str],
    of: Mechanism | ReducedModel,
    *,
    actuators: Sequence[str] | str | None = None,
    minimize: str = "torque",
    weights: Mapping[str, float] | None = None,
    bounds: Bound | Mapping[str, Bound] | str | None = None,
    rate_bounds: float | Mapping[str, float] | None = None,
    preload: Preload | None = None,
) -> ForceDivision:
    """Return the distribution over some or all of the actuators `names`; options as in `inverse`.

    of      : mechanism, or reduced model of it, whose force_limits `bounds="limits"` uses
    preload : forces by name (zero by default) or in order, or a function of time that returns them
    """
    require_objective(minimize)
    chosen = chosen_names(names, actuators)
    mechanism = restore_mechanism(of) if isinstance(of, ReducedModel) and isinstance(bounds, str) else of
    some = Actuation(mechanism, chosen, [], {}, np.empty((1, 0, len(chosen))), np.zeros(1))
    lower, upper = force_bounds(some, bounds)
    rates = rate_limits(some, rate_bounds, np.array([0.0, 1.0]))
    free = np.full(len(chosen), np.inf)
    given: Any = preload
    if preload is not None and not callable(preload):
        given = in_order("preload", preload, chosen)
    return ForceDivision(
        chosen, minimize, weights_of(some, weights), lower[0], upper[0], free if rates is None else rates.limits, given
    )


def chosen_names(names: Sequence[str], given: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the actuators that are used, in the order given; all of `names` if None."""
    if given is None:
        return tuple(names)
    chosen = tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else tuple(given)
    for i, name in enumerate(chosen):
        require_known("actuator", name, names, part="actuators")
        if name in chosen[:i]:
            raise InputError(f'actuator "{name}" is listed twice', part="actuators", hint="list each once")
    return chosen
