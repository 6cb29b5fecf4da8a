"""Control: gains, control laws, observers, margins, and closed loops with a mechanism (docs/theory/control.md)."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

# Each public name and the module it lives in. They are imported when first used, so that a script or an export that
# needs one controller does not import all of them; a type checker reads them in `__init__.pyi`.
_HOMES = {
    "AffineController": "supple.control.laws.affine_controller",
    "AffineLaw": "supple.control.laws.affine_law",
    "AffineMatrices": "supple.control.laws.affine_matrices",
    "Antagonism": "supple.control.redundancy.antagonism",
    "ClosedLoop": "supple.results.closed_loop",
    "ComputedTorque": "supple.control.controllers.computed_torque",
    "Controller": "supple.control.controller",
    "Estimates": "supple.control.observers.observed_law",
    "FeedbackGain": "supple.control.gains.feedback_gain",
    "KalmanFilter": "supple.control.observers.kalman_filter",
    "LinearFilter": "supple.control.observers.linear_filter",
    "MarginMap": "supple.control.margins.margin_map",
    "Margins": "supple.control.margins.margins",
    "Measurement": "supple.control.controller_measurement",
    "PlannedMotion": "supple.control.feedforward.planned_motion",
    "Ports": "supple.control.laws.affine_matrices",
    "Reference": "supple.control.feedforward.reference",
    "Shaper": "supple.control.feedforward.input_shaping",
    "StateFeedback": "supple.control.controller",
    "Study": "supple.control.study.distribution",
    "SuccessiveLinearization": "supple.control.controllers.successive_linearization",
    "acceleration_feedback": "supple.control.controllers.active_damping",
    "add_deformation": "supple.control.feedforward.rest_to_rest",
    "antagonism": "supple.control.redundancy.antagonism",
    "closed_loop": "supple.control.closed_loop",
    "closed_poles": "supple.control.laws.linear_law",
    "compensate_deflection": "supple.control.feedforward.compensation",
    "computed_torque": "supple.control.controllers.computed_torque",
    "constant_law": "supple.control.laws.affine_law",
    "decoupled_gains": "supple.control.gains.feedback_gain",
    "disturbance_observer": "supple.control.controllers.disturbance_observer",
    "estimated_disturbance": "supple.control.controllers.disturbance_observer",
    "estimated_payload": "supple.control.controllers.disturbance_observer",
    "estimates": "supple.control.observers.observed_law",
    "gain_scheduled": "supple.control.controllers.gain_scheduling",
    "joint_pd": "supple.control.controllers.joint_pid",
    "joint_pid": "supple.control.controllers.joint_pid",
    "joint_servo": "supple.control.controllers.joint_servo",
    "kalman_filter": "supple.control.observers.kalman_filter",
    "linear_law": "supple.control.laws.linear_law",
    "load_law": "supple.control.laws.law_file",
    "lqg": "supple.control.controllers.linear_quadratic_gaussian",
    "lqr": "supple.control.controllers.linear_quadratic_gaussian",
    "margin_map": "supple.control.margins.margin_map",
    "margins": "supple.control.margins.margins",
    "observer_law": "supple.control.observers.observed_law",
    "pole_placement": "supple.control.gains.pole_placement",
    "positive_position_feedback": "supple.control.controllers.active_damping",
    "reference": "supple.control.feedforward.reference",
    "rest_to_rest": "supple.control.feedforward.rest_to_rest",
    "scheduled_law": "supple.control.laws.scheduling",
    "shape_motion": "supple.control.feedforward.input_shaping",
    "shaper": "supple.control.feedforward.input_shaping",
    "stable_inversion": "supple.control.feedforward.stable_inversion",
    "state_feedback": "supple.control.controllers.linear_quadratic_gaussian",
    "study": "supple.control.study.study",
    "successive_linearization": "supple.control.controllers.successive_linearization",
    "timed_path": "supple.control.feedforward.path_timing",
    "two_time_scales": "supple.control.controllers.two_time_scales",
}

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


class _Names(ModuleType):
    """Package whose public names take precedence over modules of the same name.

    Importing `supple.control.closed_loop` binds the module to the package, where `closed_loop` is the function.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Names


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'supple.control' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
