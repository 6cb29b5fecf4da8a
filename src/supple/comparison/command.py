"""`supple compare`: a reduced model against the mechanism it was made from."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.kept import Picture, TableFile, keep, write_report
from supple.cli.model_argument import Rom, read_model, set_values
from supple.cli.options import File, Json, Rigid, Settings, read_mechanism
from supple.cli.typed import typed_again

if TYPE_CHECKING:
    from supple.comparison.comparison import Comparison
    from supple.comparison.time_comparison import TimeComparison

Scenario = Annotated[
    str | None,
    typer.Option(
        "--scenario", metavar="NAME|S.yaml|MOTION|CSV", show_default=False,
        help="Run both in time through a scenario, of the file or of one of its own; or compare coefficients along a "
        "motion of the file or a table of coordinates.",
    ),
]  # fmt: skip
Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", show_default=False, help="Write a page with pictures: .html.")
]
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
        data = asdict(found)
        data["coefficients"], data["error"] = data.pop("error"), data.pop("output_error")
        answer.give(data, lambda: _show(found))


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
    answer.give(found.data(), lambda: _show_run(found))
    if found.reason:
        last = found.time[-1] if found.points else found.full.time[0]
        raise answer.cut_short(f"the comparison ends at {last:.6g} s: {found.reason}", NumericalError.exit_status)


def _show_run(found: TimeComparison) -> None:
    from supple.cli.tables import Tables, number

    out = Tables()
    units = found.full.seen.units
    out.table(
        ("output", "measured by", "error", "rms", "of the deformation alone"),
        [
            (
                label, f"{number(judged.scale, units.get(judged.outputs[0], ''))} ({judged.measured_by})",
                f"{100 * judged.error:.2g} %", f"{100 * judged.rms_error:.2g} %",
                "" if judged.elastic_error is None else f"{100 * judged.elastic_error:.2g} %",
            )
            for label, judged in found.vectors.items()
        ],
    )  # fmt: skip
    out.table(("coordinate", "largest difference"), [(k, f"{v:.2g}") for k, v in found.coordinate_error.items()])
    full, reduced = (found.frequencies_hz[which] for which in ("full", "reduced"))
    if len(full):
        rows = [
            (f"{a:.4g}", f"{b:.4g}", f"{100 * (b / a - 1):+.2g} %") if b == b else (f"{a:.4g}", "none", "")
            for a, b in zip(full, reduced, strict=True)
        ]
        out.table(("resonance, Hz", "reduced", "off by"), rows)
    out.table(("energy, J", "mechanism", "reduced"), _accounts(found.energy))
    if found.force_error is not None:
        out.line(f"forces that the motion needs: {found.force_error:.2g} of their largest value off")
    worst = max(found.coefficients.items(), key=lambda item: item[1], default=None)
    if worst is not None:
        out.line(f"coefficients along the way: {worst[1]:.2g} off at most ({worst[0]})")
    own = "" if found.own is None else f" in {found.own.steps} of its own"
    out.line(
        f"{found.full_seconds:.3g} s in {found.full.steps} steps, reduced {found.reduced_seconds:.3g} s{own}: "
        f"{found.speedup:.3g} times faster"
    )
    out.line("--json gives all values, -o FILE.csv a table, --plot FILE.png a picture")


def _accounts(energy: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    from supple.cli.tables import number

    full, reduced = energy["full"], energy["reduced"]
    names = [name for name in full if name != "defect" and (full[name] or reduced.get(name))]
    return [(name, *(number(side[name]) if name in side else "" for side in (full, reduced))) for name in names]


def _show(found: Comparison) -> None:
    from supple.cli.tables import Tables

    out = Tables()
    rows = [
        (name, f"{worst:.2g}", ", ".join(f"{key}={value:.4g}" for key, value in found.at.get(name, {}).items()))
        for name, worst in found.error.items()
    ]
    out.table(("coefficients", "largest error", "at"), rows)
    if found.force_error is not None:
        out.line(f"forces that the motion needs: {found.force_error:.2g} of their largest value off")
    each = [1e6 * seconds / found.points for seconds in (found.full_seconds, found.reduced_seconds)]
    out.line(
        f"{found.points} points: {each[0]:.3g} µs each, reduced {each[1]:.3g} µs: {found.speedup:.3g} times faster"
    )
