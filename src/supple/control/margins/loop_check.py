"""Whether a controller's loop is stable on the model that it was made on, with drives, filters, delays and samples.

    closed: x⁺ = (A - B (1 + D)⁻¹ C) x of the open loop L = (A, B, C, D), cut at the plant's inputs       (`open_loop`)

The model is linearized about rest with its inputs holding it, an elastic mechanism with its lowest modes. Designs that
compute gains from this loop (lqr, state feedback, two time scales, active damping) refuse an unstable one; designs from
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
from supple.control.laws.affine_law import AffineLaw, fixed
from supple.control.laws.affine_matrices import AffineMatrices, Ports
from supple.control.laws.linear_law import linear_law, loop_poles
from supple.control.margins.open_loop import LoopInterface, open_loop, static_law
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

MODES = 6  # of an elastic mechanism, as many as it has of them
GROWS = 1e-6  # 1/s, and of a pole: what grows less stands still, but for rounding
LawAbout = Callable[[LinearModel], LinearModel]
"""A linear plant -> the controller about it, from what is measured to the plant's inputs."""


class Place(NamedTuple):
    """A plant about θ (s,), from commands to what instruments show.

    plant  : without delays; around : those, for controllers that are sampled, and who measures what
    late   : the plant with Padé's approximants of the delays, for controllers that are not
    """

    theta: Array
    plant: LinearModel
    around: LoopInterface
    late: LinearModel


def place_at(of: Mechanism | ReducedModel, theta: Array, hardware: Hardware) -> Place:
    """The machine about rest at θ with some drives and instruments."""
    around = LoopInterface(hardware.delays(), hardware.measured_as)
    if isinstance(of, ReducedModel):
        linear = of.linearize(theta, drives=False)
    else:
        linear = _elastic(of, theta)
    smooth = replace(hardware, drives=tuple(replace(block, dead_band=0.0) for block in hardware.drives))
    return Place(theta, with_hardware(linear, hardware.prompt()), around, with_hardware(linear, smooth))


def _elastic(mechanism: Mechanism, theta: Array) -> LinearModel:
    """With the most modes that it has, up to MODES."""
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
    """The pole of the loop with the largest real part, 1/s."""
    loop = open_loop(place.late if law.step is None else place.plant, law, place.around)
    poles = loop_poles(loop)
    return complex(poles[int(poles.real.argmax())])


def grows(pole: complex) -> bool:
    """Whether a pole is unstable rather than at rest up to rounding."""
    return pole.real > GROWS * max(1.0, abs(pole))


def growth_on(model: ReducedModel, hardware: Hardware, ports: Ports) -> Callable[[Array, AffineMatrices], float]:
    """(θ, matrices of a law there) -> the largest real part of the poles of its loop on a model, 1/s."""
    known: dict[bytes, Place] = {}

    def growth(theta: Array, matrices: AffineMatrices) -> float:
        key = theta.tobytes()
        if key not in known:
            known[key] = place_at(model, theta, hardware)
        return worst_pole(known[key], linear_law(fixed(matrices, ports))).real

    return growth


