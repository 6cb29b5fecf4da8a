"""What stands between sensors and actuators: an object with step(t, measurement)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics import InputError, nearest
from supple.results.basis import Basis, require_same_basis

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a controller is told at an instant, exact and without delay.

    coordinates : names of the coordinates; values, rates : (n,) each, in rad or m, and per second
    outputs     : what the sensors see, by name
    basis       : what elastic coordinates among them are counted in; None without any
    `measurement["elbow"]`, `measurement["elbow.rate"]` and `measurement["tip.x"]` go by name.
    """

    coordinates: tuple[str, ...]
    values: Array
    rates: Array
    outputs: Mapping[str, float] = field(default_factory=dict)
    basis: Basis | None = None

    def of(self, names: tuple[str, ...], part: str) -> tuple[Array, Array]:
        """Values and rates of some coordinates (k,) each: a rigid controller sees θ alone of a flexible mechanism."""
        if names == self.coordinates:
            return self.values, self.rates
        for name in names:
            if name not in self.coordinates:
                raise InputError(
                    f"it is made for {2 * len(names)} states, and {2 * len(self.coordinates)} are measured: "
                    f'{", ".join(self.coordinates)} and their rates, without "{name}"',
                    part=part, hint="make the controller and the plant of the same mechanism",
                )  # fmt: skip
        places = [self.coordinates.index(name) for name in names]
        return self.values[places], self.rates[places]

    @property
    def state(self) -> Array:
        """(2n,): coordinates, then their rates, the states of a linear model."""
        return np.concatenate([self.values, self.rates])

    def __getitem__(self, name: str) -> float:
        if name in self.outputs:
            return float(self.outputs[name])
        known = [*self.coordinates, *(f"{coordinate}.rate" for coordinate in self.coordinates)]
        if name not in known:
            raise InputError(f'"{name}" is not measured', hint=nearest(name, [*known, *self.outputs]))
        return float(self.state[known.index(name)])


class Controller(Protocol):
    """Any object with this method; it may keep a memory between calls, which come in the order of time."""

    def step(self, t: float, measurement: Measurement) -> Mapping[str, float] | ArrayLike:
        """Forces of the actuators from now until the next call: by name (zero where left out), or all in order."""
        ...


Reference = ArrayLike | Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False)
class StateFeedback:
    """u = u_r(t) - K (x - x_r(t)).

    gain   : K (inputs, states); state : x_r, inputs : u_r, constant or callables of time
    coordinates : names of those it feeds back, with their rates; all that are measured if left out
    actuators   : names of those it drives; all of them if left out
    basis       : what elastic coordinates among them are counted in
    """

    gain: Array
    state: Reference
    inputs: Reference
    coordinates: tuple[str, ...] | None = None
    actuators: tuple[str, ...] | None = None
    basis: Basis | None = None

    def step(self, t: float, measurement: Measurement) -> Array:
        """The inputs (a,)."""
        require_same_basis("state feedback", self.basis, measurement.basis)
        x = measurement.state
        if self.coordinates is not None:
            x = np.concatenate(measurement.of(self.coordinates, "state feedback"))
        if x.shape != self.gain.shape[1:]:
            raise InputError(
                f"it is made for {self.gain.shape[1]} states, and {len(x)} are measured",
                part="state feedback", hint="design it on a linear model of the same mechanism",
            )  # fmt: skip
        return np.asarray(_at(self.inputs, t) - self.gain @ (x - _at(self.state, t)))


def _at(reference: Reference, t: float) -> Array:
    return np.asarray(reference(t) if callable(reference) else reference, dtype=float)
