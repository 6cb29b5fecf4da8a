"""`supple export`: a reduced model, a control law or a motion for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.bundled import bundled_names
from supple.cli.help_text import MODEL, OUTPUT
from supple.cli.kept import require_folder, require_table_or_picture, write_result
from supple.cli.model_argument import is_model, model_configuration, read_model, require_no, set_values
from supple.cli.options import Json, quantity_of, read_mechanism, relative
from supple.description.quantities.dimension import TIME

if TYPE_CHECKING:
    from supple.control.feedforward.reference import AnyReference
    from supple.run_time.trade_off import RunTimeForms

Source = Annotated[
    str,
    typer.Argument(
        metavar="ROM|LAW",
        help="Reduced model from `supple reduce`, or control law from `law.save`; with --motion also a mechanism file.",
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
        help="Largest relative error. Run-time forms: against the mechanism, default twice that of the model. LPV: of "
        "responses between grid points, default 1%. C: of a motion, of its range, default 1e-9, in single precision "
        "1e-7; 0 keeps its pieces.",
        rich_help_panel="Target options",
        parser=relative,
    ),
]
RUN_TIME = "Run-time form"
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Write the form of the model with the fewest operations whose tables take at most this memory, e.g. 64kB.",
        rich_help_panel=RUN_TIME,
    ),
]
Operations = Annotated[
    int | None,
    typer.Option(
        "--operations",
        metavar="N",
        help="Largest number of multiply-adds of inverse dynamics. Without --memory, the form with the least memory is "
        "written.",
        rich_help_panel=RUN_TIME,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="PROCESSOR",
        help="Processor: host, cortex-m4f, cortex-m7 or cortex-m33. It determines the size of a number, and the "
        "precision of C. Default: host.",
        rich_help_panel=RUN_TIME,
    ),
]
Smooth = Annotated[
    bool,
    typer.Option(
        "--smooth", help="Use cubic splines, without jumps of forces between boxes.", rich_help_panel=RUN_TIME
    ),
]
TradeOff = Annotated[
    Path | None,
    typer.Option(
        "--trade-off",
        metavar="FILE",
        help="Picture or table of the forms to write: their errors, operations and memory.",
        rich_help_panel=RUN_TIME,
        callback=require_table_or_picture,
    ),
]
_WITHOUT_FORMS = ("control", "lpv")  # targets that write linear models or evaluate the model in Python
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
    memory: Memory = None,
    operations: Operations = None,
    target: Target = None,
    smooth: Smooth = False,
    trade_off: TradeOff = None,
    as_json: Json = False,
) -> None:
    """Write C code, an FMU or files for other programs."""
    with open_answer(as_json) as answer:
        from supple.diagnostics import InputError
        from supple.export.export import TARGETS
        from supple.export.export import export as exported
        from supple.formats.document import holds_law
        from supple.results.text import Text
        from supple.run_time.processor import processor_of
        from supple.run_time.run_time_forms import run_time_forms

        TARGETS[to]  # reject an unknown target before the file is read
        given: dict[str, Any] = {"precision": precision, "tolerance": tolerance, "fmi": fmi, "method": method}
        given["platforms"] = platforms or None
        if holds_law(rom):
            from supple.control.laws.law_file import load_law  # exporting a model needs no controllers

            law = load_law(rom)
            refused = {"--start": start, "--step": step, "--set": settings, "--motion": motion, "--memory": memory}
            for option, value in (refused | {"--operations": operations, "--target": target}).items():
                if value:
                    raise InputError(f"a control law does not take {option}", file=rom, hint=f"leave {option} out")
            options = {name: value for name, value in given.items() if value is not None}
            files = [str(file) for file in exported(law, directory, to=to, prefix=prefix, **options)]
            cost = law.cost
            found = {"files": files, **{name: value for name, value in cost._asdict().items() if value != ""}}
            answer.give(found, lambda: print("\n".join([*(f"written to {file}" for file in files), *cost.lines()])))
            return
        given["step"] = None if step is None else quantity_of(step, "--step", TIME)
        given["sample_time"] = None if sample_time is None else quantity_of(sample_time, "--sample-time", TIME)
        form = {"--target": target, "--smooth": smooth, "--trade-off": trade_off}
        forms: RunTimeForms | None = None
        source: Any
        if motion is None:
            source = model = read_model(answer, rom)
            given["start"] = None if start is None else model_configuration(model, start, "--start")
            one = set_values(model, rom, settings) or None
        else:
            require_no({"--start": start}, "a motion has no start")
            require_no({"--memory": memory, "--operations": operations}, "a motion has no run-time form")
            source, own, one = *_motion(answer, rom, motion, settings), None
            prefix = own if prefix is None else prefix
        if memory is None and operations is None:
            _require_budget(form)
        else:
            _require_form(to)
            require_folder(trade_off)
            budget = {"memory": memory, "operations": operations, "tolerance": given.pop("tolerance")}
            forms = run_time_forms(model if one is None else model.at(one), **budget, target=target or "host",
                                   smooth=smooth)  # fmt: skip
            source, one = forms.model, None
            if to == "c" and precision is None:
                given["precision"] = processor_of(forms.target).precision
        options = {name: value for name, value in given.items() if value is not None}
        files = [str(file) for file in exported(source, directory, to=to, prefix=prefix, set=one, **options)]
        if forms is not None and trade_off is not None:
            write_result(forms, trade_off)
            files.append(str(trade_off))
        data = {"files": files} | ({} if forms is None else forms.data())
        text = Text() if forms is None else forms.text()
        answer.give(data, lambda: text.lines(*(f"written to {file}" for file in files)))


def _require_budget(given: dict[str, Any]) -> None:
    """Refuse options of run-time forms without a budget."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter("needs --memory or --operations", param_hint=name)


def _require_form(to: str) -> None:
    """Refuse targets that do not evaluate the polynomials of a model."""
    if to in _WITHOUT_FORMS:
        raise typer.BadParameter(f"target {to} does not use the polynomials of the model", param_hint="--memory")


def _motion(answer: Answer, file: str, name: str, settings: list[str] | None) -> tuple[AnyReference, str]:
    """Return a motion of a mechanism or a reduced model, and the prefix of its files."""
    from supple.control.feedforward.reference import reference

    of = read_model(answer, file, settings) if is_model(file) else read_mechanism(answer, file, settings)
    return reference(name, of), f"{of.name}_{Path(name).stem}"