def warn_if_unstable(
    part: str,
    of: Mechanism | ReducedModel,
    law: LinearModel | LawAbout,
    hardware: Hardware,
    places: Sequence[Array],
    remedy: str | Callable[[Place], str],
) -> None:
    """Warn of a loop that is unstable at one of some θ.

    part   : whose loop it is
    law    : from what is measured to commands; or plant -> that
    places : θ (s,) each
    remedy : what to do; or the worst place -> that
    A machine that cannot be linearized there (a motion that no inputs hold) is not judged; a note gives the reason.
    """
    worst, there = complex(-np.inf), None
    unjudged: list[str] = []
    for theta in places:
        try:
            place = place_at(of, theta, hardware)
            pole = worst_pole(place, law(place.plant) if callable(law) else law)
        except (SuppleError, np.linalg.LinAlgError) as error:
            unjudged.append(f"at {values_text(system_of(of).rigid_coordinates, theta, 4)}: {error}")
            continue
        if pole.real > worst.real:
            worst, there = pole, place
    if unjudged:
        more = f" (and at {len(unjudged) - 1} more configurations)" if len(unjudged) > 1 else ""
        advice = "run control.closed_loop to see whether it settles"
        text = f"{part}: the stability of its loop was not checked {unjudged[0]}{more}; {advice}"
        warnings.warn(text, SuppleNote, stacklevel=user_level())
    if there is None or not grows(worst):
        return
    where = values_text(system_of(of).rigid_coordinates, there.theta, 4)
    advice = remedy(there) if callable(remedy) else remedy
    warnings.warn(f"{part}: {unstable(worst)} at {where}; {advice}", UnstableLoop, stacklevel=user_level())


def unstable(pole: complex) -> str:
    """An unstable loop in words."""
    swings = f" ± {abs(pole.imag):.4g}j 1/s ({abs(pole.imag) / (2.0 * np.pi):.3g} Hz)" if pole.imag else " 1/s"
    return f"the loop is unstable, with a pole at +{pole.real:.3g}{swings}"


def places_along(first: Array | None, motion: AnyReference) -> list[Array]:
    """Where a loop is looked at: the configuration that it was designed at, and both ends of its motion."""
    found = [] if first is None else [np.asarray(first, dtype=float)]
    if np.isfinite(motion.end):
        found += [np.asarray(motion.at(t)[0], dtype=float) for t in (motion.begin, motion.end)]
    distinct: list[Array] = []
    for theta in found:
        if not any(np.array_equal(theta, other) for other in distinct):
            distinct.append(theta)
    return distinct


def filtered_law(K: Array, rate_filter: float, coordinates: tuple[str, ...], actuators: tuple[str, ...]) -> LinearModel:
    """The same of θ and its rates, K (a, 2s), with rates w = 2πf (θ - ζ), ζ̇ = w."""
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
# Of a law that is scheduled over σ the matrices stay those at the configuration: how they change with what is
# measured is not part of the loop.


LoopController = FeedbackGain | LinearModel | AffineLaw | AffineController


def loop_at(model: ReducedModel, controller: LoopController, theta: Values | str, late: float) -> LinearModel:
    """L about where the model rests at θ; late : s, of the computation.

    For a sampled controller delays are exact; without a sample time they are Padé's approximants.
    """
    hardware = model.hardware
    named = hardware.measured_as
    plant = replace(model, hardware=hardware.prompt()).linearize(theta)
    law = law_about(controller, plant, named)
    if (law.sample_time if isinstance(law, FeedbackGain) else law.step) is None:
        return open_loop(model.linearize(theta), law, LoopInterface({}, named))
    return open_loop(plant, law, LoopInterface(hardware.delays(model.layout.inputs, late), named))


def law_about(
    controller: LoopController, plant: LinearModel, measured_as: Mapping[str, str]
) -> FeedbackGain | LinearModel:
    """The controller as it is about the state of a linear plant: an affine law with its matrices at what is shown of σ
    there."""
    law = controller.law if isinstance(controller, AffineController) else controller
    if isinstance(law, FeedbackGain | LinearModel):
        return law
    if not isinstance(law, AffineLaw):
        raise InputError(
            f"{type(controller).__name__} is not a linear controller", part="margins",
            hint="give a FeedbackGain, a LinearModel from outputs to inputs, or an affine law",
        )  # fmt: skip
    if law.ports.answers:
        raise InputError(
            f'"{law.name}" answers with estimates', part="margins", hint="give the controller that uses them"
        )
    shown = {**plant.at.get("states", {}), **plant.at.get("outputs", {})}
    if not law.scheduled_by:
        return linear_law(law)
    return linear_law(law, {name: shown[measured_as.get(name, name)] for name in law.scheduled_by})
