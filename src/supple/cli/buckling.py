"""`supple buckling`: load factors under which a mechanism buckles."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import answering
from supple.cli.assemble import warn_of_limits
from supple.cli.kept import require_folder, write_result
from supple.cli.map_option import Map, give_map, grid_of, show_values, stays_at
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.analyses.statics.buckling import Buckling


class Scaled(StrEnum):
    """Loads that are multiplied."""

    ALL = "all"
    FORCES = "forces"
    GRAVITY = "gravity"


Scale = Annotated[Scaled, typer.Option("--scale", help="Loads that are multiplied; the others stay as they are.")]
Count = Annotated[int, typer.Option("--count", metavar="N", help="Number of load factors, the lowest ones.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--file", metavar="FILE", show_default=False,
        help="Draw the shapes, or the map: .png, .svg, .pdf; or write a table: .csv, .npz, .mat.",
    ),
]  # fmt: skip


def buckling(
    file: File,
    at: At = None,
    scale: Scale = Scaled.ALL,
    count: Count = 4,
    grid: Map = None,
    output: Output = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute the load factors under which a mechanism buckles, and its shapes."""
    with answering(as_json) as answer:
        from supple.analyses.statics.buckling import buckling as buckling_of

        require_folder(output)
        mechanism = read_mechanism(answer, file, settings)
        if grid is not None:
            from supple.maps.over import over

            values, stays = grid_of(grid, mechanism), stays_at(mechanism, at)
            shown = False if as_json else None
            load_factors = over(
                mechanism, values, buckling_of, at=stays, progress=shown, scale=scale.value, count=count
            )
            give_map(answer, load_factors, grid, output, lambda out: show_values(load_factors, out))
            return
        found = buckling_of(mechanism, configuration(mechanism, at), scale=scale.value, count=count)
        warn_of_limits(answer, found.configuration)
        if output is not None:
            write_result(found, output)
        data = {
            "load_factors": found.load_factors,
            "scale": found.scale,
            "at": found.configuration.coordinates,
        }
        answer.give(data, lambda: _show(found))


def _show(found: Buckling) -> None:
    from supple.cli.tables import Tables, posture

    out = Tables()
    out.line(posture(found.configuration))
    what = {"all": "gravity and forces"}.get(found.scale, found.scale)
    if not len(found):
        out.line(f"{what} do not buckle it, whatever their size")
    for i, factor in enumerate(found.load_factors):
        out.line(f"{i + 1:3d}  load factor {factor:10.5g}")
    if len(found) and found.load_factors[0] < 1.0:
        out.line(f"It buckles before its {what} act in full.")
