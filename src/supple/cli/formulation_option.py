"""`--formulation`: which equations an analysis goes through."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Formulation(StrEnum):
    """What the analysis takes by itself, or the equivalent rigid link system."""

    AUTO = "auto"
    ERLS = "erls"


FormulationOption = Annotated[
    Formulation,
    typer.Option(
        "--formulation",
        help="`erls`: the equivalent rigid link system, joint coordinates and small displacements of nodes about them.",
    ),
]
