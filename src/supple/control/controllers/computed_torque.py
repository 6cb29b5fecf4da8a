"""Computed torque: the nonlinear terms are cancelled by the model, what is left follows the motion as oscillators.

    B u = M(θ) (θ̈_d + 2 ξ ω (θ̇_d - θ̇) + ω² (θ_d - θ)) + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ_j J_jᵀ f_j tanh(J_j θ̇_d / v₀)

of a flexible model at the deformation δ_qs that the wanted motion keeps up (`needed_forces`). Of more actuators than
coordinates the forces are divided as in inverse dynamics, at every sample (`redundancy/force_division`).
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
    require_unpushed,
)
from supple.control.feedforward.planned_motion import PlannedMotion
from supple.control.feedforward.reference import AnyReference, Wanted, reference
from supple.control.gains.feedback_gain import PerCoordinate, positive_per_coordinate
from supple.control.margins.loop_check import filtered_law, places_along, warn_if_unstable
from supple.control.margins.open_loop import static_law
from supple.control.plants.surrounding import hardware_in
from supple.control.redundancy.force_division import ForceDivision, Given, Preload, force_division
from supple.description.mechanism import Mechanism, taken_as_rigid
from supple.diagnostics import InputError, SuppleNote
from supple.diagnostics.arguments import require_arguments
from supple.hardware.hardware import Hardware
from supple.inverse_dynamics.inverse_dynamics import Bound
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel
from supple.results.result import brief
from supple.results.text import listed
from supple.systems.protocols import system_of

_SMALL = 1e-6  # rad or m, and of rates: steps of central differences


class Seen(NamedTuple):
    """What was measured at a time, s: the departure θ - θ_d and its filtered rate, (s,) each."""

    time: float
    departure: Array
    slope: Array


@dataclass(eq=False, repr=False)
class ComputedTorque:
    """A controller that follows a motion.

    model          : the mechanism itself (exact; every call assembles it, its elastic parts taken as rigid), or a
                     reduced model of it (fast)
    reference      : θ_d(t) with its derivatives
    frequencies    : ω (s,) rad/s; damping_ratios : ξ (s,)
    coordinates    : θ, all that it looks at: of a flexible plant it does not see the deformation
    equations      : what accelerations need, from the model
    division       : how the actuators share it; other inputs of the plant are left at zero
    drives         : which commands make drives give forces
    bending        : δ_d(t), where the motion was planned with it
    preview        : s, so much ahead θ̈_d and δ_d are taken
    rate_filter    : Hz, of rates that are differences of θ - θ_d; None where they are measured
    short          : samples so far at which the bounds on forces did not suffice
    Made by `computed_torque`.
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
    _last: Given | None = field(default=None, repr=False)
    _along: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _seen: Seen | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return brief(
            "ComputedTorque", f"of {listed(self.coordinates)} by {listed(self.actuators)}, from {self.model!r}"
        )

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of those it drives."""
        return self.division.actuators

    @property
    def commanded(self) -> tuple[str, ...]:
        """Those whose answers are commands of drives."""
        return self.drives.driven

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts that it takes as rigid."""
        return self.model.rigid if isinstance(self.model, ReducedModel) else self.model.elastic_names

    def reset(self, start: Measurement) -> None:
        """Before the first sample: nothing has been asked of the actuators yet."""
        self.short, self._last, self._seen = 0, None, None

    def applied(self, command: Array) -> None:
        """What the drives made of the last forces, from which bounded rates go on."""
        if self._last is not None:
            self._last = self._last._replace(forces=self.drives.forces(command, self._along))

    def step(self, t: float, measurement: Measurement) -> Array:
        """The forces (a,) of its actuators, as commands of their drives."""
        theta, rates = self._measured(t, measurement)
        aim = self._aim(t)
        omega = self.frequencies
        a = aim.accelerations + 2.0 * self.damping_ratios * omega * (aim.rates - rates) + omega**2 * (aim.theta - theta)
        last = self._last if self._last is not None and self._last.time < t else None
        need = self.equations.needed(theta, rates, a, aim)
        u, met = self.division.divided(need, t, last)
        if not met:
            self._say_short(t)
        hold = float(np.linalg.norm(need.B))
        self._last = Given(t, u, hold if last is None else max(hold, last.hold))
        self._along = rates @ need.B
        return self.drives.commands(u, self._along)

    def _aim(self, t: float) -> Aim:
        """θ_d(t), θ̇_d(t), and what forces are for, θ̈_d and δ_d, so much later as they take effect."""
        later = t + self.preview
        theta, rates, accelerations, _ = self.reference.at(t)
        if self.preview:
            accelerations = self.reference.at(later)[2]
        return Aim(theta, rates, accelerations, None if self.bending is None else self.bending.at(later)[:3])

    def _measured(self, t: float, measurement: Measurement) -> tuple[Array, Array]:
        """θ and θ̇; where rates are not measured θ̇_d + w, w = α w₋ + (1 - α)(d - d₋)/T, α = exp(-2π f T), d = θ - θ_d:
        what is wanted is known, and only the departure from it need be filtered."""
        if self.rate_filter is None:
            return measurement.of(self.coordinates, "computed torque")
        theta, (aim, rates, _, _) = measurement.array(self.coordinates), self.reference.at(t)
        departure, slope = theta - aim, np.zeros_like(theta)
        if self._seen is not None and self._seen.time < t:
            last, T = self._seen, t - self._seen.time
            alpha = np.exp(-2.0 * np.pi * self.rate_filter * T)
            slope = alpha * last.slope + (1.0 - alpha) * (departure - last.departure) / T
        self._seen = Seen(t, departure, slope)
        return theta, rates + slope

    def _say_short(self, t: float) -> None:
        self.short += 1
        if self.short == 1:
            warnings.warn(
                f"computed torque: at {t:.6g} s no forces within the bounds give the accelerations it asks for; from "
                "here on it takes the nearest ones where that is so (`short` counts the samples)",
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
    """The controller that follows a motion with errors e_i of their own: ë + 2 ξ ω ė + ω² e = 0.

    motion    : whatever `reference` takes: a motion's name, a Motion, a Trajectory, a CSV file, t -> (θ, θ̇, θ̈); or a
                PlannedMotion (`rest_to_rest`, `stable_inversion`), whose deformation a flexible model is then taken at
    actuators : those that work, as a list or "A, B"; all if left out
    minimize, weights, bounds, rate_bounds : how they share the force at each sample, as in `inverse`. Where no forces
                within the bounds suffice, the nearest are taken, and it is said
    preload   : forces u* about which they share it, by name, or a function of time: what does no work of them stays in
                the mechanism, actuator against actuator (`antagonism` tells what stiffness that gives)
    preview   : s; wanted accelerations are taken so much ahead: half a sample for forces that are held, more for drives
                that answer late
    rate_filter : Hz; rates are then θ̇_d and differences of θ - θ_d through a low-pass of first order, without a sensor
    hardware  : as in `closed_loop`: drives between its answers and the forces, through whose gains it asks for them
    rigid     : elastic parts of a mechanism are meant to be taken as rigid by the controller, and nothing is said of
                it; a flexible model is taken at δ = 0, and not as the wanted motion deforms it
    """
    require_arguments(computed_torque, locals())
    names, known = system_of(model).rigid_coordinates, system_of(model).inputs
    flexible = isinstance(model, ReducedModel) and model.layout.size > model.layout.theta and not rigid
    if isinstance(model, Mechanism):
        taken_as_rigid(model, rigid, "reduce it with modes and give the reduced model, which knows how it deforms")
    division = force_division(
        known, model, actuators=actuators, minimize=minimize,
        weights=weights, bounds=bounds, rate_bounds=rate_bounds, preload=preload,
    )  # fmt: skip
    _require_enough(division, names)
    omega = positive_per_coordinate("frequencies", frequencies, names)
    ratios = positive_per_coordinate("damping ratios", damping_ratios, names)
    if not np.isfinite(preview):
        raise InputError(f"it is {preview:g} s", part="preview", hint="give a time, such as half a sample")
    wanted = reference(motion, model)
    numbers = [known.index(name) for name in division.actuators]
    equations: ActuatorForceModel
    bending = None
    if isinstance(model, Mechanism):
        equations = MechanismEquations(model, numbers, division.weights)
    else:
        _require_unmixed(division)
        equations = FlexibleEquations(model, numbers) if flexible else ModelEquations(model, numbers)
        if model.layout.size > model.layout.theta:
            require_unpushed(model, wanted.at(0.0)[0], numbers)
        bending = _bending(model, motion) if flexible else None
    drives = force_commands(model, division.actuators, hardware, "computed torque")
    more = (drives, bending, float(preview), _positive(rate_filter))
    made = ComputedTorque(model, wanted, omega, ratios, names, equations, division, *more)
    around = hardware_in(model, hardware)
    elastic = model.layout.size > model.layout.theta if isinstance(model, ReducedModel) else model.elastic
    if elastic or around.drives or rate_filter is not None:  # otherwise the errors are what they are asked to be
        warn_if_unstable(
            "computed torque", model, lambda plant: _about(made, plant), around, places_along(None, wanted),
            "lower the frequencies, filter rates higher (rate_filter=), or take state_feedback on an observer",
        )  # fmt: skip
    return made


def _about(made: ComputedTorque, plant: LinearModel) -> LinearModel:
    """What it answers to small θ - θ_d and θ̇ about rest, where a linear plant stands; by central differences."""
    names, s = made.coordinates, len(made.coordinates)
    theta, still = np.array([plant.at["states"][name] for name in names]), np.zeros(s)

    def answer(change: Array) -> Array:
        off, rates = change[:s], change[s:]
        a = -2.0 * made.damping_ratios * made.frequencies * rates - made.frequencies**2 * off
        need = made.equations.needed(theta + off, rates, a, Aim(theta, still, still))
        return made.drives.commands(np.linalg.pinv(need.B) @ need.Q, rates @ need.B)

    K = np.stack([(answer(-step) - answer(step)) / (2.0 * _SMALL) for step in _SMALL * np.eye(2 * s)], axis=1)
    if made.rate_filter is not None:
        return filtered_law(K, made.rate_filter, names, made.actuators)
    return static_law(K, (*names, *(f"{name}.rate" for name in names)), made.actuators)


def _bending(model: ReducedModel, motion: Wanted | PlannedMotion) -> AnyReference | None:
    """δ_d(t) of a motion that was planned with the model."""
    if not isinstance(motion, PlannedMotion):
        return None
    found, names = motion.deformation, model.layout.coordinates[model.layout.theta :]
    if found.coordinates != names:
        raise InputError(
            f"it was planned with {', '.join(found.coordinates)}, and the model has {', '.join(names)}", part="motion",
            hint="plan it with the same model",
        )  # fmt: skip
    return found


def _require_enough(division: ForceDivision, names: tuple[str, ...]) -> None:
    count = len(division.actuators)
    if count < len(names):
        raise InputError(
            f"{count} actuators cannot follow {len(names)} coordinates", part="computed torque",
            hint="let more actuators work, or regulate it about a state with pole_placement or lqr",
        )  # fmt: skip
    if division.preload is not None and count == len(names):
        raise InputError(
            f"{count} actuators for {len(names)} coordinates have nothing to work against each other with",
            part="preload", hint="leave it out, or let more actuators work",
        )  # fmt: skip


def _positive(rate_filter: float | None) -> float | None:
    if rate_filter is not None and not (np.isfinite(rate_filter) and rate_filter > 0.0):
        raise InputError(f"it is {rate_filter:g} Hz", part="rate filter", hint="give a frequency above 0")
    return rate_filter


def _require_unmixed(division: ForceDivision) -> None:
    if division.minimize == "multipliers":
        raise InputError(
            "a reduced model knows nothing of the reactions in joints", part="minimize",
            hint="take torque or peak, or give the mechanism",
        )  # fmt: skip
