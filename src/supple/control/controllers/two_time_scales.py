"""Two time scales: slow tracking of joints, and fast damping of vibration, from an observer of the deformation.

    u = u_slow + u_fast                                                                  [Brüls 2007, section 6.2]

Slow, for a drive that prescribes its coordinate, H(s) = s θ/c = g (1 + ...) of a velocity drive without its delay,

    u_slow = H⁻¹(s) θ̇_d (t + delay + T/2) + k (θ_d - θ̂)/g,     H⁻¹(s) = 1/g (1 + h₁ s + h₂ s²)

and for a position drive the same with θ_d and k = 0. Fast, with K V = M_δδ V Ω², Vᵀ M_δδ V = 1 at θ,

    q = Vᵀ M_δδ (δ̂ - δ_qs),   δ_qs = δ_s(θ) - K⁻¹(M_δθ θ̈_d + Γ_δ[θ̇_d, θ̇_d]),   δ̇_qs = K⁻¹(∂f_δ/∂θ θ̇_d - M_δθ θ⃛_d)
    κ_im = -2 ζ_m i / p_i(Ω_m),    p = P / (1 + k P/g),    P the drive with delay and hold, from command to θ
    u_fast = Σ_m [(Vᵀ M_δθ)⁻¹]_im (Re κ_im q_m + Im κ_im q̇_m / Ω_m)

At the frequency of each mode the drives then move with θ̈ = (Vᵀ M_δθ)⁻¹ 2 ζ Ω q̇, which dissipates its energy, whatever
the phase and gain of drives and delays. δ_qs is that of the reference motion: measured accelerations would close
another loop. Everything depends on θ and is fitted over the region.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from supple.array_types import Array, Complex
from supple.control.controllers.joint_servo import around_zero, drive_gain
from supple.control.feedforward.planned_motion import PlannedMotion
from supple.control.feedforward.reference import reference
from supple.control.gains.feedback_gain import PerCoordinate, per_coordinate
from supple.control.laws.affine_controller import AffineController, FollowedMotion
from supple.control.laws.affine_law import constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports
from supple.control.laws.law_equilibrium import Equilibria
from supple.control.laws.scheduling import scheduled_law
from supple.control.observers.kalman_filter import FilterAt, KalmanFilter, SampledRests
from supple.control.observers.observed_law import (
    Feedback,
    feedback_law,
    observed_equilibria,
    observed_loop,
    observer_ports,
    product_columns,
)
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import values_text
from supple.hardware.drive_block import DriveBlock
from supple.hardware.drive_response import motion_response
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import named_theta

NOW, AHEAD = 0, 1  # previews
_GROWS = 1e-7  # per sample: rounding of poles at 1


class SlowDrive(NamedTuple):
    """Drive for the slow part: 1/H(s) = inverse[0] + inverse[1] s + inverse[2] s², of order `order` in θ_d."""

    block: DriveBlock
    order: int
    inverse: Array
    gain: float


@dataclass(frozen=True, eq=False)
class TwoTimeScales:
    """Design at any θ; see the equations above.

    observer       : estimates δ̂
    gains          : k (s,), 1/s
    damping_ratios : ζ (d,), that the fast part adds to each mode
    drives         : of the coordinates θ, in their order
    deformed       : whether the motion includes its deformation
    """

    observer: KalmanFilter
    gains: Array
    damping_ratios: Array
    drives: tuple[SlowDrive, ...]
    deformed: bool
    ports: Ports

    def at(self, theta: Array) -> AffineMatrices:
        """Return the law at θ."""
        here = self.observer.at(theta)
        feedback = self._feedback(here)
        self._require_stable(here, feedback.estimates, theta)
        return feedback_law(self.observer, here, self.ports, feedback)

    def equilibria(self, theta: Array) -> Equilibria:
        """Return the equilibria of the law at θ (N, s)."""

        def select_commands(rests: SampledRests) -> Array:
            return rests.commands

        return observed_equilibria(self.observer, self.ports, theta, select_commands)

    def _require_stable(self, here: FilterAt, U: Array, theta: Array) -> None:
        """Refuse unstable poles of F + G U; those of the filter are stable by themselves."""
        N = len(here.plant.F) - len(self.observer.biased_outputs)  # without biases, which no command changes
        poles = np.linalg.eigvals(here.plant.F[:N, :N] + here.plant.G[:N] @ U[:, :N])
        worst = poles[int(np.abs(poles).argmax())]
        if not abs(worst) < 1.0 + _GROWS:
            names, s = self.observer.model.layout.coordinates, len(theta)
            where = values_text(names[:s], theta, 4)
            M, P2, _, _ = here.linear
            modes = np.sqrt(eigh(-P2[s:, s:], M[s:, s:], eigvals_only=True)) / (2.0 * np.pi)
            raise InputError(
                f"the loop is unstable at {where}, with a growing oscillation at "
                f"{abs(np.angle(worst)) / (2.0 * np.pi * self.observer.sample_time):.3g} Hz", part="two time scales",
                hint=f"request less damping of modes that drives hardly follow (modes there: "
                f"{', '.join(f'{mode:.3g}' for mode in modes)} Hz; damping_ratios now "
                f"{', '.join(f'{ratio:g}' for ratio in self.damping_ratios)}), or lower the gains",
            )  # fmt: skip

    def _feedback(self, here: FilterAt) -> Feedback:
        n, s = self.observer.model.layout.size, self.observer.model.layout.theta
        ports, rows = self.ports, self._rows()
        U, V = np.zeros((len(rows), len(here.plant.F))), np.zeros((len(rows), ports.size))
        for i, (drive, k) in enumerate(zip(self.drives, self.gains, strict=True)):
            U[rows[i], i] = -k / drive.gain
            V[rows[i], ports.wanted(0).start + i] += k / drive.gain
            for power, factor in enumerate(drive.inverse):
                V[rows[i], ports.wanted(drive.order + power, AHEAD).start + i] += factor
        if not self.damping_ratios.any():
            return Feedback(U, V, np.zeros(len(rows)))
        by_delta, by_rate = (part[np.argsort(rows)] for part in self._fast(here))
        elastic, elastic_rates = slice(s, n), slice(n + s, 2 * n)
        U[:, elastic], U[:, elastic_rates] = by_delta, by_rate
        offset = -by_delta @ here.plant.state[elastic]
        if self.deformed:  # the motion includes δ_d; at rest it is δ_s
            V[:, _modes(ports, 0, s)], V[:, _modes(ports, 1, s)] = -by_delta, -by_rate
            return Feedback(U, V, np.zeros(len(rows)))
        M, P2, _, P3 = here.linear
        K = -P2[s:, s:]
        by_acceleration, by_theta = np.linalg.solve(K, M[s:, :s]), np.linalg.solve(K, P2[s:, :s])
        by_products = np.linalg.solve(K, -P3[s:, len(rows) :])
        V[:, ports.wanted(2)] += by_delta @ by_acceleration
        V[:, product_columns(self.observer, ports)] += by_delta @ by_products
        V[:, ports.wanted(3)] += by_rate @ by_acceleration
        V[:, ports.wanted(1)] -= by_rate @ by_theta
        return Feedback(U, V, offset)

    def _rows(self) -> list[int]:
        """Return the position of each coordinate's drive among the actuators."""
        return [self.ports.actuators.index(drive.block.actuator) for drive in self.drives]

    def _fast(self, here: FilterAt) -> tuple[Array, Array]:
        """Return the gains of δ̂ - δ_qs and of its rate, (s, d) each, in the order of the coordinates."""
        s = self.observer.model.layout.theta
        M, P2, _, _ = here.linear
        squares, modes = eigh(-P2[s:, s:], M[s:, s:])
        omega = np.sqrt(squares)
        back = np.linalg.pinv(modes.T @ M[s:, :s])
        kappa = np.array([-2j * self.damping_ratios / self._slow_loop(i, omega) for i in range(s)])
        to_modes = modes.T @ M[s:, s:]
        return (back * kappa.real) @ to_modes, (back * kappa.imag / omega) @ to_modes

    def _slow_loop(self, i: int, omega: Array) -> Complex:
        """Return the response from the command of a drive to its θ at ω, with its slow loop closed, delay and hold."""
        drive, T = self.drives[i], self.observer.sample_time
        late = self.observer.delays.get(drive.block.actuator, 0.0) - drive.block.delay
        hold = (1.0 - np.exp(-1j * omega * T)) / (1j * omega * T)
        P = motion_response(drive.block, omega) * hold * np.exp(-1j * omega * late)
        return np.asarray(P / (1.0 + self.gains[i] / drive.gain * P))


