"""`supple report`: an HTML report of a mechanism or a reduced model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import OUTPUT, help_of
from supple.cli.model_argument import FileOrRom, is_model, read_model
from supple.cli.options import At, Json, Settings, configuration, read_mechanism
from supple.cli.options import region as region_of

Output = Annotated[
    Path,
    typer.Option("-o", "--file", metavar="FILE", help="HTML file to write, self-contained.", rich_help_panel=OUTPUT),
]
RegionText = Annotated[
    str | None,
    typer.Option(
        "--region",
        metavar="NAME=LOW:HIGH,...",
        help="Ranges of the coordinates of a mechanism: `crank=-100deg:100deg,x=0:12mm`. Coordinates that are not "
        "given take the limits of their actuator or joint.",
        show_default=False,
    ),
]
Points = Annotated[int, typer.Option("--points", metavar="N", help=help_of("report", "points"), show_default=False)]


def report(
    file: FileOrRom,
    output: Output = Path("report.html"),
    at: At = None,
    region: RegionText = None,
    points: Points = 300,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Write an HTML report of a mechanism or a reduced model."""
    with open_answer(as_json) as answer:
        from supple.diagnostics import InputError
        from supple.view.report.report import report as made

        if output.suffix.lower() not in (".html", ".htm"):
            raise InputError(f'the name of a report must end in .html (got "{output}")', part="-o", hint="rename it")
        options: dict[str, Any] = {"progress": False if as_json else None}
        if is_model(file):
            if region is not None:
                raise InputError("a reduced model has its own region", part="--region", hint="omit this option")
            model: Any = read_model(answer, file, settings)
            options |= {"points": points, "file": file}
            mechanism = None
        else:
            model = mechanism = read_mechanism(answer, file, settings)
            ranges = region_of(region, mechanism)
            if isinstance(ranges, str):
                raise InputError(
                    "a report needs coordinate ranges, not a path", part="--region", hint="give NAME=LOWER:UPPER"
                )
            options |= {"region": ranges, "file": file}
        if at is not None:
            from supple.formats.model_description import restore_mechanism

            known = at if at in (mechanism or restore_mechanism(model)).configurations else None
            options["at"] = known or configuration(mechanism or restore_mechanism(model), at)
        found = made(model, output, **options) if output.parent.is_dir() else None
        if found is None:
            raise InputError("cannot be written: the folder does not exist", file=str(output), hint="give another path")
        size = output.stat().st_size
        hint = f"written to {output} ({size / 1e6:.2g} MB); open it in a browser"
        answer.give({**found.json_data(), "bytes": size, "file": str(output)}, lambda: found.text().lines(hint))
