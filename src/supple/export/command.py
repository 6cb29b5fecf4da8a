"""`supple export`: a reduced model or a control law for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import MODEL, OUTPUT
from supple.cli.model_argument import model_configuration, read_model, set_values
from supple.cli.options import Json, quantity_of, relative
from supple.description.quantities.dimension import TIME

To = Annotated[str, typer.Option("--to", metavar="TARGET", help="Export target.")]
Directory = Annotated[
    Path,
    typer.Option(
        "-o",
        "--folder",
        metavar="DIR",
        help="Folder for the files; created if it does not exist.",
        rich_help_panel=OUTPUT,
    ),
]
Prefix = Annotated[
    str | None,
    typer.Option(
        "--prefix", metavar="NAME", help="Prefix of all names. Default: the model's name.", rich_help_panel=OUTPUT
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="TYPE",
        help="Floating-point type in C: double or single. Default: double.",
        rich_help_panel="Target options",
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="REL",
        help="LPV: largest relative error of responses between grid points. Default: 1%.",
        rich_help_panel="Target options",
        parser=relative,
    ),
]
Fmi = Annotated[
    str | None,
    typer.Option(
        "--fmi", metavar="2|3", help="FMU: version of the FMI standard. Default: 2.", rich_help_panel="Target options"
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="WHERE",
        help="FMU: initial configuration, values or a name in the file. Default: rest.",
        rich_help_panel="Target options",
    ),
]
Step = Annotated[
    str | None,
    typer.Option("--step", metavar="TIME", help="FMU: largest internal time step.", rich_help_panel="Target options"),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="FMU: integration method, one of auto, explicit and implicit. Default: auto.",
        rich_help_panel="Target options",
    ),
]
Platforms = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="NAME",
        help="FMU: additional platform (needs ziglang), one of windows, macos, macos-arm64, linux and linux-arm64. "
        "Repeatable.",
        rich_help_panel="Target options",
    ),
]
OneModel = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Parameter of a model reduced with --vary to fix in the files. Others are set at run time. Repeatable.",
        rich_help_panel=MODEL,
    ),
]


Exported = Annotated[
    str, typer.Argument(metavar="ROM|LAW", help="Reduced model from `supple reduce`, or control law from `law.save`.")
]


def export(
    rom: Exported,
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
    """Write C code, an FMU or files for other programs."""
    with open_answer(as_json) as answer:
        from supple.diagnostics import InputError
        from supple.export.export import TARGETS
        from supple.export.export import export as exported
        from supple.formats.document import holds_law

        TARGETS[to]  # reject an unknown target before the file is read
        given: dict[str, Any] = {"precision": precision, "tolerance": tolerance, "fmi": fmi, "method": method}
        given["platforms"] = platforms or None
        if holds_law(rom):
            from supple.control.laws.law_file import load_law  # exporting a model needs no controllers

            law = load_law(rom)
            for value, option in ((start, "--start"), (step, "--step"), (settings, "--set")):
                if value:
                    raise InputError(f"a control law does not take {option}", file=rom, hint=f"leave {option} out")
            options = {name: value for name, value in given.items() if value is not None}
            files = [str(file) for file in exported(law, directory, to=to, prefix=prefix, **options)]
            cost = law.cost
            found = {"files": files, **{name: value for name, value in cost._asdict().items() if value != ""}}
            answer.give(found, lambda: print("\n".join([*(f"written to {file}" for file in files), *cost.lines()])))
            return
        model = read_model(answer, rom)
        given["start"] = None if start is None else model_configuration(model, start, "--start")
        given["step"] = None if step is None else quantity_of(step, "--step", TIME)
        one = set_values(model, rom, settings) or None
        options = {name: value for name, value in given.items() if value is not None}
        files = [str(file) for file in exported(model, directory, to=to, prefix=prefix, set=one, **options)]
        answer.give({"files": files}, lambda: print("\n".join(f"written to {file}" for file in files)))
