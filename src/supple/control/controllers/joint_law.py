"""The law that all joint loops share, in commands per coordinate:

    u = P e + V (θ̇_d - v) + W v + Q ∫ e dt + R₀ θ_d(t + τ) + R₁ θ̇_d(t + τ) + f,      e = θ_d - θ

v is measured, or follows from θ by differences through a low-pass of first order,

    v_k = α v_{k-1} + (1 - α) (θ_k - θ_{k-1}) / T,   α = exp(-2π f T)

The integral is held where drives do not follow: what they applied less than was asked, c₋ - u₋, takes it back in T_t,

    I⁺ = I + T e + (T / T_t) Q⁺ (c₋ - u₋)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.laws.affine_matrices import AffineMatrices, empty
from supple.control.laws.law_ports import Ports
from supple.diagnostics import InputError
from supple.reduced.named_values import in_order

BEFORE, AHEAD = 0, 1  # previews: now, and τ later


class CommandGains(NamedTuple):
    """P, V, Q, R₀, R₁ (a, s); tracking : T_t, s; rate_filter : f in Hz, None where rates are measured;
    drag : W (a, s), with which drives that lose force to rates are asked for more."""

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
        """V - W (a, s), of v."""
        return self.rate_error - self.drag

    @property
    def integrates(self) -> bool:
        return bool(self.integral.any())

    @property
    def filters(self) -> bool:
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
    """What a joint loop is told: θ, its rates if it needs and does not filter them.

    sensors : names under which coordinates and rates ("lift", "lift.rate") are measured, where they differ
    """
    measured = list(coordinates)
    if gains.by_rate.any() and not gains.filters:
        measured += [f"{name}.rate" for name in coordinates]
    told = outputs_read(measured, sensors)
    ahead = bool(gains.position.any() or gains.rate.any())
    return Ports(told, coordinates, actuators, sample_time, (0.0, preview) if ahead else (0.0,), fed)


def outputs_read(measured: Sequence[str], sensors: Mapping[str, str] | None) -> tuple[str, ...]:
    """The outputs in which a controller reads what it measures: those of `sensors`, others by their own names."""
    named = {} if sensors is None else sensors
    for name in named:
        if name not in measured:
            raise InputError(f'it does not measure "{name}"', part="sensors", hint=f"it measures {', '.join(measured)}")
    return tuple(named.get(name, name) for name in measured)


def joint_matrices(gains: CommandGains, ports: Ports) -> AffineMatrices:
    """States: v and θ of the sample before where rates are filtered; then I and u₋ where it integrates."""
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
        total, asked = slice(first, first + s), slice(first + s, first + s + a)
        m.C[:, total] = gains.integral
        back = T / gains.tracking * np.linalg.pinv(gains.integral)
        m.A[total, total], m.A[total, asked] = one, -back
        summed = T * np.diag(gains.integral.any(axis=0).astype(float))
        m.B[total, theta], m.B[total, ports.wanted(0)], m.B[total, ports.applied] = -summed, summed, back
        m.A[asked], m.B[asked], m.b[asked] = m.C, m.D, m.d
        m.A0[asked, ports.applied] = np.eye(a)
    return m


def told_what_it_uses(matrices: AffineMatrices, ports: Ports) -> tuple[AffineMatrices, Ports]:
    """The same law without measurements that nothing follows from, such as of coordinates that move freely."""
    used = np.asarray(np.vstack([matrices.B, matrices.D, matrices.A0]).any(axis=0))
    used[ports.y.stop :] = True
    measured = tuple(name for name, kept in zip(ports.measured, used, strict=False) if kept)
    kept = matrices._replace(B=matrices.B[:, used], D=matrices.D[:, used], A0=matrices.A0[:, used])
    return kept, replace(ports, measured=measured)


def require_frequency(part: str, value: float | None) -> None:
    """Refuse what is no frequency, Hz."""
    if value is not None and not (np.isfinite(value) and value > 0.0):
        raise InputError(f"it is {value:g} Hz", part=part, hint="give a number above 0, or leave it out")


def by_coordinate(part: str, values: float | Mapping[str, float] | Array, names: tuple[str, ...]) -> Array:
    """Numbers (s,), one for all, by name or in order, none below 0."""
    found = np.full(len(names), float(values)) if isinstance(values, int | float) else in_order(part, values, names)
    if found.shape != (len(names),) or not (found >= 0.0).all():
        raise InputError(f"they are {values}", part=part, hint="give numbers that are not negative")
    return found
