"""`supple.export`: a reduced model or a controller as files for other programs, written together as a set.

`TARGETS` holds supple's own export targets and those that are registered.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.diagnostics import InputError, SuppleNote, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quoted
from supple.export.c.generated_model import Exportable
from supple.export.c.source_text import prefix_of
from supple.export.c.stamp import stamped
from supple.export.c.target import C
from supple.export.casadi_files.target import CASADI
from supple.export.control_file.target import CONTROL
from supple.export.fmu.target import FMU
from supple.export.lpv.target import LPV
from supple.export.matlab.target import MATLAB
from supple.export.numpy_file.target import NUMPY
from supple.export.plain.target import JSON
from supple.export.target import ExportTarget, model_at_parameters, said_fixed
from supple.files.whole import folder_beside, left_behind, place_beside, settle_folder, sync_to_disk, write_whole
from supple.kinds import Registry
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel

if TYPE_CHECKING:
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.laws.affine_controller import AffineController
    from supple.control.laws.affine_law import AffineLaw


TARGETS = Registry("export target", ExportTarget, C, FMU, CASADI, CONTROL, LPV, MATLAB, NUMPY, JSON)


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
        return model_at_parameters(rom, values, others=TARGETS[to].families)
    if family:
        return rom if TARGETS[to].families else _told(rom)
    inner = getattr(rom, "model", None)  # that of computed torque
    return rom if getattr(inner, "family", None) is None else replace(rom, model=_told(inner))


def _told(rom: Any) -> ReducedModel:
    one = model_at_parameters(rom)
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


# A set of files into a folder, as one: all of them new, or all as they were.
#
# New files are written, and brought to the disk, in a folder of their own inside; then a list of them is, and from that
# moment the set is new: whoever is killed while the files take their places, the next one who writes there finishes it.
# Before, or if a file cannot take its place, the set is as it was. A folder that is not there yet comes with its files.


# What files of ours hold: a sentence, or where that has no place, how their data begin.
MARKS = (b"enerated by supple", b'"supple reduced model"', b"A reduced model of supple as plain data")
_ENDS = 4096  # bytes at both ends of a file in which a mark is looked for
_STAGE = ".supple-export"  # folders of files on their way begin so
_NEW, _OLD, _DUE, _UNDONE = "new", "old", "due.json", "undone.json"  # what is in one


def write_together(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write the files as a set; the places.

    A disk that fills up, or an interruption, leaves what was there. A file that stands in the way and was not written
    by supple, though the new one is marked as ours, is refused.
    """
    contents = {name: text.encode("utf-8") if isinstance(text, str) else text for name, text in files.items()}
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if missing and _whole_folder(folder, contents):
            return [folder / name for name in contents]
        folder.mkdir(exist_ok=True)
        _require_free(folder, contents)
        _set(folder, contents)
    except BaseException as error:
        for path in missing:  # the innermost first; one that holds something else stays
            with contextlib.suppress(OSError):
                path.rmdir()
        if isinstance(error, OSError):
            raise InputError(
                f"cannot write to {folder}: {error.strerror or error}; nothing was changed", part="export",
                hint="choose another directory, or make room",
            ) from None  # fmt: skip
        raise
    return [folder / name for name in contents]


def _whole_folder(folder: Path, contents: Mapping[str, bytes]) -> bool:
    """A new folder with all its files, by one renaming; False if another was sooner."""
    try:
        with folder_beside(folder) as beside:
            _write(beside, contents)
    except OSError:
        if folder.exists():
            return False
        raise
    return True


def _set(folder: Path, contents: Mapping[str, bytes]) -> None:
    stage = place_beside(folder / _STAGE)
    try:
        (stage / _NEW).mkdir(parents=True)
        _write(stage / _NEW, contents)
        with _alone(folder):
            _finish_others(folder)
            _rename(folder, stage, list(contents))
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        sync_to_disk(folder / name)
    settle_folder(folder)


def _require_free(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        file = folder / name
        if file.is_dir():
            raise InputError(f"{file} is a directory", part="export", hint="choose another folder")
        if _marked(content) and file.exists() and not _marked(file.read_bytes()):
            raise InputError(
                f"{file} is there already, and was not written by supple", part="export",
                hint="choose another folder, or move it away",
            )  # fmt: skip


def _marked(content: bytes) -> bool:
    return any(mark in content[:_ENDS] or mark in content[-_ENDS:] for mark in MARKS)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other export renames files here."""
    try:
        import fcntl
    except ImportError:  # another system, where two exports into one folder at once are not kept apart
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _rename(folder: Path, stage: Path, names: list[str]) -> None:
    """Every file into its place; if one cannot be, all old ones back into theirs."""
    (stage / _OLD).mkdir()
    there = [name for name in names if (folder / name).exists()]
    for name in there:
        _twin(folder / name, stage / _OLD / name)
    due = {"names": names, "there": there}
    write_whole(stage / _DUE, json.dumps(due).encode())
    settle_folder(stage)
    try:
        _forward(folder, stage, due)
    except BaseException:
        (stage / _DUE).replace(stage / _UNDONE)
        _back(folder, stage, due)
        raise


def _twin(file: Path, twin: Path) -> None:
    """The old file under a second name, so that there is one in its place at every moment."""
    try:
        os.link(file, twin)
    except OSError:  # a file system without
        shutil.copy2(file, twin)


def _forward(folder: Path, stage: Path, due: Mapping[str, Any]) -> None:
    for name in due["names"]:
        if (stage / _NEW / name).exists():
            (stage / _NEW / name).replace(folder / name)
    settle_folder(folder)
    (stage / _DUE).unlink()


def _back(folder: Path, stage: Path, due: Mapping[str, Any]) -> None:
    for name in due["names"]:
        if (stage / _OLD / name).exists():
            (stage / _OLD / name).replace(folder / name)
        elif name not in due["there"] and not (stage / _NEW / name).exists():
            (folder / name).unlink(missing_ok=True)
    settle_folder(folder)
    (stage / _UNDONE).unlink()


def _finish_others(folder: Path) -> None:
    """What exports that were killed have left: a set that was due is finished, one that was undone is taken back."""
    for stage in sorted(folder.glob(f"{_STAGE}.*.part")):
        for state, work in ((_DUE, _forward), (_UNDONE, _back)):
            due = _list(stage / state)
            if due is not None:
                work(folder, stage, due)
        if left_behind(stage):
            shutil.rmtree(stage, ignore_errors=True)


def _list(file: Path) -> dict[str, list[str]] | None:
    """Names of files, as they were written; a name that leads elsewhere is none of ours."""
    try:
        due = json.loads(file.read_bytes())
        names = [*due["names"], *due["there"]]
        if all(re.fullmatch(r"[^/\\\0]+", name) and name not in (".", "..") for name in names):
            return due
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return None
