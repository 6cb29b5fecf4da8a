"""Options `-o FILE` and `--plot FILE`: tables and pictures of results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.help_text import OUTPUT

if TYPE_CHECKING:
    from supple.results.result import Result

TABLES = (".csv", ".npz", ".mat")
"""Suffixes of tables."""
PICTURES = (".png", ".svg", ".pdf")
"""Suffixes of pictures."""


def require_picture(target: Path | None) -> Path | None:
    """Refuse a picture with another suffix, before the computation: callback of `--plot`."""
    from supple.diagnostics import InputError

    if target is not None and target.suffix.lower() not in PICTURES:
        raise InputError("not a picture format", file=str(target), hint=f"use {_listed(PICTURES)}")
    return target


def require_table_or_picture(target: Path | None) -> Path | None:
    """Refuse a file that is neither a table nor a picture, before the computation: callback of `-o`."""
    from supple.diagnostics import InputError

    if target is not None and target.suffix.lower() not in (*TABLES, *PICTURES):
        raise InputError(
            "neither a picture nor a table",
            file=str(target),
            hint=f"use {_listed(PICTURES)} for a picture, or {_listed(TABLES)} for a table",
        )
    return target


def _listed(suffixes: tuple[str, ...]) -> str:
    return f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"


TableFile = Annotated[
    Path | None,
    typer.Option("-o", "--file", metavar="FILE", help="Table to write: .csv, .npz or .mat.", rich_help_panel=OUTPUT),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Picture to write: .png, .svg or .pdf.",
        rich_help_panel=OUTPUT,
        callback=require_picture,
    ),
]


def keep(found: Result, table: Path | None, picture: Path | None = None) -> None:
    """Write the table and the picture of a result, if files are given."""
    if table is not None:
        write_file(table, lambda: found.save(table))
    if picture is not None:
        drawn: Any = found
        draw(picture, drawn.plot)


def write_result(found: Result, output: Path, **options: Any) -> None:
    """Write a result as a table or a picture, depending on the suffix of the file."""
    from supple.results.file import SUFFIXES

    drawn: Any = found
    if output.suffix.lower() in SUFFIXES:
        write_file(output, lambda: found.save(output))
    else:
        draw(output, lambda: drawn.plot(**options))


def require_folder(*targets: Path | None) -> None:
    """Check that the folders of output files exist, before the computation."""
    from supple.diagnostics import InputError

    for target in targets:
        if target is None:
            continue
        if target.is_dir():
            raise InputError("this is a folder", part=f"output {target}", hint=f"name a file in it: {target}/NAME")
        if not target.absolute().parent.is_dir():
            raise InputError(
                f"the folder {target.parent} does not exist", part=f"output {target}", hint="create it first"
            )


def draw(target: Path, figure: Callable[[], Any]) -> None:
    """Write a figure to a file, completely or not at all."""
    from supple.files.whole import write_beside

    def save() -> None:
        with write_beside(target) as beside:
            figure().savefig(beside)

    write_file(target, save)


def write_file(target: Path, write: Callable[[], Any]) -> None:
    """Call `write` and report a failure with the file and the reason."""
    from supple.diagnostics import InputError

    try:
        write()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written ({reason})", file=str(target), hint="choose another file") from error


def write_report(found: Any, target: Path | None, typed: str) -> None:
    """Write the HTML report of a result, if a file is given; `typed` holds the arguments of the command."""
    if target is not None:
        from supple.view.report.report import report

        write_file(target, lambda: report(found, target, file=typed))
