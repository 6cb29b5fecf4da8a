"""Protocol of a controller, an object with step(t, measurement), and the simplest one: `StateFeedback`."""

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
from supple.results.text import list_names


class Controller(Protocol):
    """Protocol of a controller: any object with a method ``step(t, measurement)``.

    A controller may keep internal states between calls. Calls come in the order of time.

    Optional attributes and methods:

    actuators        : names of the actuators that it commands, in the order of its output; all of them by default
    sample_time      : s, a multiple of the loop's sample time, at which it is called
    reference        : the reference motion, `at(t)` -> (θ, θ̇, ...), with the names of its `coordinates`
    reset(start)     : called with the first measurement before the first step
    applied(command) : called at each sample with the commands of its actuators as the drives applied them, summed over
                       all controllers
    """

    def step(self, t: float, measurement: Measurement) -> Mapping[str, float] | ArrayLike:
        """Return the commands of the actuators from now until the next call.

        Parameters
        ----------
        t : float
            Time, s.
        measurement : Measurement
            Measured signals by name.

        Returns
        -------
        mapping of str to float, or array_like of float
            Commands by name (actuators that are left out get zero), or of all its actuators in order.
        """
        ...


ValueOrCourse = ArrayLike | Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class StateFeedback:
    """State feedback u = u_r(t) - K (x - x_r(t)).

    Attributes
    ----------
    gain : ndarray of shape (inputs, states)
        Gain K.
    state : array_like of shape (states,), or callable
        Reference state x_r, constant or a function of time.
    inputs : array_like of shape (inputs,), or callable
        Reference inputs u_r, constant or a function of time.
    coordinates : tuple of str, optional
        Coordinates that are fed back with their rates. Default: all measured ones.
    actuators : tuple of str, optional
        Actuators that are driven. Default: all of them.
    basis : CoordinateBasis, optional
        Basis of the elastic coordinates among the states.
    commanded_actuators : tuple of str
        Actuators whose drives the controller accounts for: u are commands of the drives.
    undriven : tuple of str
        Actuators with drives that the controller does not account for: u are forces. `closed_loop` refuses plants whose
        inputs differ.
    """

    gain: Array
    state: ValueOrCourse
    inputs: ValueOrCourse
    coordinates: tuple[str, ...] | None = None
    actuators: tuple[str, ...] | None = None
    basis: CoordinateBasis | None = None
    commanded_actuators: tuple[str, ...] = ()
    undriven: tuple[str, ...] = ()

    def __repr__(self) -> str:
        fed_back = "" if self.coordinates is None else f" of {list_names(self.coordinates)}"
        by = "" if self.actuators is None else f" by {list_names(self.actuators)}"
        return brief("StateFeedback", f"{fed_back}{by}, gains {self.gain.shape[0]} x {self.gain.shape[1]}".strip(" ,"))

    def step(self, t: float, measurement: Measurement) -> Array:
        """Return the inputs u (a,) at time t."""
        require_same_basis("state feedback", self.basis, measurement.basis)
        x = measurement.state
        if self.coordinates is not None:
            x = np.concatenate(measurement.of(self.coordinates, "state feedback"))
        if x.shape != self.gain.shape[1:]:
            raise InputError(
                f"the gain has {self.gain.shape[1]} states, but {len(x)} are measured",
                part="state feedback", hint=NOT_MEASURED,
            )  # fmt: skip
        return np.asarray(_at(self.inputs, t) - self.gain @ (x - _at(self.state, t)))


def _at(reference: ValueOrCourse, t: float) -> Array:
    return np.asarray(reference(t) if callable(reference) else reference, dtype=float)