def two_time_scales(
    observer: KalmanFilter,
    motion: Any,
    *,
    gains: PerCoordinate = 10.0,
    damping_ratios: float | ArrayLike = 0.3,
    preview: float | None = None,
    at: Any = None,
    tolerance: float = 5e-3,
) -> AffineController:
    """Create a controller with slow joint tracking and fast vibration damping, for drives that prescribe motion.

    Parameters
    ----------
    observer : KalmanFilter
        Kalman filter of a reduced model with at most as many modes as drives, from `kalman_filter`.
    motion : str, Motion, Trajectory, path, callable or PlannedMotion
        Motion, as in `reference`. A PlannedMotion provides δ_d, which then replaces δ_qs.
    gains : float, mapping of str to float, or array_like, optional
        Gains k of velocity drives, 1/s; position drives have none. Default: 10.
    damping_ratios : float or array_like, optional
        Damping ratios ζ added to the modes: one for all, or each by rising frequency ([0.3, 0.1]). Default: 0.3.

        Zero uses the slow part only. A loop that is unstable with the requested damping is refused, since drives do not
        follow fast modes.
    preview : float, optional
        Preview of the motion that replaces the inverse of the drive, s.

        By default the drive is inverted, and the preview is its delay and half a sample.
    at : mapping, array_like or str, optional
        Configuration of a constant law, used everywhere. Default: the law is scheduled over θ.
    tolerance : float, optional
        Largest change of the closed loop by the fit over the region: the error of any response relative to its peak.
        Default: 5e-3.

        The equilibrium is not approximated: the law rests at its goal whatever the tolerance.

    Returns
    -------
    AffineController
        Controller for `closed_loop` and `supple.export`.

    Raises
    ------
    InputError
        If a coordinate has no drive that prescribes its motion, the model has more modes than drives, or the loop is
        unstable.

    See Also
    --------
    joint_servo : The slow part without an observer.
    state_feedback : Optimal feedback on the same observer.

    Notes
    -----
    [Brüls 2007, section 6.2]; docs/theory/observers.md.
    """
    require_arguments(two_time_scales, locals())
    model = observer.model
    names, s = model.layout.coordinates[: model.layout.theta], model.layout.theta
    drives = tuple(_find_leading_drive(observer, name, i) for i, name in enumerate(names))
    d = model.layout.size - s
    _require(observer, drives, d)
    k = per_coordinate("gains", gains, names) * np.array([drive.order for drive in drives])
    late = max(observer.delays[drive.block.actuator] for drive in drives) + 0.5 * observer.sample_time
    if preview is not None:
        drives, late = tuple(item._replace(inverse=item.inverse[:1]) for item in drives), float(preview)
    target, deformed = _reference_motion(motion, model)
    ports = observer_ports(observer, target.coordinates, (0.0, late))
    ratios = np.broadcast_to(np.asarray(damping_ratios, dtype=float), (d,)).copy()
    design = TwoTimeScales(observer, k, ratios, drives, deformed, ports)
    if at is not None:
        law = constant_law(design.at(np.asarray(named_theta(model, at), dtype=float)), ports, name="two time scales")
    else:
        law = scheduled_law(
            design.at, model, ports, tolerance=tolerance, name="two time scales", by=observer.encoders,
            equilibria=design.equilibria,
            loop=lambda theta: observed_loop(observer, theta),
        )  # fmt: skip
    return AffineController(replace(law, commanded_actuators=tuple(item.block.actuator for item in drives)), target)


