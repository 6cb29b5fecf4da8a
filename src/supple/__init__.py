"""supple: the smallest model of a mechanism that is still true over its whole workspace."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supple.analyses.check import check
    from supple.analyses.compliance import Compliance, compliance
    from supple.analyses.deflection import Deflection, deflection
    from supple.analyses.frequency_map import FrequencyMap, frequency_map
    from supple.analyses.frequency_response import frf
    from supple.analyses.inverse_dynamics import InverseDynamics, inverse
    from supple.analyses.linearization import linearize
    from supple.analyses.linearization_batch import LinearBatch, linearize_batch
    from supple.analyses.modal import modes
    from supple.analyses.mode_set import ModeSet
    from supple.analyses.simulated import Simulation
    from supple.analyses.simulation import simulate
    from supple.analyses.statics import equilibrium
    from supple.analyses.sweep import Sweep, sweep
    from supple.analyses.trajectory import Trajectory, trajectory
    from supple.description.actuator import Actuator
    from supple.description.beam import Beam
    from supple.description.body import Body, Frame, Inertia, PointMass, Rotation, Solid
    from supple.description.cross_section import CrossSection
    from supple.description.damping import Damping
    from supple.description.joint import Drive, Joint, Motor
    from supple.description.load import Damper, Force, Spring
    from supple.description.material import Material
    from supple.description.mechanism import Mechanism
    from supple.description.motion import Motion
    from supple.description.sensor import Sensor
    from supple.description.superelement import Interface, Superelement
    from supple.diagnostics import InputError, NumericalError, SuppleError, SuppleWarning
    from supple.export.export import export
    from supple.formats.document import load
    from supple.formats.mechanism_file import loads
    from supple.formats.mechanism_text import to_yaml
    from supple.kinematics.closure import assemble
    from supple.kinematics.configuration import Configuration
    from supple.kinematics.inspection import Inspection
    from supple.kinematics.motion import motion
    from supple.parameterization.local_model import LocalModel, local
    from supple.reduced.model import ReducedModel
    from supple.reduction.comparison import compare
    from supple.reduction.reduce import reduce
    from supple.results.frequency_response import FrequencyResponse
    from supple.results.linear_model import LinearModel

# Each public name and the module it lives in. They are imported when first used, so that `supple --help` and a
# script that needs little start at once.
_HOMES = {
    "Actuator": "supple.description.actuator",
    "Beam": "supple.description.beam",
    "Body": "supple.description.body",
    "Compliance": "supple.analyses.compliance",
    "Configuration": "supple.kinematics.configuration",
    "CrossSection": "supple.description.cross_section",
    "Damper": "supple.description.load",
    "Damping": "supple.description.damping",
    "Deflection": "supple.analyses.deflection",
    "Drive": "supple.description.joint",
    "Force": "supple.description.load",
    "Frame": "supple.description.body",
    "FrequencyResponse": "supple.results.frequency_response",
    "FrequencyMap": "supple.analyses.frequency_map",
    "Inertia": "supple.description.body",
    "InputError": "supple.diagnostics",
    "Inspection": "supple.kinematics.inspection",
    "Interface": "supple.description.superelement",
    "InverseDynamics": "supple.analyses.inverse_dynamics",
    "Joint": "supple.description.joint",
    "LinearBatch": "supple.analyses.linearization_batch",
    "LinearModel": "supple.results.linear_model",
    "LocalModel": "supple.parameterization.local_model",
    "Material": "supple.description.material",
    "Mechanism": "supple.description.mechanism",
    "ModeSet": "supple.analyses.mode_set",
    "Motion": "supple.description.motion",
    "Motor": "supple.description.joint",
    "NumericalError": "supple.diagnostics",
    "PointMass": "supple.description.body",
    "ReducedModel": "supple.reduced.model",
    "Rotation": "supple.description.body",
    "Sensor": "supple.description.sensor",
    "Simulation": "supple.analyses.simulated",
    "Solid": "supple.description.body",
    "Spring": "supple.description.load",
    "Superelement": "supple.description.superelement",
    "SuppleError": "supple.diagnostics",
    "Sweep": "supple.analyses.sweep",
    "SuppleWarning": "supple.diagnostics",
    "Trajectory": "supple.analyses.trajectory",
    "assemble": "supple.kinematics.closure",
    "check": "supple.analyses.check",
    "compare": "supple.reduction.comparison",
    "compliance": "supple.analyses.compliance",
    "deflection": "supple.analyses.deflection",
    "equilibrium": "supple.analyses.statics",
    "export": "supple.export.export",
    "frf": "supple.analyses.frequency_response",
    "frequency_map": "supple.analyses.frequency_map",
    "inverse": "supple.analyses.inverse_dynamics",
    "linearize": "supple.analyses.linearization",
    "linearize_batch": "supple.analyses.linearization_batch",
    "load": "supple.formats.document",
    "loads": "supple.formats.mechanism_file",
    "local": "supple.parameterization.local_model",
    "modes": "supple.analyses.modal",
    "motion": "supple.kinematics.motion",
    "reduce": "supple.reduction.reduce",
    "simulate": "supple.analyses.simulation",
    "sweep": "supple.analyses.sweep",
    "to_yaml": "supple.formats.mechanism_text",
    "trajectory": "supple.analyses.trajectory",
}

__all__ = [
    "Actuator", "Beam", "Body", "Compliance", "Configuration", "CrossSection", "Damper", "Damping",
    "Deflection", "Drive", "Force", "Frame", "FrequencyMap", "FrequencyResponse", "Inertia", "InputError", "Inspection",
    "Interface", "InverseDynamics", "Joint", "LinearBatch", "LinearModel", "LocalModel", "Material", "Mechanism",
    "ModeSet", "Motion", "Motor", "NumericalError", "PointMass", "ReducedModel", "Rotation", "Sensor", "Simulation",
    "Solid", "Spring", "Superelement", "SuppleError", "SuppleWarning", "Sweep", "Trajectory", "assemble", "check",
    "compare", "compliance", "deflection", "equilibrium", "export", "frequency_map", "frf", "inverse", "linearize",
    "linearize_batch", "load", "loads", "local", "modes", "motion", "reduce", "simulate", "sweep", "to_yaml",
    "trajectory",
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
