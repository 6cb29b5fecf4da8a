"""`supple modes`: how the mechanism vibrates at a configuration, or over a region."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.assemble import warn_of_limits
from supple.cli.deformed_modes import Deformed, Rates, deformed_modes
from supple.cli.kept import write_result
from supple.cli.local import names
from supple.cli.map_option import Map, give_map, grid_of, map_heading, stays_at
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
    read_mechanism,
)

if TYPE_CHECKING:
    from supple.cli.tables import Tables
    from supple.description.mechanism import Mechanism
    from supple.maps.frequency_map import FrequencyMap
    from supple.modal_analysis.mode_set import ModeSet

Count = Annotated[int, typer.Option("--count", metavar="N", help="How many of the lowest modes.")]
FreeActuators = Annotated[
    bool, typer.Option("--free-actuators", help="Actuators do not hold their coordinates; they push as at rest.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--file", metavar="FILE", show_default=False,
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
        values = None if grid is None else grid_of(grid, mechanism)
        if cluster is not None and values is None:
            raise typer.BadParameter("one configuration needs no cluster: give --map", param_hint="--cluster")
        options: dict[str, Any] = {"count": count, "free_actuators": free_actuators, "preload": preload}
        if formulation is not Formulation.AUTO and (values is not None or deformed or rates is not None):
            raise typer.BadParameter("a map, and modes about a deformed state, have one", param_hint="--formulation")
        if along is not None and (values is not None or deformed or rates is not None):
            raise typer.BadParameter(
                "slopes are those of the undeformed mechanism at one posture", param_hint="--along"
            )
        if values is not None:
            if deformed or rates is not None:
                raise typer.BadParameter("a map is of the undeformed mechanism", param_hint="--map")
            options["cluster"] = cluster
            _map(answer, mechanism, values, stays_at(mechanism, at), options, output, grid or "")
            return
        if deformed or rates is not None:
            wanted = {"count": count, "free_actuators": free_actuators}
            deformed_modes(answer, mechanism, at, rates, wanted, output)
            return
        from supple.modal_analysis.modes import modes as modes_of

        found = modes_of(
            mechanism, configuration(mechanism, at), **options, formulation=formulation.value, along=names(along)
        )
        warn_of_limits(answer, found.configuration)
        warn_of_missing(answer, len(found), count)
        if output is not None:
            write_result(found, output)
        data = {
            "frequencies_hz": found.frequencies_hz,
            "descriptions": found.descriptions,
            "at": found.configuration.coordinates,
            "energy": _energy(found),
            "formulation": formulation.value,
        }
        if along is not None:
            data |= {"eigenvalue_slopes": found.eigenvalue_slopes, "frequency_slopes_hz": found.frequency_slopes}
        answer.give(data, lambda: _show(found, free_actuators))


def warn_of_missing(answer: Answer, found: int, count: int) -> None:
    """Say so where there are fewer modes than were asked for."""
    if found < count:
        answer.warn(f"{count} modes were asked for, and there are only {found}; --count {max(found, 1)} is enough")


def _map(
    answer: Answer,
    mechanism: Mechanism,
    grid: dict[str, Any],
    at: dict[str, float] | None,
    options: dict[str, Any],
    output: Path | None,
    text: str,
) -> None:
    from supple.maps.frequency_map import frequency_map

    shown = False if answer.as_json else None
    found = frequency_map(mechanism, grid, at=at, progress=shown, **options)
    warn_of_missing(answer, found.frequencies_hz.shape[-1], options["count"])
    give_map(answer, found, text, output, lambda out: _show_map(found, out))


def _energy(found: ModeSet) -> dict[str, Any]:
    energy = found.energy
    return {
        "kinetic": energy.kinetic,
        "motors": energy.motors,
        "strain": energy.strain,
        "torsion": energy.torsion,
        "joints": energy.joints,
        "springs": energy.springs,
        "couplings": energy.couplings,
        "along": energy.along,
        "out_of_plane": energy.out_of_plane,
    }


def _show(found: ModeSet, free: bool) -> None:
    from supple.cli.tables import Tables, posture

    out = Tables()
    out.line(posture(found.configuration, free=free))
    for i, (hertz, words) in enumerate(zip(found.frequencies_hz, found.descriptions, strict=True)):
        slopes = "".join(
            f"{'-' if values[i] != values[i] else f'{values[i]:.4g}':>12} Hz per {name}"
            for name, values in found.frequency_slopes.items()
        )
        out.line(f"{i + 1:4} {_hertz(hertz, bool(found.energy.free[i])):>10} Hz{slopes}  {words}")


def _hertz(value: float, free: bool) -> str:
    return "0" if free else f"{value:.5g}"


def _show_map(found: FrequencyMap, out: Tables) -> None:
    from supple.cli.tables import number

    out.line(map_heading(found.postures))
    rows = [(str(i + 1), number(low), number(high)) for i, (low, high) in enumerate(found.bands_hz)]
    out.table(("mode", "lowest [Hz]", "highest [Hz]"), rows)
    if len(found.coordinates) == 1:
        ((name, values),) = found.coordinates.items()
        lines = [
            (number(value), *("-" if x != x else f"{x:.5g}" for x in line))
            for value, line in zip(values, found.frequencies_hz, strict=True)
        ]
        out.table((name, *(f"{i + 1} [Hz]" for i in range(found.frequencies_hz.shape[-1]))), lines)
