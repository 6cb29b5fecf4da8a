"""The option --along: parameters of the file along which derivatives are wanted."""

from __future__ import annotations

from typing import Annotated

import typer

Along = Annotated[
    str | None,
    typer.Option(
        "--along", metavar="NAME,...", show_default=False,
        help="Parameters of the file along which derivatives are given too, θ held.",
    ),
]  # fmt: skip
