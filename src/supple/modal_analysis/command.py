"""`supple modes`: natural frequencies and mode shapes at a configuration or over a region."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.assemble import warn_of_limits
from supple.cli.help_text import MODEL, OUTPUT, help_of
from supple.cli.kept import keep, require_table_or_picture, write_result
from supple.cli.local import name_list
from supple.cli.map_option import Map, give_map, map_of
from supple.cli.options import (
    Along,
    At,
    ClusterOption,
    File,
    Formulation,
    FormulationOption,
    Json,
    Preload,
    Settings,
    configuration,
    quantities_of,
    read_mechanism,
)
from supple.cli.options import dimension_by_name as dimension_along

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism

Count = Annotated[int, typer.Option("--count", metavar="N", help=help_of("modes", "count"), show_default=False)]
FreeActuators = Annotated[
    bool,
    typer.Option(
        "--free-actuators", help=help_of("modes", "free_actuators"), show_default=False, rich_help_panel=MODEL
    ),
]
Deformed = Annotated[
    bool,
    typer.Option(
        "--deformed",
        help="Linearize about the deformed static equilibrium, from the full nonlinear equations.",
        rich_help_panel=MODEL,
    ),
]
Rates = Annotated[
    str | None,
    typer.Option(
        "--rates",
        metavar="NAME=VALUE,...",
        help="Steady rates of coordinates: `spin=6rad/s`. Computes the modes about this motion.",
        rich_help_panel=MODEL,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--file",
        metavar="FILE",
        help="Picture to write (.png, .svg, .pdf), or table (.csv, .npz, .mat).",
        rich_help_panel=OUTPUT,
        callback=require_table_or_picture,
    ),
]


def modes(
    file: File,
    at: At = None,
    count: Count = 6,
    free_actuators: FreeActuators = False,
    preload: Preload = True,
    grid: Map = None,
    cluster: ClusterOption = None,
    deformed: Deformed = False,
    rates: Rates = None,
    formulation: FormulationOption = Formulation.AUTO,
    along: Along = None,
    output: Output = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute natural frequencies and mode shapes."""
    with open_answer(as_json) as answer:
        mechanism = read_mechanism(answer, file, settings)
        options: dict[str, Any] = {"count": count, "free_actuators": free_actuators}
        bent = deformed or rates is not None
        _require_compatible(grid, cluster, formulation, along, bent=bent)
        if grid is not None and bent:
            from supple.maps.over import over
            from supple.modal_analysis.small_motions import small_motions

            options |= {"rates": _rates(mechanism, rates), "cluster": cluster}
            give_map(answer, map_of(answer, mechanism, grid, at, over, question=small_motions, **options), grid, output)
        elif grid is not None:
            from supple.maps.frequency_map import frequency_map

            bands = map_of(answer, mechanism, grid, at, frequency_map, preload=preload, cluster=cluster, **options)
            warn_of_missing(answer, bands.frequencies_hz.shape[-1], count)
            give_map(answer, bands, grid, output)
        elif bent:
            from supple.modal_analysis.small_motions import small_motions

            slow = small_motions(mechanism, configuration(mechanism, at), rates=_rates(mechanism, rates), **options)
            keep(slow, output)
            answer.show(slow)
        else:
            from supple.modal_analysis.modes import modes as modes_of

            found = modes_of(
                mechanism, configuration(mechanism, at), preload=preload, formulation=formulation.value,
                along=name_list(along), **options,
            )  # fmt: skip
            warn_of_limits(answer, found.configuration)
            warn_of_missing(answer, len(found), count)
            if output is not None:
                write_result(found, output)
            data = found.data() | {"formulation": formulation.value}
            if along is not None:
                data |= {"eigenvalue_slopes": found.eigenvalue_slopes, "frequency_slopes_hz": found.frequency_slopes}
            answer.give(data, found.text)


def _require_compatible(
    grid: str | None, cluster: str | None, formulation: Formulation, along: str | None, *, bent: bool
) -> None:
    """Reject combinations of options that have no meaning."""
    if cluster is not None and grid is None:
        raise typer.BadParameter("requires a map; add --map", param_hint="--cluster")
    if formulation is not Formulation.AUTO and (grid is not None or bent):
        raise typer.BadParameter("not available with --map, --deformed or --rates", param_hint="--formulation")
    if along is not None and (grid is not None or bent):
        raise typer.BadParameter("available only for the undeformed mechanism at one posture", param_hint="--along")


def _rates(mechanism: Mechanism, text: str | None) -> dict[str, float] | None:
    """Return the rates of all coordinates, zero for omitted ones; None for a mechanism at rest."""
    from supple.kinematics.rest import rest

    if text is None:
        return None
    known = rest(mechanism).numbering.coordinates
    given = quantities_of(text, "--rates", known, "coordinate", dimension_along(mechanism, "rate"))
    return {name: given.get(name, 0.0) for name in known}


def warn_of_missing(answer: Answer, found: int, count: int) -> None:
    """Warn if there are fewer modes than requested."""
    if found < count:
        answer.warn(f"{count} modes were requested, but only {found} exist; --count {max(found, 1)} is enough")
