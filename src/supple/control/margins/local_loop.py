"""The open loop about a configuration of a reduced model, with its drives and instruments.

Of a law that is scheduled over σ the matrices stay those at the configuration: how they change with what is measured is
not part of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.linear_law import linear_law
from supple.control.margins.open_loop import LoopInterface, open_loop
from supple.diagnostics import InputError
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.results.linear_model import LinearModel

LoopController = FeedbackGain | LinearModel | AffineLaw | AffineController


def loop_at(model: ReducedModel, controller: LoopController, theta: Values | str, late: float) -> LinearModel:
    """L about where the model rests at θ; late : s, of the computation.

    For a sampled controller delays are exact; without a sample time they are Padé's approximants.
    """
    hardware = model.hardware
    named = hardware.measured_as
    plant = replace(model, hardware=hardware.prompt()).linearize(theta)
    law = law_about(controller, plant, named)
    if (law.sample_time if isinstance(law, FeedbackGain) else law.step) is None:
        return open_loop(model.linearize(theta), law, LoopInterface({}, named))
    return open_loop(plant, law, LoopInterface(hardware.delays(model.layout.inputs, late), named))


def law_about(
    controller: LoopController, plant: LinearModel, measured_as: Mapping[str, str]
) -> FeedbackGain | LinearModel:
    """The controller as it is about the state of a linear plant: an affine law with its matrices at what is shown of σ
    there."""
    law = controller.law if isinstance(controller, AffineController) else controller
    if isinstance(law, FeedbackGain | LinearModel):
        return law
    if not isinstance(law, AffineLaw):
        raise InputError(
            f"{type(controller).__name__} is not a linear controller", part="margins",
            hint="give a FeedbackGain, a LinearModel from outputs to inputs, or an affine law",
        )  # fmt: skip
    if law.ports.answers:
        raise InputError(
            f'"{law.name}" answers with estimates', part="margins", hint="give the controller that uses them"
        )
    shown = {**plant.at.get("states", {}), **plant.at.get("outputs", {})}
    if not law.scheduled_by:
        return linear_law(law)
    return linear_law(law, {name: shown[measured_as.get(name, name)] for name in law.scheduled_by})
