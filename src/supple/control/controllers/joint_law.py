"""Common law of all joint loops, in commands per coordinate, and the equations of motion that joint loops use.

    u = P e + V (θ̇_d - v) + W v + Q ∫ e dt + R₀ θ_d(t + τ) + R₁ θ̇_d(t + τ) + f,      e = θ_d - θ

v is measured, or computed from θ by differences through a first-order low-pass,

    v_k = α v_{k-1} + (1 - α) (θ_k - θ_{k-1}) / T,   α = exp(-2π f T)

Anti-windup: if drives apply less than was commanded, the difference c₋ - u₋ discharges the integral in T_t,

    I⁺ = I + T e + (T / T_t) Q⁺ (c₋ - u₋)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from supple.array_types import Array
from supple.control.feedforward.reference import AnyReference, Reference
from supple.control.laws.affine_matrices import AffineMatrices, Ports, empty
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, require_known
from supple.equations.equations_of_motion import EquationsOfMotion
from supple.equations.forces import FRICTION_SPEED
from supple.kinematics.configuration import At
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import REST, named_theta
from supple.reduced.state_arguments import in_order
from supple.systems.protocols import system_of

# The law.


BEFORE, AHEAD = 0, 1  # previews: at t, and at t + τ


class CommandGains(NamedTuple):
    """Gains P, V, Q, R₀, R₁ (a, s) of a joint loop in commands.

    tracking    : T_t, s
    rate_filter : f in Hz, None if rates are measured
    drag        : W (a, s), which compensates the forces that drives lose with speed
    """

    error: Array
    rate_error: Array
    integral: Array
    position: Array
    rate: Array
    tracking: float = 1.0
    rate_filter: float | None = None
    drag: Array | float = 0.0

    @property
    def by_rate(self) -> Array:
        """Gain V - W (a, s) of v."""
        return self.rate_error - self.drag

    @property
    def integrates(self) -> bool:
        """Whether the loop has an integral."""
        return bool(self.integral.any())

    @property
    def filters(self) -> bool:
        """Whether rates are filtered from the coordinates."""
        return self.rate_filter is not None and bool(self.by_rate.any())


def joint_ports(
    gains: CommandGains,
    coordinates: tuple[str, ...],
    actuators: tuple[str, ...],
    sample_time: float,
    *,
    preview: float = 0.0,
    fed: bool = False,
    sensors: Mapping[str, str] | None = None,
) -> Ports:
    """Return the ports of a joint loop: it measures θ, and its rates if it needs them and does not filter them.

    sensors : names under which coordinates and rates ("lift", "lift.rate") are measured, where they differ
    """
    measured = list(coordinates)
    if gains.by_rate.any() and not gains.filters:
        measured += [f"{name}.rate" for name in coordinates]
    outputs = outputs_read(measured, sensors)
    ahead = bool(gains.position.any() or gains.rate.any())
    return Ports(outputs, coordinates, actuators, sample_time, (0.0, preview) if ahead else (0.0,), fed)


def outputs_read(measured: Sequence[str], sensors: Mapping[str, str] | None) -> tuple[str, ...]:
    """Return the outputs that a controller reads: those of `sensors`, the others by their own names."""
    named = {} if sensors is None else sensors
    for name in named:
        if name not in measured:
            raise InputError(
                f'the controller does not measure "{name}"', part="sensors", hint=f"it measures {', '.join(measured)}"
            )
    return tuple(named.get(name, name) for name in measured)


def joint_matrices(gains: CommandGains, ports: Ports) -> AffineMatrices:
    """Return the matrices of a joint loop.

    States: v and θ of the previous sample if rates are filtered; then I and u₋ if it integrates.
    """
    s, a, T = len(ports.coordinates), len(ports.actuators), ports.sample_time
    filtered, first = 2 * s * gains.filters, 2 * s * gains.filters
    m = empty(filtered + (s + a) * gains.integrates, ports)
    theta, one = slice(0, s), np.eye(s)
    m.D[:, theta] -= gains.error
    m.D[:, ports.wanted(0)] += gains.error
    m.D[:, ports.wanted(1)] += gains.rate_error
    if len(ports.previews) > AHEAD:
        m.D[:, ports.wanted(0, AHEAD)] += gains.position
        m.D[:, ports.wanted(1, AHEAD)] += gains.rate
    if ports.fed:
        m.D[:, ports.fed_forward] = np.eye(a)
    if gains.filters:
        assert gains.rate_filter is not None
        alpha = float(np.exp(-2.0 * np.pi * gains.rate_filter * T))
        v, last = slice(0, s), slice(s, 2 * s)
        m.A[v, v], m.A[v, last], m.B[v, theta] = alpha * one, -(1.0 - alpha) / T * one, (1.0 - alpha) / T * one
        m.B[last, theta] = one
        m.C[:, : 2 * s] -= gains.by_rate @ m.A[v, : 2 * s]
        m.D[:, theta] -= gains.by_rate @ m.B[v, theta]
        m.A0[last, theta], m.A0[last, ports.wanted(1)], m.A0[v, ports.wanted(1)] = one, -T * one, one
    elif gains.by_rate.any():
        m.D[:, s : 2 * s] -= gains.by_rate
    if gains.integrates:
        total, command = slice(first, first + s), slice(first + s, first + s + a)
        m.C[:, total] = gains.integral
        back = T / gains.tracking * np.linalg.pinv(gains.integral)
        m.A[total, total], m.A[total, command] = one, -back
        summed = T * np.diag(gains.integral.any(axis=0).astype(float))
        m.B[total, theta], m.B[total, ports.wanted(0)], m.B[total, ports.applied_commands] = -summed, summed, back
        m.A[command], m.B[command], m.b[command] = m.C, m.D, m.d
        m.A0[command, ports.applied_commands] = np.eye(a)
    return m


def without_unused_measurements(matrices: AffineMatrices, ports: Ports) -> tuple[AffineMatrices, Ports]:
    """Return the law without measurements that nothing depends on, such as those of coordinates that move freely."""
    used = np.asarray(np.vstack([matrices.B, matrices.D, matrices.A0]).any(axis=0))
    used[ports.y.stop :] = True
    measured = tuple(name for name, kept in zip(ports.measured, used, strict=False) if kept)
    kept = matrices._replace(B=matrices.B[:, used], D=matrices.D[:, used], A0=matrices.A0[:, used])
    return kept, replace(ports, measured=measured)


def require_frequency(part: str, value: float | None) -> None:
    """Refuse a number that is not a frequency, Hz."""
    if value is not None and not (np.isfinite(value) and value > 0.0):
        raise InputError(
            f"must be positive (got {value:g} Hz)", part=part, hint="give a number above 0, or leave it out"
        )


def by_coordinate(part: str, values: float | Mapping[str, float] | Array, names: tuple[str, ...]) -> Array:
    """Return numbers (s,), from one for all, by name or in order; refuse negative ones."""
    found = np.full(len(names), float(values)) if isinstance(values, int | float) else in_order(part, values, names)
    if found.shape != (len(names),) or not (found >= 0.0).all():
        raise InputError(f"must not be negative (got {values})", part=part, hint="give numbers from 0 on")
    return found


# Equations of θ of a mechanism or its reduced model, and the forces of a motion, as joint loops use them.
#
# M θ̈ + Γ[θ̇, θ̇] + D_d θ̇ - p = B u          for a flexible model the rows of θ at δ = 0


_RANK = 1e-10
SPACING = 2e-3  # s, between the instants of forces along a motion; cubics join them


class JointEquations(NamedTuple):
    """Equations at θ: M (s, s), p (s,), damping D_d (s, s), B (s, a), and B⁺ (a, s) for the least inputs."""

    M: Array
    force: Array
    damping: Array
    input_map: Array
    divide: Array


@dataclass(frozen=True, eq=False)
class JointModel:
    """Mechanism with its elastic bodies treated as rigid, or a reduced model.

    of     : the mechanism or the model
    driven : actuators that are driven; None for all
    """

    of: Mechanism | ReducedModel
    driven: tuple[str, ...] | None = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates θ."""
        return system_of(self.of).rigid_coordinates

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of all actuators."""
        return system_of(self.of).inputs

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators that are driven."""
        for name in self.driven or ():
            require_known("actuator", name, self.inputs, part="actuators")
        return self.inputs if self.driven is None else self.driven

    @property
    def _columns(self) -> list[int]:
        return [self.inputs.index(name) for name in self.actuators]

    def theta(self, at: At) -> Array:
        """Return θ (s,) of a configuration, by name or in numbers; that of rest by default."""
        if not isinstance(self.of, ReducedModel):
            return np.asarray(local(self.of, at, rigid=True).theta)
        known = None if self.of.repertoire is None else self.of.repertoire.configurations
        if at is None and (known is None or REST not in known):
            raise InputError("the model has no rest configuration", part=f'model "{self.of.name}"', hint="give at=θ")
        return in_order("θ", named_theta(self.of, REST if at is None else at), self.coordinates, required=True)

    def equations(self, theta: Array) -> EquationsOfMotion:
        """Return the equations of motion at θ (s,) or (N, s)."""
        return self.of.evaluate(theta) if isinstance(self.of, ReducedModel) else local(self.of, theta, rigid=True)

    def at(self, theta: Array) -> JointEquations:
        """Return the rows of θ of the equations at θ."""
        here, s = self.equations(theta), len(self.coordinates)
        B = here.input_map[:s, self._columns]
        return JointEquations(here.M[:s, :s], here.force[:s], here.damping[:s, :s], B, least_inputs(B, theta))

    def find_holding_inputs(self, theta: Array) -> Array:
        """Return the inputs (N, a) of least norm that hold θ (N, s): -B⁺ p."""
        here, s = self.equations(theta), len(self.coordinates)
        divide = [
            least_inputs(B, where) for B, where in zip(here.input_map[:, :s][..., self._columns], theta, strict=True)
        ]
        return -np.einsum("nas,ns->na", np.array(divide), here.force[:, :s])

    def forces(self, motion: Array, *, still: bool) -> Array:
        """Return the inputs (N, a) of least norm along θ, θ̇, θ̈, θ⃛ (N, 4, s); still: those that hold θ only."""
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
        """Return the inputs along a motion as a reference of the actuators, by cubics between samples."""
        if not isinstance(motion, Reference):
            raise InputError(
                "the motion has no end, so that forces along it cannot be precomputed", part="motion",
                hint="give reference(motion, mechanism, until=...)",
            )  # fmt: skip
        cuts = [np.linspace(a, b, 1 + max(1, round((b - a) / SPACING)))[:-1]
                for a, b in zip(motion.breaks[:-1], motion.breaks[1:], strict=True)]  # fmt: skip
        times = np.concatenate([*cuts, motion.breaks[-1:]])
        sampled = motion.sample(times)
        pieces = CubicSpline(times, self.forces(sampled, still=still))
        return Reference(self.actuators, times, np.ascontiguousarray(pieces.c[::-1].transpose(1, 0, 2)))


def least_inputs(B: Array, theta: Array) -> Array:
    """Return B⁺ (a, s)."""
    U, sigma, Vt = np.linalg.svd(B, full_matrices=False)
    if B.shape[1] < B.shape[0] or not sigma[-1] > _RANK * sigma[0]:
        where = np.array2string(np.asarray(theta), precision=6)
        raise InputError(
            f"the actuators cannot move every coordinate at {where}", part="joint loop",
            hint="add actuators, or avoid this configuration",
        )  # fmt: skip
    return np.asarray((Vt.T / sigma) @ U.T)
