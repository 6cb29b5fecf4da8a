"""Rows of the tables as bodies, frames, joints and actuators in the format of the mechanism file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.description.drawing import Pose
from supple.description.mechanism import GROUND
from supple.diagnostics.errors import quote
from supple.formats.khalil_kleinfinger.beams import Beams
from supple.formats.khalil_kleinfinger.cell_table import Row
from supple.formats.khalil_kleinfinger.closures import WITH_AXIS, Closure
from supple.formats.khalil_kleinfinger.geometry import (
    HERE,
    TableLink,
    along_z,
    frame_entry,
    relative_pose,
    rotation_entry,
    then,
)
from supple.formats.khalil_kleinfinger.masses import as_body, transformed_mass
from supple.geometry.inertia import MassProperties, zero_mass

GROUPED = ("points", "bodies", "frames", "joints", "couplings", "springs", "actuators")


@dataclass(frozen=True, eq=False)
class KinematicTables:
    """Evaluated tables; joints : keys that are added to the joint of a row."""

    links: dict[str, TableLink]
    masses: dict[str, MassProperties]
    beams: Beams
    joints: dict[str, dict[str, Any]]
    springs: dict[str, Any]
    closures: list[Closure]
    outside: Mapping[str, Pose]


@dataclass(frozen=True, eq=False)
class Home:
    """Frame of a body as drawn, and whether it is from a row."""

    pose: Pose
    of_tables: bool


@dataclass(eq=False)
class TableParts:
    """Sections of the mechanism file, and the rows of their parts.

    taken : names of parameters that were evaluated for numbers, which no longer contain them
    """

    data: dict[str, dict[str, Any]] = field(default_factory=lambda: {name: {} for name in GROUPED})
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def add(self, section: str, name: str, part: Any, row: Row) -> None:
        if name in self.data[section]:
            raise row.fault(
                row.key, f"{section} has two parts with the name {quote(name)}", hint="choose another name for the row"
            )
        self.data[section][name] = part
        self.rows[section, name] = row


def parts_of_tables(tables: KinematicTables) -> TableParts:
    """Return the parts that the tables describe, at their positions in the drawing."""
    parts = TableParts()
    cut = {closure.first.label for closure in tables.closures if closure.cut}
    homes = {body: Home(pose, False) for body, pose in {GROUND: HERE, **tables.outside}.items()}
    homes |= {link.body: Home(link.placement, True) for link in tables.links.values() if link.moves}
    _add_bodies(parts, tables, homes, cut)
    for link in tables.links.values():
        if not link.moves:
            parts.add("frames", link.name, _frame(link.body, link.placement, homes), link.row)
        elif link.label not in cut:
            _add_joint(parts, tables, homes, link)
    for closure in tables.closures:
        _add_closure(parts, tables, homes, closure)
    for link in tables.links.values():
        if link.follows:
            led = {tables.links[label].name: -factor for label, factor in link.follows.items()}
            parts.add(
                "couplings", f"{link.name}_follows", {"coordinates": {link.name: 1.0, **led}, "value": 0.0}, link.row
            )
    for name, spring in tables.springs.items():
        row = next(link.row for link in tables.links.values() if link.name == name)
        parts.add("springs", name, spring, row)
    for name, point in tables.beams.points.items():
        parts.data["points"][name] = point
    return parts


def _add_bodies(parts: TableParts, tables: KinematicTables, homes: Mapping[str, Home], cut: set[str]) -> None:
    total: dict[str, MassProperties] = {}
    for label, mass in tables.masses.items():
        link = tables.links[label]
        if link.body not in tables.beams.beams:
            if link.body == GROUND or link.body in tables.outside:
                raise link.row.fault(
                    "joint",
                    f"its mass is on {quote(link.body)}, which is not a body of the tables",
                    hint="add the mass to that body in the file",
                )
            relative = relative_pose(homes[link.body].pose, link.placement)
            total[link.body] = total.get(link.body, zero_mass()) + transformed_mass(
                mass, relative.axes, relative.position
            )
    for label, link in tables.links.items():
        if not link.moves or label in cut:
            continue
        home = frame_entry(link.placement)
        if link.body in tables.beams.beams:
            parts.add("bodies", link.body, {"beams": tables.beams.beams[link.body], **home}, link.row)
            continue
        mass = total.get(link.body, zero_mass())
        data = as_body(mass) if mass.mass or mass.inertia.any() else {"mass": 0.0}
        parts.add("bodies", link.body, {**data, **_center(mass, link.placement), **home}, link.row)
    for label, mass in tables.masses.items():
        if tables.links[label].body in tables.beams.beams:
            _add_carried(parts, tables, homes, tables.links[label], mass)


def _center(mass: MassProperties, placed: Pose) -> dict[str, Any]:
    return {"center": placed.to_world(mass.center).tolist()} if mass.mass else {}


def _add_carried(
    parts: TableParts, tables: KinematicTables, homes: Mapping[str, Home], link: TableLink, mass: MassProperties
) -> None:
    """Add a rigid part on an elastic body: a body of its own, welded to it at the origin of its row's frame."""
    place = homes[link.body].pose.to_local(link.placement.position)
    if not tables.beams.touches(link.body, place):
        raise link.row.fault("joint", f"its mass is not on the beams of {quote(link.body)}", hint="end a beam there")
    name = f"{link.name}_mass"
    data = {**as_body(mass), **_center(mass, link.placement), **frame_entry(link.placement)}
    parts.add("bodies", name, data, link.row)
    parts.add("joints", name, {"weld": [link.body, name], "at": link.placement.position.tolist()}, link.row)


