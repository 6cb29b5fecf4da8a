"""`supple export`: a reduced model or a motion for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.bundled import bundled_names
from supple.cli.help_text import MODEL, OUTPUT
from supple.cli.model_argument import is_model, model_configuration, read_model, require_no, set_values
from supple.cli.options import Json, quantity_of, read_mechanism, relative
from supple.description.quantities.dimension import TIME

if TYPE_CHECKING:
    from supple.control.feedforward.reference import AnyReference

Source = Annotated[
    str,
    typer.Argument(
        metavar="ROM",
        help="Reduced model, written by `supple reduce`; with --motion also a mechanism file.",
        autocompletion=bundled_names,
    ),
]
MotionName = Annotated[
    str | None,
    typer.Option(
        "--motion",
        metavar="NAME|CSV",
        help="Motion of the file, or a table, to export instead of the model, as C. Default: the model.",
    ),
]
SampleTime = Annotated[
    str | None,
    typer.Option(
        "--sample-time",
        metavar="TIME",
        help="C: sample time in which the times of a motion are counted. Default: 1 ms.",
        rich_help_panel="Target options",
    ),
]
To = Annotated[str, typer.Option("--to", metavar="TARGET", help="Export target.")]
Directory = Annotated[
    Path,
    typer.Option(
        "-o",
        "--folder",
        metavar="DIR",
        help="Folder for the files; created if it does not exist. Default: the working folder.",
        show_default=False,
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
        help="LPV: largest relative error of responses between grid points. Default: 1%. C: largest error of a motion, "
        "of its range. Default: 1e-9, in single precision 1e-7; 0 keeps its pieces.",
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


def export(
    rom: Source,
    to: To = "c",
    motion: MotionName = None,
    directory: Directory = Path("."),
    prefix: Prefix = None,
    precision: Precision = None,
    tolerance: Tolerance = None,
    sample_time: SampleTime = None,
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
        from supple.export.export import TARGETS
        from supple.export.export import export as exported

        TARGETS[to]  # reject an unknown target before the file is read
        given: dict[str, Any] = {"precision": precision, "tolerance": tolerance, "fmi": fmi, "method": method}
        given["platforms"] = platforms or None
        given["step"] = None if step is None else quantity_of(step, "--step", TIME)
        given["sample_time"] = None if sample_time is None else quantity_of(sample_time, "--sample-time", TIME)
        source: Any
        if motion is None:
            source = model = read_model(answer, rom)
            given["start"] = None if start is None else model_configuration(model, start, "--start")
            one = set_values(model, rom, settings) or None
        else:
            require_no({"--start": start}, "a motion has no start")
            source, own, one = *_motion(answer, rom, motion, settings), None
            prefix = own if prefix is None else prefix
        options = {name: value for name, value in given.items() if value is not None}
        files = [str(file) for file in exported(source, directory, to=to, prefix=prefix, set=one, **options)]
        answer.give({"files": files}, lambda: print("\n".join(f"written to {file}" for file in files)))


def _motion(answer: Answer, file: str, name: str, settings: list[str] | None) -> tuple[AnyReference, str]:
    """Return a motion of a mechanism or a reduced model, and the prefix of its files."""
    from supple.control.feedforward.reference import reference

    of = read_model(answer, file, settings) if is_model(file) else read_mechanism(answer, file, settings)
    return reference(name, of), f"{of.name}_{Path(name).stem}"
