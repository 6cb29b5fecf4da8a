"""supple: the smallest model of a mechanism that is still true over its whole workspace."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supple.analyses.inverse_dynamics import InverseDynamics, inverse
    from supple.analyses.simulated import Simulation
    from supple.analyses.simulation import simulate
    from supple.analyses.statics import equilibrium
    from supple.analyses.trajectory import Trajectory, trajectory
    from supple.description.actuator import Actuator
    from supple.description.body import Body, Frame, Inertia, PointMass, Rotation, Solid
    from supple.description.joint import Joint, Motor
    from supple.description.load import Damper, Force, Spring
    from supple.description.mechanism import Mechanism
    from supple.description.motion import Motion
    from supple.description.sensor import Sensor
    from supple.diagnostics import InputError, NumericalError, SuppleError, SuppleWarning
    from supple.export.export import export
    from supple.formats.document import load
    from supple.formats.mechanism_file import loads
    from supple.formats.mechanism_text import to_yaml
    from supple.kinematics.closure import assemble
    from supple.kinematics.configuration import Configuration
    from supple.kinematics.inspection import Inspection, check
    from supple.kinematics.motion import motion
    from supple.parameterization.local_model import LocalModel, local
    from supple.reduced.model import ReducedModel
    from supple.reduction.comparison import compare
    from supple.reduction.reduce import reduce

# Each public name and the module it lives in. They are imported when first used, so that `supple --help` and a
# script that needs little start at once.
_HOMES = {
    "Actuator": "supple.description.actuator",
    "Body": "supple.description.body",
    "Configuration": "supple.kinematics.configuration",
    "Damper": "supple.description.load",
    "Force": "supple.description.load",
    "Frame": "supple.description.body",
    "Inertia": "supple.description.body",
    "InputError": "supple.diagnostics",
    "Inspection": "supple.kinematics.inspection",
    "InverseDynamics": "supple.analyses.inverse_dynamics",
    "Joint": "supple.description.joint",
    "LocalModel": "supple.parameterization.local_model",
    "Mechanism": "supple.description.mechanism",
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
    "SuppleError": "supple.diagnostics",
    "SuppleWarning": "supple.diagnostics",
    "Trajectory": "supple.analyses.trajectory",
    "assemble": "supple.kinematics.closure",
    "check": "supple.kinematics.inspection",
    "compare": "supple.reduction.comparison",
    "equilibrium": "supple.analyses.statics",
    "export": "supple.export.export",
    "inverse": "supple.analyses.inverse_dynamics",
    "load": "supple.formats.document",
    "loads": "supple.formats.mechanism_file",
    "local": "supple.parameterization.local_model",
    "motion": "supple.kinematics.motion",
    "reduce": "supple.reduction.reduce",
    "simulate": "supple.analyses.simulation",
    "to_yaml": "supple.formats.mechanism_text",
    "trajectory": "supple.analyses.trajectory",
}

__all__ = [
    "Actuator", "Body", "Configuration", "Damper", "Force", "Frame", "Inertia", "InputError", "Inspection",
    "InverseDynamics", "Joint", "LocalModel", "Mechanism", "Motion", "Motor", "NumericalError", "PointMass",
    "ReducedModel", "Rotation", "Sensor", "Simulation", "Solid", "Spring", "SuppleError", "SuppleWarning",
    "Trajectory", "assemble", "check", "compare", "equilibrium", "export", "inverse", "load", "loads", "local",
    "motion", "reduce", "simulate", "to_yaml", "trajectory",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("supple")
        except PackageNotFoundError:  # run from its source, not installed
            return "unknown"
    if name not in _HOMES:
        raise AttributeError(f"module 'supple' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, "__version__"])
