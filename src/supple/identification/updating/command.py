"""`supple identify` and `supple plan-test`: parameters of a mechanism file from measurements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.help_text import COST, OUTPUT, help_of
from supple.cli.kept import require_folder, write_report
from supple.cli.options import (
    ClusterOption,
    File,
    Json,
    Settings,
    configuration,
    pieces,
    quote_arguments,
    read_mechanism,
)
from supple.cli.progress_line import ProgressText
from supple.diagnostics import InputError

if TYPE_CHECKING:
    from supple.identification.damping.fitted_damping import FittedDamping
    from supple.identification.updating.updated import Updated


# `supple plan-test`: parameters that a test can identify, before it is made.


PlanTestMore = Annotated[
    list[str] | None, typer.Argument(metavar="[CANDIDATE]...", help="Candidate tests, as in --candidates.")
]
Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidates",
        metavar="POSTURE:POINT.AXIS",
        help="Candidate test: postures with excitation points, `first:platform.z`, "
        "`first:platform.x+platform.z;second:platform.z`. Repeatable.",
    ),
]
Sensors = Annotated[
    str | None,
    typer.Option(
        "--sensors",
        metavar="POINT,...",
        help="Accelerometers: `platform` (three directions), `arm1[0.5].z`. Default: the points of the file's sensors.",
    ),
]
PlanTestNoise = Annotated[
    float, typer.Option("--noise", metavar="FRACTION", help=help_of("plan_test", "noise"), show_default=False)
]
PlanTestBand = Annotated[
    str, typer.Option("--band", metavar="LOW:HIGH", help=help_of("plan_test", "band"), show_default=False)
]


def plan_test(
    file: File,
    more: PlanTestMore = None,
    candidates: Candidates = None,
    parameters: Parameters = "",
    sensors: Sensors = None,
    fix: Fix = None,
    prior: Prior = "0.3",
    noise: PlanTestNoise = 0.05,
    band: PlanTestBand = "1:100",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Report which parameters candidate tests can identify."""
    with open_answer(as_json) as answer:
        mechanism = read_mechanism(answer, file, settings)
        if not parameters.strip():
            raise _make_usage_error()
        from supple.identification.updating.plan_test import plan_test as plan

        read = [item.strip() for item in pieces(sensors)] if sensors else _places(mechanism)
        tests = [_candidate(mechanism, text, read) for text in [*(candidates or ()), *(more or ())]]
        if not tests:
            raise InputError("no candidate test is given", part="--candidates", hint="name at least one: home:tip.z")
        with ProgressText(answer) as show:
            found = plan(
                mechanism, [item.strip() for item in pieces(parameters)], tests,
                fixed=[item.strip() for item in pieces(fix)] if fix else (), prior=prior_of(prior), noise=noise,
                band=hertz_interval(band), progress=show,
            )  # fmt: skip
        answer.show(found)


def _places(mechanism: Any) -> list[str]:
    """Return the places of the file's sensors, each once."""
    found = dict.fromkeys(sensor.place for sensor in mechanism.sensors.values() if sensor.place is not None)
    if not found:
        raise typer.BadParameter("the file has no sensors; name places", param_hint="--sensors")
    return list(found)


def _candidate(mechanism: Any, text: str, sensors: list[str]) -> Any:
    from supple.identification.updating.plan_test import Candidate

    impacts: dict[Any, list[str]] = {}
    for part in text.split(";"):
        where, colon, points = part.partition(":")
        if not colon or not points.strip():
            raise typer.BadParameter(f"{part.strip()!r} is not POSTURE:POINT.AXIS", param_hint="--candidates")
        where = where.strip()
        named = where in mechanism.configurations or where in ("", "rest")
        if not named:
            configuration(mechanism, where)
        impacts[where if named and where not in ("", "rest") else _Posture(configuration(mechanism, where or None))] = [
            item.strip() for item in points.split("+")
        ]
    return Candidate(impacts, sensors, text)


class _Posture(dict[str, float]):
    """Coordinates as a dictionary key."""

    def __init__(self, values: dict[str, float] | None):
        super().__init__(values or {})

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items())))


