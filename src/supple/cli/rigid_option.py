"""`--rigid`: elastic parts are taken as rigid on purpose, and nothing is said of it."""

from __future__ import annotations

from typing import Annotated

import typer

Rigid = Annotated[
    bool,
    typer.Option(
        "--rigid",
        help="Elastic parts are taken as rigid, on purpose: no warning. The field `rigid` of --json names them anyway.",
    ),
]
