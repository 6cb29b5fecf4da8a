"""A reduced model as a plant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.hardware.pieces import Pieces
from supple.reduced.time.driven_model import DrivenModel
from supple.results.simulation import Simulation

Array = NDArray[np.float64]


class ModelPlant:
    """A reduced model, integrated to its tolerance between the instants."""

    def __init__(self, run: DrivenModel) -> None:
        model, layout = run.model, run.model.layout
        self._run, self.basis, self.units, self.reason = run, model.basis, model.units, ""
        self.coordinates, self.inputs, self.outputs = layout.coordinates, layout.inputs, layout.outputs
        self.theta = layout.theta
        self.state, self.seen = (run.eta, run.eta_rates), run.outputs  # where it stands, whenever they are looked at

    def advance(self, pieces: Pieces) -> bool:
        done = self._run.advance(pieces)
        self.reason = self._run.reason
        return done

    def result(self, forces: Array) -> Simulation:
        run, model = self._run, self._run.model
        motion = run.motion(forces)
        return Simulation(
            model.name, motion.time, motion, self.reason, run.stopped, run.steps, tolerance=run.tolerance,
            rigid=model.rigid, basis=model.basis,
        )  # fmt: skip
