"""What a machine shows at rest where its motion ends: what a run is measured against."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.control.plants.choice import AnyPlant
from supple.description.mechanism import Mechanism
from supple.integration.step_options import StepOptions
from supple.reduced.holding import resting
from supple.reduced.model import ReducedModel
from supple.results.closed_loop import Goal
from supple.results.linear_model import LinearModel
from supple.simulation.driven_start import driven_start
from supple.simulation.mechanism_run import MechanismRun, begin
from supple.systems.protocols import system_of

_INSTANT = 1e-3  # s: a run in which nothing moves


def goal_of(plant: AnyPlant, motion: Any, *, rigid: bool) -> Goal | None:
    """Coordinates and outputs at rest where a motion ends, under gravity and held there; None where none ends, or where
    it leaves coordinates open.

    rigid : elastic parts of a mechanism do not deform
    """
    end = float(getattr(motion, "end", np.inf))
    if motion is None or not np.isfinite(end):
        return None
    last = dict(zip(motion.coordinates, np.asarray(motion.at(end))[0].tolist(), strict=True))
    names = system_of(plant).rigid_coordinates
    if any(name not in last for name in names):
        return None
    theta = np.array([last[name] for name in names])
    if isinstance(plant, Mechanism):
        return partial(_mechanism, plant, theta, rigid)
    return partial(_model, plant, theta) if isinstance(plant, ReducedModel) else partial(_linear, plant, theta)


def _mechanism(mechanism: Mechanism, theta: Array, rigid: bool) -> Mapping[str, float]:
    led = tuple(range(len(theta)))
    start = dict(zip(system_of(mechanism).coordinates, theta.tolist(), strict=True))
    here = driven_start(mechanism, start, led, rigid)
    options = StepOptions(_INSTANT, rigid=rigid)
    run = MechanismRun(begin(here, np.array([0.0, _INSTANT]), np.zeros(len(theta)), options, led=led), None)
    return start | dict(zip(run.system.outputs, run.seen.tolist(), strict=True))


def _model(model: ReducedModel, theta: Array) -> Mapping[str, float]:
    found, layout = resting(model, theta[None]), model.layout
    numbers = np.concatenate([found.eta[0], found.outputs[0]])
    return dict(zip((*layout.coordinates, *layout.outputs), numbers.tolist(), strict=True))


def _linear(model: LinearModel, theta: Array) -> Mapping[str, float]:
    """0 = ẋ₀ + A (x - x₀) + B (u - u₀) with the coordinates at θ, of least norm."""
    n, size, inputs = len(model.coordinates), len(model.states), len(model.inputs)
    x0 = np.array([model.at["states"].get(name, 0.0) for name in model.states])
    drift = np.zeros(size)
    drift[:n] = x0[n : 2 * n]
    drift[n : 2 * n] = [model.at.get("accelerations", {}).get(name, 0.0) for name in model.coordinates]
    matrix = np.block([[model.A, model.B], [np.eye(n, size), np.zeros((n, inputs))]])
    found = np.linalg.lstsq(matrix, np.concatenate([-drift, theta - x0[:n]]), rcond=None)[0]
    y0 = np.array([model.at.get("outputs", {}).get(name, 0.0) for name in model.outputs])
    y = y0 + model.C @ found[:size] + model.D @ found[size:]
    return dict(zip((*model.coordinates, *model.outputs), [*theta.tolist(), *y.tolist()], strict=True))
