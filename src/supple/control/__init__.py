"""Control: gains from a linear model, controllers, and both in the loop with the mechanism (docs/theory/control.md)."""

from supple.control.closed_loop import closed_loop
from supple.control.controller import Controller, Measurement, StateFeedback
from supple.control.controllers.computed_torque import ComputedTorque, computed_torque
from supple.control.feedforward.reference import Reference, reference
from supple.control.gains.decoupled_gains import decoupled_gains
from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.gains.linear_quadratic import lqr
from supple.control.gains.pole_placement import pole_placement

__all__ = [
    "ComputedTorque", "Controller", "FeedbackGain", "Measurement", "Reference", "StateFeedback", "closed_loop",
    "computed_torque", "decoupled_gains", "lqr", "pole_placement", "reference",
]  # fmt: skip
