"""`supple new`: a commented mechanism file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.answer import answering
from supple.cli.options import Json

STARTERS = Path(__file__).with_name("starters")
_NAME = "NAME"  # stands in a starter for the mechanism's name


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the mechanism.")],
    spatial: Annotated[
        bool, typer.Option("--spatial/--planar", help="A loop in space, or a four-bar in the plane.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--file", metavar="FILE", help="Where to write it; NAME.yaml if left out."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write a commented mechanism file to start from."""
    with answering(as_json) as answer:
        target = output if output is not None else Path(_file_name(name))
        write(target, starter(_stem(name), spatial=spatial), force)
        answer.give(
            {"file": str(target), "name": _stem(name)},
            lambda: print(f"wrote {target}; next: supple check {target}"),
        )


def starter(name: str, *, spatial: bool = False) -> str:
    """The text of a starter file."""
    from supple.formats.mechanism_text import scalar

    text = (STARTERS / ("spatial.yaml" if spatial else "planar.yaml")).read_text("utf-8")
    return text.replace(f"name: {_NAME}", f"name: {scalar(name)}", 1)


def _stem(name: str) -> str:
    return name.removesuffix(".yaml").removesuffix(".yml")


def _file_name(name: str) -> str:
    from supple.diagnostics import InputError
    from supple.diagnostics.errors import quoted

    stem = _stem(name)
    if not stem.strip() or stem.startswith(".") or Path(stem).name != stem or not stem.isprintable():
        raise InputError(f"{quoted(name)} does not make a file name", hint="name the file with -o FILE")
    return f"{stem}.yaml"


def write(target: Path, text: str, force: bool) -> None:
    """Write a new file, or over one that is there if `force` says so."""
    from supple.diagnostics import InputError
    from supple.files.whole import written_beside

    if target.exists() and not force:
        raise InputError(
            "this file is already there", file=str(target), hint="take another name, or --force to overwrite it"
        )
    try:
        with written_beside(target) as beside:
            beside.write_text(text, encoding="utf-8", newline="\n")
    except ValueError as error:  # a name that no file can have
        raise InputError(f"cannot be written ({error})", file=str(target), hint="name another with -o") from None
