"""`supple compliance` and `supple sag`: how far a mechanism yields to forces at places, and to its own weight."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.assemble import warn_of_limits
from supple.cli.kept import TableFile, keep, write_result
from supple.cli.local import names
from supple.cli.map_option import Map, give_map, grid_of, map_heading, stays_at
from supple.cli.options import At, File, Json, Preload, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.cli.tables import Tables
    from supple.description.mechanism import Mechanism
    from supple.kinematics.numbering import Numbering
    from supple.maps.compliance_map import ComplianceMap
    from supple.modal_analysis.ports import Port
    from supple.statics.compliance import Compliance
    from supple.statics.deflection import Deflection
    from supple.statics.large_deflection import LargeDeflection

from enum import StrEnum
from typing import TYPE_CHECKING

from supple.cli.kept import require_folder
from supple.cli.map_option import show_values

if TYPE_CHECKING:
    from supple.statics.buckling import Buckling


# `supple buckling`: load factors under which a mechanism buckles.


class Scaled(StrEnum):
    """Loads that are multiplied."""

    ALL = "all"
    FORCES = "forces"
    GRAVITY = "gravity"


Scale = Annotated[Scaled, typer.Option("--scale", help="Loads that are multiplied; the others stay as they are.")]
Count = Annotated[int, typer.Option("--count", metavar="N", help="Number of load factors, the lowest ones.")]
BucklingOutput = Annotated[
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
    output: BucklingOutput = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute the load factors under which a mechanism buckles, and its shapes."""
    with answering(as_json) as answer:
        from supple.statics.buckling import buckling as buckling_of

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


Places = Annotated[
    str | None,
    typer.Option(
        "--places", metavar="T,E.z,...", show_default=False,
        help="A place for all its directions, `place.axis`, or a sensor's output; all sensors if left out.",
    ),
]  # fmt: skip
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--file", metavar="FILE", show_default=False,
        help="Draw the matrix, or the map: .png, .svg, .pdf; or write a table: .csv, .npz, .mat.",
    ),
]  # fmt: skip
Large = Annotated[
    bool,
    typer.Option(
        "--large", help="Displacements and rotations of any size, from the full equations; otherwise small ones."
    ),
]


def sag(
    file: File,
    at: At = None,
    places: Places = None,
    large: Large = False,
    output: TableFile = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute how far a mechanism sags under gravity and constant loads, actuators locked."""
    with answering(as_json) as answer:
        from supple.statics.deflection import deflection

        mechanism = read_mechanism(answer, file, settings)
        found = deflection(mechanism, configuration(mechanism, at), large=large)
        warn_of_limits(answer, found.configuration)
        keep(found, output)
        ports = _ports(found.rest.numbering, places)
        data = {
            "displacements": {item.name: found.of(item.name) for item in ports},
            "units": {item.name: item.unit for item in ports},
            "holding_forces": found.holding_forces,
            "at": found.configuration.coordinates,
            "large": large,
        }
        answer.give(data, lambda: _show_sag(found, ports, data))


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
    """Compute the static compliance at places, actuators locked, and the stiffness it leaves them."""
    with answering(as_json) as answer:
        from supple.diagnostics import InputError
        from supple.kinematics.closure import assemble
        from supple.statics.compliance import compliance as compliance_of

        mechanism = read_mechanism(answer, file, settings)
        if grid is not None:
            _map(answer, mechanism, grid, at, places, output, preload=preload)
            return
        here = assemble(mechanism, configuration(mechanism, at))
        warn_of_limits(answer, here)
        wanted = [item.name for item in _ports(here.rest.numbering, places)]
        found = compliance_of(mechanism, here, wanted, preload=preload)
        if output is not None:
            write_result(found, output)
        try:
            stiffness: Any = found.stiffness
        except InputError as error:
            stiffness = None
            answer.note(str(error))
        data = {
            "names": found.names,
            "units": found.units,
            "compliance": found.values,
            "stiffness": stiffness,
            "at": here.coordinates,
        }
        answer.give(data, lambda: _show_compliance(found, stiffness))


def _map(
    answer: Answer,
    mechanism: Mechanism,
    grid: str,
    at: str | None,
    places: str | None,
    output: Path | None,
    *,
    preload: bool,
) -> None:
    from supple.kinematics.rest import rest
    from supple.maps.compliance_map import compliance_map

    wanted = [item.name for item in _ports(rest(mechanism).numbering, places)]
    shown = False if answer.as_json else None
    values, stays = grid_of(grid, mechanism), stays_at(mechanism, at)
    found = compliance_map(mechanism, values, wanted, at=stays, preload=preload, progress=shown)
    give_map(answer, found, grid, output, lambda out: _show_map(found, out))


def _ports(numbering: Numbering, text: str | None) -> list[Port]:
    """Where to look: as told, or what the sensors watch."""
    from supple.diagnostics import InputError
    from supple.formulations.coefficients import carried
    from supple.kinematics.rest import rest
    from supple.modal_analysis.ports import place_ports, port

    if text is not None:
        return [item for name in names(text) for item in place_ports(numbering, name)]
    watched = carried(rest(numbering.mechanism)).outputs
    if not watched:
        raise InputError(
            "it has no sensor", part=f'mechanism "{numbering.mechanism.name}"', hint="name places: --places T,E.z"
        )
    return [port(numbering, name) for name in watched]


def _show_sag(found: Deflection | LargeDeflection, ports: list[Port], data: dict[str, Any]) -> None:
    from supple.cli.tables import Tables, number, posture

    out = Tables()
    out.line(f"{posture(found.configuration)}, under gravity and constant loads{', of any size' * found.to_scale}")
    moved = data["displacements"]
    out.table(("place", "displacement"), [(item.name, number(moved[item.name], item.unit)) for item in ports])
    numbering = found.rest.numbering
    angles = numbering.angles()[numbering.constraints :]
    held = [
        (name, number(force, "N m" if angles[i] else "N"))
        for i, (name, force) in enumerate(found.holding_forces.items())
    ]
    if held:
        out.table(("coordinate", "held by"), held)


def _show_map(found: ComplianceMap, out: Tables) -> None:
    import numpy as np

    from supple.cli.tables import number

    out.line(f"{map_heading(found.postures)}, displacement for a unit force along itself")
    rows = []
    for i, (name, unit) in enumerate(zip(found.names, found.units, strict=True)):
        own = found.own[..., i][found.assembled]
        unit = "rad/(N m)" if unit == "rad" else "m/N"
        rows.append((name, *(number(value, unit) for value in (own.min(), np.median(own), own.max()))))
    out.table(("direction", "least", "median", "largest"), rows)


def _show_compliance(found: Compliance, stiffness: Any) -> None:
    from supple.cli.tables import Tables, posture

    out = Tables()
    out.line(f"{posture(found.configuration)}, displacements (rows) for unit forces (columns)")
    labels = [f"{name} [{unit}]" for name, unit in zip(found.names, found.units, strict=True)]
    forces = [
        f"{name} [{'N m' if unit == 'rad' else 'N'}]" for name, unit in zip(found.names, found.units, strict=True)
    ]
    out.matrix("compliance", labels, forces, found.values)
    if stiffness is not None:
        out.matrix("stiffness", forces, labels, stiffness)