More = Annotated[list[str] | None, typer.Argument(metavar="[MEASURED]...", help="Measurements, as in --measured.")]
Measured = Annotated[
    list[str] | None,
    typer.Option(
        "--measured",
        metavar="FILE[@POSTURE]",
        help="Measurement and its configuration: responses (.uff, .csv, .mat, .npz), modes of `supple modal` "
        "(.npz, .mat), natural frequencies or deflections (.csv). Repeatable.",
    ),
]
Parameters = Annotated[
    str,
    typer.Option(
        "--parameters",
        metavar="NAME,...",
        help="Parameters to identify: entries of `parameters:` or of parts (`knee_*,ankle.rx,steel.E`). "
        "`knee:knee_r*` fits one common factor.",
    ),
]
Fix = Annotated[
    str | None, typer.Option("--fix", metavar="NAME,...", help=help_of("update", "fixed"), show_default=False)
]
Prior = Annotated[
    str,
    typer.Option(
        "--prior",
        metavar="DECADES",
        help="Prior standard deviation in decades: a number, NAME=DECADES,... or none. Default: 0.3.",
        show_default=False,
    ),
]
Bounds = Annotated[
    str | None,
    typer.Option("--bounds", metavar="NAME=LOW:HIGH,...", help=help_of("update", "bounds"), show_default=False),
]
DampingText = Annotated[
    str | None,
    typer.Option(
        "--damping",
        metavar="MODEL,...",
        help="Damping model to fit. `structural`, `rayleigh` or `none` is fitted together with the parameters to "
        "responses; `modal`, `joints` or `materials` is fitted afterwards. Without --parameters, only damping is "
        "fitted.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--damping-groups",
        metavar="NAME:PART|PART,...",
        help="Joints or materials (patterns) that share one loss factor.",
    ),
]
TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME=OVER[:KNOTS]",
        help="Stiffness as a table over a coordinate or over `load`: `knee.ry=lift:0,0.5,1`. Default: three "
        "knots over the measured postures.",
    ),
]
Band = Annotated[
    str | None,
    typer.Option("--band", metavar="LOW:HIGH", help="Frequency band of the responses to fit, Hz. Default: all lines."),
]
Misfit = Annotated[
    str | None,
    typer.Option(
        "--misfit",
        metavar="LOW:HIGH,...",
        help="Frequency bands in Hz for which the misfit J_Q is reported. Default: the fitted band, and all lines.",
        rich_help_panel=OUTPUT,
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(
        "--frequency-noise", metavar="FRACTION", help="Relative standard deviation of the natural frequencies."
    ),
]
Starts = Annotated[
    int,
    typer.Option("--starts", metavar="N", help=help_of("update", "starts"), show_default=False, rich_help_panel=COST),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help=help_of("update", "seed"), show_default=False, rich_help_panel=COST)
]
Robust = Annotated[bool, typer.Option("--robust", help=help_of("update", "robust"), show_default=False)]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--file",
        metavar="FILE",
        help="Mechanism file to write, with the identified values.",
        rich_help_panel=OUTPUT,
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="HTML report to write.", rich_help_panel=OUTPUT)
]
Predict = Annotated[
    list[str] | None,
    typer.Option(
        "--predict",
        metavar="WHERE",
        help="Configuration at which to predict natural frequencies with confidence intervals. Repeatable.",
    ),
]

Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Fit responses that fail the plausibility checks (units, signs, axes, posture), with a warning."
    ),
]


