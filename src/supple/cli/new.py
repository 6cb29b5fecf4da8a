"""`supple new`: a commented mechanism file as a starting point."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import OUTPUT
from supple.cli.options import Json

STARTERS = Path(__file__).with_name("starters")
_NAME = "NAME"  # placeholder for the name of the mechanism in a starter file


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the mechanism.")],
    spatial: Annotated[
        bool,
        typer.Option(
            "--spatial/--planar",
            help="Template: a spatial loop or a planar four-bar. Default: planar.",
            show_default=False,
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--file", metavar="FILE", help="File to write. Default: NAME.yaml.", rich_help_panel=OUTPUT),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.", rich_help_panel=OUTPUT)] = False,
    as_json: Json = False,
) -> None:
    """Write a commented mechanism file as a starting point."""
    with open_answer(as_json) as answer:
        target = output if output is not None else Path(_file_name(name))
        write(target, starter(_stem(name), spatial=spatial), force)
        answer.give(
            {"file": str(target), "name": _stem(name)},
            lambda: print(f"written to {target}; next: supple check {target}"),
        )


def starter(name: str, *, spatial: bool = False) -> str:
    """Return the text of a starter file."""
    from supple.formats.mechanism_text import scalar

    text = (STARTERS / ("spatial.yaml" if spatial else "planar.yaml")).read_text("utf-8")
    return text.replace(f"name: {_NAME}", f"name: {scalar(name)}", 1)


def _stem(name: str) -> str:
    return name.removesuffix(".yaml").removesuffix(".yml")


def _file_name(name: str) -> str:
    from supple.diagnostics import InputError
    from supple.diagnostics.errors import quote

    stem = _stem(name)
    if not stem.strip() or stem.startswith(".") or Path(stem).name != stem or not stem.isprintable():
        raise InputError(f"{quote(name)} is not a valid file name", hint="choose a file with -o FILE")
    return f"{stem}.yaml"


def write(target: Path, text: str, force: bool) -> None:
    """Write a new file; overwrite an existing one only with `force`."""
    from supple.diagnostics import InputError
    from supple.files.whole import write_beside

    if target.exists() and not force:
        raise InputError(
            "this file already exists", file=str(target), hint="choose another name, or add --force to overwrite it"
        )
    try:
        with write_beside(target) as beside:
            beside.write_text(text, encoding="utf-8", newline="\n")
    except ValueError as error:  # an invalid file name
        raise InputError(f"cannot be written ({error})", file=str(target), hint="choose another file with -o") from None
