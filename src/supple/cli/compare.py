"""`supple compare`: a reduced model against the mechanism it was made from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import answering
from supple.cli.model_argument import Rom, read_model
from supple.cli.options import File, Json, Settings, read_mechanism
from supple.cli.rigid_option import Rigid

if TYPE_CHECKING:
    from supple.reduction.comparison import Comparison

Scenario = Annotated[
    str | None,
    typer.Option(
        "--scenario", metavar="NAME|MOTION|CSV", show_default=False,
        help="Compare along a scenario or a motion of the file, or a table of coordinates.",
    ),
]  # fmt: skip
Points = Annotated[
    int, typer.Option("--points", metavar="N", min=1, help="Fresh random points over the region of the model.")
]


def compare(
    file: File,
    rom: Rom,
    scenario: Scenario = None,
    points: Points = 1000,
    rigid: Rigid = False,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Say how far off a reduced model is, and how much faster."""
    with answering(as_json) as answer:
        from supple.reduction.comparison import compare as compared

        mechanism = read_mechanism(answer, file, settings)
        found = compared(mechanism, read_model(answer, rom), points=points, scenario=scenario, rigid=rigid)
        data = asdict(found)
        data["coefficients"], data["error"] = data.pop("error"), data.pop("output_error")
        answer.give(data, lambda: _show(found))


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
    if found.coordinate_error is not None:
        out.table(("simulated", "largest difference"), [(k, f"{v:.2g}") for k, v in found.coordinate_error.items()])
        out.line(
            f"{found.full_seconds:.3g} s to simulate, reduced {found.reduced_seconds:.3g} s: "
            f"{found.speedup:.3g} times faster"
        )
        return
    each = [1e6 * seconds / found.points for seconds in (found.full_seconds, found.reduced_seconds)]
    out.line(
        f"{found.points} points: {each[0]:.3g} µs each, reduced {each[1]:.3g} µs: {found.speedup:.3g} times faster"
    )
