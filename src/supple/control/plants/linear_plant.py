"""A linear model as a plant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.array_types import Array
from supple.control.gains.feedback_gain import reference, require_continuous
from supple.control.gains.sampling import held
from supple.control.plants.linear_motion import LinearMotion
from supple.hardware.pieces import Pieces, at_end
from supple.reduced.named_values import in_order
from supple.results.basis import State
from supple.results.linear_model import LinearModel
from supple.results.simulation import Simulation
from supple.systems.advancing import Values


class LinearPlant:
    """ẋ = ẋ₀ + A (x - x₀) + B (u - u₀), exactly between the instants, at which inputs change, linearly in between.

    Its states are coordinates, their rates, and, where it was linearized with drives, those of drives.
    """

    def __init__(self, model: LinearModel, times: Array, start: Values, rates: Values) -> None:
        require_continuous(model)
        self._model, self._times, self._n = model, times, 0
        self.coordinates, self.inputs, self.outputs = model.coordinates, model.inputs, model.outputs
        self.units, self.basis, self.reason = model.units, model.basis, ""
        n = self.theta = len(self.coordinates)
        further: dict[int, float] = {}
        if isinstance(start, State):
            further = {2 * n + i: start[name] for i, name in enumerate(model.states[2 * n :]) if name in start}
            named, moving = start.parted(self.coordinates, model.basis)
            start = {name: value for name, value in named.items() if name not in model.states[2 * n :]}
            rates = moving if rates is None else rates
        self._x0, self._u0 = reference(model)
        accelerations = model.at.get("accelerations", {})
        self._drift = np.zeros(len(self._x0))
        self._drift[:n] = self._x0[n : 2 * n]
        self._drift[n : 2 * n] = [accelerations.get(name, 0.0) for name in self.coordinates]
        self._y0 = np.array([model.at.get("outputs", {}).get(name, 0.0) for name in model.outputs])
        self._x = np.zeros(len(self._x0))
        self._x[:n] = _filled("start", start, self.coordinates, self._x0[:n]) - self._x0[:n]
        self._x[n : 2 * n] = _filled("rates", rates, self.coordinates, np.zeros(n)) - self._x0[n : 2 * n]
        for place, value in further.items():  # of drives
            self._x[place] = value - self._x0[place]
        self._last = self._u0
        self._states = [self._x]
        self._transitions: dict[float, tuple[Array, Array]] = {}

    @property
    def state(self) -> tuple[Array, Array]:
        n, x = self.theta, self._x + self._x0
        return x[:n], x[n : 2 * n]

    @property
    def seen(self) -> Array:
        model = self._model
        return np.asarray(self._y0 + model.C @ self._x + model.D @ (self._last - self._u0))

    def advance(self, pieces: Pieces, until: int) -> bool:
        """Advance to the result time of number `until`, the next one; see `Advancing`."""
        self._n = until
        for p, T in enumerate(np.diff(pieces.times).tolist()):
            last = at_end(pieces, p)
            first = pieces.forces[3, p]
            F, G = self._transition(round(T, 15))
            slope = (last - first) / T
            self._x = F @ self._x + G @ np.concatenate([first - self._u0, [1.0], slope])
            self._last = last
        self._states.append(self._x)
        if not np.isfinite(self._x).all():
            self.reason = f"the state is not finite at {self._times[self._n]:.6g} s: the loop is unstable"
        return not self.reason

    def _transition(self, T: float) -> tuple[Array, Array]:
        """Over T, of the state and of (u - u₀, 1, u̇)."""
        if T not in self._transitions:
            A, B = self._model.A, self._model.B
            size, inputs = len(A), B.shape[1]
            # u grows with u̇: it becomes a state, and is read out of the transition as the input that it was.
            wide = np.block([[A, B], [np.zeros((inputs, size + inputs))]])
            held_beside = np.zeros((size + inputs, 1 + inputs))
            held_beside[:size, 0], held_beside[size:, 1:] = self._drift, np.eye(inputs)
            F, G = held(wide, held_beside, T)
            self._transitions[T] = F[:size, :size], np.hstack([F[:size, size:], G[:size]])
        return self._transitions[T]

    def result(self, forces: Array) -> Simulation:
        model, count = self._model, len(forces)
        x, time = np.array(self._states[:count]), self._times[:count]
        y = self._y0 + x @ model.C.T + (forces - self._u0) @ model.D.T
        slopes = x @ model.A.T + (forces - self._u0) @ model.B.T + self._drift
        motion = LinearMotion(model, time, x + self._x0, slopes, y, forces)
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
