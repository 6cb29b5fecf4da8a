"""Gains of a full state feedback u = u₀ - K (x - x₀), the poles they give, and gains that decouple all coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.control.controller import StateFeedback
from supple.control.controllers.needed_forces import commands_for
from supple.control.laws.affine_law import AffineLaw, fixed
from supple.control.laws.affine_matrices import Ports, empty
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.reduced.state_arguments import in_order
from supple.results.basis import CoordinateBasis, NamedState, require_same_basis
from supple.results.linear_model import LinearModel
from supple.results.result import Result, picture
from supple.results.table import Table, matrix_table
from supple.results.text import listed

_HELD = 1e-9  # what may be left of the accelerations at a target, of those without inputs


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackGain(Result):
    """A state feedback designed on a linear model.

    linear      : the model, with the state x₀ and the inputs u₀ that it is about
    K           : (inputs, states)
    poles       : eigenvalues of the closed linear loop, 1/s; with a sample time (1/T) log of those of its samples
    sample_time : s, for which the inputs are held, or None for feedback without pause
    """

    linear: LinearModel
    K: Array
    poles: NDArray[np.complex128]
    sample_time: float | None = None

    @property
    def basis(self) -> CoordinateBasis | None:
        """What the elastic states that it feeds back are counted in; None without any."""
        return self.linear.basis

    def summary(self) -> str:
        slowest = float(self.poles.real.max(initial=-np.inf))
        return f"of {listed(self.linear.inputs)} from {listed(self.linear.states)}, slowest pole {slowest:.4g} 1/s"

    def table(self) -> Table:
        """K, a row for each input, a column for each state."""
        return matrix_table("input", self.linear.inputs, self.linear.states, self.K)

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {key: np.array(getattr(self.linear, key), dtype=str) for key in ("inputs", "states")}
        return {"K": self.K, "poles": self.poles, **texts}

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the poles with and without feedback in the complex plane (matplotlib); returns the panels."""
        return picture("linearization.plot.pole_plot")(
            {"closed loop": self.poles, "without feedback": self.linear.eigenvalues}, axes=axes
        )

    @property
    def closed(self) -> Array:
        """A - B K (states, states) of the feedback without pause."""
        return self.linear.A - self.linear.B @ self.K

    def regulator(
        self, target: Mapping[str, float] | ArrayLike | None = None, *, hardware: Hardware = NO_HARDWARE
    ) -> StateFeedback:
        """The controller that brings the mechanism to a target and holds it there.

        target   : states by name, those left out as in the linear model; or all in order. x₀ itself if left out.
        hardware : of gains designed without the machine's drives (drives=False): it is to ask those for the forces
                   (`supple.hardware_of(mechanism)`, `model.hardware`), c = (u + d ω)/g; their lag is not in the design
        The inputs at the target are u₀ + δu with A δx + B δu = 0, those of least norm.
        """
        return self._feedback(*self._held_at(target), hardware)

    def law(
        self,
        target: Mapping[str, float] | ArrayLike | None = None,
        *,
        sample_time: float | None = None,
        hardware: Hardware = NO_HARDWARE,
    ) -> AffineLaw:
        """The same controller as a law, which `AffineController` takes and `supple.export` writes.

        sample_time : s; that of the design if left out
        hardware    : as in `regulator`
        """
        T = self.sample_time if sample_time is None else sample_time
        if T is None:
            raise InputError("it has no sample time", part="law of the gain", hint="give sample_time=, s")
        x, u = self._held_at(target)
        same = self._feedback(x, u, hardware)
        ports = Ports(self.linear.states, (), self.linear.inputs, T)
        m = empty(0, ports)
        m.D[:, ports.y], m.d[:] = -same.gain, np.asarray(same.inputs) + same.gain @ x
        return replace(fixed(m, ports, name="state feedback"), commanded=same.commanded, undriven=same.undriven)

    def _held_at(self, target: Mapping[str, float] | ArrayLike | None) -> tuple[Array, Array]:
        """The state that is aimed at, and the inputs that hold it."""
        model = self.linear
        others = model.states[2 * len(model.coordinates) :]
        if others:
            raise InputError(
                f"it feeds back states that nobody measures, of drives or delays: {listed(others)}", part="regulator",
                hint="estimate them (supple.control.lqg, or state_feedback of a reduced model), or design it with "
                "drives=False",
            )  # fmt: skip
        x0, u0 = operating_point(model)
        if target is None:
            return x0, u0
        if isinstance(target, Mapping):
            require_same_basis("target", target.basis if isinstance(target, NamedState) else None, self.basis)
            known = dict(zip(model.states, x0.tolist(), strict=True))
            x = in_order("target", {**known, **target}, model.states)
        else:
            x = in_order("target", target, model.states)
        drift = model.A @ (x - x0)
        du = np.linalg.lstsq(model.B, -drift, rcond=None)[0]
        left = np.abs(drift + model.B @ du)
        if np.any(left > _HELD * max(1.0, float(np.abs(drift).max()))):
            worst = model.states[int(left.argmax())]
            raise InputError(
                f'no inputs hold it there: the state "{worst}" would change by {left.max():.3g} a second',
                part="target", hint="choose a target at rest that the actuators can hold",
            )  # fmt: skip
        return x, u0 + du

    def _feedback(self, x: Array, u: Array, hardware: Hardware) -> StateFeedback:
        linear = self.linear
        half = linear.states[: len(linear.states) // 2]
        rated = half if linear.states == (*half, *(f"{name}.rate" for name in half)) else None
        known = replace(hardware, drives=tuple(item for item in hardware.drives if item.actuator in linear.undriven))
        drives = commands_for(known, linear.inputs, "regulator")
        left = tuple(name for name in linear.undriven if name not in drives.driven)
        K, along = drives.rows(self.K), np.zeros_like(self.K)
        if drives.drag.any():
            assert linear.second_order is not None  # drives were left out: it is the model of a machine
            along[:, len(half) :] = drives.by_rate(linear.second_order.P3)
        u = drives.rows(u) + along @ x
        return StateFeedback(K - along, x, u, rated, linear.inputs, self.basis, drives.driven, left)


def operating_point(model: LinearModel) -> tuple[Array, Array]:
    """State x₀ and inputs u₀ that a linear model is about."""
    states, inputs = model.at.get("states", {}), model.at.get("inputs", {})
    return np.array([states.get(name, 0.0) for name in model.states]), np.array(
        [inputs.get(name, 0.0) for name in model.inputs]
    )


def require_continuous_time(model: LinearModel) -> None:
    """Gains are designed on the model in continuous time; what holding the inputs does is accounted for from there."""
    if model.step is not None:
        raise InputError(
            f"it is in discrete time, with steps of {model.step:g} s", part="linear model",
            hint="give the continuous one, and a sample_time where inputs are held",
        )  # fmt: skip


# Gains that make every coordinate an oscillator of its own [Lin, eqs. 34-38, with the signs put right].
#
# With M δq̈ = P₂ δq + P₁ δq̇ + P₃ δu and δu = -P₃⁻¹ (K_P δq + K_V δq̇),
#
#     K_V = M Λ₁ + P₁,   K_P = M Λ₂ + P₂,   Λ₁ = diag(2 ξ ω),   Λ₂ = diag(ω²)
#     δq̈_i + 2 ξ_i ω_i δq̇_i + ω_i² δq_i = 0


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
