"""Table of closures: frames of two rows that coincide, or that a joint about or along their z axes connects.

A moving row whose body carries nothing is a joint that was cut: where its frame coincides with another one, the joint
connects its antecedent with the other body, as in Khalil and Kleinfinger's description of loops.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from supple.diagnostics.errors import quote
from supple.formats.khalil_kleinfinger.cell_table import Row, TableColumns
from supple.formats.khalil_kleinfinger.geometry import TableLink
from supple.formats.khalil_kleinfinger.masses import link_of

KINDS = ("weld", "revolute", "prismatic", "cylindrical", "spherical")
WITH_AXIS = ("revolute", "prismatic", "cylindrical")
COLUMNS = TableColumns({"first": ("frame",), "second": ("other",), "kind": (), "name": ()}, needed=("first", "second"))
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]{0,63}")


@dataclass(frozen=True, eq=False)
class Closure:
    """Frames that a joint connects; cut : whether the first row is itself the joint, and has no body."""

    row: Row
    name: str
    kind: str
    first: TableLink
    second: TableLink
    cut: bool


def closures_of(rows: list[Row], links: Mapping[str, TableLink], laden: Collection[str]) -> list[Closure]:
    """Return the loop closures.

    laden : labels of rows that carry mass or beams, or that are antecedents
    """
    found: list[Closure] = []
    free = {label for label, link in links.items() if link.moves and label not in laden}
    for row in rows:
        first, second = link_of(row, "first", links), link_of(row, "second", links)
        kind = row.text("kind", "weld")
        if kind not in KINDS:
            raise row.fault("kind", f"{quote(kind)} is not a kind of closure", hint=f"use one of {', '.join(KINDS)}")
        if kind == "weld" and first.label not in free and second.label in free:
            first, second = second, first
        cut = kind == "weld" and first.label in free
        if cut:
            free.discard(first.label)
        if (first.before if cut else first.body) == second.body:
            raise row.fault("second", "both frames are on the same body", hint="use frames of two bodies")
        name = row.text("name", first.name if cut else f"closure{row.number}")
        if not _NAME.fullmatch(name):
            raise row.fault(
                "name", f"{quote(name)} is not a valid name of a joint", hint="use letters, digits, _ and -"
            )
        if cut and name != first.name:
            raise row.fault(
                "name",
                f"the name must be that of joint {quote(first.name)} (row {first.label})",
                hint="leave the cell empty",
            )
        found.append(Closure(row, name, kind, first, second, cut))
    return found
