"""`supple identify`: numbers of a mechanism file from what was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.kept import require_folder, write_report
from supple.cli.options import ClusterOption, File, Json, Settings, configuration, pieces, read_mechanism, typed_again
from supple.cli.progress_line import ProgressText

if TYPE_CHECKING:
    from supple.identification.damping.fitted_damping import FittedDamping
    from supple.identification.updating.updated import Updated


# `supple plan-test`: what a test would tell, before it is made.


PlanTestMore = Annotated[list[str] | None, typer.Argument(metavar="[CANDIDATE]...", help="As --candidates.")]
Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidates", metavar="POSTURE:BLOW[+BLOW][;POSTURE:BLOW]",
        help="A test: hammer points with directions at postures, `first:platform.z`, `second:platform.x+platform.z`, "
        "`first:platform.z;second:platform.z`. May be repeated.",
    ),
]  # fmt: skip
Sensors = Annotated[
    str | None,
    typer.Option(
        "--sensors", metavar="PLACE,...",
        help="Where accelerations are read: `platform` (three directions), `arm1[0.5].z`. The places of the file's "
        "sensors if left out.",
    ),
]  # fmt: skip
PlanTestNoise = Annotated[
    float, typer.Option("--noise", metavar="SHARE", help="Of each response, as a part of its RMS.")
]
PlanTestBand = Annotated[str, typer.Option("--band", metavar="FROM:TO", help="Hz.")]


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
    """Tell which numbers of the file candidate tests would determine."""
    with answering(as_json) as answer:
        mechanism = read_mechanism(answer, file, settings)
        if not parameters.strip():
            raise _nothing_to_find()
        from supple.identification.updating.plan_test import plan_test as plan

        read = [item.strip() for item in pieces(sensors)] if sensors else _places(mechanism)
        tests = [_candidate(mechanism, text, read) for text in [*(candidates or ()), *(more or ())]]
        with ProgressText(answer) as told:
            found = plan(
                mechanism, [item.strip() for item in pieces(parameters)], tests,
                fixed=[item.strip() for item in pieces(fix)] if fix else (), prior=prior_of(prior), noise=noise,
                band=hertz_interval(band), progress=told,
            )  # fmt: skip
        answer.show(found)


def _places(mechanism: Any) -> list[str]:
    """The places of the file's sensors, each once."""
    found = dict.fromkeys(sensor.place for sensor in mechanism.sensors.values() if sensor.place is not None)
    if not found:
        raise typer.BadParameter("name places, the file has no sensors", param_hint="--sensors")
    return list(found)


def _candidate(mechanism: Any, text: str, sensors: list[str]) -> Any:
    from supple.identification.updating.plan_test import Candidate

    blows: dict[Any, list[str]] = {}
    for part in text.split(";"):
        where, colon, points = part.partition(":")
        if not colon or not points.strip():
            raise typer.BadParameter(f"{part.strip()!r} is not POSTURE:BLOW", param_hint="--candidates")
        where = where.strip()
        named = where in mechanism.configurations or where in ("", "rest")
        if not named:
            configuration(mechanism, where)
        blows[where if named and where not in ("", "rest") else _Posture(configuration(mechanism, where or None))] = [
            item.strip() for item in points.split("+")
        ]
    return Candidate(blows, sensors, text)


class _Posture(dict[str, float]):
    """Coordinates that can be a key."""

    def __init__(self, values: dict[str, float] | None):
        super().__init__(values or {})

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items())))


More = Annotated[list[str] | None, typer.Argument(metavar="[MEASURED]...", help="As --measured.")]
Measured = Annotated[
    list[str] | None,
    typer.Option(
        "--measured", metavar="FILE[@POSTURE]",
        help="What was measured, and where, as --at takes it: responses (.uff, .csv, .mat, .npz), modes of "
        "`supple modal` (.npz, .mat), natural frequencies or deflections (.csv). May be repeated.",
    ),
]  # fmt: skip
Parameters = Annotated[
    str,
    typer.Option(
        "--parameters", metavar="NAME,...",
        help="Numbers to find: of `parameters:` or of parts (`knee_*,ankle.rx,arm.drive,steel.E`); `knee:knee_r*` ties "
        "all that match together.",
    ),
]  # fmt: skip
Fix = Annotated[str | None, typer.Option("--fix", metavar="NAME,...", help="Numbers that stay as they are.")]
Prior = Annotated[
    str,
    typer.Option(
        "--prior", metavar="DECADES",
        help="How far from the file's values numbers may well be, one for all or NAME=DECADES,...; none: no prior.",
    ),
]  # fmt: skip
Bounds = Annotated[str | None, typer.Option("--bounds", metavar="NAME=LOW:HIGH,...", help="Numbers stay within.")]
DampingText = Annotated[
    str | None,
    typer.Option(
        "--damping", metavar="KIND,...",
        help="Of responses: structural, rayleigh or none, fitted along; modal, joints, materials, fitted afterwards. "
        "Without --parameters damping alone.",
    ),
]  # fmt: skip
Groups = Annotated[
    str | None,
    typer.Option(
        "--damping-groups", metavar="NAME:PART|PART,...",
        help="Joints or materials (patterns) that share a loss factor.",
    ),
]  # fmt: skip
TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table", metavar="NAME=OVER[:AT,AT,...]",
        help="A stiffness as a table over a coordinate, or over `load`; knots, or three over the postures measured.",
    ),
]  # fmt: skip
Band = Annotated[str | None, typer.Option("--band", metavar="FROM:TO", help="Hz, of responses: lines that count.")]
Misfit = Annotated[
    str | None,
    typer.Option(
        "--misfit", metavar="FROM:TO,...",
        help="Hz: bands in which J_Q is told, all responses together and (--json) one by one; if left out, the band "
        "that is fitted, and all lines.",
    ),
]  # fmt: skip
Noise = Annotated[
    float | None, typer.Option("--frequency-noise", metavar="SHARE", help="1σ of natural frequencies, relative.")
]
Starts = Annotated[int, typer.Option("--starts", metavar="N", help="Starts that are tried, the first from the file.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of the other starts.")]
Robust = Annotated[bool, typer.Option("--robust", help="What deviates much counts less.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--file", metavar="FILE", help="Write the file with the numbers found.")
]
Report = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write a page with pictures: .html.")]
Predict = Annotated[
    list[str] | None, typer.Option("--predict", metavar="WHERE", help="Frequencies at other postures, with intervals.")
]

