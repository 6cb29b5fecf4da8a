"""What a type checker reads: the public names, which `__init__.py` imports when they are first used."""

from supple import control as control
from supple.approximation.fits.fits import Fit as Fit
from supple.checking.check import check as check
from supple.cli.analysis import Analysis as Analysis
from supple.comparison.comparison import compare as compare
from supple.description.actuator import Actuator as Actuator
from supple.description.actuator import ActuatorDrive as ActuatorDrive
from supple.description.actuator import DriveKind as DriveKind
from supple.description.actuator import DriveParameter as DriveParameter
from supple.description.body import Beam as Beam
from supple.description.body import Body as Body
from supple.description.body import Frame as Frame
from supple.description.body import Inertia as Inertia
from supple.description.body import PointMass as PointMass
from supple.description.body import Rotation as Rotation
from supple.description.body import Solid as Solid
from supple.description.coupling import Coupling as Coupling
from supple.description.elastic.cross_section import CrossSection as CrossSection
from supple.description.elastic.cross_section import SectionShape as SectionShape
from supple.description.elastic.material import Damping as Damping
from supple.description.elastic.material import Material as Material
from supple.description.elastic.superelement import BodySource as BodySource
from supple.description.elastic.superelement import Interface as Interface
from supple.description.elastic.superelement import Superelement as Superelement
from supple.description.force_model import ForceLaw as ForceLaw
from supple.description.force_model import LawParameter as LawParameter
from supple.description.joints.joint import Drive as Drive
from supple.description.joints.joint import Joint as Joint
from supple.description.joints.joint import Motor as Motor
from supple.description.joints.joint_kind import JointKind as JointKind
from supple.description.load import Damper as Damper
from supple.description.load import Force as Force
from supple.description.load import Spring as Spring
from supple.description.mechanism import Mechanism as Mechanism
from supple.description.motion import Motion as Motion
from supple.description.sensor import Sensor as Sensor
from supple.description.sensor import SensorKind as SensorKind
from supple.diagnostics import ClusterError as ClusterError
from supple.diagnostics import InputError as InputError
from supple.diagnostics import NumericalError as NumericalError
from supple.diagnostics import SuppleError as SuppleError
from supple.diagnostics import SuppleWarning as SuppleWarning
from supple.export.export import export as export
from supple.export.target import ExportTarget as ExportTarget
from supple.formats.document import load as load
from supple.formats.document import load_mechanism as load_mechanism
from supple.formats.measurements.load_responses import load_records as load_records
from supple.formats.measurements.load_responses import load_responses as load_responses
from supple.formats.mechanism_file import loads as loads
from supple.formats.mechanism_text import to_yaml as to_yaml
from supple.formulations.described_hardware import hardware_of as hardware_of
from supple.frequency_response.frequency_response import frf as frf
from supple.hardware.hardware import Hardware as Hardware
from supple.identification.damping.fit_damping import fit_damping as fit_damping
from supple.identification.damping.fitted_damping import FittedDamping as FittedDamping
from supple.identification.identify import Identified as Identified
from supple.identification.identify import identify as identify
from supple.identification.logged_runs import LoggedRun as LoggedRun
from supple.identification.modal_parameters.estimation import modal_parameters as modal_parameters
from supple.identification.modal_parameters.modal_parameters import ModalParameters as ModalParameters
from supple.identification.modal_parameters.pairing import ModePairs as ModePairs
from supple.identification.modal_parameters.pairing import pair_modes as pair_modes
from supple.identification.testing.check_measurement import MeasurementCheck as MeasurementCheck
from supple.identification.testing.check_measurement import check_measurement as check_measurement
from supple.identification.testing.check_measurement import join_responses as join_responses
from supple.identification.testing.estimate_responses import estimate_responses as estimate_responses
from supple.identification.testing.matching import match_channels as match_channels
from supple.identification.testing.model_responses import model_responses as model_responses
from supple.identification.testing.virtual_test import VirtualTest as VirtualTest
from supple.identification.testing.virtual_test import virtual_test as virtual_test
from supple.identification.updating.measured_file import load_measurements as load_measurements
from supple.identification.updating.measurement import Measurement as Measurement
from supple.identification.updating.plan_test import Candidate as Candidate
from supple.identification.updating.plan_test import TestPlan as TestPlan
from supple.identification.updating.plan_test import plan_test as plan_test
from supple.identification.updating.update import update as update
from supple.identification.updating.updated import Predicted as Predicted
from supple.identification.updating.updated import Updated as Updated
from supple.inverse_dynamics.inverse_dynamics import InverseDynamics as InverseDynamics
from supple.inverse_dynamics.inverse_dynamics import inverse as inverse
from supple.kinds.registry import register as register
from supple.kinematics.branches import Branches as Branches
from supple.kinematics.branches import branches as branches
from supple.kinematics.closure import assemble as assemble
from supple.kinematics.configuration import Configuration as Configuration
from supple.kinematics.inspection import Inspection as Inspection
from supple.kinematics.motion import motion as motion
from supple.linearization.linearization import linearize as linearize
from supple.linearization.linearization_batch import LinearBatch as LinearBatch
from supple.linearization.linearization_batch import linearize_batch as linearize_batch
from supple.maps.compliance_map import ComplianceMap as ComplianceMap
from supple.maps.compliance_map import compliance_map as compliance_map
from supple.maps.frequency_map import FrequencyMap as FrequencyMap
from supple.maps.frequency_map import frequency_map as frequency_map
from supple.maps.map import Map as Map
from supple.maps.over import over as over
from supple.maps.sweep import Sweep as Sweep
from supple.maps.sweep import sweep as sweep
from supple.modal_analysis.mode_set import ModeSet as ModeSet
from supple.modal_analysis.modes import modes as modes
from supple.modal_analysis.small_motions import SmallMotions as SmallMotions
from supple.modal_analysis.small_motions import small_motions as small_motions
from supple.parameterization.local_model import LocalModel as LocalModel
from supple.parameterization.local_model import local as local
from supple.reduced.file import load_model as load_model
from supple.reduced.model import ReducedModel as ReducedModel
from supple.reduction.reduce import reduce as reduce
from supple.results.channel import Channel as Channel
from supple.results.frequency_response import FrequencyResponse as FrequencyResponse
from supple.results.linear_family import LinearFamily as LinearFamily
from supple.results.linear_model import LinearModel as LinearModel
from supple.results.responses import Responses as Responses
from supple.results.simulation import Simulation as Simulation
from supple.results.time_records import TimeRecords as TimeRecords
from supple.run_time.run_time_forms import run_time_forms as run_time_forms
from supple.run_time.trade_off import RunTimeForm as RunTimeForm
from supple.run_time.trade_off import RunTimeForms as RunTimeForms
from supple.simulation.simulation import simulate as simulate
from supple.statics.buckling import Buckling as Buckling
from supple.statics.buckling import buckling as buckling
from supple.statics.compliance import Compliance as Compliance
from supple.statics.compliance import compliance as compliance
from supple.statics.deflection import Deflection as Deflection
from supple.statics.deflection import deflection as deflection
from supple.statics.equilibrium import equilibrium as equilibrium
from supple.statics.large_deflection import LargeDeflection as LargeDeflection
from supple.time_functions.function_of_time import Trajectory as Trajectory
from supple.trajectories.trajectory import trajectory as trajectory
from supple.view.report.report import report as report

__version__: str

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
