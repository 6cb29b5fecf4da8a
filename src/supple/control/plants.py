"""What a controller can be tried on: a mechanism, a reduced model of it, or a linear one, all driven alike."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.time.zero_order_hold import HeldSimulation
from supple.control.controller import Measurement
from supple.control.feedback_gain import reference, require_continuous
from supple.control.linear_motion import LinearMotion
from supple.control.sampling import held
from supple.diagnostics import EarlyEnd
from supple.reduced.model import ReducedModel
from supple.reduced.named_values import in_order
from supple.reduced.time.model_motion import ModelMotion
from supple.results.basis import State
from supple.results.linear_model import LinearModel
from supple.results.signals import Signals
from supple.results.simulation import Simulation
from supple.results.units import Units

Array = NDArray[np.float64]
Values = Mapping[str, float] | ArrayLike | None


class Plant(Protocol):
    """inputs : names of the actuators; reason : why it could not go on, or ""; units : of all it tells."""

    inputs: tuple[str, ...]
    reason: str
    units: Units

    def measure(self) -> Measurement:
        """Where it stands."""
        ...

    def advance(self, u: Array) -> bool:
        """To the next instant under held inputs; False where it cannot go on."""
        ...

    def result(self, time: Array, measured: Sequence[Measurement], u: Array) -> Simulation:
        """The motion so far: what was measured at times (N,), and the inputs (N, a) held from each of them on."""
        ...


class MechanismPlant:
    """The nonlinear mechanism: the full DAE. rigid : names of elastic parts that do not deform."""

    def __init__(self, run: HeldSimulation) -> None:
        self._run = run
        self.inputs, self.reason, self.units = run.inputs, "", run.units
        self.rigid = run.rigid

    def measure(self) -> Measurement:
        run = self._run
        return Measurement(run.coordinates, run.theta, run.rates, run.outputs)

    def advance(self, u: Array) -> bool:
        done = self._run.advance(u)
        self.reason = self._run.reason
        return done

    def result(self, time: Array, measured: Sequence[Measurement], u: Array) -> Simulation:
        return self._run.result(u[-1])


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


class LinearPlant:
    """ẋ = ẋ₀ + A (x - x₀) + B (u - u₀), exactly between the instants."""

    def __init__(self, model: LinearModel, times: Array, start: Values, rates: Values) -> None:
        require_continuous(model)
        self._model, self._times, self._n = model, times, 0
        self.inputs, self.reason, self.units = model.inputs, "", model.units
        n = len(model.states) // 2
        self._names = model.states[:n]
        if isinstance(start, State):
            start, moving = start.parted(self._names, model.basis)
            rates = moving if rates is None else rates
        self._x0, self._u0 = reference(model)
        accelerations = model.at.get("accelerations", {})
        drift = np.concatenate([self._x0[n:], [accelerations.get(name, 0.0) for name in self._names]])
        self._B = np.hstack([model.B, drift[:, None]])
        self._y0 = np.array([model.at.get("outputs", {}).get(name, 0.0) for name in model.outputs])
        self._x = np.concatenate(
            [
                _filled("start", start, self._names, self._x0[:n]) - self._x0[:n],
                _filled("rates", rates, self._names, np.zeros(n)) - self._x0[n:],
            ]
        )
        self._last = self._u0
        self._transition: tuple[float, Array, Array] = (0.0, np.eye(0), np.eye(0))

    def measure(self) -> Measurement:
        n, x = len(self._names), self._x + self._x0
        y = self._y0 + self._model.C @ self._x + self._model.D @ (self._last - self._u0)
        seen = dict(zip(self._model.outputs, y.tolist(), strict=True))
        return Measurement(self._names, x[:n], x[n:], seen, self._model.basis)

    def advance(self, u: Array) -> bool:
        T = float(self._times[self._n + 1] - self._times[self._n])
        self._n += 1
        if abs(T - self._transition[0]) > 1e-12 * T:
            self._transition = (T, *held(self._model.A, self._B, T))
        _, F, G = self._transition
        self._x = F @ self._x + G @ np.append(u - self._u0, 1.0)
        self._last = u
        if not np.isfinite(self._x).all():
            self.reason = f"the state is not finite at {self._times[self._n]:.6g} s: the loop is unstable"
        return not self.reason

    def result(self, time: Array, measured: Sequence[Measurement], u: Array) -> Simulation:
        model = self._model
        x = np.array([item.state for item in measured])
        y = np.array([[item.outputs[name] for name in model.outputs] for item in measured]).reshape(len(x), -1)
        slopes = (x - self._x0) @ model.A.T + np.hstack([u - self._u0, np.ones((len(x), 1))]) @ self._B.T
        motion = LinearMotion(model, time, x, slopes, y, u)
        return Simulation(
            "linear model", time, motion, self.reason, float(time[-1]), self._n, rigid=model.rigid, basis=model.basis
        )


def _filled(part: str, values: Values, names: tuple[str, ...], otherwise: Array) -> Array:
    """(n,), names that are left out as they are otherwise."""
    if values is None:
        return otherwise
    if isinstance(values, Mapping):
        return in_order(part, {**dict(zip(names, otherwise.tolist(), strict=True)), **values}, names)
    return in_order(part, values, names)
