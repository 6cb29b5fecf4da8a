"""Controllers that damp vibration by filters, beside a joint loop to which their commands are added.

**Positive position feedback** filters what tells displacement (a strain, a position) by a filter tuned to the mode,
which turns it by a quarter at resonance: u = k₁ ξ, damping without any derivative, and dead above the filter.
**Acceleration feedback** does the same from accelerometers; both gains are used, so that lags of drives and delays turn
the answer back to where it damps.
Both are the law of `modal_feedback`, constant, or scheduled over θ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.control.controllers.modal_feedback import FilterChoice, modal_matrices, modal_states, washout_gain
from supple.control.feedforward.reference import AnyReference
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import AffineLaw, fixed
from supple.control.laws.affine_matrices import AffineMatrices
from supple.control.laws.equilibrium import Equilibria, EquilibriaOf
from supple.control.laws.linear_law import closed_poles, linear_law
from supple.control.laws.ports import Ports
from supple.control.laws.scheduling import Ranges, scheduled
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.holding import resting
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel

Plant = LinearModel | Callable[[Array], LinearModel]

_GROWS = 1e-6  # of the mode's frequency: poles to the right of it are unstable, a joint that stands still is not


def positive_position_feedback(
    plant: Plant,
    sensors: Sequence[str],
    frequencies_hz: ArrayLike,
    *,
    sample_time: float,
    damping: ArrayLike = 0.1,
    actuators: Sequence[str] | None = None,
    motion: AnyReference | None = None,
    tuning: float = 1.0,
    filter_damping: float = 0.5,
    washout_hz: float | None = None,
    beside: Sequence[AffineController] = (),
    region: ReducedModel | Ranges | None = None,
    tolerance: float = 1e-3,
) -> AffineController:
    """u = Σ w vᵀ k₁ ξ over the modes, ξ̈ + 2 ζ_f ω_f ξ̇ + ω_f² ξ = ω_f² (y - y_d).

    plant          : a linear model with all that lies between commands and sensors; or θ -> that, with a `region`
    sensors        : outputs that tell displacement
    frequencies_hz : near which the modes lie that shall be damped
    damping        : that each gets, to first order, beside its own; refused if the loop is not stable then
    motion         : whose slow effect on the sensors is not taken for vibration
    tuning         : ω_f over the mode's frequency; filter_damping : ζ_f
    washout_hz     : below which nothing is fed back; a tenth of the lowest mode if left out
    beside         : controllers whose commands are added, for the check of stability
    region         : a reduced model or {coordinate: (lower, upper)}: gains are then scheduled over θ, to a tolerance
    """
    require_arguments(positive_position_feedback, locals())
    choice = _choice(frequencies_hz, damping, tuning, filter_damping, washout_hz, turned=False)
    ports = _ports(plant, sensors, actuators, motion, sample_time, region)
    law = _law("positive position feedback", plant, choice, ports, region, tolerance, beside)
    return AffineController(law, motion)


def acceleration_feedback(
    plant: Plant,
    sensors: Sequence[str],
    frequencies_hz: ArrayLike,
    *,
    sample_time: float,
    damping: ArrayLike = 0.1,
    actuators: Sequence[str] | None = None,
    motion: AnyReference | None = None,
    tuning: float = 1.0,
    filter_damping: float = 0.5,
    washout_hz: float | None = None,
    beside: Sequence[AffineController] = (),
    region: ReducedModel | Ranges | None = None,
    tolerance: float = 1e-3,
) -> AffineController:
    """u = Σ w vᵀ (k₁ ξ + k₂ ξ̇ / ω_f) over the modes, from accelerometers; the rest as `positive_position_feedback`."""
    require_arguments(acceleration_feedback, locals())
    choice = _choice(frequencies_hz, damping, tuning, filter_damping, washout_hz, turned=True)
    ports = _ports(plant, sensors, actuators, motion, sample_time, region)
    law = _law("acceleration feedback", plant, choice, ports, region, tolerance, beside)
    return AffineController(law, motion)


def _choice(
    frequencies_hz: ArrayLike, damping: ArrayLike, tuning: float, filter_damping: float, washout_hz: float | None,
    *, turned: bool,
) -> FilterChoice:  # fmt: skip
    omega = 2.0 * np.pi * np.atleast_1d(np.asarray(frequencies_hz, dtype=float))
    added = np.broadcast_to(np.asarray(damping, dtype=float), omega.shape)
    named: tuple[tuple[str, Any], ...] = (
        ("frequencies", omega), ("damping", added), ("tuning", tuning), ("filter damping", filter_damping)
    )  # fmt: skip
    for part, values in named:
        if not (np.isfinite(values) & (np.asarray(values) > 0.0)).all() or not np.size(values):
            raise InputError(f"{values} is not positive", part=part, hint="give numbers above 0")
    slow = 0.1 * float(omega.min()) if washout_hz is None else 2.0 * np.pi * washout_hz
    return FilterChoice(omega, added, tuning, filter_damping, slow, turned)


def _ports(
    plant: Plant,
    sensors: Sequence[str],
    actuators: Sequence[str] | None,
    motion: AnyReference | None,
    sample_time: float,
    region: ReducedModel | Ranges | None,
) -> Ports:
    if isinstance(plant, LinearModel) != (region is None):
        raise InputError(
            "a plant that changes over θ needs a region, and one that does not has none", part="active damping",
            hint="give θ -> linear model together with region=",
        )  # fmt: skip
    here = plant if isinstance(plant, LinearModel) else plant(_center(region))
    driven = here.inputs if actuators is None else tuple(actuators)
    return Ports(tuple(sensors), () if motion is None else motion.coordinates, driven, sample_time)


def _center(region: ReducedModel | Ranges | None) -> Array:
    assert region is not None
    if isinstance(region, ReducedModel):
        roots = region.fitted.arrays.roots_f
        return np.asarray(0.5 * (roots[0, 0] + roots[0, 1]))
    return np.array([0.5 * (low + high) for low, high in region.values()])


def _law(
    name: str,
    plant: Plant,
    choice: FilterChoice,
    ports: Ports,
    region: ReducedModel | Ranges | None,
    tolerance: float,
    beside: Sequence[AffineController],
) -> AffineLaw:
    if isinstance(plant, LinearModel):
        law = fixed(modal_matrices(plant, choice, ports), ports, name=name)
        _require_stable(law, plant, beside, None)
        return law
    assert region is not None
    linear_at = plant
    names = region.layout.coordinates[: region.layout.theta] if isinstance(region, ReducedModel) else tuple(region)
    told = Ports(tuple(dict.fromkeys([*ports.measured, *names])), ports.coordinates, ports.actuators, ports.sample_time)

    def matrices_of(theta: Array) -> AffineMatrices:
        here = linear_at(theta)
        found = modal_matrices(here, choice, ports)
        _require_stable(fixed(found, ports, name=name), here, beside, theta)
        return widened(found, ports, told)

    return scheduled(
        matrices_of, region, told, tolerance=tolerance, name=name,
        equilibria=_equilibria(linear_at, choice, ports, told, region),
    )  # fmt: skip


def _equilibria(
    plant: Callable[[Array], LinearModel],
    choice: FilterChoice,
    ports: Ports,
    told: Ports,
    region: ReducedModel | Ranges,
) -> EquilibriaOf | None:
    """Where the law rests: its washout holds back what sensors show of the machine at rest, and it commands nothing.

    Known where the region is that of the model whose linear models the plant gives; None otherwise.
    """
    if not isinstance(region, ReducedModel):
        return None
    layout = region.layout
    names = (*layout.coordinates, *layout.outputs)
    if any(name not in names for name in (*told.measured, *told.coordinates)):
        return None

    def shown(theta: Array, wanted: tuple[str, ...]) -> Array:
        found = resting(region, theta)
        return np.hstack([found.eta, found.outputs])[:, [names.index(name) for name in wanted]]

    middle = _center(region)
    known = {**plant(middle).at.get("states", {}), **plant(middle).at.get("outputs", {})}
    expected = np.array([known.get(name, np.nan) for name in told.measured])
    if not np.allclose(shown(middle[None], told.measured)[0], expected, rtol=1e-6, atol=1e-9):
        return None  # a plant of its own, such as the mechanism

    def equilibria(theta: Array) -> Equilibria:
        y = shown(theta, told.measured)
        z = np.zeros((len(theta), told.size))
        z[:, told.y] = y
        if told.coordinates:
            z[:, told.wanted(0)] = shown(theta, told.coordinates)
        o, n = len(ports.measured), modal_states(choice, ports)
        x = np.zeros((len(theta), n))
        if not told.coordinates:  # otherwise what stands is what the motion makes it show, and nothing is held back
            x[:, :o] = -washout_gain(choice, ports) * y[:, :o]
        return Equilibria(x, z, np.zeros((len(theta), len(told.answered))))

    return equilibria


def widened(matrices: AffineMatrices, ports: Ports, told: Ports) -> AffineMatrices:
    """The same law, told more: `told.measured` begins with `ports.measured`, and the rest is alike."""
    more = len(told.measured) - len(ports.measured)

    def wide(part: Array) -> Array:
        return np.insert(part, np.full(more, len(ports.measured)), 0.0, axis=1)

    return matrices._replace(B=wide(matrices.B), D=wide(matrices.D), A0=wide(matrices.A0))


def _require_stable(
    law: AffineLaw, plant: LinearModel, beside: Sequence[AffineController], theta: Array | None
) -> None:
    before = [linear_law(item.law, None if theta is None else _sigma(item.law, plant)) for item in beside]
    poles = closed_poles(plant, [*before, linear_law(law)])
    worst = poles[int(poles.real.argmax())]
    if worst.real > max(_GROWS * abs(worst), 1e-6):
        raise InputError(
            f"with it the linear loop is unstable: {worst.real:.3g} 1/s at {abs(worst.imag) / (2 * np.pi):.3g} Hz"
            + ("" if theta is None else f", at {np.array2string(theta, precision=5)}"),
            part=law.name, hint="ask for less damping, a wider filter, or fewer modes",
        )  # fmt: skip


def _sigma(law: AffineLaw, plant: LinearModel) -> Array:
    known = {**plant.at.get("states", {}), **plant.at.get("outputs", {})}
    return np.array([known[name] for name in law.scheduled_by])
