"""`supple.export`: write a reduced model, a controller or a linear model as files for other programs.

`TARGETS` holds the built-in export targets and the registered ones.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.diagnostics import InputError, SuppleNote, require_known
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quote
from supple.export.c.generated_model import Exportable
from supple.export.c.source_text import prefix_of
from supple.export.c.stamp import stamp_files
from supple.export.c.target import C
from supple.export.casadi_files.target import CASADI
from supple.export.control_file.target import CONTROL
from supple.export.fmu.target import FMU
from supple.export.lpv.target import LPV
from supple.export.matlab.target import MATLAB
from supple.export.numpy_file.target import NUMPY
from supple.export.plain.target import JSON
from supple.export.target import ExportTarget, fixed_values_text
from supple.files.whole import folder_beside, is_abandoned, place_beside, settle_folder, sync_to_disk, write_whole
from supple.kinds import Registry
from supple.reduced.family import model_at_parameters
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel
from supple.time_functions.function_of_time import FunctionOfTime, Trajectory

if TYPE_CHECKING:
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.feedforward.planned_motion import PlannedMotion
    from supple.control.laws.affine_controller import AffineController
    from supple.control.laws.affine_law import AffineLaw

    AnyMotion = FunctionOfTime | Trajectory | PlannedMotion


TARGETS = Registry("export target", ExportTarget, C, FMU, CASADI, CONTROL, LPV, MATLAB, NUMPY, JSON)


def export(
    rom: Exportable | AffineLaw | AffineController | ComputedTorque | LinearModel | AnyMotion,
    directory: str | os.PathLike[str],
    *,
    to: str = "c",
    prefix: str | None = None,
    set: Mapping[str, float] | None = None,
    **options: Any,
) -> list[Path]:
    """Write a reduced model, a controller, a motion or a linear model as files for other programs.

    Parameters
    ----------
    rom : ReducedModel, control.AffineLaw, control.AffineController, control.ComputedTorque, motion or LinearModel
        What to export. Every target writes reduced models; "c" and "fmu" also write control laws ("fmu": affine laws
        only), and "fmu" linear models in continuous time.

        "c" writes a `control.AffineController` as its law, its motion and one function for a sample. It also writes
        motions: a `control.Reference`, a `control.PlannedMotion` (its coordinates θ) or a `Trajectory`.
    directory : str or path-like
        Folder for the files; created if it does not exist.
    to : str, optional
        Export target: "c" (C99), "fmu" (FMI 2.0 or 3.0), "casadi", "control" (python-control), "lpv" (grid of linear
        models), "matlab" (Matlab, Octave and Simulink), "numpy", "json", or a registered `ExportTarget`. Default: "c".
    prefix : str, optional
        Prefix of all file and function names. Default: derived from the name of the model or law. Names of a control
        law end in ``_law``, those of computed torque in ``_torque``, of a motion in ``_motion``, of a controller in
        ``_controller``.
    set : mapping of str to float, optional
        Parameters of a model reduced with `vary` to fix in the exported files, {name: value in SI units}. The others
        remain inputs that can be set at run time. Default: none is fixed.
    **options : Any
        Options of the target. "c": `precision` ("double" or "single"); for motions and controllers `tolerance` (largest
        error of the motion, of its range; default: 1e-9, in single precision 1e-7; 0 keeps the given pieces); for
        motions `sample_time` (s of one sample; default: 1 ms); for controllers `model` (reduced model, to write the
        plant and a program that closes the loop). "fmu": `fmi` ("2" or "3"), `start` (initial
        posture), `step` (longest internal step of co-simulation, s), `method` ("auto", "explicit" or "implicit"),
        `platforms` (names of further platforms to compile for). "lpv": `tolerance` (largest relative error of
        responses between grid points).

    Returns
    -------
    list of pathlib.Path
        The files written.

    Raises
    ------
    InputError
        If the target, an option or a parameter is unknown, the target does not support this kind of model, the files
        cannot be written, or a file of the same name exists that supple did not generate.

    Warns
    -----
    SuppleNote
        If the target cannot set parameters at run time, so that the model's own values are fixed in the files.

    See Also
    --------
    reduce : Reduce a mechanism to the model that is exported.
    linearize : Linear model of a mechanism, for ``to="fmu"``.

    Notes
    -----
    The export is atomic: after an error or an interruption the directory holds either all new files or all old ones.
    A process killed while it moves the files into place may leave a mixture of two exports. Every set carries a
    digest, so that mixed C sources do not compile and mixed files for CasADi, python-control, Matlab and Octave stop
    with an error when they are loaded. The next export into the same directory repairs the mixture.

    Examples
    --------
    >>> import supple
    >>> rom = supple.reduce(supple.load("four-bar"))  # doctest: +SKIP
    >>> files = supple.export(rom, "build", to="c", precision="single")  # doctest: +SKIP
    >>> [file.name for file in files]  # doctest: +SKIP
    ['four_bar.h', 'four_bar.c', 'example_main.c', 'four_bar_test.c', 'Makefile', 'CMakeLists.txt']
    """
    require_arguments(export, locals())
    return write_together(Path(directory), stamp_files(_files(_of_family(rom, to, set), to, prefix, options)))


def _of_family(rom: Any, to: str, values: Mapping[str, float] | None) -> Any:
    """Return the model in a form that the target supports: a family, or a model with its parameters fixed."""
    family = isinstance(rom, ReducedModel) and rom.family is not None
    if values and not family:
        raise InputError(
            f"the model has no parameter {quote(next(iter(values)))} to set", part="export",
            hint="parameters can be set only if the mechanism was reduced with them in `vary`",
        )  # fmt: skip
    if values:
        return model_at_parameters(rom, values, others=TARGETS[to].families)
    if family:
        return rom if TARGETS[to].families else _at_own_values(rom)
    inner = None if hasattr(rom, "deformation") else getattr(rom, "model", None)  # that of computed torque
    return rom if getattr(inner, "family", None) is None else replace(rom, model=_at_own_values(inner))


def _at_own_values(rom: Any) -> ReducedModel:
    """Fix all parameters at the model's own values, with a note."""
    one = model_at_parameters(rom)
    warnings.warn(SuppleNote(fixed_values_text(one)), stacklevel=5)
    return one


