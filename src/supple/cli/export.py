"""`supple export`: a reduced model as source code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.answer import answering
from supple.cli.model_argument import Rom, read_model
from supple.cli.options import Json

To = Annotated[str, typer.Option("--to", metavar="TARGET", help="What to write.")]
Directory = Annotated[
    Path, typer.Option("-o", "--folder", metavar="DIR", help="Where to write it; made if it is not there.")
]
Prefix = Annotated[
    str | None,
    typer.Option(
        "--prefix", metavar="NAME", show_default=False, help="What all names begin with; the model's name if left out."
    ),
]
Precision = Annotated[
    str | None,
    typer.Option("--precision", metavar="double|single", show_default="double", help="Of the numbers in C."),
]
Tolerance = Annotated[
    float | None,
    typer.Option("--tolerance", metavar="REL", show_default="0.01", help="Of responses between the points of lpv."),
]


def export(
    rom: Rom,
    to: To = "c",
    directory: Directory = Path("."),
    prefix: Prefix = None,
    precision: Precision = None,
    tolerance: Tolerance = None,
    as_json: Json = False,
) -> None:
    """Write a reduced model for other programs."""
    with answering(as_json) as answer:
        from supple.export.export import export as exported
        from supple.export.targets import TARGETS

        TARGETS[to]  # refused before the file is read: the shorter way to the mistake
        given = {"precision": precision, "tolerance": tolerance}
        options = {name: value for name, value in given.items() if value is not None}
        files = [str(file) for file in exported(read_model(answer, rom), directory, to=to, prefix=prefix, **options)]
        answer.give({"files": files}, lambda: print("\n".join(files)))
