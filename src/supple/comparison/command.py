"""`supple compare`: a reduced model against the mechanism it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.help_text import OUTPUT, help_of
from supple.cli.kept import Picture, TableFile, keep, write_report
from supple.cli.model_argument import Rom, read_model, set_values
from supple.cli.options import File, Json, Rigid, Settings, quote_arguments, read_mechanism

if TYPE_CHECKING:
    from supple.comparison.time_comparison import TimeComparison

Scenario = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        metavar="NAME|YAML|CSV",
        help="Scenario, motion or table of coordinates along which both are compared. A scenario compares them "
        "in time. Default: random points.",
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="HTML report to write.", rich_help_panel=OUTPUT)
]
Points = Annotated[int, typer.Option("--points", metavar="N", help=help_of("compare", "points"), show_default=False)]


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
    """Compare a reduced model with its mechanism."""
    with open_answer(as_json) as answer:
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
            write_report(found, report, quote_arguments(context, "report"))
            _give_run(answer, found)
            return
        if plot is not None:
            raise typer.BadParameter(_not_drawn(scenario), param_hint="--plot")
        keep(found, output)
        write_report(found, report, quote_arguments(context, "report"))
        answer.show(found)


def _not_drawn(scenario: str | None) -> str:
    """Return the reason why a comparison of coefficients has no plot."""
    if scenario is None:
        return "only comparisons in time can be plotted; give --scenario"
    return (
        f'"{scenario}" is a motion, along which coefficients are compared; only comparisons in time can be plotted; '
        "give a scenario of the file or an S.yaml, or omit --plot (-o FILE.csv and --report show the coefficients)"
    )


def _give_run(answer: Answer, found: TimeComparison) -> None:
    """Print a comparison in time, and the reason if it ended early."""
    from supple.diagnostics import NumericalError

    if found.missing:
        answer.warn(f"the reduced model has no output {', '.join(found.missing)}; reduce again to compare it")
    answer.show(found, "--json gives all values, -o FILE.csv a table, --plot FILE.png a picture")
    if found.reason:
        last = found.time[-1] if found.points else found.full.time[0]
        raise answer.cut_short(f"the comparison ends at {last:.6g} s: {found.reason}", NumericalError.exit_status)
