"""What every plant can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.control.controller import Measurement
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
