"""Gains that are designed anew along a motion, on line: successive linearization.

    u = u_d(t) - K(t) (x - x_d(t)),     x = (θ, θ̇),     B u_d = M θ̈_d + Γ[θ̇_d, θ̇_d] + D_d θ̇_d - p + dry friction

K is that of the linear model about (θ_d, θ̇_d, θ̈_d) at the last instant at which one was made [Lin]. To first order in
x - x_d the loop is then the one that was designed, wherever the mechanism is; far from the motion it is not, other than
with computed torque.
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
from supple.control.margins.loop_check import places_along, warn_if_unstable
from supple.control.margins.open_loop import static_law
from supple.control.plants.surrounding import hardware_in
from supple.control.redundancy.force_division import ForceDivision, force_division
from supple.description.mechanism import Mechanism, taken_as_rigid
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.hardware.hardware import Hardware
from supple.linearization.linearization import linearize
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel
from supple.results.result import brief
from supple.results.text import listed
from supple.systems.protocols import system_of

Design = Callable[[LinearModel], FeedbackGain]


@dataclass(eq=False, repr=False)
class SuccessiveLinearization:
    """A controller that follows a motion with gains of linear models along it; made by `successive_linearization`.

    design : a linear model -> its gains; every : samples from one design to the next
    gain   : the last one; designs : how many there have been
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
        return brief("SuccessiveLinearization", f"of {listed(self.coordinates)}, gains {how}, from {self.model!r}")

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of those it drives."""
        return self.division.actuators

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts that it takes as rigid."""
        return self.model.rigid if isinstance(self.model, ReducedModel) else self.model.elastic_names

    @property
    def commanded(self) -> tuple[str, ...]:
        """Those whose answers are commands of drives."""
        return self.drives.driven

    def reset(self, start: Measurement) -> None:
        """Before the first sample."""
        self.gain, self.designs, self._samples = None, 0, 0

    def step(self, t: float, measurement: Measurement) -> Array:
        """The forces (a,), as commands of their drives."""
        theta, rates = measurement.of(self.coordinates, "successive linearization")
        aim = Aim(*self.reference.at(t)[:3])
        if self.gain is None or self._samples % self.every == 0:
            self.gain = self.design(self.linear_about(aim))
            self.designs += 1
        self._samples += 1
        need = self.equations.needed(aim.theta, aim.rates, aim.accelerations, aim)
        u, _ = self.division.divided(need, t)
        u = u - self.gain.K @ np.concatenate([theta - aim.theta, rates - aim.rates])
        return self.drives.commands(u, rates @ need.B)

    def linear_about(self, aim: Aim) -> LinearModel:
        """The model that the gains are designed on."""
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
    """The controller that linearizes the model along the motion while it runs, and designs gains anew each time.

    model  : the mechanism, its elastic parts taken as rigid, or a rigid reduced model
    motion : as `reference` takes it
    design : a linear model -> gains, such as `lambda linear: decoupled_gains(linear, 10.0, 0.7)`, or lqr, or
             pole_placement
    every  : samples from one design to the next: 1 for each
    hardware : as in `closed_loop`: drives between its answers and the forces, through whose gains it asks for them
    rigid  : elastic parts of a mechanism are meant to be taken as rigid, and nothing is said of it
    """
    require_arguments(successive_linearization, locals())
    if every < 1:
        raise InputError(f"it is {every}", part="every", hint="give a number of samples of at least 1")
    names, known = system_of(model).rigid_coordinates, system_of(model).inputs
    equations: ActuatorForceModel
    if isinstance(model, ReducedModel):
        if model.layout.size > model.layout.theta:
            raise InputError(
                "gains of a flexible model feed back its deformation, which nothing measures",
                part=f'model "{model.name}"',
                hint="reduce it without modes, or take state feedback on an observer",
            )  # fmt: skip
        equations = ModelEquations(model, list(range(len(known))))
    else:
        taken_as_rigid(model, rigid, "take state feedback on an observer of a flexible model")
        equations = MechanismEquations(model, list(range(len(known))), np.ones(len(known)))
    drives = force_commands(model, known, hardware, "successive linearization")
    wanted, around = reference(motion, model), hardware_in(model, hardware)
    made = SuccessiveLinearization(model, wanted, design, every, names, equations, force_division(known, model), drives)
    if around.drives or (isinstance(model, Mechanism) and model.elastic):  # otherwise the design judges its own loop
        warn_if_unstable(
            "successive linearization", model, lambda plant: _about(made, plant), around, places_along(None, wanted),
            "ask for slower gains, or take state_feedback on an observer, which knows drives and deformation",
        )  # fmt: skip
    return made


def _about(made: SuccessiveLinearization, plant: LinearModel) -> LinearModel:
    """What it answers about rest where a linear plant stands."""
    names = made.coordinates
    theta = np.array([plant.at["states"][name] for name in names])
    still = np.zeros(len(names))
    B = made.equations.needed(theta, still, still, Aim(theta, still, still)).B
    K = made.drives.rows(made.design(made.linear_about(Aim(theta, still, still))).K)
    K[:, len(names) :] -= made.drives.by_rate(B)
    return static_law(K, (*names, *(f"{name}.rate" for name in names)), made.actuators)
