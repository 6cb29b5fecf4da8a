"""`supple identify`: numbers of a mechanism file from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.damping_answer import DampingText, Groups, damping_data, groups_of, show_damping
from supple.cli.kept import require_folder, write_report
from supple.cli.options import ClusterOption, File, Json, Settings, configuration, pieces, read_mechanism
from supple.cli.progress_line import ProgressText
from supple.cli.sound_measurements import Trust, sound
from supple.cli.typed import typed_again

if TYPE_CHECKING:
    from supple.cli.tables import Tables
    from supple.identification.damping.misfit_by_band import BandMisfit
    from supple.identification.updating.plan_test import TestPlan
    from supple.identification.updating.updated import PostureResult, Updated


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
        data = {
            "parameters": found.names,
            "sensors": read,
            "candidates": [
                {"name": name, "determined": item.determined, "left_of_prior": dict(zip(found.names, item.left.tolist(),
                                                                                        strict=True)),
                 "combinations": item.combinations, "unseen": found.unseen[i], "words": found.words(i)}
                for i, (name, item) in enumerate(zip(found.candidates, found.found, strict=True))
            ],
        }  # fmt: skip
        answer.give(data, lambda: _plan_test_show(found, read))


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


def _plan_test_show(found: TestPlan, sensors: list[str]) -> None:
    from supple.cli.tables import Tables

    out = Tables()
    out.line(f"accelerations at {', '.join(sensors)}; of what is not known of each number, there is left:")
    rows = [
        (name, str(item.determined), *(f"{100 * left:.0f} %" for left in item.left))
        for name, item in zip(found.candidates, found.found, strict=True)
    ]
    out.table(("candidate", "determined", *found.names), rows)
    for i, name in enumerate(found.candidates):
        out.line("")
        out.line(name)
        for text in found.words(i):
            out.line(f"- {text}")


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
        require_folder(output, report)
        mechanism = read_mechanism(answer, file, settings)
        items = _measurements(mechanism, [*(measured or ()), *(more or ())], band, frequency_noise)
        items = [sound(answer, mechanism, item, trust=trust) for item in items]
        if not parameters.strip():
            if damping is None:
                raise _nothing_to_find()
            if predict:
                raise typer.BadParameter(
                    "damping alone moves no natural frequency; name --parameters to find, or see `supple modes FILE "
                    "--at WHERE`", param_hint="--predict",
                )  # fmt: skip
            typed = typed_again(context, "report")
            _damping_alone(answer, typed, mechanism, items, damping, damping_groups, _bands(misfit), output, report)
            return
        from supple.identification.updating.update import update

        with ProgressText(answer) as told:
            found = update(
                mechanism, items, [item.strip() for item in pieces(parameters)],
                fixed=[item.strip() for item in pieces(fix)] if fix else (), prior=prior_of(prior),
                bounds=_bounds(bounds), damping=damping, damping_groups=groups_of(damping_groups),
                tables=_tables(table), starts=starts, seed=seed, cluster=cluster, robust=robust,
                progress=told,
            )  # fmt: skip
        misfits = found.misfits(_bands(misfit))
        predictions = {where: found.predict(configuration(mechanism, where)) for where in predict or ()}
        found = replace(found, predictions=predictions)
        if output is not None:
            found.save_mechanism(output)
        write_report(found, report, typed_again(context, "report"))
        for note in [note for item in items if item.responses is not None for note in item.responses.notes]:
            answer.note(note)
        answer.give(_data(found, misfits, predictions), lambda: _show(found, misfits, predictions, output, report))


def _nothing_to_find() -> typer.BadParameter:
    return typer.BadParameter("name the numbers to find, for example knee_*", param_hint="--parameters")


def _damping_alone(
    answer: Answer, typed: str, mechanism: Any, items: list[Any], kinds: str, groups: str | None,
    bands: list[tuple[float, float]] | None, output: Path | None, report: Path | None,
) -> None:  # fmt: skip
    """Damping of the file as it stands."""
    from supple.cli.tables import Tables
    from supple.identification.damping.fit_damping import fit_damping

    with ProgressText(answer) as told:
        found = fit_damping(mechanism, items, kinds, groups=groups_of(groups), progress=told)
    misfits = found.misfits(bands)
    if output is not None:
        found.save_mechanism(output)
    write_report(found, report, typed)

    def show() -> None:
        out = Tables()
        out.line(f"{mechanism.name}: damping from {len(found.postures)} measurements, other numbers as they stand")
        show_damping(out, found)
        _show_misfits(out, misfits)
        _show_end(out, found.words(), output, report)

    data = {"parameters": {}, **damping_data(found), "misfit_by_band": _misfit_data(misfits), "words": found.words()}
    answer.give(data, show)


def _bands(misfit: str | None) -> list[tuple[float, float]] | None:
    return None if misfit is None else [hertz_interval(item, "--misfit") for item in pieces(misfit)]


def _misfit_data(misfits: Sequence[BandMisfit]) -> list[dict[str, Any]]:
    return [
        {"posture": item.label, "band_hz": item.band_hz, "before": item.before, "after": item.after,
         "by_response": item.by_response}
        for item in misfits
    ]  # fmt: skip


def _show_misfits(out: Tables, misfits: Sequence[BandMisfit]) -> None:
    jq = []
    for item in misfits:
        worst = max(item.by_response, key=lambda name: item.by_response[name][1])
        jq.append((item.label, f"{item.band_hz[0]:.4g} .. {item.band_hz[1]:.4g}", f"{100 * item.before:.3g}",
                   f"{100 * item.after:.3g}", f"{100 * item.by_response[worst][1]:.3g} {worst}"))  # fmt: skip
    if jq:
        out.table(("J_Q of responses", "[Hz]", "before [%]", "after [%]", "at most, after [%]"), jq)


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


def _data(found: Updated, misfits: Sequence[BandMisfit], predictions: dict[str, Any]) -> dict[str, Any]:
    known = found.identifiability
    return {
        "parameters": {
            name: {"before": before, "after": after, "interval": found.intervals[name], "left_of_prior": left,
                   "at_prior": name in found.at_prior}
            for name, before, after, left in zip(found.names, found.before, found.after, known.left, strict=True)
        },
        "frequencies_before": {item.label: _model_hz(item)[0] for item in found.postures},
        "frequencies_after": {item.label: _model_hz(item)[1] for item in found.postures},
        "frequencies_measured": {item.label: item.measured_hz for item in found.postures},
        "mac": {item.label: item.mac_after for item in found.postures if item.mac_after is not None},
        "damping": found.damping,
        "misfit": {item.label: item.misfit for item in found.postures if item.misfit is not None},
        "misfit_by_band": _misfit_data(misfits),
        **(damping_data(found.afterwards) if found.afterwards is not None else {}),
        "combinations": known.combinations,
        "words": found.words(),
        "at_bounds": found.at_bounds,
        "predictions": {
            where: {"frequencies_hz": item.frequencies_hz, "low_hz": item.low_hz, "high_hz": item.high_hz}
            for where, item in predictions.items()
        },
    }  # fmt: skip


def _model_hz(item: PostureResult) -> tuple[Any, Any]:
    """Paired with measured ones; where there are responses alone, those of the model among their lines."""
    paired = item.before_hz, item.after_hz
    return paired if len(item.measured_hz) or item.model_hz is None else item.model_hz


def _show(
    found: Updated, misfits: Sequence[BandMisfit], predictions: dict[str, Any], output: Path | None,
    report: Path | None,
) -> None:  # fmt: skip
    from supple.cli.tables import Tables
    from supple.results.interval import interval_words

    out = Tables()
    tests = "one measurement" if len(found.measured) == 1 else f"{len(found.measured)} measurements"
    out.line(f"{found.problem.structure.mechanism.name}: numbers from {tests}")
    rows = []
    for name, before, after in zip(found.names, found.before, found.after, strict=True):
        low, high = found.intervals[name]
        rows.append((name, f"{before:.4g}", *interval_words(after, low, high),
                     "prior" if name in found.at_prior else "data"))  # fmt: skip
    out.table(("number", "before", "after", "95 % interval", "says"), rows)
    if found.afterwards is not None:
        show_damping(out, found.afterwards)
    lines = [
        (f"{item.label or 'posture'} {i + 1}", f"{m:.4g}", f"{b:.4g}", f"{100 * (b / m - 1):+.2f}", f"{a:.4g}",
         f"{100 * (a / m - 1):+.2f}")
        for item in found.postures
        for i, (m, b, a) in enumerate(zip(item.measured_hz, item.before_hz, item.after_hz, strict=True))
    ]  # fmt: skip
    if lines:
        out.table(("mode", "measured [Hz]", "before [Hz]", "off [%]", "after [Hz]", "off [%]"), lines)
    own = [
        (f"{item.label or 'posture'} {i + 1}", f"{b:.4g}", f"{a:.4g}")
        for item in found.postures
        if not len(item.measured_hz)
        for i, (b, a) in enumerate(zip(*_model_hz(item), strict=True))
    ]
    if own:
        out.table(("mode of the model", "before [Hz]", "after [Hz]"), own)
    gauges = [(f"{item.label} {name}".strip(), *(f"{1e3 * value:.4f}" for value in values))
              for item in found.postures for name, values in item.gauges.items()]  # fmt: skip
    if gauges:
        out.table(("gauge", "measured [mm]", "before [mm]", "after [mm]"), gauges)
    _show_misfits(out, misfits)
    for where, predicted in predictions.items():
        bands = zip(predicted.frequencies_hz, predicted.low_hz, predicted.high_hz, strict=True)
        shown = [(str(i + 1), *interval_words(f, low, high)) for i, (f, low, high) in enumerate(bands)]
        out.table((f"predicted at {where}", "[Hz]", "95 % interval"), shown)
    _show_end(out, found.words(), output, report)


def _show_end(out: Tables, words: Sequence[str], *written: Path | None) -> None:
    out.line("")
    for text in words:
        out.line(f"- {text}")
    for path in written:
        if path is not None:
            out.line(f"wrote {path}")
