"""A reduced model for python-control: the file for NumPy, and one that makes a NonlinearIOSystem of it."""

from __future__ import annotations

from supple.export.c.model import Exportable
from supple.export.numpy_file.target import numpy_files
from supple.export.target import ExportTarget
from supple.results.names import undotted

_SYSTEM = '''"""A reduced model as a system of python-control: `from {prefix}_control import SYSTEM`.

Its inputs are forces of actuators, its states coordinates and their rates; `control.input_output_response` runs it.
"""

import control

from {prefix} import MODEL


def update(t, x, u, params):
    return MODEL.derivative(x, u)


def output(t, x, u, params):
    n, s = MODEL.n, MODEL.s
    return MODEL.outputs(x[:s], x[n:], inputs=u, delta=x[s:n])


SYSTEM = control.nlsys(
    update, output, name="{prefix}",
    inputs={inputs},
    outputs={outputs},
    states={states},
)
'''


def control_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """`PREFIX.py` with the equations, and `PREFIX_control.py` with the system."""
    layout = rom.layout
    states = (*layout.coordinates, *(f"{name}.rate" for name in layout.coordinates))
    text = _SYSTEM.format(
        prefix=prefix,
        inputs=ascii(undotted(layout.inputs)),
        outputs=ascii(undotted(layout.outputs)),
        states=ascii(undotted(states)),
    )
    return {**numpy_files(rom, prefix), f"{prefix}_control.py": text}


CONTROL = ExportTarget("control", "a system of python-control: two Python files, without supple", control_files)
