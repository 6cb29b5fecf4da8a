"""The nonlinear mechanism as a plant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.analyses.time.zero_order_hold import HeldSimulation
from supple.control.controller import Measurement
from supple.results.simulation import Simulation

Array = NDArray[np.float64]


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
