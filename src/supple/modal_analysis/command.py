"""`supple modes`: how the mechanism vibrates at a configuration, or over a region."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.assemble import warn_of_limits
from supple.cli.kept import keep, write_result
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

Count = Annotated[int, typer.Option("--count", metavar="N", help="How many of the lowest modes.")]
FreeActuators = Annotated[
    bool, typer.Option("--free-actuators", help="Actuators do not hold their coordinates; they push as at rest.")
]
Deformed = Annotated[
    bool,
    typer.Option("--deformed", help="About the mechanism as its loads bend it, however far, from the full equations."),
]
Rates = Annotated[
    str | None,
    typer.Option(
        "--rates", metavar="NAME=VALUE,...",
        help="The same in a steady motion with these rates of the coordinates: spin=6rad/s.",
    ),
]  # fmt: skip
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--file", metavar="FILE",
        help="Draw the shapes, or the map: .png, .svg, .pdf; or write a table: .csv, .npz, .mat.",
    ),
]  # fmt: skip


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
    """Compute frequencies and shapes of vibration."""
    with answering(as_json) as answer:
        mechanism = read_mechanism(answer, file, settings)
        options: dict[str, Any] = {"count": count, "free_actuators": free_actuators}
        bent = deformed or rates is not None
        _require_sense(grid, cluster, formulation, along, bent=bent)
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


def _require_sense(
    grid: str | None, cluster: str | None, formulation: Formulation, along: str | None, *, bent: bool
) -> None:
    """Refuse options that mean nothing together."""
    if cluster is not None and grid is None:
        raise typer.BadParameter("one configuration needs no cluster: give --map", param_hint="--cluster")
    if formulation is not Formulation.AUTO and (grid is not None or bent):
        raise typer.BadParameter("a map, and modes about a deformed state, have one", param_hint="--formulation")
    if along is not None and (grid is not None or bent):
        raise typer.BadParameter("slopes are those of the undeformed mechanism at one posture", param_hint="--along")


def _rates(mechanism: Mechanism, text: str | None) -> dict[str, float] | None:
    """Rates of all coordinates, zero where they are not named; None to stand still."""
    from supple.kinematics.rest import rest

    if text is None:
        return None
    known = rest(mechanism).numbering.coordinates
    given = quantities_of(text, "--rates", known, "a coordinate", dimension_along(mechanism, "rate"))
    return {name: given.get(name, 0.0) for name in known}


def warn_of_missing(answer: Answer, found: int, count: int) -> None:
    """Say so where there are fewer modes than were asked for."""
    if found < count:
        answer.warn(f"{count} modes were asked for, and there are only {found}; --count {max(found, 1)} is enough")
