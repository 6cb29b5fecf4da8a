"""Export target "control": the file for NumPy, and one that creates a python-control NonlinearIOSystem from it."""

from __future__ import annotations

import hashlib

from supple.export.c.generated_model import Exportable
from supple.export.numpy_file.target import numpy_files
from supple.export.target import ExportTarget, fixed_lines
from supple.export.template import fill_template, template_parts
from supple.results.text import remove_dots

PARTS = template_parts("supple.export.control_file", "system.txt")


def control_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """Return `PREFIX.py` with the equations and `PREFIX_control.py` with the system.

    Parameters of a family are params of the system.
    """
    layout, family = rom.layout, getattr(rom, "family", None)
    states = (*layout.coordinates, *(f"{name}.rate" for name in layout.coordinates))
    equations = numpy_files(rom, prefix)
    text = fill_template(PARTS["system"], {
        "prefix": prefix, "digest": hashlib.sha256(equations[f"{prefix}.py"].encode()).hexdigest(),
        "inputs": ascii(remove_dots(layout.inputs)), "outputs": ascii(remove_dots(layout.outputs)),
        "states": ascii(remove_dots(states)), "fixed": "".join(f"\n# {line}" for line in fixed_lines(rom)),
        "family": family is not None, "parameters": "" if family is None else ascii(family.named),
        "chosen": "MODEL" if family is None else "model(params)",
    })  # fmt: skip
    return {**equations, f"{prefix}_control.py": text}


CONTROL = ExportTarget(
    "control", "python-control system in two Python files that do not need supple", control_files, families=True
)
