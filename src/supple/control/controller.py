"""What stands between sensors and actuators: an object with step(t, measurement)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.control.controller_measurement import NOT_MEASURED, Measurement
from supple.diagnostics import InputError
from supple.results.basis import CoordinateBasis, require_same_basis
from supple.results.result import brief
from supple.results.text import listed


class Controller(Protocol):
    """Any object with this method; it may keep a memory between calls, which come in the order of time.

    What it may have besides, if it likes:

    actuators        : names of those that it answers for, in order
    sample_time      : s, a multiple of the loop's, at which it is called
    reference        : the motion that it follows, `at(t)` -> (θ, θ̇, ...), with the names of its `coordinates`
    reset(start)     : told the first measurement, before its first step
    applied(command) : told at each sample what drives made of all commands to its actuators
    """

    def step(self, t: float, measurement: Measurement) -> Mapping[str, float] | ArrayLike:
        """Commands of the actuators from now until the next call: by name (zero where left out), or all in order."""
        ...


ValueOrCourse = ArrayLike | Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class StateFeedback:
    """u = u_r(t) - K (x - x_r(t)).

    gain   : K (inputs, states); state : x_r, inputs : u_r, constant or callables of time
    coordinates : names of those it feeds back, with their rates; all that are measured if left out
    actuators   : names of those it drives; all of them if left out
    basis       : what elastic coordinates among them are counted in
    commanded   : actuators whose drives it knows, so that u are commands; undriven : those that have drives which it
                  does not know, so that u are forces. `closed_loop` refuses plants that take something else
    """

    gain: Array
    state: ValueOrCourse
    inputs: ValueOrCourse
    coordinates: tuple[str, ...] | None = None
    actuators: tuple[str, ...] | None = None
    basis: CoordinateBasis | None = None
    commanded: tuple[str, ...] = ()
    undriven: tuple[str, ...] = ()

    def __repr__(self) -> str:
        fed = "" if self.coordinates is None else f" of {listed(self.coordinates)}"
        by = "" if self.actuators is None else f" by {listed(self.actuators)}"
        return brief("StateFeedback", f"{fed}{by}, gains {self.gain.shape[0]} x {self.gain.shape[1]}".strip(" ,"))

    def step(self, t: float, measurement: Measurement) -> Array:
        """The inputs (a,)."""
        require_same_basis("state feedback", self.basis, measurement.basis)
        x = measurement.state
        if self.coordinates is not None:
            x = np.concatenate(measurement.of(self.coordinates, "state feedback"))
        if x.shape != self.gain.shape[1:]:
            raise InputError(
                f"it is made for {self.gain.shape[1]} states, and {len(x)} are measured",
                part="state feedback", hint=NOT_MEASURED,
            )  # fmt: skip
        return np.asarray(_at(self.inputs, t) - self.gain @ (x - _at(self.state, t)))


def _at(reference: ValueOrCourse, t: float) -> Array:
    return np.asarray(reference(t) if callable(reference) else reference, dtype=float)