def _add_joint(parts: TableParts, tables: KinematicTables, homes: Mapping[str, Home], link: TableLink) -> None:
    shift = _place(tables, homes, link, link.body, link.placement)
    first = _first_frame(parts, homes, link, shift)
    second = link.body
    if shift:
        second = f"{link.name}_b"
        parts.add("frames", second, {"on": link.body, "local": [0.0, 0.0, shift]}, link.row)
    _connect(parts, tables, link, (link.body, first, second))


def _add_closure(parts: TableParts, tables: KinematicTables, homes: Mapping[str, Home], closure: Closure) -> None:
    link, other = closure.first, closure.second
    if closure.cut:
        shift = _place(tables, homes, link, other.body, other.placement)
        first = _first_frame(parts, homes, link, shift)
        second = _reference(other)
        if shift:
            second = f"{link.name}_b"
            placed = then(other.placement, along_z(0.0, shift))
            parts.add("frames", second, _frame(other.body, placed, homes), closure.row)
        _connect(parts, tables, link, (other.body, first, second))
        return
    data: dict[str, Any] = {closure.kind: [link.body, other.body], "frames": [_reference(link), _reference(other)]}
    if closure.kind in WITH_AXIS:
        data["axis"] = "z"
    parts.add("joints", closure.name, data, closure.row)


def _connect(parts: TableParts, tables: KinematicTables, link: TableLink, ends: tuple[str, str, str]) -> None:
    body, first, second = ends
    data: dict[str, Any] = {link.kind: [link.before, body], "frames": [first, second], "axis": "z"}
    parts.add("joints", link.name, data | tables.joints.get(link.label, {}), link.row)
    if link.actuated:
        parts.add("actuators", link.name, {"joint": link.name}, link.row)


def _reference(link: TableLink) -> str:
    """Return the name of a row's frame."""
    return link.body if link.moves else link.name


def _first_frame(parts: TableParts, homes: Mapping[str, Home], link: TableLink, shift: float) -> str:
    """Add the joint's frame on its antecedent, where q = 0, and return its name."""
    name = f"{link.name}_a"
    back = along_z(-link.drawn_at, 0.0) if link.kind == "revolute" else along_z(0.0, -link.drawn_at)
    placed = then(then(link.placement, back), along_z(0.0, shift))
    parts.add("frames", name, _frame(link.before, placed, homes), link.row)
    return name


def _frame(body: str, placed: Pose, homes: Mapping[str, Home]) -> dict[str, Any]:
    """Return a frame on a body: exact in the axes of a table's body, otherwise as drawn."""
    if not homes[body].of_tables:
        return {"on": body, **frame_entry(placed)}
    relative = relative_pose(homes[body].pose, placed)
    return {"on": body, "local": relative.position.tolist(), **rotation_entry(relative.axes)}


def _place(tables: KinematicTables, homes: Mapping[str, Home], link: TableLink, body: str, placed: Pose) -> float:
    """Return the position of a joint on its axis, from O_i along z_i: at O_i, or at the foot of the common normal.

    It does not matter on rigid bodies; an elastic one must have a beam there.
    """
    r = float(link.zero.axes[:, 2] @ (link.zero.position - link.foot.position))
    elastic = [each for each in (link.before, body) if each in tables.beams.beams]
    if not elastic:
        return 0.0
    back = along_z(0.0, -link.drawn_at if link.kind == "prismatic" else 0.0)
    for shift in (0.0, -r):
        on_first = then(then(link.placement, back), along_z(0.0, shift)).position
        on_second = placed.to_world(np.array([0.0, 0.0, shift]))
        if tables.beams.touches(link.before, homes[link.before].pose.to_local(on_first)) and tables.beams.touches(
            body, homes[body].pose.to_local(on_second)
        ):
            return shift
    raise link.row.fault(
        "r", f"the joint is not on the beams of {' or '.join(quote(each) for each in elastic)}",
        hint="beams of both bodies must pass through O_i, or through the foot of the common normal (r = 0)",
    )  # fmt: skip
