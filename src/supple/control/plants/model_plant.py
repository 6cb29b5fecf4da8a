"""A reduced model as a plant."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.control.controller import Measurement
from supple.control.plants.plant import Values
from supple.diagnostics import EarlyEnd
from supple.reduced.model import ReducedModel
from supple.reduced.time.model_motion import ModelMotion
from supple.results.signals import Signals
from supple.results.simulation import Simulation

Array = NDArray[np.float64]


class ModelPlant:
    """A reduced model, integrated to its tolerance between the instants."""

    def __init__(
        self, model: ReducedModel, times: Array, start: Values | str, rates: Values, options: dict[str, Any]
    ) -> None:
        self._model, self._times, self._options, self._n = model, times, options, 0
        self.inputs, self.reason, self.units = model.layout.inputs, "", model.units
        # A single instant: its checks of the start are those of any run.
        self._last, self._row, self._steps = self._run(times[:2], None, start, rates), 0, 0
        self._works = [np.zeros(2)]

    def _run(self, span: Array, u: Array | None, start: Any, rates: Any) -> Simulation:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EarlyEnd)  # the loop says so itself
            return self._model.simulate(span, u, start, rates=rates, **self._options)

    def _now(self, signals: Signals) -> Array:
        return np.array([values[self._row] for values in signals.values()])

    def measure(self) -> Measurement:
        model, run = self._model, self._last
        outputs = {name: float(values[self._row]) for name, values in run.outputs.items()}
        names = model.layout.coordinates
        return Measurement(names, self._now(run.coordinates), self._now(run.rates), outputs, model.basis)

    def advance(self, u: Array) -> bool:
        span = self._times[self._n : self._n + 2]
        run = self._run(span, u, self._now(self._last.coordinates), self._now(self._last.rates))
        self._n += 1
        self._steps += run.steps
        self.reason = run.reason
        if run.reason or len(run.time) < 2:
            return False
        self._last, self._row = run, 1
        if isinstance(run.record, ModelMotion) and run.record.works is not None:
            self._works.append(self._works[-1] + run.record.works[-1])
        return True

    def result(self, time: Array, measured: Sequence[Measurement], u: Array) -> Simulation:
        model = self._model
        eta, v = np.array([item.values for item in measured]), np.array([item.rates for item in measured])
        works = np.array(self._works[: len(time)])
        motion = ModelMotion(model, time, eta, v, u, self._options["friction_speed"], works=works)
        return Simulation(
            model.name, time, motion, self.reason, self._last.stopped, self._steps, tolerance=self._last.tolerance,
            rigid=model.rigid, basis=model.basis,
        )  # fmt: skip
