"""States of a linear model over time, and the signals that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from supple.array_types import Array
from supple.results.linear_model import LinearModel
from supple.results.signals import Signals, labelled


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """Of a linear model: x and ẋ (N, states), y (N, o) and u (N, a) at times (N,). It knows no energy."""

    model: LinearModel
    time: Array
    x: Array
    slopes: Array
    y: Array
    u: Array

    def _coordinates(self, values: Array, units: Mapping[str, str]) -> Signals:
        return labelled(self.time, self.model.coordinates, values, units)

    @property
    def coordinates(self) -> Signals:
        return self._coordinates(self.x, self.model.units.coordinates)

    @property
    def rates(self) -> Signals:
        return self._coordinates(self.x[:, len(self.model.coordinates) :], self.model.units.rates)

    @property
    def accelerations(self) -> Signals:
        return self._coordinates(self.slopes[:, len(self.model.coordinates) :], self.model.units.accelerations)

    @property
    def outputs(self) -> Signals:
        return labelled(self.time, self.model.outputs, self.y, self.model.units.outputs)

    @property
    def inputs(self) -> Signals:
        return labelled(self.time, self.model.inputs, self.u, self.model.units.inputs)

    @property
    def driving_forces(self) -> Signals:
        return Signals(self.time, {})

    @property
    def energy(self) -> Signals:
        return Signals(self.time, {})

    @property
    def energy_defect(self) -> None:
        return
