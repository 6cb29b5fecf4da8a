"""What joint loops ask of a mechanism or of its reduced model: the equations of θ, and the forces that a motion needs.

M θ̈ + Γ[θ̇, θ̇] + D_d θ̇ - p = B u          of a flexible model the rows of θ at δ = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from supple.array_types import Array
from supple.control.feedforward.reference import AnyReference, Reference
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.equations.dry_friction import FRICTION_SPEED
from supple.equations.equations_of_motion import EquationsOfMotion
from supple.kinematics.configuration import At
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel
from supple.reduced.named_values import in_order
from supple.reduced.repertoire import REST, named_theta
from supple.systems.protocols import system_of

_RANK = 1e-10
SPACING = 2e-3  # s, between the instants of forces along a motion; cubics join them


class JointEquations(NamedTuple):
    """At θ: M (s, s), p (s,), damping D_d (s, s), B (s, a), and B⁺ (a, s): the least inputs of given forces."""

    M: Array
    force: Array
    damping: Array
    input_map: Array
    divide: Array


@dataclass(frozen=True, eq=False)
class JointModel:
    """A mechanism, its elastic parts taken as rigid, or a reduced model of it; driven : its actuators, all if None."""

    of: Mechanism | ReducedModel
    driven: tuple[str, ...] | None = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        return system_of(self.of).rigid_coordinates

    @property
    def inputs(self) -> tuple[str, ...]:
        """All that it has."""
        return system_of(self.of).inputs

    @property
    def actuators(self) -> tuple[str, ...]:
        """Those that are driven."""
        for name in self.driven or ():
            if name not in self.inputs:
                raise InputError(f'there is no "{name}"', part="actuators", hint=nearest(name, self.inputs))
        return self.inputs if self.driven is None else self.driven

    @property
    def _columns(self) -> list[int]:
        return [self.inputs.index(name) for name in self.actuators]

    def theta(self, at: At) -> Array:
        """θ (s,) of a configuration, by name or in numbers; that of rest if left out."""
        if not isinstance(self.of, ReducedModel):
            return np.asarray(local(self.of, at, rigid=True).theta)
        known = None if self.of.repertoire is None else self.of.repertoire.configurations
        if at is None and (known is None or REST not in known):
            raise InputError("it does not know its rest", part=f'model "{self.of.name}"', hint="give at=θ")
        return in_order("θ", named_theta(self.of, REST if at is None else at), self.coordinates, required=True)

    def equations(self, theta: Array) -> EquationsOfMotion:
        """At θ (s,) or (N, s)."""
        return self.of.evaluate(theta) if isinstance(self.of, ReducedModel) else local(self.of, theta, rigid=True)

    def at(self, theta: Array) -> JointEquations:
        """The rows of θ."""
        here, s = self.equations(theta), len(self.coordinates)
        B = here.input_map[:s, self._columns]
        return JointEquations(here.M[:s, :s], here.force[:s], here.damping[:s, :s], B, least_inputs(B, theta))

    def holding(self, theta: Array) -> Array:
        """Inputs (N, a) that hold θ (N, s), of least norm: -B⁺ p."""
        here, s = self.equations(theta), len(self.coordinates)
        divide = [
            least_inputs(B, where) for B, where in zip(here.input_map[:, :s][..., self._columns], theta, strict=True)
        ]
        return -np.einsum("nas,ns->na", np.array(divide), here.force[:, :s])

    def forces(self, motion: Array, *, still: bool) -> Array:
        """Inputs (N, a) along θ, θ̇, θ̈, θ⃛ (N, 4, s), those of least norm; still: that hold it at θ only."""
        here, s = self.equations(np.ascontiguousarray(motion[:, 0])), len(self.coordinates)
        rates, accelerations = np.zeros((2, len(motion), len(here.coordinates)))
        if not still:
            rates[:, :s], accelerations[:, :s] = motion[:, 1], motion[:, 2]
        drag, _ = here.dry_friction(rates, FRICTION_SPEED)
        Q = (here.required_forces(rates, accelerations) + here.friction_forces(drag))[:, :s]
        maps = here.input_map[:, :s][..., self._columns]
        divide = np.array([least_inputs(B, theta) for B, theta in zip(maps, motion[:, 0], strict=True)])
        return np.asarray(np.einsum("nas,ns->na", divide, Q))

    def forces_along(self, motion: AnyReference, *, still: bool) -> Reference:
        """The same over time, as a reference of the actuators: cubics between instants."""
        if not isinstance(motion, Reference):
            raise InputError(
                "it has no end, so that forces along it cannot be computed beforehand", part="motion",
                hint="give reference(motion, mechanism, until=...)",
            )  # fmt: skip
        cuts = [np.linspace(a, b, 1 + max(1, round((b - a) / SPACING)))[:-1]
                for a, b in zip(motion.breaks[:-1], motion.breaks[1:], strict=True)]  # fmt: skip
        times = np.concatenate([*cuts, motion.breaks[-1:]])
        sampled = motion.sampled(times)
        pieces = CubicSpline(times, self.forces(sampled, still=still))
        return Reference(self.actuators, times, np.ascontiguousarray(pieces.c[::-1].transpose(1, 0, 2)))


def least_inputs(B: Array, theta: Array) -> Array:
    """B⁺ (a, s)."""
    U, sigma, Vt = np.linalg.svd(B, full_matrices=False)
    if B.shape[1] < B.shape[0] or not sigma[-1] > _RANK * sigma[0]:
        where = np.array2string(np.asarray(theta), precision=6)
        raise InputError(
            f"the actuators cannot move every coordinate at {where}", part="joint loop",
            hint="add actuators, or keep away from this position",
        )  # fmt: skip
    return np.asarray((Vt.T / sigma) @ U.T)
