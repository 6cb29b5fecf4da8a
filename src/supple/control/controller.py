"""What stands between sensors and actuators: an object with step(t, measurement)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics import InputError, nearest

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a controller is told at an instant, exact and without delay.

    coordinates : names of the coordinates; values, rates : (n,) each, in rad or m, and per second
    outputs     : what the sensors see, by name
    `measurement["elbow"]`, `measurement["elbow.rate"]` and `measurement["tip.x"]` go by name.
    """

    coordinates: tuple[str, ...]
    values: Array
    rates: Array
    outputs: Mapping[str, float] = field(default_factory=dict)

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
    """

    gain: Array
    state: Reference
    inputs: Reference

    def step(self, t: float, measurement: Measurement) -> Array:
        """The inputs (a,)."""
        x = measurement.state
        if x.shape != self.gain.shape[1:]:
            raise InputError(
                f"it is made for {self.gain.shape[1]} states, and {len(x)} are measured",
                part="state feedback", hint="design it on a linear model of the same mechanism",
            )  # fmt: skip
        return np.asarray(_at(self.inputs, t) - self.gain @ (x - _at(self.state, t)))


def _at(reference: Reference, t: float) -> Array:
    return np.asarray(reference(t) if callable(reference) else reference, dtype=float)
