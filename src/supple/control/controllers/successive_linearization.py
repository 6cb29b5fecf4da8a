"""Successive linearization: gains that are redesigned along a motion while the controller runs.

    u = u_d(t) - K(t) (x - x_d(t)),     x = (θ, θ̇),     B u_d = M θ̈_d + Γ[θ̇_d, θ̇_d] + D_d θ̇_d - p + dry friction

K is designed on the linear model about (θ_d, θ̇_d, θ̈_d) at the last design time [Lin]. To first order in x - x_d the
loop is then the one that was designed, wherever the mechanism is. Far from the motion it is not, unlike with computed
torque.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from supple.array_types import Array
from supple.control.controller_measurement import Measurement
from supple.control.controllers.needed_forces import (
    ActuatorForceModel,
    Aim,
    ForceCommands,
    MechanismEquations,
    ModelEquations,
    force_commands,
)
from supple.control.feedforward.reference import AnyReference, Wanted, reference
from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.margins.loop_check import checked_places, warn_if_unstable
from supple.control.margins.open_loop import static_law
from supple.control.plants.surrounding import hardware_in
from supple.control.redundancy.force_division import ForceDivision, force_division
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.hardware.hardware import Hardware
from supple.linearization.linearization import linearize
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel
from supple.results.result import brief
from supple.results.text import list_names
from supple.systems.protocols import system_of

Design = Callable[[LinearModel], FeedbackGain]


@dataclass(eq=False, repr=False)
class SuccessiveLinearization:
    """Controller with gains designed on linear models along a motion; made by `successive_linearization`.

    Attributes
    ----------
    design : callable
        Function from a linear model to its gain.
    every : int
        Number of samples from one design to the next.
    gain : FeedbackGain, optional
        Latest gain.
    designs : int
        Number of designs so far.
    """

    model: Mechanism | ReducedModel
    reference: AnyReference
    design: Design
    every: int
    coordinates: tuple[str, ...]
    equations: ActuatorForceModel
    division: ForceDivision
    drives: ForceCommands
    gain: FeedbackGain | None = None
    designs: int = 0
    _samples: int = field(default=0, repr=False)

    def __repr__(self) -> str:
        how = f"every {self.every} samples" if self.every > 1 else "at every sample"
        return brief("SuccessiveLinearization", f"of {list_names(self.coordinates)}, gains {how}, from {self.model!r}")

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators that are driven."""
        return self.division.actuators

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic bodies that the controller treats as rigid."""
        return self.model.rigid if isinstance(self.model, ReducedModel) else self.model.elastic_names

    @property
    def commanded_actuators(self) -> tuple[str, ...]:
        """Names of the actuators whose outputs are commands of drives."""
        return self.drives.driven

    def reset(self, start: Measurement) -> None:
        """Reset before the first sample."""
        self.gain, self.designs, self._samples = None, 0, 0

    def step(self, t: float, measurement: Measurement) -> Array:
        """Return the forces (a,), as commands of the drives."""
        theta, rates = measurement.of(self.coordinates, "successive linearization")
        aim = Aim(*self.reference.at(t)[:3])
        if self.gain is None or self._samples % self.every == 0:
            self.gain = self.design(self.linear_about(aim))
            self.designs += 1
        self._samples += 1
        need = self.equations.compute_forces(aim.theta, aim.rates, aim.accelerations, aim)
        u, _ = self.division.divide_forces(need, t)
        u = u - self.gain.K @ np.concatenate([theta - aim.theta, rates - aim.rates])
        return self.drives.commands(u, rates @ need.B)

    def linear_about(self, aim: Aim) -> LinearModel:
        """Return the linear model about a point of the motion, on which gains are designed."""
        model = self.model
        if isinstance(model, ReducedModel):
            return model.linearize(aim.theta, rates=aim.rates, accelerations=aim.accelerations, drives=False)
        return linearize(model, aim.theta, rates=aim.rates, accelerations=aim.accelerations, rigid=True, drives=False)


def successive_linearization(
    model: Mechanism | ReducedModel,
    motion: Wanted,
    design: Design,
    *,
    every: int = 1,
    hardware: Hardware | bool = True,
    rigid: bool = False,
) -> SuccessiveLinearization:
    """Create a controller that linearizes the model along the motion while it runs, and redesigns its gains.

    Parameters
    ----------
    model : Mechanism or ReducedModel
        Mechanism, with elastic bodies treated as rigid, or a rigid reduced model.
    motion : str, Motion, Trajectory, path or callable
        Motion, as in `reference`.
    design : callable
        Function from a linear model to its gain, such as ``lambda linear: decoupled_gains(linear, 10.0, 0.7)``.
    every : int, optional
        Number of samples from one design to the next. Default: 1.
    hardware : Hardware or bool, optional
        Drives between commands and forces, as in `closed_loop`; their gains are compensated. Default: the model's own.
    rigid : bool, optional
        Treat elastic bodies of a mechanism as rigid without a warning. Default: False.

    Returns
    -------
    SuccessiveLinearization
        Controller for `closed_loop`.

    Raises
    ------
    InputError
        If `every` is below 1, or the model has elastic coordinates.

    Warns
    -----
    UnstableLoop
        If the loop with drives and deformation is unstable on the linearized model.
    SuppleNote
        If elastic bodies are treated as rigid.

    See Also
    --------
    gain_scheduled : Gains designed in advance over a region.
    computed_torque : Exact linearization.
    """
    require_arguments(successive_linearization, locals())
    if every < 1:
        raise InputError(f"must be at least 1 (got {every})", part="every", hint="give a number of samples")
    names, known = system_of(model).rigid_coordinates, system_of(model).inputs
    equations: ActuatorForceModel
    if isinstance(model, ReducedModel):
        if model.layout.size > model.layout.theta:
            raise InputError(
                "gains of a flexible model feed back its deformation, which is not measured",
                part=f'model "{model.name}"',
                hint="reduce it without modes, or use state_feedback on an observer",
            )  # fmt: skip
        equations = ModelEquations(model, list(range(len(known))))
    else:
        treat_as_rigid(model, rigid, "use state feedback on an observer of a flexible model")
        equations = MechanismEquations(model, list(range(len(known))), np.ones(len(known)))
    drives = force_commands(model, known, hardware, "successive linearization")
    target, devices = reference(motion, model), hardware_in(model, hardware)
    controller = SuccessiveLinearization(
        model, target, design, every, names, equations, force_division(known, model), drives
    )
    if devices.drives or (isinstance(model, Mechanism) and model.elastic):  # otherwise the design checks its own loop
        warn_if_unstable(
            "successive linearization", model, lambda plant: _about(controller, plant), devices,
            checked_places(None, target),
            "use slower gains, or state_feedback on an observer, which includes drives and deformation",
        )  # fmt: skip
    return controller


def _about(controller: SuccessiveLinearization, plant: LinearModel) -> LinearModel:
    """Return the linear response about rest at a linear plant."""
    names = controller.coordinates
    theta = np.array([plant.at["states"][name] for name in names])
    still = np.zeros(len(names))
    B = controller.equations.compute_forces(theta, still, still, Aim(theta, still, still)).B
    K = controller.drives.rows(controller.design(controller.linear_about(Aim(theta, still, still))).K)
    K[:, len(names) :] -= controller.drives.by_rate(B)
    return static_law(K, (*names, *(f"{name}.rate" for name in names)), controller.actuators)
