"""`supple modes --deformed`: vibrations about the mechanism as its loads, or steady motion, bend it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer
from supple.cli.kept import keep
from supple.cli.options import configuration
from supple.cli.quantities import along, quantities_of

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.modal_analysis.small_motions import SmallMotions

Deformed = Annotated[
    bool,
    typer.Option("--deformed", help="About the mechanism as its loads bend it, however far, from the full equations."),
]
Rates = Annotated[
    str | None,
    typer.Option(
        "--rates", metavar="NAME=VALUE,...", show_default=False,
        help="The same in a steady motion with these rates of the coordinates: spin=6rad/s.",
    ),
]  # fmt: skip


def deformed_modes(
    answer: Answer,
    mechanism: Mechanism,
    at: str | None,
    rates: str | None,
    options: dict[str, Any],
    output: Path | None,
) -> None:
    """Compute, keep and tell them. options : count, free_actuators."""
    from supple.kinematics.rest import rest
    from supple.modal_analysis.small_motions import small_motions

    names = rest(mechanism).numbering.coordinates
    given = None if rates is None else quantities_of(rates, "--rates", names, "a coordinate", along(mechanism, "rate"))
    moving = None if given is None else {name: given.get(name, 0.0) for name in names}
    found = small_motions(mechanism, configuration(mechanism, at), rates=moving, **options)
    keep(found, output)
    data = {
        "frequencies_hz": found.frequencies_hz,
        "damping_ratios": found.damping_ratios,
        "at": found.configuration.coordinates,
        "rates": dict(zip(names, found.rates.tolist(), strict=True)),
        "rigid": found.configuration.rigid,
    }
    answer.give(data, lambda: _show(found))


def _show(found: SmallMotions) -> None:
    from supple.cli.tables import Tables, number, posture

    out = Tables()
    out.line(f"{posture(found.configuration)}, deformed{' by steady motion' if found.rates.any() else ''}")
    rows = [
        (str(i + 1), f"{hertz:.5g}", number(ratio))
        for i, (hertz, ratio) in enumerate(zip(found.frequencies_hz, found.damping_ratios, strict=True))
    ]
    out.table(("mode", "Hz", "damping ratio"), rows)
