"""The table of joint stiffnesses: x, y, z (N/m) and rx, ry, rz (N m/rad) along and about the axes of the joint.

z is the joint's axis, x and y are those of R_i where q = 0, fixed in the antecedent. An empty cell is rigid. About or
along its own axis an actuated joint yields behind its motor (`drive`), another one has a spring, relaxed as drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from supple.description.quantities.dimension import STIFFNESS, TORSIONAL_STIFFNESS
from supple.formats.khalil_kleinfinger.geometry import Link
from supple.formats.khalil_kleinfinger.masses import link_of
from supple.formats.khalil_kleinfinger.table import Columns, Row

DIRECTIONS = {
    "x": STIFFNESS, "y": STIFFNESS, "z": STIFFNESS,
    "rx": TORSIONAL_STIFFNESS, "ry": TORSIONAL_STIFFNESS, "rz": TORSIONAL_STIFFNESS,
}  # fmt: skip
OWN = {"revolute": "rz", "prismatic": "z"}
COLUMNS = Columns({"joint": ("j", "i"), **{name: (f"k{name}",) for name in DIRECTIONS}}, needed=("joint",))


def stiffnesses_of(rows: list[Row], links: Mapping[str, Link]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """{label: `elastic` and `drive` of its joint}, and springs about the axes of joints without a motor."""
    found: dict[str, dict[str, Any]] = {}
    springs: dict[str, Any] = {}
    for row in rows:
        link = link_of(row, "joint", links)
        if not link.moves:
            raise row.fault("joint", "a fixed row has no joint", hint="give its beam the stiffness")
        if link.label in found:
            raise row.fault("joint", "it has its stiffnesses already", hint="write one row for each joint")
        values = {name: row.value(name, dimension) for name, dimension in DIRECTIONS.items() if row.text(name, "")}
        for name, value in values.items():
            if value < 0.0 or (value == 0.0 and name != OWN[link.kind]):
                raise row.fault(name, f"{value:g} is not above 0", hint="leave the cell empty where it is rigid")
        own = values.pop(OWN[link.kind], 0.0)
        found[link.label] = {"elastic": values} if values else {}
        if own and link.actuated:
            found[link.label]["drive"] = {"stiffness": own}
        elif own:
            springs[link.name] = {"joint": link.name, "stiffness": own, "rest": link.drawn_at}
    return found, springs
