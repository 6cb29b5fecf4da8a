"""A linear model as a plant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.control.controller import Measurement
from supple.control.gains.feedback_gain import reference, require_continuous
from supple.control.gains.sampling import held
from supple.control.plants.linear_motion import LinearMotion
from supple.control.plants.plant import Values
from supple.reduced.named_values import in_order
from supple.results.basis import State
from supple.results.linear_model import LinearModel
from supple.results.simulation import Simulation

Array = NDArray[np.float64]


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
