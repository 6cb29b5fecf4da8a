"""States of a reduced model over time, and the signals that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supple.reduced.observed import outputs_along
from supple.results.signals import Signals, labelled

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelMotion:
    """η, η̇ (N, n) and u (N, a) at times (N,), s.

    led : η̈ (N, n) of a model whose θ is led along a course; None of one that moves by itself
    """

    model: ReducedModel
    time: Array
    eta: Array
    v: Array
    u: Array
    friction_speed: float
    led: Array | None = None

    @property
    def coordinates(self) -> Signals:
        return labelled(self.time, self.model.layout.coordinates, self.eta, self.model.units.coordinates)

    @property
    def rates(self) -> Signals:
        return labelled(self.time, self.model.layout.coordinates, self.v, self.model.units.rates)

    @cached_property
    def accelerations(self) -> Signals:
        model, s = self.model, self.model.layout.theta
        a = self.led
        if a is None:
            a = model.forward(
                self.eta[:, :s], self.v, self.u, delta=self.eta[:, s:], friction_speed=self.friction_speed
            )
        return labelled(self.time, model.layout.coordinates, a, model.units.accelerations)

    @cached_property
    def _observed(self) -> tuple[Array, Array]:
        return self.model.observe(self.eta, self.v)

    @cached_property
    def outputs(self) -> Signals:
        names, seen = self.model.layout.outputs, self._observed[0]
        if self.model.layout.observation is not None:
            a = np.stack(list(self.accelerations.values()), axis=1)
            seen = outputs_along(self.model, self.eta, self.v, a)
        return labelled(self.time, names, seen, self.model.units.outputs)

    @property
    def inputs(self) -> Signals:
        if self.led is not None:
            return Signals(self.time, {})
        return labelled(self.time, self.model.layout.inputs, self.u, self.model.units.inputs)

    @cached_property
    def driving_forces(self) -> Signals:
        if self.led is None:
            return Signals(self.time, {})
        model, s = self.model, self.model.layout.theta
        delta = self.eta[:, s:] if model.layout.size > s else None
        forces = model.inverse(self.eta[:, :s], self.v, self.led, delta=delta, friction_speed=self.friction_speed)
        return labelled(self.time, model.layout.coordinates[:s], forces[:, :s], model.units.forces)

    @property
    def energy(self) -> Signals:
        """The potential where the forces have one."""
        kinetic, potential = self._observed[1].T
        energies = {"kinetic": kinetic}
        if np.isfinite(potential).all():
            energies |= {"potential": potential, "total": kinetic + potential}
        return Signals(self.time, energies, dict.fromkeys(energies, "J"))

    @property
    def energy_defect(self) -> None:
        """Works of inputs and losses are not counted."""
        return
