"""`supple convert`: a URDF or tables as a mechanism file, a mechanism as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import OUTPUT
from supple.cli.new import write
from supple.cli.options import File, Json, Settings, read_mechanism

Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--file", metavar="FILE", help="File to write. Default: print the text.", rich_help_panel=OUTPUT
    ),
]


To = Annotated[
    Literal["mechanism", "tables"],
    typer.Option("--to", help="Output format: a mechanism file, or Khalil-Kleinfinger tables."),
]


def convert(
    file: File,
    to: To = "mechanism",
    output: Output = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.", rich_help_panel=OUTPUT)] = False,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Convert a URDF or tables to a mechanism file, or a mechanism to tables."""
    with open_answer(as_json) as answer:
        from supple.formats.khalil_kleinfinger.written import to_tables
        from supple.formats.mechanism_text import to_yaml

        mechanism = read_mechanism(answer, file, settings)
        text = to_yaml(mechanism) if to == "mechanism" else to_tables(mechanism)
        if output is None:
            answer.give({"name": mechanism.name, "text": text}, lambda: print(text, end=""))
            return
        write(output, text, force)
        answer.give({"name": mechanism.name, "file": str(output)}, lambda: print(f"written to {output}"))
