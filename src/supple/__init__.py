"""Reduced-order models of flexible, closed-loop mechanisms that stay accurate over the whole workspace."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Each public name and the module it lives in. They are imported when first used, so that `supple --help` and a
# script that needs little start at once; a type checker reads them in `__init__.pyi`.
_HOMES = {
    "Actuator": "supple.description.actuator",
    "Analysis": "supple.cli.analysis",
    "Beam": "supple.description.body",
    "BodySource": "supple.description.elastic.superelement",
    "Body": "supple.description.body",
    "Candidate": "supple.identification.updating.plan_test",
    "Branches": "supple.kinematics.branches",
    "Channel": "supple.results.channel",
    "Buckling": "supple.statics.buckling",
    "Compliance": "supple.statics.compliance",
    "ComplianceMap": "supple.maps.compliance_map",
    "Configuration": "supple.kinematics.configuration",
    "ClusterError": "supple.diagnostics",
    "Coupling": "supple.description.coupling",
    "CrossSection": "supple.description.elastic.cross_section",
    "Damper": "supple.description.load",
    "Damping": "supple.description.elastic.material",
    "Deflection": "supple.statics.deflection",
    "ActuatorDrive": "supple.description.actuator",
    "Drive": "supple.description.joints.joint",
    "DriveKind": "supple.description.actuator",
    "DriveParameter": "supple.description.actuator",
    "ExportTarget": "supple.export.export",
    "Fit": "supple.approximation.fits.fits",
    "Force": "supple.description.load",
    "ForceLaw": "supple.description.force_model",
    "Frame": "supple.description.body",
    "FrequencyResponse": "supple.results.frequency_response",
    "FrequencyMap": "supple.maps.frequency_map",
    "Identified": "supple.identification.identify",
    "Inertia": "supple.description.body",
    "InputError": "supple.diagnostics",
    "Inspection": "supple.kinematics.inspection",
    "Interface": "supple.description.elastic.superelement",
    "InverseDynamics": "supple.inverse_dynamics.inverse_dynamics",
    "Joint": "supple.description.joints.joint",
    "JointKind": "supple.description.joints.joint_kind",
    "LinearBatch": "supple.linearization.linearization_batch",
    "LargeDeflection": "supple.statics.large_deflection",
    "LawParameter": "supple.description.force_model",
    "LinearFamily": "supple.results.linear_family",
    "LinearModel": "supple.results.linear_model",
    "LocalModel": "supple.parameterization.local_model",
    "LoggedRun": "supple.identification.logged_runs",
    "Material": "supple.description.elastic.material",
    "Measurement": "supple.identification.updating.measurement",
    "Mechanism": "supple.description.mechanism",
    "ModalParameters": "supple.identification.modal_parameters.modal_parameters",
    "ModePairs": "supple.identification.modal_parameters.pairing",
    "ModeSet": "supple.modal_analysis.mode_set",
    "Motion": "supple.description.motion",
    "Map": "supple.maps.map",
    "Motor": "supple.description.joints.joint",
    "NumericalError": "supple.diagnostics",
    "PointMass": "supple.description.body",
    "Predicted": "supple.identification.updating.updated",
    "ReducedModel": "supple.reduced.model",
    "Responses": "supple.results.responses",
    "Rotation": "supple.description.body",
    "RunTimeForm": "supple.run_time.trade_off",
    "RunTimeForms": "supple.run_time.trade_off",
    "SectionShape": "supple.description.elastic.cross_section",
    "Sensor": "supple.description.sensor",
    "SensorKind": "supple.description.sensor",
    "Simulation": "supple.results.simulation",
    "SmallMotions": "supple.modal_analysis.small_motions",
    "Solid": "supple.description.body",
    "Spring": "supple.description.load",
    "Superelement": "supple.description.elastic.superelement",
    "SuppleError": "supple.diagnostics",
    "Sweep": "supple.maps.sweep",
    "SuppleWarning": "supple.diagnostics",
    "TestPlan": "supple.identification.updating.plan_test",
    "TimeRecords": "supple.results.time_records",
    "Trajectory": "supple.time_functions.function_of_time",
    "Updated": "supple.identification.updating.updated",
    "assemble": "supple.kinematics.closure",
    "branches": "supple.kinematics.branches",
    "check": "supple.checking.check",
    "compare": "supple.comparison.comparison",
    "buckling": "supple.statics.buckling",
    "compliance": "supple.statics.compliance",
    "compliance_map": "supple.maps.compliance_map",
    "deflection": "supple.statics.deflection",
    "equilibrium": "supple.statics.equilibrium",
    "export": "supple.export.export",
    "Hardware": "supple.hardware.hardware",
    "hardware_of": "supple.formulations.described_hardware",
    "frf": "supple.frequency_response.frequency_response",
    "frequency_map": "supple.maps.frequency_map",
    "identify": "supple.identification.identify",
    "inverse": "supple.inverse_dynamics.inverse_dynamics",
    "linearize": "supple.linearization.linearization",
    "linearize_batch": "supple.linearization.linearization_batch",
    "load": "supple.formats.document",
    "load_mechanism": "supple.formats.document",
    "load_model": "supple.reduced.file",
    "load_measurements": "supple.identification.updating.measured_file",
    "load_records": "supple.formats.measurements.load_responses",
    "load_responses": "supple.formats.measurements.load_responses",
    "loads": "supple.formats.mechanism_file",
    "local": "supple.parameterization.local_model",
    "modal_parameters": "supple.identification.modal_parameters.estimation",
    "modes": "supple.modal_analysis.modes",
    "motion": "supple.kinematics.motion",
    "over": "supple.maps.over",
    "pair_modes": "supple.identification.modal_parameters.pairing",
    "plan_test": "supple.identification.updating.plan_test",
    "reduce": "supple.reduction.reduce",
    "register": "supple.kinds.registry",
    "report": "supple.view.report.report",
    "run_time_forms": "supple.run_time.run_time_forms",
    "simulate": "supple.simulation.simulation",
    "small_motions": "supple.modal_analysis.small_motions",
    "sweep": "supple.maps.sweep",
    "to_yaml": "supple.formats.mechanism_text",
    "trajectory": "supple.trajectories.trajectory",
    "VirtualTest": "supple.identification.testing.virtual_test",
    "virtual_test": "supple.identification.testing.virtual_test",
    "estimate_responses": "supple.identification.testing.estimate_responses",
    "MeasurementCheck": "supple.identification.testing.check_measurement",
    "check_measurement": "supple.identification.testing.check_measurement",
    "join_responses": "supple.identification.testing.check_measurement",
    "match_channels": "supple.identification.testing.matching",
    "model_responses": "supple.identification.testing.model_responses",
    "update": "supple.identification.updating.update",
    "FittedDamping": "supple.identification.damping.fitted_damping",
    "fit_damping": "supple.identification.damping.fit_damping",
}

__all__ = [
    "Actuator", "ActuatorDrive", "Analysis", "Beam", "Body", "BodySource", "Branches", "Buckling", "Candidate",
    "Channel", "ClusterError", "Compliance", "ComplianceMap", "Configuration", "Coupling", "CrossSection", "Damper",
    "Damping", "Deflection", "Drive", "DriveKind", "DriveParameter", "ExportTarget", "Fit", "FittedDamping", "Force",
    "ForceLaw", "Frame", "FrequencyMap", "FrequencyResponse", "Hardware", "Identified", "Inertia", "InputError",
    "Inspection", "Interface", "InverseDynamics", "Joint", "JointKind", "LargeDeflection", "LawParameter",
    "LinearBatch", "LinearFamily", "LinearModel", "LocalModel", "LoggedRun", "Map", "Material", "Measurement",
    "MeasurementCheck", "Mechanism", "ModalParameters", "ModePairs", "ModeSet", "Motion", "Motor", "NumericalError",
    "PointMass", "Predicted", "ReducedModel", "Responses", "Rotation", "RunTimeForm", "RunTimeForms", "SectionShape",
    "Sensor", "SensorKind", "Simulation", "SmallMotions", "Solid", "Spring", "Superelement", "SuppleError",
    "SuppleWarning", "Sweep", "TestPlan", "TimeRecords", "Trajectory", "Updated", "VirtualTest", "assemble", "branches",
    "buckling", "check", "check_measurement", "compare", "compliance", "compliance_map", "deflection", "equilibrium",
    "estimate_responses", "export", "fit_damping", "frequency_map", "frf", "hardware_of", "identify", "inverse",
    "join_responses", "linearize", "linearize_batch", "load", "load_measurements", "load_mechanism", "load_model",
    "load_records", "load_responses", "loads", "local", "match_channels", "modal_parameters", "model_responses",
    "modes", "motion", "over", "pair_modes", "plan_test", "reduce", "register", "report", "run_time_forms", "simulate",
    "small_motions", "sweep", "to_yaml", "trajectory", "update", "virtual_test",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("supple")
        except PackageNotFoundError:  # run from its source, not installed
            return "unknown"
    if name == "control":  # a folder of its own names: supple.control.lqr
        return import_module("supple.control")
    if name not in _HOMES:
        raise AttributeError(f"module 'supple' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "control"])
