"""`supple modes`: how the mechanism vibrates at a configuration, or over a region."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.assemble import warn_of_limits
from supple.cli.deformed_modes import Deformed, Rates, deformed_modes
from supple.cli.kept import written
from supple.cli.options import At, File, Json, Settings, configuration, pieces, read_mechanism
from supple.cli.quantities import along, quantity_of

if TYPE_CHECKING:
    from supple.analyses.vibration.frequency_map import FrequencyMap
    from supple.analyses.vibration.mode_set import ModeSet
    from supple.description.mechanism import Mechanism

_STEPS = 33  # values of a coordinate where a map does not say how many
_MOST = 1_000_000  # configurations of a map

Count = Annotated[int, typer.Option("--count", metavar="N", help="How many of the lowest modes.")]
FreeActuators = Annotated[
    bool, typer.Option("--free-actuators", help="Actuators do not hold their coordinates; they push as at rest.")
]
NoPreload = Annotated[
    bool,
    typer.Option(
        "--no-preload", help="With free actuators: without the stiffness that gravity and the forces at rest give."
    ),
]
Map = Annotated[
    str | None,
    typer.Option(
        "--map", metavar="NAME=FROM:TO[:N],...", show_default=False,
        help=f"Frequencies over a grid: N values of each coordinate, {_STEPS} if left out. The others stay at --at.",
    ),
]  # fmt: skip
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
    no_preload: NoPreload = False,
    grid: Map = None,
    deformed: Deformed = False,
    rates: Rates = None,
    output: Output = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute frequencies and shapes of vibration."""
    with answering(as_json) as answer:
        mechanism = read_mechanism(answer, file, settings)
        values = None if grid is None else grid_of(grid, mechanism)
        if no_preload and not free_actuators:
            what = "actuators" if mechanism.actuators else "coordinates"
            answer.note(f"--no-preload changes nothing while the {what} are locked")
        options: dict[str, Any] = {"count": count, "free_actuators": free_actuators, "preload": not no_preload}
        if values is not None:
            if deformed or rates is not None:
                raise typer.BadParameter("a map is of the undeformed mechanism", param_hint="--map")
            _map(answer, mechanism, values, configuration(mechanism, at), options, output, typed_units(grid or ""))
            return
        if deformed or rates is not None:
            wanted = {"count": count, "free_actuators": free_actuators}
            deformed_modes(answer, mechanism, at, rates, wanted, output)
            return
        from supple.analyses.vibration.modal import modes as modes_of

        found = modes_of(mechanism, configuration(mechanism, at), **options)
        warn_of_limits(answer, found.configuration)
        warn_of_missing(answer, len(found), count)
        if output is not None:
            from supple.results.file import SUFFIXES

            table = output.suffix.lower() in SUFFIXES
            written(output, lambda: found.save(output) if table else found.plot().savefig(output))
        data = {
            "frequencies_hz": found.frequencies_hz,
            "descriptions": found.descriptions,
            "at": found.configuration.coordinates,
            "energy": _energy(found),
        }
        answer.give(data, lambda: _show(found, free_actuators))


def warn_of_missing(answer: Answer, found: int, count: int) -> None:
    """Say so where there are fewer modes than were asked for."""
    if found < count:
        answer.warn(f"{count} modes were asked for, and there are only {found}; --count {max(found, 1)} is enough")


def grid_of(text: str, mechanism: Mechanism) -> dict[str, Any]:
    """`crank=-1.6:1.6:33,x=0:12mm:5` as {coordinate: values}."""
    import numpy as np

    found: dict[str, Any] = {}
    total = 1
    for piece in pieces(text):
        name, equals, interval = (item.strip() for item in piece.partition("="))
        limits = [item.strip() for item in interval.split(":")]
        if not equals or not name or not all(limits) or len(limits) not in (2, 3):
            raise typer.BadParameter(f"{piece.strip()!r} is not NAME=FROM:TO:N", param_hint="--map")
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint="--map")
        count = limits[2] if len(limits) == 3 else str(_STEPS)
        if not count.isdecimal() or int(count) < 1:
            raise typer.BadParameter(f"{count!r} values of {name!r}: N is a whole number from 1", param_hint="--map")
        total *= int(count)
        if total > _MOST:
            raise typer.BadParameter(f"more than {_MOST} configurations: ask for fewer values", param_hint="--map")
        first, last = (quantity_of(limit, f"--map {name}", along(mechanism)(name)) for limit in limits[:2])
        found[name] = np.linspace(first, last, int(count))
    return found


def typed_units(text: str) -> dict[str, str]:
    """The units that intervals of `--map` were typed in, where both ends, or the one that has any, agree."""
    found: dict[str, str] = {}
    for piece in pieces(text):
        name, _, interval = (item.strip() for item in piece.partition("="))
        ends = {end.strip().lstrip("+-.0123456789eE").strip() for end in interval.split(":")[:2]} - {""}
        if len(ends) == 1:
            unit = ends.pop()
            found |= {name: unit} if unit.isalpha() or unit in ("°", "µm") else {}
    return found


def _map(
    answer: Answer,
    mechanism: Mechanism,
    grid: dict[str, Any],
    at: dict[str, float] | None,
    options: dict[str, Any],
    output: Path | None,
    units: dict[str, str],
) -> None:
    from supple.analyses.vibration.frequency_map import frequency_map
    from supple.results.file import SUFFIXES

    found = frequency_map(mechanism, grid, at=at, **options)
    missing = int((~found.assembled).sum())
    if missing:
        answer.warn(f"{missing} of {found.assembled.size} configurations cannot be assembled; they are left empty")
    warn_of_missing(answer, found.frequencies_hz.shape[-1], options["count"])
    if output is not None:
        table = output.suffix.lower() in SUFFIXES
        written(output, lambda: found.save(output) if table else found.plot(units=units).savefig(output))
    data = {
        "coordinates": found.coordinates,
        "frequencies_hz": found.frequencies_hz,
        "assembled": found.assembled,
        "bands_hz": found.bands_hz,
        "at": found.at,
    }
    answer.give(data, lambda: _show_map(found, output))


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
        out.line(f"{i + 1:4} {_hertz(hertz, bool(found.energy.free[i])):>10} Hz  {words}")


def _hertz(value: float, free: bool) -> str:
    return "0" if free else f"{value:.5g}"


def _show_map(found: FrequencyMap, output: Path | None) -> None:
    from supple.cli.tables import Tables, number

    out = Tables()
    over = ", ".join(
        f"{name} {number(values[0])} to {number(values[-1])} ({len(values)})"
        for name, values in found.coordinates.items()
    )
    fixed = "".join(f", {name}={number(value)}" for name, value in found.at.items())
    out.line(f"{found.mechanism.name} over {over}{fixed}")
    rows = [(str(i + 1), number(low), number(high)) for i, (low, high) in enumerate(found.bands_hz)]
    out.table(("mode", "lowest [Hz]", "highest [Hz]"), rows)
    if len(found.coordinates) == 1:
        ((name, values),) = found.coordinates.items()
        lines = [
            (number(value), *("-" if x != x else f"{x:.5g}" for x in line))
            for value, line in zip(values, found.frequencies_hz, strict=True)
        ]
        out.table((name, *(f"{i + 1} [Hz]" for i in range(found.frequencies_hz.shape[-1]))), lines)
    out.line("--json gives all values" if output is None else f"written to {output}")
