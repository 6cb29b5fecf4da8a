"""Gain of a full state feedback u = u₀ - K (x - x₀) with its poles, and gains that decouple all coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.control.controller import StateFeedback
from supple.control.controllers.needed_forces import commands_for
from supple.control.laws.affine_law import AffineLaw, constant_law
from supple.control.laws.affine_matrices import Ports, empty
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.reduced.state_arguments import in_order
from supple.results.basis import CoordinateBasis, NamedState, require_same_basis
from supple.results.linear_model import LinearModel
from supple.results.result import Result, picture
from supple.results.table import Table, matrix_table
from supple.results.text import list_names

_HELD = 1e-9  # largest residual acceleration at a target, of that without inputs


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackGain(Result):
    """State feedback designed on a linear model.

    Attributes
    ----------
    linear : LinearModel
        Model of the design, with its operating point: state x₀ and inputs u₀.
    K : ndarray of shape (inputs, states)
        Gain.
    poles : ndarray of complex
        Eigenvalues of the closed linear loop, 1/s; with a sample time (1/T) log of those of its samples.
    sample_time : float, optional
        Sample time for which inputs are held, s; None for continuous feedback.
    """

    linear: LinearModel
    K: Array
    poles: NDArray[np.complex128]
    sample_time: float | None = None

    @property
    def basis(self) -> CoordinateBasis | None:
        """Basis of the elastic states that are fed back; None without any."""
        return self.linear.basis

    def summary(self) -> str:
        slowest = float(self.poles.real.max(initial=-np.inf))
        return (
            f"of {list_names(self.linear.inputs)} from {list_names(self.linear.states)}, slowest pole {slowest:.4g} 1/s"
        )

    def table(self) -> Table:
        """Return K as a table with a row for each input and a column for each state."""
        return matrix_table("input", self.linear.inputs, self.linear.states, self.K)

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {key: np.array(getattr(self.linear, key), dtype=str) for key in ("inputs", "states")}
        return {"K": self.K, "poles": self.poles, **texts}

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the poles with and without feedback in the complex plane (matplotlib); return the panels."""
        return picture("linearization.plot.pole_plot")(
            {"closed loop": self.poles, "without feedback": self.linear.eigenvalues}, axes=axes
        )

    @property
    def closed(self) -> Array:
        """State matrix A - B K (states, states) of the loop with continuous feedback."""
        return self.linear.A - self.linear.B @ self.K

    def regulator(
        self, target: Mapping[str, float] | ArrayLike | None = None, *, hardware: Hardware = NO_HARDWARE
    ) -> StateFeedback:
        """Return the controller that brings the mechanism to a target and holds it there.

        The inputs at the target are u₀ + δu with A δx + B δu = 0, of least norm.

        Parameters
        ----------
        target : mapping of str to float, or array_like, optional
            Target states: by name, the others as in the linear model, or all in order. Default: x₀.
        hardware : Hardware, optional
            Drives to use with gains that were designed without them (drives=False). Default: none.

            The controller then computes the drive commands c = (u + d ω)/g that give the forces u. Pass
            `supple.hardware_of(mechanism)` or `model.hardware`. The lag of the drives is not part of the design.

        Returns
        -------
        StateFeedback
            Controller for `closed_loop`.

        Raises
        ------
        InputError
            If the gain feeds back states that are not measured, or no inputs hold the target.
        """
        return self._feedback(*self._find_held_state(target), hardware)

    def law(
        self,
        target: Mapping[str, float] | ArrayLike | None = None,
        *,
        sample_time: float | None = None,
        hardware: Hardware = NO_HARDWARE,
    ) -> AffineLaw:
        """Return the regulator as a control law, for `AffineController` and `supple.export`.

        Parameters
        ----------
        target : mapping of str to float, or array_like, optional
            Target states, as in `regulator`. Default: x₀.
        sample_time : float, optional
            Sample time, s. Default: that of the design.
        hardware : Hardware, optional
            Drives, as in `regulator`. Default: none.

        Returns
        -------
        AffineLaw
            The law.

        Raises
        ------
        InputError
            If there is no sample time, or as in `regulator`.
        """
        T = self.sample_time if sample_time is None else sample_time
        if T is None:
            raise InputError("the gain has no sample time", part="law of the gain", hint="give sample_time=, s")
        x, u = self._find_held_state(target)
        same = self._feedback(x, u, hardware)
        ports = Ports(self.linear.states, (), self.linear.inputs, T)
        m = empty(0, ports)
        m.D[:, ports.y], m.d[:] = -same.gain, np.asarray(same.inputs) + same.gain @ x
        return replace(
            constant_law(m, ports, name="state feedback"),
            commanded_actuators=same.commanded_actuators,
            undriven=same.undriven,
        )

    def _find_held_state(self, target: Mapping[str, float] | ArrayLike | None) -> tuple[Array, Array]:
        """Return the target state and the inputs that hold it."""
        model = self.linear
        others = model.states[2 * len(model.coordinates) :]
        if others:
            raise InputError(
                f"the gain feeds back states of drives or delays, which are not measured: {list_names(others)}",
                part="regulator",
                hint="estimate them (supple.control.lqg, or state_feedback of a reduced model), or design the gain "
                "with drives=False",
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
        residual = np.abs(drift + model.B @ du)
        if np.any(residual > _HELD * max(1.0, float(np.abs(drift).max()))):
            worst = model.states[int(residual.argmax())]
            raise InputError(
                f'no inputs hold the target: the state "{worst}" would change by {residual.max():.3g} per second',
                part="target", hint="choose a target at rest that the actuators can hold",
            )  # fmt: skip
        return x, u0 + du

    def _feedback(self, x: Array, u: Array, hardware: Hardware) -> StateFeedback:
        linear = self.linear
        half = linear.states[: len(linear.states) // 2]
        rated = half if linear.states == (*half, *(f"{name}.rate" for name in half)) else None
        known = replace(hardware, drives=tuple(item for item in hardware.drives if item.actuator in linear.undriven))
        drives = commands_for(known, linear.inputs, "regulator")
        undriven = tuple(name for name in linear.undriven if name not in drives.driven)
        K, along = drives.rows(self.K), np.zeros_like(self.K)
        if drives.drag.any():
            assert linear.second_order is not None  # drives were left out: it is the model of a machine
            along[:, len(half) :] = drives.by_rate(linear.second_order.P3)
        u = drives.rows(u) + along @ x
        return StateFeedback(K - along, x, u, rated, linear.inputs, self.basis, drives.driven, undriven)


def operating_point(model: LinearModel) -> tuple[Array, Array]:
    """Return the state x₀ and the inputs u₀ of the operating point of a linear model."""
    states, inputs = model.at.get("states", {}), model.at.get("inputs", {})
    return np.array([states.get(name, 0.0) for name in model.states]), np.array(
        [inputs.get(name, 0.0) for name in model.inputs]
    )


def require_continuous_time(model: LinearModel) -> None:
    """Refuse a model in discrete time: designs account for held inputs themselves."""
    if model.step is not None:
        raise InputError(
            f"the model is in discrete time, with steps of {model.step:g} s", part="linear model",
            hint="give the continuous model, and sample_time= if inputs are held",
        )  # fmt: skip


# Gains that decouple the coordinates into oscillators [Lin, eqs. 34-38, with corrected signs].
#
# With M δq̈ = P₂ δq + P₁ δq̇ + P₃ δu and δu = -P₃⁻¹ (K_P δq + K_V δq̇),
#
#     K_V = M Λ₁ + P₁,   K_P = M Λ₂ + P₂,   Λ₁ = diag(2 ξ ω),   Λ₂ = diag(ω²)
#     δq̈_i + 2 ξ_i ω_i δq̇_i + ω_i² δq_i = 0


PerCoordinate = float | Mapping[str, float] | ArrayLike

_RANK = 1e-10
_ROUNDING = 1e-12  # of a rate: residual of a transformation of states


def decoupled_gains(
    linear: LinearModel, frequencies: PerCoordinate, damping_ratios: PerCoordinate = 1.0
) -> FeedbackGain:
    """Compute the feedback gain that makes every coordinate an independent oscillator.

    Parameters
    ----------
    linear : LinearModel
        Linear model in continuous time with states (q, q̇) and at least as many independent inputs as coordinates.
    frequencies : float, mapping of str to float, or array_like
        Natural frequencies ω of the coordinates, rad/s; one for all, by name, or in order.
    damping_ratios : float, mapping of str to float, or array_like, optional
        Damping ratios ξ of the coordinates. Default: 1, for no overshoot.

    Returns
    -------
    FeedbackGain
        Gain with the closed-loop dynamics δq̈_i + 2 ξ_i ω_i δq̇_i + ω_i² δq_i = 0. With more inputs than coordinates, of
        least forces.

    Raises
    ------
    InputError
        If the states are not coordinates and rates, inputs do not accelerate every coordinate independently, or ω or ξ
        is not positive.

    See Also
    --------
    pole_placement : Gain for given poles; needs fewer inputs.
    lqr : Gain of least quadratic cost.

    Notes
    -----
    [Lin, eqs. 34-38, with corrected signs]. The gain is in closed form, and cheap to recompute along a trajectory.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> linear = supple.linearize(supple.load("two-link"), "near")
    >>> gain = control.decoupled_gains(linear, frequencies=4.0, damping_ratios=0.8)
    >>> gain.poles.round(2)
    array([-3.2+2.4j, -3.2+2.4j, -3.2-2.4j, -3.2-2.4j])
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
    desired = linear.A[n:].copy()  # M⁻¹ (P₂, P₁)
    desired[:, :n] += np.diag(omega**2)
    desired[:, n:] += np.diag(2.0 * xi * omega)
    root = np.emath.sqrt(xi**2 - 1.0)
    poles = np.concatenate([omega * (-xi + root), omega * (-xi - root)]).astype(complex)
    return FeedbackGain(linear, np.linalg.pinv(by_input, rcond=_RANK) @ desired, poles)


def per_coordinate(part: str, values: PerCoordinate, names: tuple[str, ...]) -> Array:
    """Return one number per coordinate (n,), from one for all, or one for each by name or in order."""
    if isinstance(values, int | float):
        return np.full(len(names), float(values))
    found = in_order(part, values, names, required=True)
    if found.ndim != 1:
        raise InputError(f"wrong shape {found.shape}", part=part, hint=f"give ({len(names)},) values")
    return found


def positive_per_coordinate(part: str, values: PerCoordinate, names: tuple[str, ...]) -> Array:
    """Return one positive number per coordinate (n,); refuse others."""
    found = per_coordinate(part, values, names)
    wrong = np.flatnonzero(~((found > 0.0) & np.isfinite(found)))
    if len(wrong):
        worst = int(wrong[0])
        raise InputError(
            f'"{names[worst]}" has {found[worst]:g}, not a positive number', part=part, hint="give numbers above 0"
        )
    return found


def _require_mechanical(linear: LinearModel, n: int) -> None:
    top = np.hstack([np.zeros((n, n)), np.eye(n)])
    if len(linear.states) != 2 * n or np.abs(np.hstack([linear.A[:n] - top, linear.B[:n]])).max() > _ROUNDING:
        raise InputError(
            "the states are not coordinates and their rates", part="linear model",
            hint="linearize the mechanism in independent coordinates, without its drives (drives=False)",
        )  # fmt: skip


def _require_actuated(linear: LinearModel, by_input: Array, names: tuple[str, ...]) -> None:
    """Refuse inputs that do not accelerate every coordinate independently of the others."""
    size = np.linalg.norm(by_input, axis=0)
    U, sigma, _ = np.linalg.svd(by_input / np.where(size > 0.0, size, 1.0))
    rank = int((sigma > _RANK * sigma.max(initial=0.0)).sum()) if sigma.any() else 0
    if rank == len(names):
        return
    share = np.linalg.norm(U[:, rank:], axis=1)
    dependent = ", ".join(f'"{names[i]}"' for i in np.argsort(-share, kind="stable") if share[i] > 0.1)
    raise InputError(
        f"the {len(linear.inputs)} inputs accelerate only {rank} of {len(names)} coordinates independently; "
        f"not independent: {dependent}",
        part="decoupled gains", hint="use pole_placement or lqr, which need fewer actuators, or add actuators",
    )  # fmt: skip
