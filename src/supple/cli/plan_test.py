"""`supple plan-test`: what a test would tell, before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import answering
from supple.cli.identify import Fix, Parameters, Prior, hertz_interval, prior_of
from supple.cli.options import File, Json, Settings, configuration, pieces, read_mechanism
from supple.cli.progress_line import Told

if TYPE_CHECKING:
    from supple.identification.updating.plan_test import TestPlan

More = Annotated[
    list[str] | None, typer.Argument(metavar="[CANDIDATE]...", show_default=False, help="As --candidates.")
]
Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidates", metavar="POSTURE:BLOW[+BLOW][;POSTURE:BLOW]", show_default=False,
        help="A test: hammer points with directions at postures, `first:platform.z`, `second:platform.x+platform.z`, "
        "`first:platform.z;second:platform.z`. May be repeated.",
    ),
]  # fmt: skip
Sensors = Annotated[
    str | None,
    typer.Option(
        "--sensors", metavar="PLACE,...", show_default=False,
        help="Where accelerations are read: `platform` (three directions), `arm1[0.5].z`. The places of the file's "
        "sensors if left out.",
    ),
]  # fmt: skip
Noise = Annotated[float, typer.Option("--noise", metavar="SHARE", help="Of each response, as a part of its RMS.")]
Band = Annotated[str, typer.Option("--band", metavar="FROM:TO", help="Hz.")]


def plan_test(
    file: File,
    more: More = None,
    candidates: Candidates = None,
    parameters: Parameters = "",
    sensors: Sensors = None,
    fix: Fix = None,
    prior: Prior = "0.3",
    noise: Noise = 0.05,
    band: Band = "1:100",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Tell which numbers of the file candidate tests would determine."""
    with answering(as_json) as answer:
        mechanism = read_mechanism(answer, file, settings)
        if not parameters.strip():
            raise typer.BadParameter("name the numbers to find, for example knee_*", param_hint="--parameters")
        from supple.identification.updating.plan_test import plan_test as plan

        read = [item.strip() for item in pieces(sensors)] if sensors else _places(mechanism)
        tests = [_candidate(mechanism, text, read) for text in [*(candidates or ()), *(more or ())]]
        with Told(answer) as told:
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
        answer.give(data, lambda: _show(found, read))


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


def _show(found: TestPlan, sensors: list[str]) -> None:
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
