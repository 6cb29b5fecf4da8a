"""Table of masses: of each body (or a part fixed in one of its frames), in the axes of its row.

Either about the centre of mass: mass, x, y, z, Ixx, ...; or as Khalil's dynamic parameters about the origin of the
frame: M, MX = M x, ..., XX, XY, ... of J_O, where XY = -∫ x y dm as in a matrix. IA, FV and FS belong to the joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.description.quantities.dimension import INERTIA, LENGTH, MASS, PLAIN, Dimension
from supple.diagnostics import describe_unknown
from supple.diagnostics.errors import quote
from supple.formats.khalil_kleinfinger.cell_table import Row, TableColumns
from supple.formats.khalil_kleinfinger.geometry import TableLink
from supple.geometry.inertia import MassProperties

_ENTRIES = ("xx", "xy", "xz", "yy", "yz", "zz")
_CENTRAL = ("x", "y", "z", *(f"I{entry}" for entry in _ENTRIES))
_AT_ORIGIN = ("MX", "MY", "MZ", *(entry.upper() for entry in _ENTRIES))
_OF_JOINT = ("IA", "FV", "FS")
COLUMNS = TableColumns(
    {"body": ("joint", "j", "i"), "mass": ("M", "m"), **dict.fromkeys((*_CENTRAL, *_AT_ORIGIN, *_OF_JOINT), ())},
    needed=("body",),
)
FIRST_MOMENT = Dimension(1, 1)


def masses_of(rows: list[Row], links: Mapping[str, TableLink]) -> dict[str, MassProperties]:
    """Return {label: mass properties in the axes and from the origin of its row's frame}."""
    found: dict[str, MassProperties] = {}
    for row in rows:
        link_of(row, "body", links)
        if row.label in found:
            raise row.fault("body", "the row already has a mass", hint="write one row per part")
        mixed = [name for name in _CENTRAL if name in row.cells]
        other = [name for name in _AT_ORIGIN if name in row.cells]
        if mixed and other:
            raise row.fault(
                other[0],
                f"{quote(mixed[0])} is about the centre of mass, but {quote(other[0])} about the frame's origin",
                hint="use either x, y, z, Ixx, ... or MX, MY, MZ, XX, ...",
            )  # fmt: skip
        found[row.label] = _about_origin(row) if other else _central(row)
        if found[row.label].mass < 0.0:
            raise row.fault(
                "mass", f"the mass must not be negative (got {found[row.label].mass:g} kg)", hint="use 0 for no mass"
            )
    return found


def of_joints(rows: list[Row], links: Mapping[str, TableLink]) -> dict[str, dict[str, Any]]:
    """Return {label: rotor inertia, viscous and dry friction in the format of a joint}."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        link = links[row.label]
        values = {name: row.value(name, PLAIN, 0.0) for name in _OF_JOINT}
        given = [name for name, value in values.items() if value]
        if given and not link.moves:
            raise row.fault(given[0], "a fixed row has no joint", hint="leave the cell empty")
        data: dict[str, Any] = {}
        if values["IA"]:
            data["motor"] = {"inertia": values["IA"], "gear": 1.0}
        for key, name in (("viscous", "FV"), ("dry", "FS")):
            if values[name]:
                data[key] = values[name]
        if data:
            found[row.label] = data
    return found


def link_of(row: Row, column: str, links: Mapping[str, TableLink]) -> TableLink:
    """Return the row of the geometry that a cell names."""
    label = row.text(column)
    if label not in links:
        message, hint = describe_unknown("row of the geometry", label, links)
        raise row.fault(column, message, hint=hint)
    return links[label]


def transformed_mass(mass: MassProperties, R: Any, p: Any) -> MassProperties:
    """Return mass properties in another frame, in which their own frame is rotated by R and located at p."""
    return MassProperties(mass.mass, p + R @ mass.center, R @ mass.inertia @ R.T)


def as_body(mass: MassProperties) -> dict[str, Any]:
    """Return `mass` and `inertia` of the mechanism file; `center` is written separately, as drawn."""
    J = mass.inertia
    inertia = {key: float(J["xyz".index(key[0]), "xyz".index(key[1])]) for key in ("xx", "yy", "zz", "xy", "xz", "yz")}
    return {"mass": float(mass.mass), "inertia": inertia}


def _central(row: Row) -> MassProperties:
    center = np.array([row.value(axis, LENGTH, 0.0) for axis in "xyz"])
    return MassProperties(row.value("mass", MASS), center, _matrix(row, ["Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]))


def _about_origin(row: Row) -> MassProperties:
    """Return the mass properties of a row about the frame's origin.

    J_G = J_O - m (cᵀc 1 - c cᵀ), c = MS / m.
    """
    mass = row.value("mass", MASS)
    moment = np.array([row.value(name, FIRST_MOMENT, 0.0) for name in ("MX", "MY", "MZ")])
    J = _matrix(row, [entry.upper() for entry in _ENTRIES])
    if mass == 0.0:
        if moment.any():
            raise row.fault("mass", "first moments need a mass", hint="give M, or leave MX, MY, MZ empty")
        return MassProperties(0.0, np.zeros(3), J)
    c = moment / mass
    return MassProperties(mass, c, J - mass * (c @ c * np.eye(3) - np.outer(c, c)))


def _matrix(row: Row, names: list[str]) -> Any:
    xx, xy, xz, yy, yz, zz = (row.value(name, INERTIA, 0.0) for name in names)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
