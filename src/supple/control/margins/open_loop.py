"""The open loop of a plant and a controller, cut at the plant's inputs: u = -L u closes it.

    a linear model C of y      L = -C G,  G = C_y (z - A)⁻¹ B + D_y
    state feedback             C = -K, of all states

A sampled controller reads at every sample, just before its answer, which is held until the next: the plant is then that
of the samples, with its delays as they are (`sampled_plant`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.observers.sampled_plant import sampled_plant
from supple.diagnostics import InputError, nearest
from supple.results.linear_model import LinearModel


class LoopInterface(NamedTuple):
    """Delays (s) of inputs and outputs by name, and under which outputs coordinates and rates are measured."""

    delays: Mapping[str, float]
    measured_as: Mapping[str, str]


PLAIN = LoopInterface({}, {})


def open_loop(plant: LinearModel, controller: FeedbackGain | LinearModel, around: LoopInterface = PLAIN) -> LinearModel:
    """L from the inputs of the plant that the controller drives to what it answers, with the sign turned.

    around : its delays are for sampled controllers alone, and beside those that the plant has itself
    """
    law = controller
    if isinstance(law, FeedbackGain):
        law = static_law(law.K, law.linear.states, law.linear.inputs, law.sample_time)
    for name in law.outputs:
        if name not in plant.inputs:
            raise InputError(f'the plant has no input "{name}"', part="margins", hint=nearest(name, plant.inputs))
    seen = _showing(plant, law.inputs, around.measured_as)
    if law.step is not None:
        seen = held_input_model(seen, law.step, around.delays)
    if seen.step is not None and law.step is None:
        raise InputError(
            f"the plant has steps of {seen.step:g} s, and the controller none", part="margins",
            hint="give the continuous plant",
        )  # fmt: skip
    driven = [seen.inputs.index(name) for name in law.outputs]
    C, D = seen.C, seen.D[:, driven]
    A = np.block([[seen.A, np.zeros((len(seen.A), len(law.A)))], [law.B @ C, law.A]])
    B = np.vstack([seen.B[:, driven], law.B @ D])
    states = tuple(f"x{i + 1}" for i in range(len(A)))
    return LinearModel(
        A, B, -np.hstack([law.D @ C, law.C]), -law.D @ D, states, law.outputs, law.outputs, {}, step=seen.step
    )


def held_input_model(plant: LinearModel, step: float, delays: Mapping[str, float] | None = None) -> LinearModel:
    """A plant at the samples, its inputs held; outputs show what the inputs of the sample before have done.

    delays : s, of inputs and outputs by name, that the plant does not have itself
    """
    if plant.step is not None:
        if abs(plant.step - step) > 1e-9 * step:
            raise InputError(
                f"the plant has steps of {plant.step:g} s, the controller of {step:g} s", part="margins",
                hint="give the continuous plant",
            )  # fmt: skip
        return plant
    at = {"inputs": {}, "states": {}, "outputs": {}, **plant.at}
    found = sampled_plant(replace(plant, at=at), step, plant.outputs, delays)
    none = np.zeros_like(plant.D)
    return LinearModel(found.F, found.G, found.H, none, found.names, plant.inputs, plant.outputs, plant.at, step=step)


def static_law(
    K: Array, measured: tuple[str, ...], actuators: tuple[str, ...], step: float | None = None
) -> LinearModel:
    """u = -K y as a linear model without states."""
    none = np.zeros((0, 0)), np.zeros((0, len(measured))), np.zeros((len(actuators), 0))
    return LinearModel(*none, -K, (), measured, actuators, {}, step=step)


def _showing(plant: LinearModel, names: tuple[str, ...], measured_as: Mapping[str, str]) -> LinearModel:
    """The plant with these outputs, which may be states, or be measured under another name."""
    known = (*plant.outputs, *plant.states)
    C = np.vstack([plant.C, np.eye(len(plant.states))])
    D = np.vstack([plant.D, np.zeros((len(plant.states), len(plant.inputs)))])
    for name in names:
        if measured_as.get(name, name) not in known:
            raise InputError(f'"{name}" is no output or state of the plant', part="margins", hint=nearest(name, known))
    places = [known.index(measured_as.get(name, name)) for name in names]
    shown = tuple(known[place] for place in places)
    return replace(plant, C=C[places], D=D[places], outputs=shown, second_order=None)
