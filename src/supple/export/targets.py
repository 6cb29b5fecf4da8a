"""All export targets, by name: supple's own, and those that are registered."""

from __future__ import annotations

from supple.export.c.target import C
from supple.export.casadi_files.target import CASADI
from supple.export.control_file.target import CONTROL
from supple.export.fmu.target import FMU
from supple.export.lpv.target import LPV
from supple.export.matlab.target import MATLAB
from supple.export.numpy_file.target import NUMPY
from supple.export.plain.target import JSON
from supple.export.target import ExportTarget
from supple.kinds import Registry

TARGETS = Registry("export target", ExportTarget, C, FMU, CASADI, CONTROL, LPV, MATLAB, NUMPY, JSON)
