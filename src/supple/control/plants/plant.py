"""What every plant can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.hardware.pieces import Pieces
from supple.results.basis import Basis
from supple.results.simulation import Simulation
from supple.results.units import Units

Array = NDArray[np.float64]
Values = Mapping[str, float] | ArrayLike | None


class Plant(Protocol):
    """From sample to sample under what drives do.

    coordinates : names, θ first, `theta` of them; inputs, outputs : names; units : of all it tells
    basis  : what elastic coordinates are counted in; reason : why it could not go on, or ""
    """

    coordinates: tuple[str, ...]
    theta: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Units
    basis: Basis | None

    @property
    def reason(self) -> str: ...

    @property
    def state(self) -> tuple[Array, Array]:
        """Coordinates and their rates (n,) where it stands."""
        ...

    @property
    def seen(self) -> Array:
        """Outputs (o,) there, before anything jumps."""
        ...

    def advance(self, pieces: Pieces) -> bool:
        """To the next instant; False where it cannot go on."""
        ...

    def result(self, forces: Array) -> Simulation:
        """The motion so far, under forces (N, a) of the actuators from each instant on."""
        ...
