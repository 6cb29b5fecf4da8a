"""What a type checker reads: the public names, which `__init__.py` imports when they are first used."""

from supple.control.closed_loop import closed_loop as closed_loop
from supple.control.controller import Controller as Controller
from supple.control.controller import StateFeedback as StateFeedback
from supple.control.controller_measurement import Measurement as Measurement
from supple.control.controllers.active_damping import acceleration_feedback as acceleration_feedback
from supple.control.controllers.active_damping import positive_position_feedback as positive_position_feedback
from supple.control.controllers.computed_torque import ComputedTorque as ComputedTorque
from supple.control.controllers.computed_torque import computed_torque as computed_torque
from supple.control.controllers.disturbance_observer import disturbance_observer as disturbance_observer
from supple.control.controllers.disturbance_observer import estimated_disturbance as estimated_disturbance
from supple.control.controllers.disturbance_observer import estimated_payload as estimated_payload
from supple.control.controllers.gain_scheduling import gain_scheduled as gain_scheduled
from supple.control.controllers.joint_pid import joint_pd as joint_pd
from supple.control.controllers.joint_pid import joint_pid as joint_pid
from supple.control.controllers.joint_servo import joint_servo as joint_servo
from supple.control.controllers.linear_quadratic_gaussian import lqg as lqg
from supple.control.controllers.linear_quadratic_gaussian import lqr as lqr
from supple.control.controllers.linear_quadratic_gaussian import state_feedback as state_feedback
from supple.control.controllers.successive_linearization import SuccessiveLinearization as SuccessiveLinearization
from supple.control.controllers.successive_linearization import successive_linearization as successive_linearization
from supple.control.controllers.two_time_scales import two_time_scales as two_time_scales
from supple.control.feedforward.compensation import compensate_deflection as compensate_deflection
from supple.control.feedforward.input_shaping import Shaper as Shaper
from supple.control.feedforward.input_shaping import shape_motion as shape_motion
from supple.control.feedforward.input_shaping import shaper as shaper
from supple.control.feedforward.path_timing import timed_path as timed_path
from supple.control.feedforward.planned_motion import PlannedMotion as PlannedMotion
from supple.control.feedforward.reference import Reference as Reference
from supple.control.feedforward.reference import reference as reference
from supple.control.feedforward.rest_to_rest import add_deformation as add_deformation
from supple.control.feedforward.rest_to_rest import rest_to_rest as rest_to_rest
from supple.control.feedforward.stable_inversion import stable_inversion as stable_inversion
from supple.control.gains.feedback_gain import FeedbackGain as FeedbackGain
from supple.control.gains.feedback_gain import decoupled_gains as decoupled_gains
from supple.control.gains.pole_placement import pole_placement as pole_placement
from supple.control.laws.affine_controller import AffineController as AffineController
from supple.control.laws.affine_law import AffineLaw as AffineLaw
from supple.control.laws.affine_law import constant_law as constant_law
from supple.control.laws.affine_matrices import AffineMatrices as AffineMatrices
from supple.control.laws.affine_matrices import Ports as Ports
from supple.control.laws.law_file import load_law as load_law
from supple.control.laws.linear_law import closed_poles as closed_poles
from supple.control.laws.linear_law import linear_law as linear_law
from supple.control.laws.scheduling import scheduled_law as scheduled_law
from supple.control.margins.margin_map import MarginMap as MarginMap
from supple.control.margins.margin_map import margin_map as margin_map
from supple.control.margins.margins import Margins as Margins
from supple.control.margins.margins import margins as margins
from supple.control.observers.kalman_filter import KalmanFilter as KalmanFilter
from supple.control.observers.kalman_filter import kalman_filter as kalman_filter
from supple.control.observers.linear_filter import LinearFilter as LinearFilter
from supple.control.observers.observed_law import Estimates as Estimates
from supple.control.observers.observed_law import estimates as estimates
from supple.control.observers.observed_law import observer_law as observer_law
from supple.control.redundancy.antagonism import Antagonism as Antagonism
from supple.control.redundancy.antagonism import antagonism as antagonism
from supple.control.study.distribution import Study as Study
from supple.control.study.study import study as study
from supple.results.closed_loop import ClosedLoop as ClosedLoop

__all__ = [
    "AffineController", "AffineLaw", "AffineMatrices", "Antagonism", "ClosedLoop", "ComputedTorque", "Controller",
    "Estimates", "FeedbackGain", "KalmanFilter", "LinearFilter", "MarginMap", "Margins", "Measurement",
    "PlannedMotion", "Ports", "Reference", "Shaper", "StateFeedback", "Study", "SuccessiveLinearization",
    "acceleration_feedback", "add_deformation", "antagonism", "closed_loop", "closed_poles", "compensate_deflection",
    "computed_torque", "constant_law", "decoupled_gains", "disturbance_observer", "estimated_disturbance",
    "estimated_payload", "estimates", "gain_scheduled", "joint_pd", "joint_pid", "joint_servo", "kalman_filter",
    "linear_law", "load_law", "lqg", "lqr", "margin_map", "margins", "observer_law", "pole_placement",
    "positive_position_feedback", "reference", "rest_to_rest", "scheduled_law", "shape_motion", "shaper",
    "stable_inversion", "state_feedback", "study", "successive_linearization", "timed_path", "two_time_scales",
]  # fmt: skip
