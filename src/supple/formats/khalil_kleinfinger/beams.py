"""Table of beams: consecutive beams of each body, the first from the origin of the body's frame."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.quantities.dimension import ANGLE, AREA, DENSITY, LENGTH, PRESSURE, SECOND_MOMENT
from supple.diagnostics.errors import quote
from supple.formats.khalil_kleinfinger.cell_table import Row, TableColumns
from supple.formats.khalil_kleinfinger.geometry import TableLink, X, Z
from supple.formats.khalil_kleinfinger.masses import link_of
from supple.geometry.rotation import rotation_about

COLUMNS = TableColumns(
    {
        "body": ("C", "i"), "beam": ("j",), "length": ("l", "L"), "S": ("area", "A"), "Iy": ("I_y",), "Iz": ("I_z",),
        "torsion": ("J", "It", "I_t"), "E": (), "G": (), "rho": ("ρ",), "phi": ("φ", "ϕ"), "theta": ("θ",),
        "psi": ("ψ",), "elements": (),
    },
    needed=("body", "beam", "length", "S", "Iy", "Iz", "torsion", "E", "G", "rho"),
)  # fmt: skip
_MOST = 1000  # elements of one beam
_ON = 1e-9  # of its length: tolerance of a point on its axis
KEPT = ("S", "Iy", "Iz", "torsion", "E", "G", "rho")  # columns that the mechanism keeps as written
_SECTION = {"S": AREA, "Iy": SECOND_MOMENT, "Iz": SECOND_MOMENT, "torsion": SECOND_MOMENT}
_MATERIAL = {"E": PRESSURE, "G": PRESSURE, "rho": DENSITY}


@dataclass(eq=False)
class Beams:
    """Elastic bodies in the format of the mechanism file.

    sections, materials, points : parts that the beams refer to; beams : body -> its beams
    nodes : body -> (n + 1, 3) ends of its beams in the axes of its frame; rows : body -> its first row
    """

    sections: dict[str, dict[str, float | str]] = field(default_factory=dict)
    materials: dict[str, dict[str, float | str]] = field(default_factory=dict)
    points: dict[str, list[float]] = field(default_factory=dict)
    beams: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    nodes: dict[str, list[Array]] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)

    def touches(self, body: str, place: Array) -> bool:
        """Return whether a point, in the axes of the body's frame, is on one of its beams; true for rigid bodies."""
        if body not in self.nodes:
            return True
        ends = self.nodes[body]
        return any(
            distance_from(place, a, b) <= _ON * float(np.linalg.norm(b - a)) for a, b in itertools.pairwise(ends)
        )


def orientation(phi: float, theta: float, psi: float) -> Array:
    """Return the axes of a beam in the frame of its body: R = rot(z, φ) rot(y, θ) rot(x, ψ), x along the beam."""
    return rotation_about(Z, phi) @ rotation_about([0.0, 1.0, 0.0], theta) @ rotation_about(X, psi)


def beams_of(rows: list[Row], links: Mapping[str, TableLink]) -> Beams:
    """Return sections, materials, points and beams of all elastic bodies."""
    found = Beams()
    first_rows: dict[tuple[str, str], Row] = {}
    for row in rows:
        link = link_of(row, "body", links)
        if not link.moves:
            raise row.fault(
                "body", "a fixed row is a frame, not a body", hint=f"use row {link.antecedent}, the row of its body"
            )
        pair = (link.label, row.text("beam"))
        if pair in first_rows:
            raise row.fault(
                "beam",
                f"row {first_rows[pair].number} is the same beam",
                hint="number the beams of a body consecutively",
            )
        first_rows[pair] = row
        _add(found, link, row)
    return found


def _add(found: Beams, link: TableLink, row: Row) -> None:
    body, placed = link.body, link.placement
    length = _positive(row, "length", LENGTH)
    R = orientation(*(row.value(name, ANGLE, 0.0) for name in ("phi", "theta", "psi")))
    ends = found.nodes.setdefault(body, [np.zeros(3)])
    if len(ends) == 1:
        found.rows[body] = row
        found.points[f"{body}_n0"] = placed.position.tolist()
    ends.append(ends[-1] + length * R[:, 0])
    start, to = f"{body}_n{len(ends) - 2}", f"{body}_n{len(ends) - 1}"
    found.points[to] = placed.to_world(ends[-1]).tolist()
    section = {name: _read_positive(row, name, dimension) for name, dimension in _SECTION.items()}
    material = {name: _read_positive(row, name, dimension) for name, dimension in _MATERIAL.items()}
    found.beams.setdefault(body, []).append(
        {
            "from": start, "to": to,
            "section": _name_part(
                found.sections, {("area" if name == "S" else name): value for name, value in section.items()}, "section"
            ),
            "material": _name_part(
                found.materials,
                {"youngs_modulus": material["E"], "shear_modulus": material["G"], "density": material["rho"]},
                "material",
            ),
            "elements": _elements(row),
            "up": (placed.axes @ R[:, 2]).tolist(),
        }
    )  # fmt: skip


def _name_part(known: dict[str, dict[str, float | str]], wanted: dict[str, float | str], kind: str) -> str:
    """Return the name of an equal part, or of a new one."""
    for name, other in known.items():
        if other == wanted:
            return name
    known[f"{kind}{len(known) + 1}"] = wanted
    return f"{kind}{len(known)}"


def _positive(row: Row, column: str, dimension: Any) -> float:
    value = row.value(column, dimension)
    if value <= 0.0:
        raise row.fault(
            column, f"the value must be positive (got {value:g})", hint="remove a rigid body from the table of beams"
        )
    return value


def _read_positive(row: Row, column: str, dimension: Any) -> float | str:
    """Return a positive number as written, so that the mechanism knows the parameters in it."""
    _positive(row, column, dimension)
    return row.read_cell(column, dimension)


def _elements(row: Row) -> int:
    text = row.text("elements", "1")
    if not text.isdecimal() or not 1 <= int(text) <= _MOST:
        raise row.fault(
            "elements", f"{quote(text)} is not a number of elements", hint=f"use a number from 1 to {_MOST}"
        )
    return int(text)


def distance_from(place: Array, a: Array, b: Array) -> float:
    """Return the distance of a point from the straight line between a and b, m."""
    along = b - a
    share = min(1.0, max(0.0, float((place - a) @ along) / float(along @ along)))
    return float(np.linalg.norm(place - a - share * along))
