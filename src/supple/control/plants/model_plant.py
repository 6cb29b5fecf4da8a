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
        self.run, self.basis, self.units = run, model.basis, model.units
        self.coordinates, self.inputs, self.outputs = layout.coordinates, layout.inputs, layout.outputs
        self.theta = layout.theta

    @property
    def reason(self) -> str:
        return self.run.reason

    @property
    def state(self) -> tuple[Array, Array]:
        return self.run.eta, self.run.eta_rates

    @property
    def seen(self) -> Array:
        return self.run.outputs

    def advance(self, pieces: Pieces) -> bool:
        return self.run.advance(pieces)

    def result(self, forces: Array) -> Simulation:
        run, model = self.run, self.run.model
        motion = run.motion(forces)
        return Simulation(
            model.name, motion.time, motion, self.reason, run.stopped, run.steps, tolerance=run.tolerance,
            rigid=model.rigid, basis=model.basis,
        )  # fmt: skip
