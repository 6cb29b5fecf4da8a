"""Motions of a reduced model: coordinates, rates, outputs, inputs and energy over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.signals import Signals, gathered, span
from supple.results.table import Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Result):
    """What a run of a reduced model gives, each on the same time axis.

    coordinates, rates, accelerations : of η; outputs : y; inputs : u; energy : kinetic, potential and total, in J
    reason : empty, or why the run ended early, at `stopped` (s); the signals then reach as far as the last result
    steps  : of the integrator
    driving_forces : of a model led along a motion, what keeps each θ on its course, N or N m; None otherwise
    """

    time: Array
    coordinates: Signals
    rates: Signals
    accelerations: Signals
    outputs: Signals
    inputs: Signals
    energy: Signals
    reason: str = ""
    stopped: float = np.nan
    steps: int = 0
    driving_forces: Signals | None = None

    def summary(self) -> str:
        ended = f", ended early: {self.reason}" if self.reason else ""
        return f"of {listed(self.coordinates)}, {span(self.time)}, {self.steps} steps{ended}"

    def table(self) -> Table:
        """Outputs, coordinates, and `NAME.rate`, `.acceleration`, `.input`, `.driving_force`, `energy.NAME`."""
        return gathered(
            self.time, self.outputs, self.coordinates, rate=self.rates, acceleration=self.accelerations,
            input=self.inputs, driving_force=self.driving_forces, energy=self.energy,
        )  # fmt: skip

    @property
    def finished(self) -> bool:
        return not self.reason

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw outputs (coordinates where nothing is sensed), forces and energies over time; returns the figure.

        names : outputs, coordinates or inputs, those alone; axes : where to draw instead, in one panel
        """
        seen = self.outputs if len(self.outputs) else self.coordinates
        if names or axes is not None:
            known = {"output": self.outputs, "coordinate": self.coordinates, "force": self.inputs}
            return picture("time_plot")(known if names else {"output": seen}, names, axes)
        forces = {"force": self.inputs.moving(), "driving force": self.driving_forces and self.driving_forces.moving()}
        return picture("time_plot")({"output": seen, **forces, "energy": self.energy})
