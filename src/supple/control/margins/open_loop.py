"""Open loop of a plant and a controller, cut at the plant's inputs and closed by u = -L u.

    a linear model C of y      L = -C G,  G = C_y (z - A)⁻¹ B + D_y
    state feedback             C = -K, of all states

A sampled controller reads measurements at every sample just before its command, which is held until the next. The plant
is then that of the samples, with exact delays (`sampled_plant`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.observers.sampled_plant import sampled_plant
from supple.diagnostics import InputError, require_known, unknown_name
from supple.results.linear_model import LinearModel


class LoopInterface(NamedTuple):
    """Delays (s) of inputs and outputs by name, and the outputs under which coordinates and rates are measured."""

    delays: Mapping[str, float]
    measuring_outputs: Mapping[str, str]


PLAIN = LoopInterface({}, {})


def open_loop(plant: LinearModel, controller: FeedbackGain | LinearModel, around: LoopInterface = PLAIN) -> LinearModel:
    """Return L from the plant inputs that the controller drives to the negative commands of the controller.

    around : its delays are for sampled controllers only, and are added to those that the plant has itself
    """
    law = controller
    if isinstance(law, FeedbackGain):
        law = static_law(law.K, law.linear.states, law.linear.inputs, law.sample_time)
    for name in law.outputs:
        require_known("input of the plant", name, plant.inputs, part="margins")
    measured_plant = _with_outputs(plant, law.inputs, around.measuring_outputs)
    if law.step is not None:
        measured_plant = held_input_model(measured_plant, law.step, around.delays)
    if measured_plant.step is not None and law.step is None:
        raise InputError(
            f"the plant is in discrete time with steps of {measured_plant.step:g} s, but the controller is continuous",
            part="margins", hint="give the continuous plant",
        )  # fmt: skip
    driven = [measured_plant.inputs.index(name) for name in law.outputs]
    C, D = measured_plant.C, measured_plant.D[:, driven]
    A = np.block([[measured_plant.A, np.zeros((len(measured_plant.A), len(law.A)))], [law.B @ C, law.A]])
    B = np.vstack([measured_plant.B[:, driven], law.B @ D])
    states = tuple(f"x{i + 1}" for i in range(len(A)))
    return LinearModel(
        A, B, -np.hstack([law.D @ C, law.C]), -law.D @ D, states, law.outputs, law.outputs, {}, step=measured_plant.step
    )


def sampled_outputs(plant: LinearModel, names: tuple[str, ...], step: float, around: LoopInterface) -> LinearModel:
    """Return a plant at its samples with given outputs, in their order."""
    return held_input_model(_with_outputs(plant, names, around.measuring_outputs), step, around.delays)


def held_input_model(plant: LinearModel, step: float, delays: Mapping[str, float] | None = None) -> LinearModel:
    """Return a plant at its samples, with inputs held; outputs depend on the inputs of previous samples only.

    delays : s, of inputs and outputs by name, that the plant does not have itself
    """
    if plant.step is not None:
        if abs(plant.step - step) > 1e-9 * step:
            raise InputError(
                f"the plant has steps of {plant.step:g} s, but the controller of {step:g} s", part="margins",
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
    """Return u = -K y as a linear model without states."""
    none = np.zeros((0, 0)), np.zeros((0, len(measured))), np.zeros((len(actuators), 0))
    return LinearModel(*none, -K, (), measured, actuators, {}, step=step)


def _with_outputs(plant: LinearModel, names: tuple[str, ...], measuring_outputs: Mapping[str, str]) -> LinearModel:
    """Return the plant with given outputs, which may be states, or be measured under another name."""
    known = (*plant.outputs, *plant.states)
    C = np.vstack([plant.C, np.eye(len(plant.states))])
    D = np.vstack([plant.D, np.zeros((len(plant.states), len(plant.inputs)))])
    for name in names:
        if measuring_outputs.get(name, name) not in known:
            raise unknown_name("output or state of the plant", name, known, part="margins")
    places = [known.index(measuring_outputs.get(name, name)) for name in names]
    outputs = tuple(known[place] for place in places)
    return replace(plant, C=C[places], D=D[places], outputs=outputs, second_order=None)
