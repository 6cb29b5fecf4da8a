"""Computed torque: the nonlinear terms are cancelled by the model, what is left follows the motion as oscillators.

    B u = M(θ) (θ̈_d + 2 ξ ω (θ̇_d - θ̇) + ω² (θ_d - θ)) + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ_j J_jᵀ f_j tanh(J_j θ̇_d / v₀)

Dry friction is cancelled along the wanted rates: along the measured ones it would chatter at every standstill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import BPoly

from supple.analyses.motions.trajectory import Trajectory, trajectory
from supple.control.controller import Measurement
from supple.control.gains.decoupled_gains import PerCoordinate, per_coordinate
from supple.description.mechanism import Mechanism
from supple.description.motion import Motion
from supple.description.rigid_parts import taken_as_rigid
from supple.diagnostics import InputError
from supple.equations.coefficients import EquationsOfMotion
from supple.equations.dry_friction import FRICTION_SPEED
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]
Wanted = Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]

_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """A controller that follows a motion.

    model          : the mechanism itself (exact; every call assembles it, its elastic parts taken as rigid), or a
                     reduced model of it (rigid; fast)
    wanted         : t -> (θ, θ̇, θ̈), (s,) each
    frequencies    : ω (s,) rad/s; damping_ratios : ξ (s,)
    coordinates    : θ, all that it looks at: of a flexible plant it does not see the deformation
    actuators      : that it drives; other inputs of the plant it leaves at zero
    Made by `computed_torque`.
    """

    model: Mechanism | ReducedModel
    wanted: Wanted
    frequencies: Array
    damping_ratios: Array
    coordinates: tuple[str, ...]
    actuators: tuple[str, ...]

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts that it takes as rigid."""
        return self.model.rigid if isinstance(self.model, ReducedModel) else self.model.elastic_names

    def step(self, t: float, measurement: Measurement) -> Array:
        """The inputs (a,); of more than are needed, the least."""
        theta, rates = measurement.of(self.coordinates, "computed torque")
        aim, aim_rates, aim_accelerations = (np.asarray(part, dtype=float) for part in self.wanted(t))
        omega = self.frequencies
        a = aim_accelerations + 2.0 * self.damping_ratios * omega * (aim_rates - rates) + omega**2 * (aim - theta)
        here: EquationsOfMotion = (
            self.model.evaluate(theta) if isinstance(self.model, ReducedModel) else local(self.model, theta, rigid=True)
        )
        drag, _ = here.dry_friction(aim_rates, FRICTION_SPEED)
        return _divided(here.input_map, here.required_forces(rates, a) + here.friction_forces(drag))


def computed_torque(
    model: Mechanism | ReducedModel,
    motion: Motion | Trajectory | str | Path | Wanted,
    frequencies: PerCoordinate,
    damping_ratios: PerCoordinate = 1.0,
    *,
    rigid: bool = False,
) -> ComputedTorque:
    """The controller that follows a motion with errors e_i of their own: ë + 2 ξ ω ė + ω² e = 0.

    motion : t -> (θ, θ̇, θ̈), or a Trajectory; of a mechanism also a motion's name, a Motion, or a CSV file
    rigid  : elastic parts of a mechanism are meant to be taken as rigid by the controller, and nothing is said of it
    """
    if isinstance(model, ReducedModel):
        names, s = model.layout.coordinates, model.layout.theta
        if len(names) > s:
            raise InputError(
                f"it has {len(names) - s} elastic coordinates, which no actuator moves by itself",
                part=f'model "{model.name}"', hint="reduce the mechanism without modes",
            )  # fmt: skip
        actuators = model.layout.inputs
    else:
        taken_as_rigid(model, rigid, "no law of this kind moves deformation by itself: give gains of a flexible model")
        names, actuators = rest(model).numbering.coordinates, tuple(model.actuators)
    if len(actuators) < len(names):
        raise InputError(
            f"{len(actuators)} actuators cannot follow {len(names)} coordinates",
            part="computed torque", hint="add actuators, or regulate it about a state with pole_placement or lqr",
        )  # fmt: skip
    omega = per_coordinate("frequencies", frequencies, names)
    ratios = per_coordinate("damping ratios", damping_ratios, names)
    return ComputedTorque(model, _wanted(model, motion, names), omega, ratios, names, actuators)


def _wanted(
    model: Mechanism | ReducedModel, motion: Motion | Trajectory | str | Path | Wanted, names: tuple[str, ...]
) -> Wanted:
    if not isinstance(motion, Trajectory):
        if callable(motion):
            return motion
        if isinstance(model, ReducedModel):
            raise InputError(
                "a reduced model knows no motions by name", part="motion", hint="give supple.trajectory(mechanism, ...)"
            )
        motion = trajectory(model, motion)
    if motion.coordinates != names:
        raise InputError(
            f"it moves {', '.join(motion.coordinates)}, and the coordinates are {', '.join(names)}",
            part="motion", hint="make it for this mechanism",
        )  # fmt: skip
    time = motion.time
    pieces = BPoly.from_derivatives(time, np.stack([motion.theta, motion.rates, motion.accelerations], axis=1))
    slopes = (pieces, pieces.derivative(1), pieces.derivative(2))
    still = np.zeros(len(names))

    def wanted(t: float) -> tuple[Array, Array, Array]:
        if t > time[-1]:  # it stands where the motion ended
            return motion.theta[-1], still, still
        return tuple(np.asarray(part(max(t, time[0]))) for part in slopes)  # type: ignore[return-value]

    return wanted


def _divided(B: Array, Q: Array) -> Array:
    """The least u with B u = Q."""
    U, sigma, Vt = np.linalg.svd(B, full_matrices=False)
    if not sigma[-1] > _RANK * sigma[0]:
        raise InputError(
            "the actuators cannot accelerate every coordinate here", part="computed torque",
            hint="keep the motion away from this position",
        )  # fmt: skip
    return np.asarray(Vt.T @ ((U.T @ Q) / sigma))