def _files(rom: Any, to: str, prefix: str | None, options: Mapping[str, Any]) -> Mapping[str, str | bytes]:
    target = TARGETS[to]
    for name in options:
        require_known(f'option of target "{to}"', name, target.options, empty="it takes no options", part="export")
    write, given, name = _writer(target, rom)
    _require_options(write, options, target)
    return write(given, prefix_of(name if prefix is None else prefix), **options)


def _writer(target: ExportTarget, rom: Any) -> tuple[Callable[..., Mapping[str, str | bytes]], Any, str]:
    """Return the function of a target that writes the files, its argument, and the default prefix."""
    if isinstance(rom, LinearModel):
        if target.linear is None:
            raise InputError(
                f'target "{target.name}" does not support linear models', part="export", hint='use to="fmu"'
            )
        return target.linear, rom, "linear"
    if hasattr(rom, "layout"):
        return target.files, rom, rom.name
    if isinstance(rom, FunctionOfTime | Trajectory) or hasattr(rom, "deformation"):  # of a planned motion
        if target.motions is None:
            raise InputError(f'target "{target.name}" does not support motions', part="export", hint='use to="c"')
        return target.motions, rom, getattr(getattr(rom, "model", None), "name", "reference")
    law, name = _law(rom)
    if target.laws is None:
        raise InputError(f'target "{target.name}" does not support controllers', part="export", hint='use to="c"')
    if law is not rom and target.controllers is not None:
        return target.controllers, rom, name
    return target.laws, law, name


def _require_options(write: Callable[..., Any], options: Mapping[str, Any], target: ExportTarget) -> None:
    """Refuse options of the target that its function for this kind of object does not have."""
    known = signature(write).parameters
    if any(item.kind is Parameter.VAR_KEYWORD for item in known.values()):
        return
    for name in options:
        if name not in known:
            raise InputError(
                f'option "{name}" of target "{target.name}" does not apply to what is exported', part="export",
                hint="leave it out",
            )  # fmt: skip


