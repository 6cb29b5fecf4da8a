"""Gains that make every coordinate an oscillator of its own [Lin, eqs. 34-38, with the signs put right].

With M δq̈ = P₂ δq + P₁ δq̇ + P₃ δu and δu = -P₃⁻¹ (K_P δq + K_V δq̇),

    K_V = M Λ₁ + P₁,   K_P = M Λ₂ + P₂,   Λ₁ = diag(2 ξ ω),   Λ₂ = diag(ω²)
    δq̈_i + 2 ξ_i ω_i δq̇_i + ω_i² δq_i = 0
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.control.gains.feedback_gain import FeedbackGain, require_continuous_time
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.named_values import in_order
from supple.results.linear_model import LinearModel

PerCoordinate = float | Mapping[str, float] | ArrayLike

_RANK = 1e-10
_ROUNDING = 1e-12  # of a rate: what is left of a transformation of states


def decoupled_gains(
    linear: LinearModel, frequencies: PerCoordinate, damping_ratios: PerCoordinate = 1.0
) -> FeedbackGain:
    """The feedback with which each coordinate returns by itself, as ω and ξ say.

    frequencies    : ω in rad/s, one for all, by name or in order; damping_ratios : ξ alike, 1 for no overshoot
    Needs the states (q, q̇) and an actuator for every coordinate; of more, the least forces are taken.
    Closed form and cheap: it can be computed anew along a trajectory.
    """
    require_arguments(decoupled_gains, locals())
    require_continuous_time(linear)
    n = len(linear.states) // 2
    names = linear.states[:n]
    _require_mechanical(linear, n)
    omega = positive_per_coordinate("frequencies", frequencies, names)
    xi = positive_per_coordinate("damping ratios", damping_ratios, names)
    by_input = linear.B[n:]  # M⁻¹ P₃
    _require_actuated(linear, by_input, names)
    wanted = linear.A[n:].copy()  # M⁻¹ (P₂, P₁)
    wanted[:, :n] += np.diag(omega**2)
    wanted[:, n:] += np.diag(2.0 * xi * omega)
    root = np.emath.sqrt(xi**2 - 1.0)
    poles = np.concatenate([omega * (-xi + root), omega * (-xi - root)]).astype(complex)
    return FeedbackGain(linear, np.linalg.pinv(by_input, rcond=_RANK) @ wanted, poles)


def per_coordinate(part: str, values: PerCoordinate, names: tuple[str, ...]) -> Array:
    """One number for all coordinates, or one for each by name or in order: (n,)."""
    if isinstance(values, int | float):
        return np.full(len(names), float(values))
    found = in_order(part, values, names, required=True)
    if found.ndim != 1:
        raise InputError(f"has the shape {found.shape}", part=part, hint=f"give ({len(names)},) values")
    return found


def positive_per_coordinate(part: str, values: PerCoordinate, names: tuple[str, ...]) -> Array:
    """The same of numbers above zero."""
    found = per_coordinate(part, values, names)
    wrong = np.flatnonzero(~((found > 0.0) & np.isfinite(found)))
    if len(wrong):
        worst = int(wrong[0])
        raise InputError(
            f'"{names[worst]}" has {found[worst]:g}', part=part, hint="give numbers above 0, or it will not return"
        )
    return found


def _require_mechanical(linear: LinearModel, n: int) -> None:
    top = np.hstack([np.zeros((n, n)), np.eye(n)])
    if len(linear.states) != 2 * n or np.abs(np.hstack([linear.A[:n] - top, linear.B[:n]])).max() > _ROUNDING:
        raise InputError(
            "its states are not coordinates and their rates", part="linear model",
            hint="linearize the mechanism in independent coordinates, without its drives (drives=False)",
        )  # fmt: skip


def _require_actuated(linear: LinearModel, by_input: Array, names: tuple[str, ...]) -> None:
    """Every coordinate must be accelerated independently of the others."""
    size = np.linalg.norm(by_input, axis=0)
    U, sigma, _ = np.linalg.svd(by_input / np.where(size > 0.0, size, 1.0))
    rank = int((sigma > _RANK * sigma.max(initial=0.0)).sum()) if sigma.any() else 0
    if rank == len(names):
        return
    share = np.linalg.norm(U[:, rank:], axis=1)
    left = ", ".join(f'"{names[i]}"' for i in np.argsort(-share, kind="stable") if share[i] > 0.1)
    raise InputError(
        f"{len(linear.inputs)} inputs accelerate {len(names)} coordinates in {rank} independent ways; "
        f"not each by itself: {left}",
        part="decoupled gains", hint="place poles or take lqr, which need fewer actuators, or add actuators",
    )  # fmt: skip
