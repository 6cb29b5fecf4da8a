"""The nonlinear mechanism as a plant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.analyses.time.zero_order_hold import HeldSimulation
from supple.hardware.pieces import Pieces
from supple.results.basis import Basis
from supple.results.simulation import Simulation

Array = NDArray[np.float64]


class MechanismPlant:
    """The nonlinear mechanism: the full DAE. rigid : names of elastic parts that do not deform."""

    basis: Basis | None = None

    def __init__(self, run: HeldSimulation) -> None:
        self._run, self.rigid = run, run.rigid
        self.coordinates, self.inputs, self.outputs = run.coordinates, run.inputs, run.output_names
        self.theta, self.units, self.reason = len(run.coordinates), run.units, ""

    @property
    def state(self) -> tuple[Array, Array]:
        return self._run.theta, self._run.rates

    @property
    def seen(self) -> Array:
        return self._run.outputs

    def advance(self, pieces: Pieces) -> bool:
        done = self._run.advance(pieces)
        self.reason = self._run.reason
        return done

    def result(self, forces: Array) -> Simulation:
        return self._run.result()
