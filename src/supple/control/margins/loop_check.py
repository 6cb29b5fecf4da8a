"""Stability check of a controller's loop on the model of its design, with drives, filters, delays and samples.

    closed: x⁺ = (A - B (1 + D)⁻¹ C) x of the open loop L = (A, B, C, D), cut at the plant's inputs       (`open_loop`)

The model is linearized about rest with its inputs holding it, an elastic mechanism with its lowest modes. Designs that
compute gains from this loop (lqr, state feedback, two time scales, active damping) refuse an unstable one. Designs from
gains or frequencies that the user chose warn of it, with an `UnstableLoop`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.feedforward.reference import AnyReference
from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.affine_matrices import Ports
from supple.control.laws.linear_law import linear_law, loop_poles
from supple.control.laws.loop_error import LoopAt, SampledLoop
from supple.control.margins.open_loop import LoopInterface, open_loop, sampled_outputs, static_law
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleError, SuppleNote, UnstableLoop, user_level
from supple.diagnostics.errors import values_text
from supple.hardware.hardware import Hardware
from supple.hardware.linear_hardware import with_hardware
from supple.linearization.linearization import linearize
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.results.linear_model import LinearModel
from supple.systems.protocols import system_of

MODES = 6  # largest number of modes of an elastic mechanism
GROWS = 1e-6  # 1/s, and of the size of a pole: slower growth is rounding
LawAbout = Callable[[LinearModel], LinearModel]
"""Function from a linear plant to the controller about it, from measurements to the plant's inputs."""


class Place(NamedTuple):
    """Plant about θ (s,), from commands to instrument readings.

    plant  : without delays
    around : delays, for sampled controllers, and names of measurements
    late   : the plant with Padé approximants of the delays, for continuous controllers
    """

    theta: Array
    plant: LinearModel
    around: LoopInterface
    late: LinearModel


def place_at(of: Mechanism | ReducedModel, theta: Array, hardware: Hardware) -> Place:
    """Return the plant about rest at θ with given drives and instruments."""
    around = LoopInterface(hardware.delays(), hardware.measuring_outputs)
    if isinstance(of, ReducedModel):
        linear = of.linearize(theta, drives=False)
    else:
        linear = _elastic(of, theta)
    smooth = replace(hardware, drives=tuple(replace(block, dead_band=0.0) for block in hardware.drives))
    return Place(theta, with_hardware(linear, hardware.prompt()), around, with_hardware(linear, smooth))


def _elastic(mechanism: Mechanism, theta: Array) -> LinearModel:
    """Linearize with as many modes as the mechanism has, up to MODES."""
    if not mechanism.elastic:
        return linearize(mechanism, theta, drives=False)
    count = MODES
    while True:
        try:
            return linearize(mechanism, theta, internal_modes=count, drives=False)
        except SuppleError:
            if count == 1:
                raise
            count -= 1


def worst_pole(place: Place, law: LinearModel) -> complex:
    """Return the pole of the loop with the largest real part, 1/s."""
    loop = open_loop(place.late if law.step is None else place.plant, law, place.around)
    poles = loop_poles(loop)
    return complex(poles[int(poles.real.argmax())])


def is_unstable(pole: complex) -> bool:
    """Return whether a pole is unstable rather than at rest up to rounding."""
    return pole.real > GROWS * max(1.0, abs(pole))


def loop_on(model: ReducedModel, hardware: Hardware, ports: Ports) -> LoopAt:
    """Return a function from θ to the plant of a law at its samples, with drives, delays and instruments."""

    def plant_at(theta: Array) -> SampledLoop:
        place = place_at(model, theta, hardware)
        held = sampled_outputs(place.plant, ports.measured, ports.sample_time, place.around)
        return SampledLoop(held.A, held.B[:, [held.inputs.index(name) for name in ports.actuators]], held.C)

    return plant_at


