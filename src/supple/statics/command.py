"""`supple buckling`, `supple deflection` and `supple compliance`: statics with locked actuators."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import open_answer
from supple.cli.assemble import warn_of_limits
from supple.cli.help_text import MODEL, OUTPUT, help_of
from supple.cli.kept import TableFile, keep, require_folder, require_table_or_picture, write_result
from supple.cli.local import name_list
from supple.cli.map_option import Map, give_map, map_of
from supple.cli.options import At, File, Json, Preload, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.kinematics.configuration import Configuration
    from supple.kinematics.numbering import Numbering
    from supple.modal_analysis.ports import Port
    from supple.results.result import Entries


# `supple buckling`: load factors under which a mechanism buckles.


class Scaled(StrEnum):
    """Loads that are multiplied."""

    ALL = "all"
    FORCES = "forces"
    GRAVITY = "gravity"


Scale = Annotated[
    Scaled,
    typer.Option(
        "--scale",
        help="Loads that are multiplied by the load factor: all, forces or gravity. Other loads stay constant. "
        "Default: all.",
        show_default=False,
    ),
]
Count = Annotated[int, typer.Option("--count", metavar="N", help=help_of("buckling", "count"), show_default=False)]
BucklingOutput = Annotated[
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


def buckling(
    file: File,
    at: At = None,
    scale: Scale = Scaled.ALL,
    count: Count = 4,
    grid: Map = None,
    output: BucklingOutput = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute buckling load factors and buckling shapes."""
    with open_answer(as_json) as answer:
        from supple.statics.buckling import buckling as buckling_of

        require_folder(output)
        mechanism = read_mechanism(answer, file, settings)
        if grid is not None:
            from supple.maps.over import over

            options: dict[str, Any] = {"scale": scale.value, "count": count}
            give_map(answer, map_of(answer, mechanism, grid, at, over, question=buckling_of, **options), grid, output)
            return
        found = buckling_of(mechanism, configuration(mechanism, at), scale=scale.value, count=count)
        warn_of_limits(answer, found.configuration)
        if output is not None:
            write_result(found, output)
        answer.show(found)


Places = Annotated[
    str | None,
    typer.Option(
        "--places",
        metavar="T,E.z,...",
        help="Points (all directions), `point.axis` or sensor outputs. Default: all sensors.",
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
Large = Annotated[
    bool, typer.Option("--large", help=help_of("deflection", "large"), show_default=False, rich_help_panel=MODEL)
]


def sag(
    file: File,
    at: At = None,
    places: Places = None,
    large: Large = False,
    grid: Map = None,
    output: TableFile = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute the deflection under gravity and constant loads."""
    with open_answer(as_json) as answer:
        from supple.statics.deflection import deflection

        mechanism = read_mechanism(answer, file, settings)
        if grid is not None:
            from supple.kinematics.rest import rest
            from supple.maps.over import over

            wanted = _ports(rest(mechanism).numbering, places)

            def compute_sag(mechanism: Mechanism, at: Configuration) -> Entries:
                return deflection(mechanism, at, large=large).map_entries(wanted)

            give_map(answer, map_of(answer, mechanism, grid, at, over, question=compute_sag), grid, output)
            return
        found = deflection(mechanism, configuration(mechanism, at), large=large)
        warn_of_limits(answer, found.configuration)
        keep(found, output)
        ports = _ports(found.rest.numbering, places)
        answer.give(found.data(ports), lambda: found.text(ports))


def compliance(
    file: File,
    at: At = None,
    places: Places = None,
    grid: Map = None,
    preload: Preload = True,
    output: Output = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute static compliance and stiffness at points."""
    with open_answer(as_json) as answer:
        from supple.diagnostics import InputError
        from supple.kinematics.closure import assemble
        from supple.kinematics.rest import rest
        from supple.statics.compliance import compliance as compliance_of

        mechanism = read_mechanism(answer, file, settings)
        if grid is not None:
            from supple.maps.compliance_map import compliance_map

            wanted = [item.name for item in _ports(rest(mechanism).numbering, places)]
            region = map_of(answer, mechanism, grid, at, compliance_map, places=wanted, preload=preload)
            give_map(answer, region, grid, output)
            return
        here = assemble(mechanism, configuration(mechanism, at))
        warn_of_limits(answer, here)
        wanted = [item.name for item in _ports(here.rest.numbering, places)]
        found = compliance_of(mechanism, here, wanted, preload=preload)
        if output is not None:
            write_result(found, output)
        try:
            found.stiffness  # noqa: B018 - raises where there is none
        except InputError as error:
            answer.note(str(error))
        answer.show(found)


def _ports(numbering: Numbering, text: str | None) -> list[Port]:
    """Return the places where displacements are requested: those named, or else those of the sensors."""
    from supple.diagnostics import InputError
    from supple.formulations.coefficients import get_coefficients
    from supple.kinematics.rest import rest
    from supple.modal_analysis.ports import place_ports, port

    if text is not None:
        return [item for name in name_list(text) for item in place_ports(numbering, name)]
    watched = get_coefficients(rest(numbering.mechanism)).outputs
    if not watched:
        raise InputError(
            "no places are given, and the mechanism has no sensor",
            part=f'mechanism "{numbering.mechanism.name}"',
            hint="name places: --places T,E.z",
        )
    return [port(numbering, name) for name in watched]
