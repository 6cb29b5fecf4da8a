"""`supple convert`: a robot from tables or a URDF, written as a mechanism file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.answer import answering
from supple.cli.new import write
from supple.cli.options import File, Json, Settings, read_mechanism

Output = Annotated[
    Path | None,
    typer.Option("-o", "--file", metavar="FILE", help="Where to write it; printed if left out.", show_default=False),
]


def convert(
    file: File,
    output: Output = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Write a robot from tables or a URDF (or any mechanism) as a mechanism file, expressions worked out."""
    with answering(as_json) as answer:
        from supple.formats.mechanism_text import to_yaml

        mechanism = read_mechanism(answer, file, settings)
        text = to_yaml(mechanism)
        if output is None:
            answer.give({"name": mechanism.name, "text": text}, lambda: print(text, end=""))
            return
        write(output, text, force)
        answer.give({"name": mechanism.name, "file": str(output)}, lambda: print(f"wrote {output}"))
