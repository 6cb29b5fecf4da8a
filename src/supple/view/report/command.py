"""`supple report`: a mechanism or a reduced model on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli.answer import answering
from supple.cli.model_argument import FileOrRom, is_model, read_model
from supple.cli.options import At, Json, Settings, configuration, read_mechanism
from supple.cli.options import region as region_of

Output = Annotated[
    Path,
    typer.Option("-o", "--file", metavar="FILE", help="The page: .html, one file that needs nothing beside it."),
]
RegionText = Annotated[
    str | None,
    typer.Option(
        "--region", metavar="NAME=LOWER:UPPER,...",
        help="Of a mechanism: how far coordinates vary; limits of actuators and joints where not given.",
    ),
]  # fmt: skip
Points = Annotated[
    int, typer.Option("--points", metavar="N", min=1, help="Of a model: fresh random points it is judged at.")
]


def report(
    file: FileOrRom,
    output: Output = Path("report.html"),
    at: At = None,
    region: RegionText = None,
    points: Points = 300,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Write a mechanism or a reduced model as one page: drawn, its modes, its errors, and how to make it again."""
    with answering(as_json) as answer:
        from supple.diagnostics import InputError
        from supple.view.report.report import report as made

        if output.suffix.lower() not in (".html", ".htm"):
            raise InputError(f'"{output}" is no page', part="-o", hint="name a file that ends in .html")
        options: dict[str, Any] = {"progress": False if as_json else None}
        if is_model(file):
            if region is not None:
                raise InputError("a reduced model has a region of its own", part="--region", hint="leave it out")
            model: Any = read_model(answer, file, settings)
            options |= {"points": points, "file": file}
            mechanism = None
        else:
            model = mechanism = read_mechanism(answer, file, settings)
            ranges = region_of(region, mechanism)
            if isinstance(ranges, str):
                raise InputError("a report is over boxes, not along a path", part="--region", hint="NAME=LOWER:UPPER")
            options |= {"region": ranges, "file": file}
        if at is not None:
            from supple.formats.model_description import described

            known = at if at in (mechanism or described(model)).configurations else None
            options["at"] = known or configuration(mechanism or described(model), at)
        found = made(model, output, **options) if output.parent.is_dir() else None
        if found is None:
            raise InputError("cannot be written (there is no such folder)", file=str(output), hint="give another place")
        size = output.stat().st_size
        hint = f"written to {output} ({size / 1e6:.2g} MB); any browser opens it"
        answer.give({**found.told(), "bytes": size, "file": str(output)}, lambda: found.text().lines(hint))
