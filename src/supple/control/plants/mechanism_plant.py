"""The nonlinear mechanism as a plant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.analyses.time.zero_order_hold import HeldSimulation
from supple.control.controller import Measurement
from supple.hardware.pieces import held_pieces
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
        seen = dict(zip(run.output_names, run.outputs.tolist(), strict=True))
        return Measurement(run.coordinates, run.theta, run.rates, seen)

    def advance(self, u: Array) -> bool:
        n = self._run.interval
        done = self._run.advance(held_pieces(float(self._run.times[n + 1] - self._run.times[n]), u))
        self.reason = self._run.reason
        return done

    def result(self, time: Array, measured: Sequence[Measurement], u: Array) -> Simulation:
        return self._run.result(u[-1])
