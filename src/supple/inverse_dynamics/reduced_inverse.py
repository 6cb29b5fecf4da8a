"""Inverse dynamics of a reduced model, from fitted coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.model_description import restore_mechanism
from supple.inverse_dynamics.inverse_dynamics import ForcesAlongMotion, distribute_forces, dry_friction_forces
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.reduced.time.begin import quasi_static
from supple.results.result import picture
from supple.results.signals import Signals
from supple.results.text import list_names
from supple.time_functions.function_of_time import Trajectory
from supple.trajectories.trajectory import Prescribed, trajectory


@dataclass(frozen=True, eq=False, repr=False)
class ModelForces(ForcesAlongMotion):
    """Forces of the actuators along a motion of a reduced model.

    Attributes
    ----------
    trajectory : Trajectory
        Motion.
    forces : Signals
        Force of each chosen actuator over time, N or N m.
    needed : ndarray of shape (N, n)
        Generalized force that they add up to.
    rigid : tuple of str
        Elastic bodies that the model treats as rigid.
    deformation : Signals, optional
        Quasi-static deformation δ (N,) by name, without vibration; None for a rigid model.
    """

    trajectory: Trajectory
    forces: Signals
    needed: Array
    rigid: tuple[str, ...] = ()
    deformation: Signals | None = None

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw all or some forces, and the deformation, over time (matplotlib); return the panels."""
        groups = {"force": self.forces, "deformation": self.deformation}
        return picture("view.time_plot.time_plot")(groups, names, axes)


def inverse_of_model(
    model: ReducedModel,
    motion: Prescribed,
    *,
    times: ArrayLike | None = None,
    step: float | None = None,
    **options: Any,
) -> ModelForces:
    """Return the forces of the actuators along a motion of the model; options as in `inverse`."""
    mechanism = restore_mechanism(model)  # for kinds and limits of the actuators
    path = _path(model, mechanism, motion, times, step)
    s, n = model.layout.theta, model.layout.size
    if n > s:
        needed, delta = _solve_deformation(model, path)
        names = model.layout.coordinates[s:]
        units = {name: model.units.coordinates.get(name, "") for name in names}
        deformation = Signals(path.time, {name: delta[:, i] for i, name in enumerate(names)}, units)
    else:
        needed, deformation = model_force(model, path), None
    if model.layout.coordinates[:s] != rest(mechanism).numbering.coordinates and len(model.layout.inputs) > 1:
        names = model.layout.coordinates[:s]
        sums = Signals(path.time, {name: needed[:, i] for i, name in enumerate(names)}, model.units.forces)
        return ModelForces(path, sums, needed, model.rigid, deformation)
    B = model.evaluate(path.theta).input_map[:, :, : len(mechanism.actuators)]
    if np.abs(B[:, s:]).max(initial=0.0) > 1e-9 * np.abs(B).max(initial=0.0):
        raise InputError(
            "the actuators act directly on elastic coordinates, which quasi-static forces do not include",
            part=f'model "{model.name}"', hint="use the actuators as coordinates, or simulate it along the motion",
        )  # fmt: skip
    B = np.ascontiguousarray(B[:, :s])
    forces = distribute_forces(rest(mechanism).numbering, B, needed, path.time, **options)
    return ModelForces(path, forces, needed, model.rigid, deformation)


def _path(
    model: ReducedModel, mechanism: Mechanism, motion: Prescribed, times: ArrayLike | None, step: float | None
) -> Trajectory:
    """Return the motion in the coordinates of the model."""
    names = model.layout.coordinates[: model.layout.theta]
    if isinstance(motion, Trajectory) and motion.coordinates == names:
        return motion
    found = trajectory(mechanism, motion, times=times, step=step)
    if found.coordinates != names:
        raise InputError(
            f"the motion is of {list_names(found.coordinates)}, but the reduced model of {list_names(names)}",
            part="motion",
            hint="give a Trajectory in the coordinates of the model",
        )  # fmt: skip
    return found


def model_force(model: ReducedModel, path: Trajectory) -> Array:
    """Return Q (N, s): M η̈ + Γ[η̇, η̇] + D_d η̇ - p + Σ J_jᵀ f_j sgn(J_j η̇), with a discontinuous sign.

    A flexible model deforms quasi-statically; the forces are those that hold θ on its motion.
    """
    if model.layout.size > model.layout.theta:
        return _solve_deformation(model, path)[0]
    c = model.evaluate(path.theta)
    return c.required_forces(path.rates, path.accelerations) + c.friction_forces(
        dry_friction_forces(c.friction_map, c.dry_forces, path.rates)
    )


def _solve_deformation(model: ReducedModel, path: Trajectory) -> tuple[Array, Array]:
    """Return quasi-static Q_θ (N, s) and δ (N, n - s)."""
    s, n = model.layout.theta, model.layout.size
    delta = quasi_static(model, path.theta, path.rates, path.accelerations)
    v, a = (np.hstack([part, np.zeros((len(delta), n - s))]) for part in (path.rates, path.accelerations))
    c = model.evaluate(path.theta, delta=delta)
    # Dry friction has a discontinuous sign here, as in the forces of the mechanism.
    forces = c.required_forces(v, a, delta) + c.friction_forces(dry_friction_forces(c.friction_map, c.dry_forces, v))
    return np.ascontiguousarray(forces[:, :s]), delta
