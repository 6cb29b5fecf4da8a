"""Computed torque: the model cancels the nonlinear terms, and the errors of the motion behave as oscillators.

    B u = M(θ) (θ̈_d + 2 ξ ω (θ̇_d - θ̇) + ω² (θ_d - θ)) + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ_j J_jᵀ f_j tanh(J_j θ̇_d / v₀)

For a flexible model this is evaluated at the quasi-static deformation δ_qs of the reference motion (`needed_forces`).
With more actuators than coordinates the forces are distributed as in inverse dynamics, at every sample
(`redundancy/force_division`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.controller_measurement import Measurement
from supple.control.controllers.needed_forces import (
    ActuatorForceModel,
    Aim,
    FlexibleEquations,
    ForceCommands,
    MechanismEquations,
    ModelEquations,
    force_commands,
    require_quasistatic,
)
from supple.control.feedforward.planned_motion import PlannedMotion
from supple.control.feedforward.reference import AnyReference, Wanted, reference
from supple.control.gains.feedback_gain import PerCoordinate, positive_per_coordinate
from supple.control.margins.loop_check import checked_places, filtered_law, warn_if_unstable
from supple.control.margins.open_loop import static_law
from supple.control.plants.surrounding import hardware_in
from supple.control.redundancy.force_division import ForceDivision, Preload, PreviousForces, force_division
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.diagnostics import InputError, SuppleNote
from supple.diagnostics.arguments import require_arguments
from supple.hardware.hardware import Hardware
from supple.inverse_dynamics.inverse_dynamics import Bound
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel
from supple.results.result import brief
from supple.results.text import list_names
from supple.systems.protocols import system_of

_SMALL = 1e-6  # rad or m, and per second: steps of central differences


class Deviation(NamedTuple):
    """Measurement at a time, s: the deviation θ - θ_d and its filtered rate, (s,) each."""

    time: float
    deviation: Array
    slope: Array


@dataclass(eq=False, repr=False)
class ComputedTorque:
    """Computed-torque controller that follows a motion; made by `computed_torque`.

    Attributes
    ----------
    model : Mechanism or ReducedModel
        The mechanism (exact, but assembled at every call, with elastic bodies treated as rigid), or a reduced model of
        it (fast).
    reference : Reference
        Motion θ_d(t) with its derivatives.
    frequencies : ndarray of shape (s,)
        Natural frequencies ω of the errors, rad/s.
    damping_ratios : ndarray of shape (s,)
        Damping ratios ξ of the errors.
    coordinates : tuple of str
        Coordinates θ that are measured; the deformation of a flexible plant is not measured.
    equations : ActuatorForceModel
        Equations of motion of the model.
    division : ForceDivision
        Distribution of forces over the actuators; other inputs of the plant are zero.
    drives : ForceCommands
        Conversion of forces to commands of drives.
    bending : Reference, optional
        Deformation δ_d(t) of a motion that was planned with it.
    preview : float
        Time by which θ̈_d and δ_d are evaluated ahead, s.
    rate_filter : float, optional
        Corner frequency of the filter of rates from differences of θ - θ_d, Hz; None if rates are measured.
    short : int
        Number of samples so far at which no forces within the bounds were sufficient.
    """

    model: Mechanism | ReducedModel
    reference: AnyReference
    frequencies: Array
    damping_ratios: Array
    coordinates: tuple[str, ...]
    equations: ActuatorForceModel
    division: ForceDivision
    drives: ForceCommands
    bending: AnyReference | None = None
    preview: float = 0.0
    rate_filter: float | None = None
    short: int = 0
    _last: PreviousForces | None = field(default=None, repr=False)
    _along: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _last_deviation: Deviation | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return brief(
            "ComputedTorque", f"of {list_names(self.coordinates)} by {list_names(self.actuators)}, from {self.model!r}"
        )

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators that are driven."""
        return self.division.actuators

    @property
    def commanded_actuators(self) -> tuple[str, ...]:
        """Names of the actuators whose outputs are commands of drives."""
        return self.drives.driven

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic bodies that the controller treats as rigid."""
        return self.model.rigid if isinstance(self.model, ReducedModel) else self.model.elastic_names

    def reset(self, start: Measurement) -> None:
        """Reset before the first sample: no previous forces or measurements."""
        self.short, self._last, self._last_deviation = 0, None, None

    def record_command(self, command: Array) -> None:
        """Record the last forces as drives applied them; bounded rates continue from these."""
        if self._last is not None:
            self._last = self._last._replace(forces=self.drives.forces(command, self._along))

    def step(self, t: float, measurement: Measurement) -> Array:
        """Return the forces (a,) of the actuators, as commands of their drives."""
        theta, rates = self._estimate_state(t, measurement)
        aim = self._aim(t)
        omega = self.frequencies
        a = aim.accelerations + 2.0 * self.damping_ratios * omega * (aim.rates - rates) + omega**2 * (aim.theta - theta)
        last = self._last if self._last is not None and self._last.time < t else None
        need = self.equations.compute_forces(theta, rates, a, aim)
        u, met = self.division.divide_forces(need, t, last)
        if not met:
            self._count_short(t)
        hold = float(np.linalg.norm(need.B))
        self._last = PreviousForces(t, u, hold if last is None else max(hold, last.hold))
        self._along = rates @ need.B
        return self.drives.commands(u, self._along)

    def _aim(self, t: float) -> Aim:
        """Return θ_d and θ̇_d at t, and θ̈_d and δ_d at t + preview, when the forces take effect."""
        later = t + self.preview
        theta, rates, accelerations, _ = self.reference.at(t)
        if self.preview:
            accelerations = self.reference.at(later)[2]
        return Aim(theta, rates, accelerations, None if self.bending is None else self.bending.at(later)[:3])

    def _estimate_state(self, t: float, measurement: Measurement) -> tuple[Array, Array]:
        """Return θ and θ̇.

        Rates that are not measured are θ̇_d + w, w = α w₋ + (1 - α)(d - d₋)/T, α = exp(-2π f T), d = θ - θ_d: only the
        deviation from the known reference is filtered.
        """
        if self.rate_filter is None:
            return measurement.of(self.coordinates, "computed torque")
        theta, (aim, rates, _, _) = measurement.array(self.coordinates), self.reference.at(t)
        deviation, slope = theta - aim, np.zeros_like(theta)
        if self._last_deviation is not None and self._last_deviation.time < t:
            last, T = self._last_deviation, t - self._last_deviation.time
            alpha = np.exp(-2.0 * np.pi * self.rate_filter * T)
            slope = alpha * last.slope + (1.0 - alpha) * (deviation - last.deviation) / T
        self._last_deviation = Deviation(t, deviation, slope)
        return theta, rates + slope

    def _count_short(self, t: float) -> None:
        self.short += 1
        if self.short == 1:
            warnings.warn(
                f"computed torque: at {t:.6g} s no forces within the bounds give the required accelerations; the "
                "nearest ones are applied (`short` counts these samples); widen the bounds, or use a slower motion",
                SuppleNote, stacklevel=2,
            )  # fmt: skip


def computed_torque(
    model: Mechanism | ReducedModel,
    motion: Wanted | PlannedMotion,
    frequencies: PerCoordinate,
    damping_ratios: PerCoordinate = 1.0,
    *,
    actuators: Sequence[str] | str | None = None,
    minimize: str = "torque",
    weights: Mapping[str, float] | None = None,
    bounds: Bound | Mapping[str, Bound] | str | None = None,
    rate_bounds: float | Mapping[str, float] | None = None,
    preload: Preload | None = None,
    preview: float = 0.0,
    rate_filter: float | None = None,
    hardware: Hardware | bool = True,
    rigid: bool = False,
) -> ComputedTorque:
    """Create a computed-torque controller that follows a motion with decoupled error dynamics.

    Parameters
    ----------
    model : Mechanism or ReducedModel
        Model of the equations of motion: the mechanism, with elastic bodies treated as rigid, or a reduced model.
    motion : str, Motion, Trajectory, path, callable or PlannedMotion
        Motion, as in `reference`; or a `PlannedMotion`.

        A flexible model is evaluated at the deformation of a PlannedMotion (`rest_to_rest`, `stable_inversion`).
    frequencies : float, mapping of str to float, or array_like
        Natural frequencies ω of the errors, rad/s; one for all, by name, or in order.
    damping_ratios : float, mapping of str to float, or array_like, optional
        Damping ratios ξ of the errors. Default: 1.
    actuators : sequence of str or str, optional
        Actuators that are used, as a list or "A, B". Default: all.
    minimize : str, optional
        Objective of the force distribution over redundant actuators, as in `inverse`. Default: "torque".
    weights : mapping of str to float, optional
        Weights of the actuators in the force distribution. Default: 1.
    bounds : float, (float, float), mapping or str, optional
        Bounds of the forces, N or N m, as in `inverse`. Default: none.

        If no forces within the bounds are sufficient, the nearest are applied, with a note.
    rate_bounds : float or mapping of str to float, optional
        Bounds of the rates of forces, N/s or N m/s. Default: none.
    preload : mapping of str to float, or callable, optional
        Forces u* about which redundant actuators share the load, by name, or a function of time. Default: none.

        The part of u* that does no work remains as internal forces between actuators; `antagonism` computes the
        stiffness that it causes.
    preview : float, optional
        Time by which reference accelerations are evaluated ahead, s. Default: 0.

        Half a sample compensates held forces; drives with lag need more.
    rate_filter : float, optional
        Corner frequency of rates from differences, Hz. Default: none; rates are measured.

        With a filter, rates are θ̇_d plus differences of θ - θ_d through a first-order low-pass.
    hardware : Hardware or bool, optional
        Drives between commands and forces, as in `closed_loop`; their gains are compensated. Default: the model's own.
    rigid : bool, optional
        Treat elastic bodies of a mechanism as rigid without a warning. Default: False.

        A flexible reduced model is then evaluated at δ = 0 rather than at the deformation of the motion.

    Returns
    -------
    ComputedTorque
        Controller for `closed_loop`.

    Raises
    ------
    InputError
        If there are too few actuators, the actuators excite the deformation, or arguments do not fit the model.

    Warns
    -----
    UnstableLoop
        If the loop with drives, filters and deformation is unstable on the linearized model.
    SuppleNote
        If elastic bodies are treated as rigid, or forces within the bounds are not sufficient.

    See Also
    --------
    disturbance_observer : Computed torque as an affine law, with an estimate of the disturbance.
    inverse : Forces along a motion.
    supple.export : Write the controller as C.

    Notes
    -----
    The errors follow ë + 2 ξ ω ė + ω² e = 0; docs/theory/computed-torque.md.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> arm = supple.load("two-link")
    >>> motion = control.timed_path([[0.05, 0.05], [0.5, 0.5]], arm, velocity=2.0, acceleration=10.0, forces=False)
    >>> control.computed_torque(arm, motion, frequencies=10.0).actuators
    ('shoulder', 'elbow')
    """
    require_arguments(computed_torque, locals())
    names, known = system_of(model).rigid_coordinates, system_of(model).inputs
    flexible = isinstance(model, ReducedModel) and model.layout.size > model.layout.theta and not rigid
    if isinstance(model, Mechanism):
        treat_as_rigid(model, rigid, "reduce it with modes and give the reduced model, which includes the deformation")
    division = force_division(
        known, model, actuators=actuators, minimize=minimize,
        weights=weights, bounds=bounds, rate_bounds=rate_bounds, preload=preload,
    )  # fmt: skip
    _require_enough(division, names)
    omega = positive_per_coordinate("frequencies", frequencies, names)
    ratios = positive_per_coordinate("damping ratios", damping_ratios, names)
    if not np.isfinite(preview):
        raise InputError(
            f"must be finite (got {preview:g} s)", part="preview", hint="give a time, such as half a sample"
        )
    target = reference(motion, model)
    numbers = [known.index(name) for name in division.actuators]
    equations: ActuatorForceModel
    bending = None
    if isinstance(model, Mechanism):
        equations = MechanismEquations(model, numbers, division.weights)
    else:
        _require_unmixed(division)
        equations = FlexibleEquations(model, numbers) if flexible else ModelEquations(model, numbers)
        if model.layout.size > model.layout.theta:
            require_quasistatic(model, target.at(0.0)[0], numbers)
        bending = _find_bending(model, motion) if flexible else None
    drives = force_commands(model, division.actuators, hardware, "computed torque")
    more = (drives, bending, float(preview), _positive(rate_filter))
    controller = ComputedTorque(model, target, omega, ratios, names, equations, division, *more)
    devices = hardware_in(model, hardware)
    elastic = model.layout.size > model.layout.theta if isinstance(model, ReducedModel) else model.elastic
    if elastic or devices.drives or rate_filter is not None:  # otherwise the error dynamics are exactly those designed
        warn_if_unstable(
            "computed torque", model, lambda plant: _about(controller, plant), devices, checked_places(None, target),
            "lower the frequencies, raise the filter of rates (rate_filter=), or use state_feedback on an observer",
        )  # fmt: skip
    return controller


def _about(controller: ComputedTorque, plant: LinearModel) -> LinearModel:
    """Return the linear response to small θ - θ_d and θ̇ about rest at a linear plant, by central differences."""
    names, s = controller.coordinates, len(controller.coordinates)
    theta, still = np.array([plant.at["states"][name] for name in names]), np.zeros(s)

    def response(change: Array) -> Array:
        off, rates = change[:s], change[s:]
        a = -2.0 * controller.damping_ratios * controller.frequencies * rates - controller.frequencies**2 * off
        need = controller.equations.compute_forces(theta + off, rates, a, Aim(theta, still, still))
        return controller.drives.commands(np.linalg.pinv(need.B) @ need.Q, rates @ need.B)

    K = np.stack([(response(-step) - response(step)) / (2.0 * _SMALL) for step in _SMALL * np.eye(2 * s)], axis=1)
    if controller.rate_filter is not None:
        return filtered_law(K, controller.rate_filter, names, controller.actuators)
    return static_law(K, (*names, *(f"{name}.rate" for name in names)), controller.actuators)


def _find_bending(model: ReducedModel, motion: Wanted | PlannedMotion) -> AnyReference | None:
    """Return δ_d(t) of a motion that was planned with the model; None of others."""
    if not isinstance(motion, PlannedMotion):
        return None
    found, names = motion.deformation, model.layout.coordinates[model.layout.theta :]
    if found.coordinates != names:
        raise InputError(
            f"the motion was planned with {', '.join(found.coordinates)}, but the model has {', '.join(names)}",
            part="motion", hint="plan it with the same model",
        )  # fmt: skip
    return found


def _require_enough(division: ForceDivision, names: tuple[str, ...]) -> None:
    count = len(division.actuators)
    if count < len(names):
        raise InputError(
            f"{count} actuators cannot follow {len(names)} coordinates", part="computed torque",
            hint="use more actuators, or regulate about a state with pole_placement or lqr",
        )  # fmt: skip
    if division.preload is not None and count == len(names):
        raise InputError(
            f"{count} actuators for {len(names)} coordinates are not redundant, so that they have no internal forces",
            part="preload", hint="leave preload= out, or use more actuators",
        )  # fmt: skip


def _positive(rate_filter: float | None) -> float | None:
    if rate_filter is not None and not (np.isfinite(rate_filter) and rate_filter > 0.0):
        raise InputError(
            f"must be positive (got {rate_filter:g} Hz)", part="rate filter", hint="give a frequency above 0"
        )
    return rate_filter


def _require_unmixed(division: ForceDivision) -> None:
    if division.minimize == "multipliers":
        raise InputError(
            "a reduced model does not contain the reactions in joints", part="minimize",
            hint="use torque or peak, or give the mechanism",
        )  # fmt: skip
