"""`--damping` and `--free-actuators`, of frequency responses and simulated tests."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from supple.cli.quantities import quantity_of
from supple.description.quantities.dimension import PER_TIME, RATIO, TIME

FreeActuators = Annotated[bool, typer.Option("--free-actuators", help="Actuators are free; locked otherwise.")]
DampingOption = Annotated[
    str | None,
    typer.Option(
        "--damping", metavar="LAW", show_default=False,
        help="`0.01` or `modal=0.01` (ζ of every mode; `modal=0.01,0.02` one by one), `structural=0.02` (loss factor), "
        "`rayleigh=ALPHA,BETA`, "
        "`0` for none; the file's if left out.",
    ),
]  # fmt: skip


def damping_of_text(text: str | None) -> dict[str, Any] | float | None:
    """`0.01`, `modal=0.01` (or several, mode by mode), `structural=0.02` or `rayleigh=ALPHA,BETA`."""
    from supple.diagnostics import InputError, nearest

    if text is None:
        return None
    name, equals, value = (item.strip() for item in text.partition("="))
    if not equals:
        return quantity_of(name, "--damping", RATIO)
    if name not in ("modal", "structural", "rayleigh"):
        raise InputError(
            f'"{name}" is not a law of damping',
            part="--damping",
            hint=nearest(name, ("modal", "structural", "rayleigh")),
        )
    items = value.strip("[]").split(",")
    wanted = (PER_TIME, TIME) if name == "rayleigh" else (RATIO,) * (len(items) if name == "modal" else 1)
    numbers = [quantity_of(item, "--damping", each) for item, each in zip(items, wanted, strict=False)]
    if len(items) != len(wanted):
        raise typer.BadParameter("rayleigh takes ALPHA,BETA, structural one number", param_hint="--damping")
    return {name: numbers[0] if len(numbers) == 1 else tuple(numbers)}
