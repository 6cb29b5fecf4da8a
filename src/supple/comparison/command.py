"""`supple compare`: a reduced model against the mechanism it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import Answer, answering
from supple.cli.kept import Picture, TableFile, keep, write_report
from supple.cli.model_argument import Rom, read_model, set_values
from supple.cli.options import File, Json, Rigid, Settings, read_mechanism, typed_again

if TYPE_CHECKING:
    from supple.comparison.time_comparison import TimeComparison

Scenario = Annotated[
    str | None,
    typer.Option(
        "--scenario", metavar="NAME|S.yaml|MOTION|CSV",
        help="Run both in time through a scenario, of the file or of one of its own; or compare coefficients along a "
        "motion of the file or a table of coordinates.",
    ),
]  # fmt: skip
Report = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write a page with pictures: .html.")]
Points = Annotated[
    int, typer.Option("--points", metavar="N", min=1, help="Fresh random points over the region of the model.")
]


def compare(
    context: typer.Context,
    file: File,
    rom: Rom,
    scenario: Scenario = None,
    points: Points = 1000,
    rigid: Rigid = False,
    output: TableFile = None,
    plot: Picture = None,
    report: Report = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Say how far off a reduced model is, and how much faster."""
    with answering(as_json) as answer:
        from supple.comparison.comparison import compare as compared
        from supple.comparison.time_comparison import TimeComparison

        mechanism = read_mechanism(answer, file, settings)
        model = read_model(answer, rom)
        if model.family is not None:  # the mechanism is compared at the same values
            of_model = [item for item in settings or () if item.partition("=")[0].strip() in model.family.names]
            model = model.at(**set_values(model, rom, of_model))
        found = compared(mechanism, model, points=points, scenario=scenario, rigid=rigid)
        if isinstance(found, TimeComparison):
            keep(found, output, plot)
            write_report(found, report, typed_again(context, "report"))
            _give_run(answer, found)
            return
        if plot is not None:
            raise typer.BadParameter(_not_drawn(scenario), param_hint="--plot")
        keep(found, output)
        write_report(found, report, typed_again(context, "report"))
        answer.show(found)


def _not_drawn(scenario: str | None) -> str:
    """Why there is no picture of a comparison of coefficients."""
    if scenario is None:
        return "only a run in time is drawn: give --scenario"
    return (
        f'along "{scenario}", a motion without forces, coefficients are compared; only a run in time is drawn: give a '
        "scenario of the file or an S.yaml, or leave --plot out (-o FILE.csv and --report show them)"
    )


def _give_run(answer: Answer, found: TimeComparison) -> None:
    """What a run in time tells, and why it ended early if it did."""
    from supple.diagnostics import NumericalError

    if found.missing:
        answer.warn(f"the model has no {', '.join(found.missing)}: reduce again to compare them")
    answer.show(found, "--json gives all values, -o FILE.csv a table, --plot FILE.png a picture")
    if found.reason:
        last = found.time[-1] if found.points else found.full.time[0]
        raise answer.cut_short(f"the comparison ends at {last:.6g} s: {found.reason}", NumericalError.exit_status)