def warn_if_unstable(
    part: str,
    of: Mechanism | ReducedModel,
    law: LinearModel | LawAbout,
    hardware: Hardware,
    places: Sequence[Array],
    remedy: str | Callable[[Place], str],
) -> None:
    """Warn of a loop that is unstable at one of several θ.

    part   : name of the loop for messages
    law    : law from measurements to commands, or a function from the plant to it
    places : θ (s,) each
    remedy : advice, or a function from the worst place to it

    A configuration at which the machine cannot be linearized (a motion that no inputs hold) is skipped, with a note
    that gives the reason.
    """
    worst, there = complex(-np.inf), None
    unchecked: list[str] = []
    for theta in places:
        try:
            place = place_at(of, theta, hardware)
            pole = worst_pole(place, law(place.plant) if callable(law) else law)
        except (SuppleError, np.linalg.LinAlgError) as error:
            unchecked.append(f"at {values_text(system_of(of).rigid_coordinates, theta, 4)}: {error}")
            continue
        if pole.real > worst.real:
            worst, there = pole, place
    if unchecked:
        more = f" (and at {len(unchecked) - 1} more configurations)" if len(unchecked) > 1 else ""
        advice = "run control.closed_loop to see whether it settles"
        text = f"{part}: the stability of its loop was not checked {unchecked[0]}{more}; {advice}"
        warnings.warn(text, SuppleNote, stacklevel=user_level())
    if there is None or not is_unstable(worst):
        return
    where = values_text(system_of(of).rigid_coordinates, there.theta, 4)
    advice = remedy(there) if callable(remedy) else remedy
    warnings.warn(f"{part}: {describe_unstable(worst)} at {where}; {advice}", UnstableLoop, stacklevel=user_level())


def describe_unstable(pole: complex) -> str:
    """Return a description of an unstable loop."""
    swings = f" ± {abs(pole.imag):.4g}j 1/s ({abs(pole.imag) / (2.0 * np.pi):.3g} Hz)" if pole.imag else " 1/s"
    return f"the loop is unstable, with a pole at +{pole.real:.3g}{swings}"


def checked_places(first: Array | None, motion: AnyReference) -> list[Array]:
    """Return the distinct configurations for a check: that of the design, and both ends of the motion."""
    found = [] if first is None else [np.asarray(first, dtype=float)]
    if np.isfinite(motion.end):
        found += [np.asarray(motion.at(t)[0], dtype=float) for t in (motion.begin, motion.end)]
    distinct: list[Array] = []
    for theta in found:
        if not any(np.array_equal(theta, other) for other in distinct):
            distinct.append(theta)
    return distinct


def filtered_law(K: Array, rate_filter: float, coordinates: tuple[str, ...], actuators: tuple[str, ...]) -> LinearModel:
    """Return the law of gains K (a, 2s) on θ and rates filtered from it: w = 2πf (θ - ζ), ζ̇ = w."""
    s, corner = len(coordinates), 2.0 * np.pi * rate_filter
    by_rate = K[:, s:] * corner
    law = static_law(K[:, :s] + by_rate, coordinates, actuators)
    return replace(
        law,
        A=-corner * np.eye(s),
        B=corner * np.eye(s),
        C=by_rate,
        states=tuple(f"{name}.filter" for name in coordinates),
    )


# The open loop about a configuration of a reduced model, with its drives and instruments.
#
# A law that is scheduled over σ keeps the matrices at the configuration: their change with the measurements is not
# part of the loop.


LoopController = FeedbackGain | LinearModel | AffineLaw | AffineController


def loop_at(model: ReducedModel, controller: LoopController, theta: Values | str, late: float) -> LinearModel:
    """Return the open loop L about rest of the model at θ; late : computation delay, s.

    Delays are exact for a sampled controller. Without a sample time they are Padé approximants.
    """
    hardware = model.hardware
    named = hardware.measuring_outputs
    plant = replace(model, hardware=hardware.prompt()).linearize(theta)
    law = law_about(controller, plant, named)
    if (law.sample_time if isinstance(law, FeedbackGain) else law.step) is None:
        return open_loop(model.linearize(theta), law, LoopInterface({}, named))
    return open_loop(plant, law, LoopInterface(hardware.delays(model.layout.inputs, late), named))


def law_about(
    controller: LoopController, plant: LinearModel, measuring_outputs: Mapping[str, str]
) -> FeedbackGain | LinearModel:
    """Return the controller about the state of a linear plant; affine laws with their matrices at the σ there."""
    law = controller.law if isinstance(controller, AffineController) else controller
    if isinstance(law, FeedbackGain | LinearModel):
        return law
    if not isinstance(law, AffineLaw):
        raise InputError(
            f"a {type(controller).__name__} is not a linear controller", part="margins",
            hint="give a FeedbackGain, a LinearModel from outputs to inputs, or an affine law",
        )  # fmt: skip
    if law.ports.answers:
        raise InputError(
            f'the outputs of "{law.name}" are estimates, not commands',
            part="margins",
            hint="give the controller that uses the estimates",
        )
    measured = {**plant.at.get("states", {}), **plant.at.get("outputs", {})}
    if not law.scheduled_by:
        return linear_law(law)
    return linear_law(law, {name: measured[measuring_outputs.get(name, name)] for name in law.scheduled_by})
