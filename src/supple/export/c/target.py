"""A reduced model or a law of control as C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supple.diagnostics import InputError, nearest
from supple.export.c.build_files import build_files
from supple.export.c.example import example
from supple.export.c.hardware import hardware_files
from supple.export.c.header import header
from supple.export.c.model import CModel, Exportable
from supple.export.c.precision import PRECISIONS, single
from supple.export.c.sections import with_sections
from supple.export.c.self_test import self_test
from supple.export.c.source import source
from supple.export.c.stability import stable_step
from supple.export.target import ExportTarget
from supple.reduced.model import ReducedModel

if TYPE_CHECKING:
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.laws.affine_law import AffineLaw


def c_files(rom: Exportable, prefix: str, *, precision: str = "double") -> dict[str, str]:
    """Name and text of each file of the C code."""
    files = model_files(rom, prefix, precision)
    sources = [name for name in files if name.endswith(".c") and name != "example_main.c"]
    test = self_test(CModel(prefix, rom, precision), whole(rom), precision)
    if test:
        files[f"{prefix}_test.c"] = in_precision(test, precision)
    return files | build_files(prefix, sources, tested=bool(test))


def model_files(rom: Exportable, prefix: str, precision: str = "double") -> dict[str, str]:
    """Those of the model itself."""
    if precision not in PRECISIONS:
        raise InputError(f'there is no precision "{precision}"', part="export", hint=nearest(precision, PRECISIONS))
    model = CModel(prefix, rom, precision)
    model.require_complete()
    files = {f"{prefix}.h": header(model, stable_step(whole(rom))), f"{prefix}.c": source(model)}
    files["example_main.c"] = example(model)
    files |= hardware_files(rom.hardware, rom.layout, rom.name, prefix)
    made = {name: in_precision(text, precision) for name, text in files.items()}
    made[f"{prefix}.c"] = with_sections(made[f"{prefix}.c"], model.upper)
    return made


def in_precision(text: str, precision: str) -> str:
    """The code as it is, in double precision, or in single."""
    return single(text) if precision == "single" else text


def whole(rom: Exportable) -> ReducedModel:
    """A model that can be asked, of one that can only be written."""
    return rom if isinstance(rom, ReducedModel) else ReducedModel(rom.name, rom.layout, rom.fitted)


def c_laws(law: AffineLaw | ComputedTorque, prefix: str, *, precision: str = "double") -> dict[str, str]:
    """The same of a law of control; of computed torque with its model."""
    from supple.control.laws.affine_law import AffineLaw
    from supple.export.c.law import law_files
    from supple.export.c.torque import require_plain, torque_files

    if isinstance(law, AffineLaw):
        return {name: in_precision(text, precision) for name, text in law_files(law, prefix).items()}
    require_plain(law)
    assert isinstance(law.model, ReducedModel)
    torque = torque_files(law, CModel(prefix, law.model, precision))
    return c_files(law.model, prefix, precision=precision) | {
        name: in_precision(text, precision) for name, text in torque.items()
    }


C = ExportTarget(
    "c",
    "a C99 file with its header, a small program that calls it, and its drives and instruments",
    c_files,
    c_laws,
    ("precision",),
    families=True,
)