def _law(controller: Any) -> tuple[AffineLaw | ComputedTorque, str]:
    """Return the law of a controller and its name. Imports are local: exporting a model needs no controllers."""
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.laws.affine_controller import AffineController
    from supple.control.laws.affine_law import AffineLaw

    law = controller.law if isinstance(controller, AffineController) else controller
    if isinstance(law, ComputedTorque):
        return law, law.model.name
    if not isinstance(law, AffineLaw):
        raise InputError(
            f"cannot export a {type(law).__name__}", part="export",
            hint="give a reduced model, a linear model, a motion, a controller with an affine law, or computed torque",
        )  # fmt: skip
    return law, law.name


# Atomic writing of a set of files into a folder.
#
# New files are written and synced in a staging folder inside the target folder. Then a list of them is written: from
# that moment the new set counts. If the process is killed while the files are renamed into place, the next export into
# the folder finishes the renaming. Before that moment, or if a rename fails, the old set stays. A folder that does not
# exist yet is created together with its files by one rename.


# Text by which files generated by supple are recognized.
MARKS = (b"enerated by supple", b'"supple reduced model"', b"A reduced model of supple as plain data")
_ENDS = 4096  # bytes at both ends of a file that are searched for a mark
_STAGE = ".supple-export"  # name prefix of staging folders
_NEW, _OLD, _DUE, _UNDONE = "new", "old", "due.json", "undone.json"  # contents of a staging folder


def write_together(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write files as one atomic set and return their paths.

    If the disk fills up or the process is interrupted, the old files stay. A generated file never overwrites a file
    that supple did not generate.
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
        for path in missing:  # innermost first; a folder with other content stays
            with contextlib.suppress(OSError):
                path.rmdir()
        if isinstance(error, OSError):
            raise InputError(
                f"cannot write to {folder}: {error.strerror or error}; nothing was changed", part="export",
                hint="choose another directory or free some space",
            ) from None  # fmt: skip
        raise
    return [folder / name for name in contents]


def _whole_folder(folder: Path, contents: Mapping[str, bytes]) -> bool:
    """Create a folder with all its files by one rename; return False if another process created it first."""
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
            raise InputError(f"{file} is a directory", part="export", hint="choose another directory")
        if _has_mark(content) and file.exists() and not _has_mark(file.read_bytes()):
            raise InputError(
                f"{file} exists and was not generated by supple", part="export",
                hint="choose another directory or move that file away",
            )  # fmt: skip


def _has_mark(content: bytes) -> bool:
    return any(mark in content[:_ENDS] or mark in content[-_ENDS:] for mark in MARKS)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the folder, so that no other export renames files in it."""
    try:
        import fcntl
    except ImportError:  # no file locks (Windows): simultaneous exports into one folder are not separated
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _rename(folder: Path, stage: Path, names: list[str]) -> None:
    """Rename every new file into place; if one rename fails, restore all old files."""
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
    """Give the old file a second name, so that a file is in place at every moment."""
    try:
        os.link(file, twin)
    except OSError:  # file system without hard links
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
    """Finish or undo the renaming that killed exports left incomplete."""
    for stage in sorted(folder.glob(f"{_STAGE}.*.part")):
        for state, work in ((_DUE, _forward), (_UNDONE, _back)):
            due = _list(stage / state)
            if due is not None:
                work(folder, stage, due)
        if is_abandoned(stage):
            shutil.rmtree(stage, ignore_errors=True)


def _list(file: Path) -> dict[str, list[str]] | None:
    """Read a list of file names; None if it is missing, damaged, or contains a path outside the folder."""
    try:
        due = json.loads(file.read_bytes())
        names = [*due["names"], *due["there"]]
        if all(re.fullmatch(r"[^/\\\0]+", name) and name not in (".", "..") for name in names):
            return due
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return None
