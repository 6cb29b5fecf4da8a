"""Option `--map`: a grid of coordinates or of positions of a point, and the output of maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer
from supple.cli.kept import write_result
from supple.cli.model_argument import described_mechanism, model_configuration
from supple.cli.options import configuration, dimension_by_name, pieces, quantity_of, requested_posture

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.maps.grid import PostureGrid
    from supple.maps.map import Map as MapResult
    from supple.maps.map import MapView
    from supple.reduced.model import ReducedModel

_STEPS = 33  # default number of values of a coordinate
_FORM = "NAME=FROM:TO:N"

Map = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="NAME=FROM:TO[:N],...",
        help="Grid of coordinates or point positions, N values each: `crank=-1:1:20,tool.x=0:0.3`. Default of N: 33.",
    ),
]


def grid_of(text: str, mechanism: Mechanism) -> dict[str, Any]:
    """Parse `crank=-1.6:1.6:33,tool.x=0:12mm:5,tool.z=-1.1` into {coordinate or point.axis: values, or one value}."""
    import numpy as np

    from supple.description.posture import component_dimension
    from supple.diagnostics.limits import require_within

    found: dict[str, Any] = {}
    total = 1
    for piece in pieces(text):
        name, equals, interval = (item.strip() for item in piece.partition("="))
        limits = [item.strip() for item in interval.split(":")]
        if not equals or not name or not all(limits) or len(limits) > 3:
            raise typer.BadParameter(f"{piece.strip()!r} is not {_FORM}", param_hint="--map")
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint="--map")
        wanted = dimension_by_name(mechanism)(name) or component_dimension(mechanism, name)
        ends = [quantity_of(limit, f"--map {name}", wanted) for limit in limits[:2]]
        if len(ends) == 1:
            found[name] = ends[0]
            continue
        count = limits[2] if len(limits) == 3 else str(_STEPS)
        if not count.isdecimal() or int(count) < 1:
            raise typer.BadParameter(
                f"{name!r}: the number of values must be an integer from 1 (got {count!r})", param_hint="--map"
            )
        total *= int(count)
        require_within("postures", total, part="--map", hint="take fewer values")
        found[name] = np.linspace(ends[0], ends[1], int(count))
    if not any(np.ndim(values) for values in found.values()):
        raise typer.BadParameter(f"{text!r} varies no coordinate; write {_FORM}", param_hint="--map")
    return found


def stays_at(mechanism: Mechanism, at: str | None) -> dict[str, float] | None:
    """Return the fixed values of `--at`, points by components, so that the grid can replace those it varies."""
    values, resting = requested_posture(mechanism, at)
    return configuration(mechanism, at) if resting else values


def typed_units(text: str) -> dict[str, str]:
    """Return the units of the intervals of `--map` as typed, if both ends have the same unit or only one has a unit."""
    found: dict[str, str] = {}
    for piece in pieces(text):
        name, _, interval = (item.strip() for item in piece.partition("="))
        if ":" not in interval:
            continue
        ends = {end.strip().lstrip("+-.0123456789eE").strip() for end in interval.split(":")[:2]} - {""}
        if len(ends) == 1:
            unit = ends.pop()
            found |= {name: unit} if unit.isalpha() or unit in ("°", "µm") else {}
    return found


def map_of(
    answer: Answer, subject: Mechanism | ReducedModel, text: str, at: str | None, ask: Any, **options: Any
) -> Any:
    """Return the map that ``ask(subject, grid, at=..., progress=..., **options)`` computes.

    text, at : texts of `--map` and `--at`
    """
    from supple.reduced.model import ReducedModel

    stays: dict[str, float] | None
    if isinstance(subject, ReducedModel):
        mechanism = described_mechanism(subject)
        stays = dict(zip(subject.layout.coordinates, model_configuration(subject, at), strict=False))
    else:
        mechanism, stays = subject, stays_at(subject, at)
    progress = False if answer.as_json else None
    return ask(subject, grid_of(text, mechanism), at=stays, progress=progress, **options)


def warn_of_map(answer: Answer, postures: PostureGrid) -> None:
    """Warn of configurations that are left empty or exceed limits."""
    missing, all_of_them = int((~postures.assembled).sum()), postures.assembled.size
    if missing:
        why = "are unreachable" if postures.by_place else "cannot be assembled"
        answer.warn(f"{missing} of {all_of_them} configurations {why} and are left empty")
    beyond = postures.beyond_limits
    if beyond:
        answer.warn(f"at {beyond} of {all_of_them} configurations actuators or joints are outside their limits")


def give_map(answer: Answer, found: MapView | MapResult, text: str, *outputs: Path | None) -> None:
    """Warn of empty configurations, write the map to the given files, and show it.

    text : text of `--map`
    """
    from supple.maps.grid import PostureGrid

    if isinstance(found.postures, PostureGrid):
        warn_of_map(answer, found.postures)
    written = [output for output in outputs if output is not None]
    for output in written:
        write_result(found, output, units=typed_units(text))
    answer.show(found, *([f"written to {output}" for output in written] or ["--json prints all values"]))
