"""Table of joint stiffnesses: x, y, z (N/m) and rx, ry, rz (N m/rad), and couplings such as `x.ry` (N).

They are along and about the axes of the joint: z is its axis, x and y are those of R_i where q = 0, fixed in the
antecedent. An empty cell is rigid, or no coupling. About or along its own axis an actuated joint is compliant behind
its motor; another joint has a spring, relaxed as drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from supple.description.quantities.dimension import FORCE, STIFFNESS, TORSIONAL_STIFFNESS
from supple.formats.khalil_kleinfinger.cell_table import Row, TableColumns
from supple.formats.khalil_kleinfinger.geometry import TableLink
from supple.formats.khalil_kleinfinger.masses import link_of

DIRECTIONS = {
    "x": STIFFNESS, "y": STIFFNESS, "z": STIFFNESS,
    "rx": TORSIONAL_STIFFNESS, "ry": TORSIONAL_STIFFNESS, "rz": TORSIONAL_STIFFNESS,
}  # fmt: skip
COUPLINGS = {
    f"{one}.{other}": FORCE if DIRECTIONS[one] != DIRECTIONS[other] else DIRECTIONS[one]
    for one, other in combinations(DIRECTIONS, 2)
}
OWN = {"revolute": "rz", "prismatic": "z"}
COLUMNS = TableColumns(
    {
        "joint": ("j", "i"),
        **{name: (f"k{name}",) for name in DIRECTIONS},
        **{name: (f"k{name}", ".".join(reversed(name.split(".")))) for name in COUPLINGS},
    },
    needed=("joint",),
)


def stiffnesses_of(rows: list[Row], links: Mapping[str, TableLink]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return {label: `stiffness` of its joint}, and springs about the axes of joints without a motor."""
    found: dict[str, dict[str, Any]] = {}
    springs: dict[str, Any] = {}
    for row in rows:
        link = link_of(row, "joint", links)
        if not link.moves:
            raise row.fault("joint", "a fixed row has no joint", hint="use a beam with this stiffness")
        if link.label in found:
            raise row.fault("joint", "the joint already has a row of stiffnesses", hint="write one row per joint")
        values = {name: row.value(name, dimension) for name, dimension in DIRECTIONS.items() if row.text(name, "")}
        for name, value in values.items():
            if value < 0.0 or (value == 0.0 and name != OWN[link.kind]):
                raise row.fault(
                    name,
                    f"the stiffness must be positive (got {value:g})",
                    hint="leave the cell empty for a rigid direction",
                )
        own = OWN[link.kind]
        coupled = {name: row.value(name, dimension) for name, dimension in COUPLINGS.items() if row.text(name, "")}
        for name in coupled:
            rigid = [direction for direction in name.split(".") if not values.get(direction)]
            if rigid:
                raise row.fault(name, f"it couples {rigid[0]}, which has no stiffness", hint="leave the cell empty")
            if own in name.split(".") and not link.actuated:
                raise row.fault(
                    name, f"the joint has a spring on its own axis, {own}, which cannot be coupled",
                    hint="leave the cell empty, or actuate the joint",
                )  # fmt: skip
        written = {name: row.read_cell(name, DIRECTIONS[name]) for name in values}
        written |= {name: row.read_cell(name, COUPLINGS[name]) for name in coupled}
        if not link.actuated and values.get(own):
            springs[link.name] = {"joint": link.name, "stiffness": written[own], "rest": link.drawn_at}
        if not link.actuated or not values.get(own):
            written.pop(own, None)
        found[link.label] = {"stiffness": written} if written else {}
    return found, springs
