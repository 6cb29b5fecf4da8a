"""`--cluster`: where work goes that is too much for one machine."""

from __future__ import annotations

from typing import Annotated

import typer

ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS|local:N", show_default=False,
        help="Compute on a cluster of dask: where its scheduler is (tcp://host:8786), or N processes of this machine.",
    ),
]  # fmt: skip
