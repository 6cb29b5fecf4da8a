"""A stiffness of a joint that becomes a table over a coordinate or over the load, its knots to be found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.joints.stiffness import LOAD
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.structure import structure_of
from supple.identification.updating.updated_file import changed_mechanism
from supple.identification.updating.written_numbers import VALUES, numbers_of
from supple.kinematics.closure import assemble

SMOOTHNESS = 0.15  # decades: what neighbouring knots of a table may well differ by
_KNOTS = 3
_KNOT = re.compile(rf"(?P<table>.+\.{VALUES})\.(?P<number>\d+)")


class TableWanted(NamedTuple):
    """over : a coordinate, or `load`; at : its knots, rising, or none: three over the postures that were measured."""

    over: str
    at: Sequence[float] = ()


def with_tables(
    mechanism: Mechanism,
    wanted: Sequence[str] | Mapping[str, str | Sequence[str]],
    tables: Mapping[str, TableWanted | tuple[str, Sequence[float]] | str],
    measured: Sequence[Measurement],
) -> tuple[Mechanism, Any]:
    """The mechanism with tables in place of these numbers, flat ones, and what is to be found with their knots."""
    entries: dict[tuple[str, ...], Any] = {}
    for name, given in tables.items():
        table = TableWanted(given) if isinstance(given, str) else TableWanted(*given)
        numbers = numbers_of(mechanism, [name])
        (member,) = numbers.members[0]
        if member.path[0] == "parameters" or "elastic" in member.path or len(member.path) < 4:
            raise InputError(
                "a table stands under stiffness:, by direction", part=f'table of "{name}"',
                hint="write the joint as stiffness: {ry: ...}, and name it joint.ry",
            )  # fmt: skip
        if table.over not in (*mechanism.coordinate_names(), LOAD):
            raise InputError(
                f'"{table.over}" is no coordinate', part=f'table of "{name}"',
                hint=nearest(table.over, (*mechanism.coordinate_names(), LOAD)),
            )  # fmt: skip
        knots = [float(x) for x in table.at] or _knots(mechanism, name, table.over, measured)
        if len(knots) < 2 or not (np.diff(knots) > 0.0).all():
            raise InputError(
                f"its knots {', '.join(f'{x:g}' for x in knots)} do not rise", part=f'table of "{name}"',
                hint="give two or more, rising",
            )  # fmt: skip
        value = float(numbers.values[0])
        entries[member.path] = {"over": table.over, "at": knots, VALUES: [value] * len(knots)}
    return changed_mechanism(mechanism, entries), _with_knots(wanted, list(tables))


def _with_knots(wanted: Sequence[str] | Mapping[str, str | Sequence[str]], names: list[str]) -> Any:
    knots = [f"{name}.{VALUES}.*" for name in names]
    if isinstance(wanted, Mapping):
        plain = {shared: item for shared, item in wanted.items() if item not in names}
        return [*(f"{shared}:{item}" for shared, items in plain.items() for item in _several(items)), *knots]
    return [*(item for item in wanted if item not in names), *knots]


def _several(items: str | Sequence[str]) -> Sequence[str]:
    return [items] if isinstance(items, str) else items


def _knots(mechanism: Mechanism, name: str, over: str, measured: Sequence[Measurement]) -> list[float]:
    """Three over what was measured."""
    from supple.identification.updating.varying import carried

    if over == LOAD:
        structure = structure_of(numbers_of(mechanism, [name]), 0.0)
        found = [carried(structure, name, item.at) for item in measured]
    else:
        found = [float(assemble(mechanism, item.at).coordinates[over]) for item in measured]
    low, high = min(found), max(found)
    if not high > low * (1.0 + 1e-9) + 1e-12:
        raise InputError(
            f"{over} is {low:g} at every posture that was measured", part=f'table of "{name}"',
            hint="measure at others, or name the knots",
        )  # fmt: skip
    return np.linspace(low, high, _KNOTS).tolist()


def knot_ties(names: Sequence[str], decades: float) -> Array | None:
    """(t, n) rows x_{i+1} - x_i over a deviation, for neighbouring knots of each table; None without tables."""
    if not decades > 0.0:
        raise InputError(f"a smoothness of {decades:g} decades is not above 0", part="smoothness", hint="0.15 is usual")
    place = {name: i for i, name in enumerate(names)}
    rows = []
    for name, i in place.items():
        match = _KNOT.fullmatch(name)
        other = place.get(f"{match['table']}.{int(match['number']) + 1}") if match else None
        if other is not None:
            row = np.zeros(len(names))
            row[i], row[other] = -1.0, 1.0
            rows.append(row / (np.log(10.0) * decades))
    return np.array(rows) if rows else None