Trust = Annotated[
    bool,
    typer.Option("--trust", help="Fit also responses that look wrong (units, signs, axes, posture), with a warning."),
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
    """Find stiffnesses, masses, damping and other numbers of the file from what was measured."""
    with answering(as_json) as answer:
        from supple.identification.testing.check_measurement import sound_measurement

        require_folder(output, report)
        mechanism = read_mechanism(answer, file, settings)
        items = _measurements(mechanism, [*(measured or ()), *(more or ())], band, frequency_noise)
        for i, item in enumerate(items):
            items[i], said = sound_measurement(item, mechanism, trust=trust)
            for text in said:
                answer.warn(text)
        typed = typed_again(context, "report")
        if not parameters.strip():
            if damping is None:
                raise _nothing_to_find()
            if predict:
                raise typer.BadParameter(
                    "damping alone moves no natural frequency; name --parameters to find, or see `supple modes FILE "
                    "--at WHERE`", param_hint="--predict",
                )  # fmt: skip
            from supple.identification.damping.fit_damping import fit_damping

            with ProgressText(answer) as told:
                damped = fit_damping(mechanism, items, damping, groups=_groups(damping_groups), progress=told)
            _give(answer, damped, misfit, output, report, typed)
            return
        from supple.identification.updating.update import update

        with ProgressText(answer) as told:
            found = update(
                mechanism, items, [item.strip() for item in pieces(parameters)],
                fixed=[item.strip() for item in pieces(fix)] if fix else (), prior=prior_of(prior),
                bounds=_bounds(bounds), damping=damping, damping_groups=_groups(damping_groups),
                tables=_tables(table), starts=starts, seed=seed, cluster=cluster, robust=robust,
                progress=told,
            )  # fmt: skip
        predictions = {where: found.predict(configuration(mechanism, where)) for where in predict or ()}
        for note in [note for item in items if item.responses is not None for note in item.responses.notes]:
            answer.note(note)
        _give(answer, replace(found, predictions=predictions), misfit, output, report, typed)


def _nothing_to_find() -> typer.BadParameter:
    return typer.BadParameter("name the numbers to find, for example knee_*", param_hint="--parameters")


def _give(
    answer: Answer, found: Updated | FittedDamping, misfit: str | None, output: Path | None, report: Path | None,
    typed: str,
) -> None:  # fmt: skip
    """Write the mechanism file and the page where they are wanted, and show the result."""
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
        raise typer.BadParameter("give what was measured: FILE@POSTURE", param_hint="--measured")
    found: list[Any] = []
    for item in given:
        path, _, where = item.partition("@") if not Path(item).exists() else (item, "", "")
        at: Any = where or None
        if where and where not in mechanism.configurations:
            at = configuration(mechanism, where)
        found += load_measurements(path, at, band=hertz_interval(band) if band else None, frequency_noise=noise)
    return found


def hertz_interval(text: str, option: str = "--band") -> tuple[float, float]:
    """`1:100`, Hz."""
    low, _, high = text.partition(":")
    try:
        return float(low or 0.0), float(high)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not FROM:TO in Hz", param_hint=option) from None


def prior_of(text: str) -> Any:
    """One number of decades, or by name; None for none."""
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
    """`drives:O|knee,others:*`."""
    found = {}
    for item in pieces(text) if text else ():
        name, colon, patterns = item.partition(":")
        if not colon or not name.strip() or not patterns.strip():
            raise typer.BadParameter(f"{item.strip()!r} is not NAME:PART|PART", param_hint="--damping-groups")
        found[name.strip()] = [pattern.strip() for pattern in patterns.split("|")]
    return found


def _tables(given: list[str] | None) -> dict[str, Any]:
    """`knee.ry=lift:0,0.5,1`."""
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
