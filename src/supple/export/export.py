"""`supple.export`: a reduced model or a controller as files for other programs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.diagnostics import InputError, SuppleNote, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.quoting import quoted
from supple.export.c.model import Exportable
from supple.export.c.names import prefix_of
from supple.export.c.stamp import stamped
from supple.export.fixed import fixed, said_fixed
from supple.export.targets import TARGETS
from supple.export.writing import write_together
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel

if TYPE_CHECKING:
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.laws.affine_controller import AffineController
    from supple.control.laws.affine_law import AffineLaw


def export(
    rom: Exportable | AffineLaw | AffineController | ComputedTorque | LinearModel,
    directory: str | os.PathLike[str],
    *,
    to: str = "c",
    prefix: str | None = None,
    set: Mapping[str, float] | None = None,
    **options: Any,
) -> list[Path]:
    """Write a reduced model, a controller, or a linear model (to "fmu"), into a directory; the files that were written.

    to     : "c": a C99 file with its header, and of a model a small program that calls it; or a target that is
             registered
    prefix : what all names begin with; made from the name of the model or law if left out. A law's end in _law,
             computed torque's in _torque, beside its model
    set    : values of parameters of a family, {name: value}: these are then fixed in what is written. Those left out
             are to be set where it runs; a target that cannot have that takes the model's own, and says so
    options: what the target takes: of "c" precision="single"; of "fmu" fmi="3", start, step, method, platforms

    The files are written as a set: all of them are new, or all as they were. A process that is killed while it writes
    may leave files of two exports. C sources do not compile then, and files for CasADi, python-control, Matlab and
    Octave stop when they are loaded.
    """
    require_arguments(export, locals())
    return write_together(Path(directory), stamped(_files(_of_family(rom, to, set), to, prefix, options)))


def _of_family(rom: Any, to: str, values: Mapping[str, float] | None) -> Any:
    """The model as the target can write it: one by itself, unless it writes families and is not asked for one model."""
    family = isinstance(rom, ReducedModel) and rom.family is not None
    if values and not family:
        raise InputError(
            f"there is no parameter {quoted(next(iter(values)))} to set", part="export",
            hint="only models of a family have any: reduce the mechanism with it in `vary`",
        )  # fmt: skip
    if values:
        return fixed(rom, values, others=TARGETS[to].families)
    if family:
        return rom if TARGETS[to].families else _told(rom)
    inner = getattr(rom, "model", None)  # that of computed torque
    return rom if getattr(inner, "family", None) is None else replace(rom, model=_told(inner))


def _told(rom: Any) -> ReducedModel:
    one = fixed(rom)
    warnings.warn(SuppleNote(said_fixed(one)), stacklevel=5)
    return one


def _files(rom: Any, to: str, prefix: str | None, options: Mapping[str, Any]) -> Mapping[str, str | bytes]:
    target = TARGETS[to]
    for name in options:
        if name not in target.options:
            raise InputError(
                f'"{to}" has no option "{name}"', part="export",
                hint=nearest(name, target.options) if target.options else "leave it out",
            )  # fmt: skip
    if isinstance(rom, LinearModel):
        if target.linear is None:
            raise InputError(f'"{to}" knows no linear models', part="export", hint='export it to "fmu"')
        return target.linear(rom, prefix_of("linear" if prefix is None else prefix), **options)
    if hasattr(rom, "layout"):
        return target.files(rom, prefix_of(rom.name if prefix is None else prefix), **options)
    law, name = _law(rom)
    if target.laws is None:
        raise InputError(f'"{to}" knows no controllers', part="export", hint='export it to "c"')
    return target.laws(law, prefix_of(name if prefix is None else prefix), **options)


def _law(controller: Any) -> tuple[AffineLaw | ComputedTorque, str]:
    """The law of a controller and its name; controllers are imported here, since models need none of them."""
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.laws.affine_controller import AffineController
    from supple.control.laws.affine_law import AffineLaw

    law = controller.law if isinstance(controller, AffineController) else controller
    if isinstance(law, ComputedTorque):
        return law, law.model.name
    if not isinstance(law, AffineLaw):
        raise InputError(
            f"{type(law).__name__} is neither a reduced model nor a law", part="export",
            hint="controllers whose law is affine, and computed torque, can be exported",
        )  # fmt: skip
    return law, law.name
