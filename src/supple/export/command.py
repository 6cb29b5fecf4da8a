"""`supple export`: a reduced model as source code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli.answer import answering
from supple.cli.model_argument import Rom, model_configuration, read_model, set_values
from supple.cli.options import Json, quantity_of, relative
from supple.description.quantities.dimension import TIME

To = Annotated[str, typer.Option("--to", metavar="TARGET", help="What to write.")]
Directory = Annotated[
    Path, typer.Option("-o", "--folder", metavar="DIR", help="Where to write it; made if it is not there.")
]
Prefix = Annotated[
    str | None,
    typer.Option("--prefix", metavar="NAME", help="What all names begin with; the model's name if left out."),
]
Precision = Annotated[
    str | None,
    typer.Option("--precision", metavar="double|single", show_default="double", help="Of the numbers in C."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance", metavar="REL", parser=relative, show_default="0.01",
        help="Largest relative error of responses between the points of lpv, such as 0.01 or 1%.",
    ),
]  # fmt: skip
Fmi = Annotated[
    str | None, typer.Option("--fmi", metavar="2|3", show_default="2", help="Of an FMU: the version of the standard.")
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="NAME=VALUE,...",
        help="Of an FMU: where it starts, or the name of a configuration; rest if left out.",
    ),
]  # fmt: skip
Step = Annotated[
    str | None,
    typer.Option("--step", metavar="SECONDS", help="Of an FMU: the longest step it takes itself."),
]
Method = Annotated[
    str | None,
    typer.Option("--method", metavar="auto|explicit|implicit", show_default="auto", help="Of an FMU: of these steps."),
]
Platforms = Annotated[
    list[str] | None,
    typer.Option(
        "--platform", metavar="NAME",
        help="Of an FMU: also for windows, macos, macos-arm64, linux or linux-arm64, by zig (pip install ziglang).",
    ),
]  # fmt: skip
OneModel = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Of a model reduced with --vary: fix a parameter at this value; may be repeated. Those left out are to be "
        "set where it runs.",
    ),
]  # fmt: skip


def export(
    rom: Rom,
    to: To = "c",
    directory: Directory = Path("."),
    prefix: Prefix = None,
    precision: Precision = None,
    tolerance: Tolerance = None,
    fmi: Fmi = None,
    start: Start = None,
    step: Step = None,
    method: Method = None,
    platforms: Platforms = None,
    settings: OneModel = None,
    as_json: Json = False,
) -> None:
    """Write a reduced model for other programs."""
    with answering(as_json) as answer:
        from supple.export.export import TARGETS
        from supple.export.export import export as exported

        TARGETS[to]  # refused before the file is read: the shorter way to the mistake
        model = read_model(answer, rom)
        given: dict[str, Any] = {"precision": precision, "tolerance": tolerance, "fmi": fmi, "method": method}
        given["platforms"] = platforms or None
        given["start"] = None if start is None else model_configuration(model, start)
        given["step"] = None if step is None else quantity_of(step, "--step", TIME)
        one = set_values(model, rom, settings) or None
        options = {name: value for name, value in given.items() if value is not None}
        files = [str(file) for file in exported(model, directory, to=to, prefix=prefix, set=one, **options)]
        answer.give({"files": files}, lambda: print("\n".join(files)))
