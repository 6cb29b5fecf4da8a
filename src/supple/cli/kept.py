"""`-o FILE` and `--plot FILE`: results as tables and pictures on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from supple.results.result import Result

TableFile = Annotated[
    Path | None,
    typer.Option("-o", "--file", metavar="FILE", help="Write its numbers: .csv, .npz or .mat."),
]
Picture = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw it: .png, .svg or .pdf."),
]


def keep(found: Result, table: Path | None, picture: Path | None = None) -> None:
    """Write the table and the picture of a result, where they are wanted."""
    if table is not None:
        write_file(table, lambda: found.save(table))
    if picture is not None:
        drawn: Any = found
        draw(picture, drawn.plot)


def write_result(found: Result, output: Path, **options: Any) -> None:
    """Write its numbers, or draw it with some options, by the suffix of the file."""
    from supple.results.file import SUFFIXES

    drawn: Any = found
    if output.suffix.lower() in SUFFIXES:
        write_file(output, lambda: found.save(output))
    else:
        draw(output, lambda: drawn.plot(**options))


def require_folder(*targets: Path | None) -> None:
    """Of files that are to be written: before the work, not after."""
    from supple.diagnostics import InputError

    for target in targets:
        if target is None:
            continue
        if target.is_dir():
            raise InputError("is a folder", part=f"output {target}", hint=f"name a file in it: {target}/NAME")
        if not target.absolute().parent.is_dir():
            raise InputError(
                f"the folder {target.parent} does not exist", part=f"output {target}", hint="make it first"
            )


def draw(target: Path, figure: Callable[[], Any]) -> None:
    """Draw what `figure` gives into a file, whole or not at all."""
    from supple.files.whole import written_beside

    def save() -> None:
        with written_beside(target) as beside:
            figure().savefig(beside)

    write_file(target, save)


def write_file(target: Path, write: Callable[[], Any]) -> None:
    """Call `write`; where that fails, say which file and why."""
    from supple.diagnostics import InputError

    try:
        write()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written ({reason})", file=str(target), hint="give another place") from error


def write_report(found: Any, target: Path | None, typed: str) -> None:
    """The page of a result, where it is wanted; `typed` : the arguments it came from."""
    if target is not None:
        from supple.view.report.report import report as made

        write_file(target, lambda: made(found, target, file=typed))
