"""Inverse dynamics of a reduced model: the same question as of the mechanism, from fitted coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.analyses.inverse_dynamics.actuation import actuation, force_bounds, rate_limits, weights_of
from supple.analyses.inverse_dynamics.force_distribution import torque_objective
from supple.analyses.inverse_dynamics.inverse_dynamics import Bound, divided, dry_friction, require_objective
from supple.analyses.motions.trajectory import Trajectory
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.reduced.time.led_motion import quasi_static
from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.signals import Signals, span
from supple.results.table import Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ModelForces(Result):
    """forces : of each chosen actuator over time; needed : (N, n) the generalized force they add up to.

    rigid : names of the elastic parts that the model takes as rigid
    deformation : δ (N,) by name, quasi-static: as if the motion at each instant had lasted for ever. Vibrations are
                  left out; none for a rigid model
    """

    trajectory: Trajectory
    forces: Signals
    needed: Array
    rigid: tuple[str, ...] = ()
    deformation: Signals | None = None

    def summary(self) -> str:
        moved, time = self.trajectory.coordinates, self.trajectory.time
        return f"along {listed(moved)}, forces of {listed(self.forces)}, {span(time)}"

    def table(self) -> Table:
        """The forces over time, as `simulate` takes them for inputs."""
        return self.forces.table()

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw all or some forces, and the deformation, over time (matplotlib); returns the panels."""
        groups = {"force": self.forces, "deformation": self.deformation}
        return picture("time_plot")(groups, names, axes)


def inverse_of_model(
    model: ReducedModel,
    mechanism: Mechanism,
    path: Trajectory,
    *,
    actuators: Sequence[str] | str | None = None,
    minimize: str = "torque",
    bounds: Bound | Mapping[str, Bound] | Literal["limits"] | None = None,
    rate_bounds: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
) -> ModelForces:
    """Forces of the actuators along a trajectory of the model's coordinates; options as in `inverse`.

    mechanism : what the model was made from: what its actuators are, and may do
    """
    require_objective(minimize)
    if minimize == "multipliers":
        raise InputError(
            "a reduced model knows nothing of the reactions in joints",
            part="minimize", hint="take torque or peak, or ask the mechanism",
        )  # fmt: skip
    s, n = model.layout.theta, model.layout.size
    if n > s:
        needed, delta = _deformed(model, path)
        names = model.layout.coordinates[s:]
        units = {name: model.units.coordinates.get(name, "") for name in names}
        bent = Signals(path.time, {name: delta[:, i] for i, name in enumerate(names)}, units)
    else:
        needed, bent = model_force(model, path), None
    if model.layout.coordinates[:s] != rest(mechanism).numbering.coordinates and len(model.layout.inputs) > 1:
        names = model.layout.coordinates[:s]
        sums = Signals(path.time, {name: needed[:, i] for i, name in enumerate(names)}, model.units.forces)
        return ModelForces(path, sums, needed, model.rigid, bent)
    B = model.evaluate(path.theta).input_map[:, :, : len(mechanism.actuators)]
    if np.abs(B[:, s:]).max(initial=0.0) > 1e-9 * np.abs(B).max(initial=0.0):
        raise InputError(
            "its actuators push modes of deformation as well, which a quasi-static answer does not know",
            part=f'model "{model.name}"', hint="take the actuators as coordinates, or simulate it along the motion",
        )  # fmt: skip
    B = np.ascontiguousarray(B[:, :s])
    chosen = actuation(rest(mechanism).numbering, B, actuators, path.time)
    w = weights_of(chosen, weights)
    lower, upper = force_bounds(chosen, bounds)
    rates = rate_limits(chosen, rate_bounds, path.time)
    objective = torque_objective(chosen.B, w) if minimize == "torque" else None
    u = divided(chosen, needed, objective, w, lower, upper, rates)
    forces = {name: u[:, i] for i, name in enumerate(chosen.names)}
    return ModelForces(path, Signals(path.time, forces, chosen.units), needed, model.rigid, bent)


def model_force(model: ReducedModel, path: Trajectory) -> Array:
    """Q (N, s): M η̈ + Γ[η̇, η̇] + D_d η̇ - p + Σ J_jᵀ f_j sgn(J_j η̇), as of the mechanism, with a true sign.

    A flexible model deforms quasi-statically; the forces are those that hold θ on its course then.
    """
    if model.layout.size > model.layout.theta:
        return _deformed(model, path)[0]
    c = model.evaluate(path.theta)
    return c.required_forces(path.rates, path.accelerations) + c.friction_forces(
        dry_friction(c.friction_map, c.dry_forces, path.rates)
    )


def _deformed(model: ReducedModel, path: Trajectory) -> tuple[Array, Array]:
    """Q_θ (N, s) and δ (N, n - s), quasi-static."""
    s, n = model.layout.theta, model.layout.size
    delta = quasi_static(model, path.theta, path.rates, path.accelerations)
    v, a = (np.hstack([part, np.zeros((len(delta), n - s))]) for part in (path.rates, path.accelerations))
    c = model.evaluate(path.theta, delta=delta)
    # Dry friction has its true sign here, as in the forces of the mechanism.
    forces = c.required_forces(v, a, delta) + c.friction_forces(dry_friction(c.friction_map, c.dry_forces, v))
    return np.ascontiguousarray(forces[:, :s]), delta