def identify(
    context: typer.Context,
    file: File,
    more: More = None,
    measured: Measured = None,
    parameters: Parameters = "",
    fix: Fix = None,
    prior: Prior = "0.3",
    bounds: Bounds = None,
    damping: DampingText = None,
    damping_groups: Groups = None,
    table: TableOption = None,
    band: Band = None,
    misfit: Misfit = None,
    frequency_noise: Noise = None,
    starts: Starts = 8,
    seed: Seed = 0,
    cluster: ClusterOption = None,
    robust: Robust = False,
    trust: Trust = False,
    predict: Predict = None,
    output: Output = None,
    report: Report = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Identify stiffness, mass and damping parameters."""
    with open_answer(as_json) as answer:
        from supple.identification.testing.check_measurement import sound_measurement

        require_folder(output, report)
        mechanism = read_mechanism(answer, file, settings)
        items = _measurements(mechanism, [*(measured or ()), *(more or ())], band, frequency_noise)
        for i, item in enumerate(items):
            items[i], doubts = sound_measurement(item, mechanism, trust=trust)
            for text in doubts:
                answer.warn(text)
        typed = quote_arguments(context, "report")
        if not parameters.strip():
            if damping is None:
                raise _make_usage_error()
            if predict:
                raise typer.BadParameter(
                    "without --parameters only damping is fitted, which changes no natural frequency; give "
                    "--parameters, or use `supple modes FILE --at WHERE`", param_hint="--predict",
                )  # fmt: skip
            from supple.identification.damping.fit_damping import fit_damping

            with ProgressText(answer) as show:
                damped = fit_damping(mechanism, items, damping, groups=_groups(damping_groups), progress=show)
            _give(answer, damped, misfit, output, report, typed)
            return
        from supple.identification.updating.update import update

        with ProgressText(answer) as show:
            found = update(
                mechanism, items, [item.strip() for item in pieces(parameters)],
                fixed=[item.strip() for item in pieces(fix)] if fix else (), prior=prior_of(prior),
                bounds=_bounds(bounds), damping=damping, damping_groups=_groups(damping_groups),
                tables=_tables(table), starts=starts, seed=seed, cluster=cluster, robust=robust,
                progress=show,
            )  # fmt: skip
        predictions = {where: found.predict(configuration(mechanism, where)) for where in predict or ()}
        for note in [note for item in items if item.responses is not None for note in item.responses.notes]:
            answer.note(note)
        _give(answer, replace(found, predictions=predictions), misfit, output, report, typed)


def _make_usage_error() -> typer.BadParameter:
    return typer.BadParameter("name the parameters to fit, for example knee_*", param_hint="--parameters")


def _give(
    answer: Answer, found: Updated | FittedDamping, misfit: str | None, output: Path | None, report: Path | None,
    typed: str,
) -> None:  # fmt: skip
    """Write the mechanism file and the report if requested, and print the result."""
    bands = None if misfit is None else [hertz_interval(item, "--misfit") for item in pieces(misfit)]
    misfits = found.misfits(bands)
    if output is not None:
        found.save_mechanism(output)
    write_report(found, report, typed)
    written = [f"wrote {path}" for path in (output, report) if path is not None]
    answer.give(found.data(misfits) if answer.as_json else {}, lambda: found.text(misfits).lines(*written))


def _measurements(mechanism: Any, given: list[str], band: str | None, noise: float | None) -> list[Any]:
    from supple.identification.updating.measured_file import load_measurements

    if not given:
        raise typer.BadParameter(
            "give at least one measurement: FILE, or FILE@POSTURE if it was not made at rest",
            param_hint="--measured",
        )
    found: list[Any] = []
    for item in given:
        path, _, where = item.partition("@") if not Path(item).exists() else (item, "", "")
        at: Any = where or None
        if where and where not in mechanism.configurations:
            at = configuration(mechanism, where)
        found += load_measurements(path, at, band=hertz_interval(band) if band else None, frequency_noise=noise)
    return found


def hertz_interval(text: str, option: str = "--band") -> tuple[float, float]:
    """Return the interval of `1:100`, Hz."""
    low, _, high = text.partition(":")
    try:
        return float(low or 0.0), float(high)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not FROM:TO in Hz", param_hint=option) from None


def prior_of(text: str) -> Any:
    """Return one number of decades, or numbers by name; None for `none`."""
    if text.strip() == "none":
        return None
    try:
        if "=" not in text:
            return float(text)
        return {name.strip(): float(value) for name, _, value in (item.partition("=") for item in pieces(text))}
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not DECADES or NAME=DECADES,...", param_hint="--prior") from None


def _bounds(text: str | None) -> dict[str, tuple[float, float]] | None:
    if text is None:
        return None
    found = {}
    for item in pieces(text):
        name, _, interval = item.partition("=")
        low, _, high = interval.partition(":")
        try:
            found[name.strip()] = float(low), float(high)
        except ValueError:
            raise typer.BadParameter(f"{item.strip()!r} is not NAME=LOW:HIGH", param_hint="--bounds") from None
    return found


def _groups(text: str | None) -> dict[str, list[str]]:
    """Return the groups of `drives:O|knee,others:*`."""
    found = {}
    for item in pieces(text) if text else ():
        name, colon, patterns = item.partition(":")
        if not colon or not name.strip() or not patterns.strip():
            raise typer.BadParameter(f"{item.strip()!r} is not NAME:PART|PART", param_hint="--damping-groups")
        found[name.strip()] = [pattern.strip() for pattern in patterns.split("|")]
    return found


def _tables(given: list[str] | None) -> dict[str, Any]:
    """Return the tables of `knee.ry=lift:0,0.5,1`."""
    from supple.description.quantities.expression import number

    found: dict[str, Any] = {}
    for item in given or ():
        name, equals, table = item.partition("=")
        over, colon, knots = table.partition(":")
        if not equals or not over.strip() or (colon and not knots.strip()):
            raise typer.BadParameter(f"{item!r} is not NAME=OVER or NAME=OVER:AT,AT", param_hint="--table")
        at = [float(number(text.strip())) for text in pieces(knots)] if colon else []
        found[name.strip()] = (over.strip(), at)
    return found
