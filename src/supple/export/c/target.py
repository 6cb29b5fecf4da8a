"""A reduced model or a law of control as C."""

from __future__ import annotations

from supple.export.c.example import example
from supple.export.c.hardware import hardware_files
from supple.export.c.header import header
from supple.export.c.law import law_files
from supple.export.c.model import CModel, Exportable
from supple.export.c.source import source
from supple.export.target import ExportTarget


def c_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """Name and text of each file of the C code."""
    model = CModel(prefix, rom)
    model.require_complete()
    files = {f"{prefix}.h": header(model), f"{prefix}.c": source(model), "example_main.c": example(model)}
    return files | hardware_files(rom.hardware, rom.layout, rom.name, prefix)


C = ExportTarget(
    "c", "a C99 file with its header, a small program that calls it, and its drives and instruments", c_files, law_files
)
