"""`--preload/--no-preload`, as all commands with stiffness of loads have it."""

from __future__ import annotations

from typing import Annotated

import typer

Preload = Annotated[
    bool,
    typer.Option(
        "--preload/--no-preload",
        help="Include the geometric stiffness of gravity, forces and springs at rest, or leave it out.",
    ),
]
