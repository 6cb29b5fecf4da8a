"""The option that leaves drives and instruments of the file out."""

from __future__ import annotations

from typing import Annotated

import typer

NoDrives = Annotated[
    bool,
    typer.Option(
        "--no-drives", help="Leave drives and instruments of the file out: inputs are forces, outputs as they are."
    ),
]
