"""A reduced model or a law of control as C."""

from __future__ import annotations

from supple.control.controllers.computed_torque import ComputedTorque
from supple.control.laws.affine_law import AffineLaw
from supple.export.c.example import example
from supple.export.c.hardware import hardware_files
from supple.export.c.header import header
from supple.export.c.law import law_files
from supple.export.c.model import CModel, Exportable
from supple.export.c.source import source
from supple.export.c.torque import require_plain, torque_files
from supple.export.target import ExportTarget
from supple.reduced.model import ReducedModel


def c_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """Name and text of each file of the C code."""
    model = CModel(prefix, rom)
    model.require_complete()
    files = {f"{prefix}.h": header(model), f"{prefix}.c": source(model), "example_main.c": example(model)}
    return files | hardware_files(rom.hardware, rom.layout, rom.name, prefix)


def c_laws(law: AffineLaw | ComputedTorque, prefix: str) -> dict[str, str]:
    """The same of a law of control; of computed torque with its model."""
    if isinstance(law, AffineLaw):
        return law_files(law, prefix)
    assert isinstance(law, ComputedTorque)
    require_plain(law)
    assert isinstance(law.model, ReducedModel)
    return c_files(law.model, prefix) | torque_files(law, CModel(prefix, law.model))


C = ExportTarget(
    "c", "a C99 file with its header, a small program that calls it, and its drives and instruments", c_files, c_laws
)