def _find_leading_drive(observer: KalmanFilter, coordinate: str, place: int) -> SlowDrive:
    """Return the drive that prescribes the motion of a coordinate."""
    model = observer.model
    middle = model.evaluate(model.fitted.arrays.roots_f[0].mean(axis=0))
    pulls = np.abs(middle.input_map[: model.layout.theta])
    for block in observer.hardware.drives:
        if block.leads and block.actuator in model.layout.inputs:
            column = pulls[:, model.layout.inputs.index(block.actuator)]
            if int(column.argmax()) == place:
                return _slow(block)
    raise InputError(
        f'no drive prescribes the motion of "{coordinate}"', part="two time scales",
        hint="describe a velocity, valve or position drive without stiffness, or use state_feedback with forces",
    )  # fmt: skip


def _slow(block: DriveBlock) -> SlowDrive:
    """Return 1/H(s) to second order, from means over a circle about s = 0 without poles and zeros inside."""
    s, H, per_rate = around_zero(block)
    series = np.array([(1.0 / H / s**power).mean().real for power in range(3)])
    return SlowDrive(block, int(per_rate), series, drive_gain(block).gain)


def _require(observer: KalmanFilter, drives: tuple[SlowDrive, ...], modes: int) -> None:
    model = observer.model
    others = [name for name in model.layout.inputs if name not in {item.block.actuator for item in drives}]
    if others:
        raise InputError(
            f'the input "{others[0]}" has no drive that prescribes motion', part=f'model "{model.name}"',
            hint="reduce the mechanism without that actuator",
        )  # fmt: skip
    if not 0 < modes <= len(drives):
        raise InputError(
            f"the model has {modes} elastic coordinates for {len(drives)} drives", part=f'model "{model.name}"',
            hint="reduce with internal_modes from 1 to the number of drives",
        )  # fmt: skip


def _reference_motion(motion: Any, model: ReducedModel) -> tuple[FollowedMotion, bool]:
    """Return the reference motion, and whether it includes δ_d."""
    if not isinstance(motion, PlannedMotion):
        return reference(motion, model), False
    if motion.whole.coordinates != model.layout.coordinates:
        raise InputError(
            f"the motion was planned in {', '.join(motion.whole.coordinates)}, but the model has "
            f"{', '.join(model.layout.coordinates)}", part="motion", hint="plan it with the model of the observer",
        )  # fmt: skip
    return motion.whole, True


def _modes(ports: Ports, order: int, s: int) -> slice:
    """Return the slice of δ_d or a derivative of it in z."""
    whole = ports.wanted(order)
    return slice(whole.start + s, whole.stop)
