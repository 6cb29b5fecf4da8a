"""The open loop of a plant and a controller, cut at the plant's inputs: u = -L u closes it.

    state feedback             L = K (z - A)⁻¹ B
    a linear model C of y      L = -C G,  G = C_y (z - A)⁻¹ B + D_y

A sampled controller reads at every sample and its answer is held until the next: A and B are those of the samples, and
y sees the input of the sample before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.gains.sampling import held
from supple.diagnostics import InputError, nearest
from supple.results.linear_model import LinearModel

Array = NDArray[np.float64]

LoopController = FeedbackGain | LinearModel


def open_loop(plant: LinearModel, controller: LoopController) -> LinearModel:
    """L from the inputs of the plant that the controller drives to what it answers, with the sign turned."""
    if isinstance(controller, FeedbackGain):
        return _of_gain(plant, controller)
    if isinstance(controller, LinearModel):
        return _of_linear(plant, controller)
    raise InputError(
        f"{type(controller).__name__} is not a linear controller", part="margins",
        hint="give a FeedbackGain, a LinearModel from outputs to inputs, or a law at a configuration",
    )  # fmt: skip


def sampled(plant: LinearModel, step: float) -> LinearModel:
    """A plant at the samples, its inputs held: x and the held input u₋ that y still sees, where y sees it directly."""
    if plant.step is not None:
        if abs(plant.step - step) > 1e-9 * step:
            raise InputError(
                f"the plant has steps of {plant.step:g} s, the controller of {step:g} s", part="margins",
                hint="give the continuous plant",
            )  # fmt: skip
        return plant
    F, G = held(plant.A, plant.B, step)
    if not plant.D.any():
        return replace(plant, A=F, B=G, second_order=None, step=step)
    n, m = plant.B.shape
    A = np.block([[F, np.zeros((n, m))], [np.zeros((m, n + m))]])
    names = (*plant.states, *(f"{name}.held" for name in plant.inputs))
    return replace(
        plant, A=A, B=np.vstack([G, np.eye(m)]), C=np.hstack([plant.C, plant.D]), D=np.zeros_like(plant.D),
        states=names, second_order=None, step=step,
    )  # fmt: skip


def _of_gain(plant: LinearModel, gain: FeedbackGain) -> LinearModel:
    names = gain.linear.states
    for name in names:
        if name not in plant.states:
            raise InputError(f'the plant has no state "{name}"', part="margins", hint=nearest(name, plant.states))
    seen = plant if gain.sample_time is None else sampled(plant, gain.sample_time)
    places, driven = [seen.states.index(name) for name in names], _driven(plant, gain.linear.inputs)
    K = np.zeros((len(driven), len(seen.states)))
    K[:, places] = gain.K
    return _loop(seen, gain.linear.inputs, seen.A, seen.B[:, driven], K, np.zeros((len(driven),) * 2))


def _of_linear(plant: LinearModel, law: LinearModel) -> LinearModel:
    driven = _driven(plant, law.outputs)
    seen = plant if law.step is None else sampled(plant, law.step)
    known = (*seen.outputs, *seen.states)
    for name in law.inputs:
        if name not in known:
            raise InputError(f'"{name}" is no output or state of the plant', part="margins", hint=nearest(name, known))
    C = np.vstack([seen.C, np.eye(len(seen.states))])[[known.index(name) for name in law.inputs]]
    D = np.vstack([seen.D, np.zeros((len(seen.states), len(seen.inputs)))])[[known.index(name) for name in law.inputs]][
        :, driven
    ]
    n, k = len(seen.states), len(law.states)
    A = np.block([[seen.A, np.zeros((n, k))], [law.B @ C, law.A]])
    B = np.vstack([seen.B[:, driven], law.B @ D])
    return _loop(seen, law.outputs, A, B, -np.hstack([law.D @ C, law.C]), -law.D @ D)


def _driven(plant: LinearModel, names: tuple[str, ...]) -> list[int]:
    for name in names:
        if name not in plant.inputs:
            raise InputError(f'the plant has no input "{name}"', part="margins", hint=nearest(name, plant.inputs))
    return [plant.inputs.index(name) for name in names]


def _loop(plant: LinearModel, inputs: tuple[str, ...], A: Array, B: Array, C: Array, D: Array) -> LinearModel:
    states = tuple(f"x{i + 1}" for i in range(len(A)))
    return LinearModel(A, B, C, D, states, inputs, inputs, {}, step=plant.step)
