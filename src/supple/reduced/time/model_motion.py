"""Results of a simulated reduced model: states over time, and the signals that follow from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.reduced.observed import ObservedMotion, outputs_along
from supple.results.signals import Signals, label_signals
from supple.results.simulation import energy_defect

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


_STILL = 1e-12  # J, below which the model is at rest


@dataclass(frozen=True, eq=False)
class ModelMotion:
    """Motion η, η̇ (N, n) under inputs u (N, a) at times (N,), s.

    led   : η̈ (N, n) if coordinates are prescribed; None for a free motion
    leads : names of the prescribed coordinates, default: all θ; u without columns means that there are no inputs
    works : (N, 2) since the start, J: work of the inputs, or of the prescribed motion, and dissipated energy; None if
            unknown
    known : (N, 2) kinetic and potential energy, J, if known already
    """

    model: ReducedModel
    time: Array
    eta: Array
    v: Array
    u: Array
    friction_speed: float
    led: Array | None = None
    works: Array | None = None
    leads: tuple[str, ...] | None = None
    known: Array | None = None

    @property
    def origin(self) -> dict[str, str]:
        """Origin of the results, as JSON texts.

        `mechanism` is the text of its file, `model` the meaning of its coordinates.
        """
        made, basis = self.model.provenance, self.model.basis
        options = {name: value for name, value in made.get("options", {}).items() if name in ("held", "path")}
        facts = {"coordinates": list(self.model.layout.coordinates), "theta": self.model.layout.theta, **options}
        facts["basis"] = None if basis is None else basis.data()
        return {"mechanism": str(made.get("description", "")), "model": json.dumps(facts)}

    @property
    def coordinates(self) -> Signals:
        return label_signals(self.time, self.model.layout.coordinates, self.eta, self.model.units.coordinates)

    @property
    def rates(self) -> Signals:
        return label_signals(self.time, self.model.layout.coordinates, self.v, self.model.units.rates)

    @cached_property
    def accelerations(self) -> Signals:
        model, s = self.model, self.model.layout.theta
        a = self.led
        if a is None:
            a = model.forward(
                self.eta[:, :s], self.v, self.u, delta=self.eta[:, s:], friction_speed=self.friction_speed
            )
        return label_signals(self.time, model.layout.coordinates, a, model.units.accelerations)

    @cached_property
    def _observation(self) -> tuple[Array, Array]:
        return self.model.observe(self.eta, self.v)

    @property
    def _energies(self) -> Array:
        return self._observation[1] if self.known is None else self.known

    @cached_property
    def outputs(self) -> Signals:
        names, values = self.model.layout.outputs, self._observation[0]
        if self.model.layout.observation is not None:
            a = np.stack(list(self.accelerations.values()), axis=1)
            values = outputs_along(self.model, ObservedMotion(self.eta, self.v, a, self._forces, self.friction_speed))
        return label_signals(self.time, names, values, self.model.units.outputs)

    @property
    def _forces(self) -> Array:
        """Inputs u (N, a), zero if there are none."""
        return self.u if self.u.shape[1] else np.zeros((len(self.time), len(self.model.layout.inputs)))

    @property
    def inputs(self) -> Signals:
        if not self.u.shape[1]:
            return Signals(self.time, {})
        return label_signals(self.time, self.model.layout.inputs, self.u, self.model.units.inputs)

    @cached_property
    def driving_forces(self) -> Signals:
        if self.led is None:
            return Signals(self.time, {})
        model, s = self.model, self.model.layout.theta
        delta = self.eta[:, s:] if model.layout.size > s else None
        forces = model.inverse(self.eta[:, :s], self.v, self.led, delta=delta, friction_speed=self.friction_speed)
        if self.u.shape[1]:
            forces = forces - np.einsum("nia,na->ni", model.evaluate(self.eta[:, :s]).input_map, self.u)
        names = model.layout.coordinates
        leads = names[:s] if self.leads is None else self.leads
        return label_signals(self.time, leads, forces[:, [names.index(name) for name in leads]], model.units.forces)

    @property
    def energy(self) -> Signals:
        """Kinetic and potential energy, work and dissipation since the start, and the error of their balance.

        Only the kinetic energy is given if the forces have no potential.
        """
        kinetic, potential = self._energies.T
        energies = {"kinetic": kinetic}
        if np.isfinite(potential).all():
            energies |= {"potential": potential, "total": kinetic + potential}
            if self.works is not None:
                given, lost = self.works.T
                put_in = "prescribed" if self.led is not None and self.leads is None else "actuators"
                energies |= {put_in: given, "lost": lost, "balance": self._balance(kinetic + potential)}
        return Signals(self.time, energies, dict.fromkeys(energies, "J"))

    def _balance(self, total: Array) -> Array:
        assert self.works is not None
        return np.asarray(total - total[:1] - self.works[:, 0] + self.works[:, 1])

    @cached_property
    def energy_defect(self) -> float | None:
        """Relative error of the energy balance.

        None if no work is counted, forces have no potential, or M, Γ and p are fitted separately.
        """
        if self.works is None or not self.model.layout.conservative:
            return None
        kinetic, potential = self._energies.T
        if not np.isfinite(potential).all():
            return None
        return energy_defect(kinetic, potential, self.works, self._balance(kinetic + potential), _STILL)
