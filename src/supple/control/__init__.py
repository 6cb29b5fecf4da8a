"""Control: gains from a linear model, controllers, and both in the loop with the mechanism (docs/theory/control.md)."""

from supple.control.closed_loop import closed_loop
from supple.control.controller import Controller, Measurement, StateFeedback
from supple.control.controllers.active_damping import acceleration_feedback, positive_position_feedback
from supple.control.controllers.computed_torque import ComputedTorque, computed_torque
from supple.control.controllers.disturbance_observer import (
    disturbance_observer,
    estimated_disturbance,
    estimated_payload,
)
from supple.control.controllers.gain_scheduling import gain_scheduled
from supple.control.controllers.joint_pid import joint_pd, joint_pid
from supple.control.controllers.joint_servo import joint_servo
from supple.control.controllers.linear_quadratic_gaussian import lqg
from supple.control.controllers.state_feedback import state_feedback
from supple.control.controllers.successive_linearization import SuccessiveLinearization, successive_linearization
from supple.control.controllers.two_time_scales import two_time_scales
from supple.control.feedforward.compensation import compensated
from supple.control.feedforward.deforming import deforming
from supple.control.feedforward.input_shaping import shaped
from supple.control.feedforward.path_timing import timed_path
from supple.control.feedforward.planned_motion import PlannedMotion
from supple.control.feedforward.reference import Reference, reference
from supple.control.feedforward.rest_to_rest import rest_to_rest
from supple.control.feedforward.shaper import Shaper, shaper
from supple.control.feedforward.stable_inversion import stable_inversion
from supple.control.gains.decoupled_gains import decoupled_gains
from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.gains.linear_quadratic import lqr
from supple.control.gains.pole_placement import pole_placement
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import AffineLaw, fixed
from supple.control.laws.affine_matrices import AffineMatrices
from supple.control.laws.linear_law import closed_poles, linear_law
from supple.control.laws.ports import Ports
from supple.control.laws.scheduling import scheduled
from supple.control.margins.margin_map import MarginMap, margin_map
from supple.control.margins.margins import Margins, margins
from supple.control.observers.estimates import Estimates, estimates, observer_law
from supple.control.observers.kalman_filter import KalmanFilter, kalman_filter
from supple.control.observers.linear_filter import LinearFilter
from supple.control.redundancy.antagonism import Antagonism, antagonism
from supple.control.study.distribution import Study
from supple.control.study.study import study
from supple.results.closed_loop import ClosedLoop

__all__ = [
    "AffineController",
    "AffineLaw",
    "AffineMatrices",
    "Antagonism",
    "ClosedLoop",
    "ComputedTorque",
    "Controller",
    "Estimates",
    "FeedbackGain",
    "KalmanFilter",
    "LinearFilter",
    "MarginMap",
    "Margins",
    "Measurement",
    "PlannedMotion",
    "Ports",
    "Reference",
    "Shaper",
    "StateFeedback",
    "Study",
    "SuccessiveLinearization",
    "acceleration_feedback",
    "antagonism",
    "closed_loop",
    "closed_poles",
    "compensated",
    "computed_torque",
    "decoupled_gains",
    "deforming",
    "disturbance_observer",
    "estimated_disturbance",
    "estimated_payload",
    "estimates",
    "fixed",
    "gain_scheduled",
    "joint_pd",
    "joint_pid",
    "joint_servo",
    "kalman_filter",
    "linear_law",
    "lqg",
    "lqr",
    "margin_map",
    "margins",
    "observer_law",
    "pole_placement",
    "positive_position_feedback",
    "reference",
    "rest_to_rest",
    "scheduled",
    "shaped",
    "shaper",
    "stable_inversion",
    "state_feedback",
    "study",
    "successive_linearization",
    "timed_path",
    "two_time_scales",
]  # fmt: skip
