"""Mechanism of hinges and slides, rigid or with beams, as tables that `load` reads as the same mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.description.drawing import Attached, Drawing
from supple.description.joints.joint import Joint
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.khalil_kleinfinger.closures import KINDS
from supple.formats.khalil_kleinfinger.masses import as_body, transformed_mass
from supple.formats.khalil_kleinfinger.row_frames import HEADINGS as _BEAMS
from supple.formats.khalil_kleinfinger.row_frames import SIGMA, RowFrames, chain_of, own_frames, row_frames
from supple.formats.khalil_kleinfinger.stiffnesses import COLUMNS as STIFFNESSES
from supple.formats.khalil_kleinfinger.stiffnesses import OWN
from supple.formats.mechanism_text import as_text
from supple.geometry.inertia import MassProperties

# Keys of a joint that no table has; stiffnesses only in part.
_KEPT = ("limits", "viscous", "dry", "motor", "drive", "stiffness", "elastic", "elastic_damping", "elastic_loss")
_MADE = (
    "supple",
    "points",
    "bodies",
    "frames",
    "joints",
    "point_masses",
    "actuators",
    "parameters",
    "materials",
    "sections",
)
_GEOMETRY = ("joint", "antecedent", "actuated", "sigma", "gamma", "b", "alpha", "d", "theta", "r", "q", "body")
_SAME = 1e-12  # m: closer points coincide
_MASSES = ("body", "mass", "x", "y", "z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def to_tables(mechanism: Mechanism) -> str:
    """Return the text of a mechanism file with `tables:`; refuse a mechanism that tables cannot describe."""
    _require_writable(mechanism)
    drawing = Drawing(mechanism)
    carried = _find_carried(drawing)
    written = row_frames(drawing, carried)
    places = FramesInUse(drawing, written.taken_names)
    data = mechanism.model_dump(exclude_defaults=True, by_alias=True)
    rest = {key: value for key, value in data.items() if key not in _MADE}
    rest["point_masses"] = {
        name: part for name, part in data.get("point_masses", {}).items()
        if mechanism.bodies[drawing.find_frame(part["at"], ("point_masses", name)).body].elastic
    }  # fmt: skip
    rest["actuators"] = data.get("actuators", {})
    rest = with_places(rest, places)
    for name, frame in drawing.frames.items():
        known = {row[0] for row in written.geometry}
        if name not in known and (name in places.used or name in carried.values() or name not in own_frames(mechanism)):
            written.fixed(name, frame.body, frame.pose)
    for label, place in places.new.items():
        _fix(written, label, place)
    masses = mass_properties(drawing)
    rest["actuators"] = _actuators(written, rest["actuators"])
    stiffness, rest["joints"] = _stiffnesses(mechanism, written, data["joints"])
    rest["bodies"] = {body: _outside(drawing, body, masses[body]) for body in written.outside}
    rest["bodies"] |= {
        name: rest["bodies"].get(name, {}) | {"allow": part["allow"]}
        for name, part in data["bodies"].items() if part.get("allow") and name not in carried
    }  # fmt: skip
    weighed = [
        _mass(written, drawing, body, mass, carried)
        for body, mass in masses.items()
        if (mass.mass or mass.inertia.any()) and not mechanism.bodies[body].elastic and body not in written.outside
    ]
    beams = [
        row for body, chain in written.chains.items() for row in chain.rows(written.rows[body], written.frames[body])
    ]
    columns = [name for name in STIFFNESSES.spellings if any(name in row for row in stiffness)]
    tables = [
        _block("geometry", _GEOMETRY, written.geometry),
        _block("masses", _MASSES, weighed),
        _block("beams", _BEAMS, beams),
        _block("stiffness", columns, [tuple(row.get(name, "") for name in columns) for row in stiffness]),
        _block("closures", ("first", "second", "kind", "name"), written.closures),
    ]
    return as_text({key: value for key, value in rest.items() if value != {}}) + "tables:\n" + "".join(tables)


def _require_writable(mechanism: Mechanism) -> None:
    if mechanism.planar:
        raise InputError(
            "tables describe spatial mechanisms, but this one is planar",
            part=f'mechanism "{mechanism.name}"', hint="draw it in space, without plane:",
        )  # fmt: skip
    for name, joint in mechanism.joints.items():
        if joint.kind not in KINDS:
            raise InputError(
                f"a {joint.kind} joint cannot be written in a table", part=f'joint "{name}"',
                hint=f"use {', '.join(KINDS)}; replace it by hinges with massless bodies between them",
            )  # fmt: skip
        if joint.kind not in SIGMA and joint.rest is not None:
            raise InputError(
                "rest is not possible in a table, where its coordinate is zero as drawn",
                part=f'joint "{name}"',
                hint="remove rest",
            )
    for name in mechanism.frames:
        if name in mechanism.joints:
            raise InputError(
                "a joint has the same name, but names of table rows must be unique",
                part=f'frame "{name}"', hint="choose another name for the frame",
            )  # fmt: skip


def _find_carried(drawing: Drawing) -> dict[str, str]:
    """Return rigid bodies on elastic ones that a row of masses makes again, with its label.

    Such a body is `tip_mass`, welded at the frame `tip`, or where the beams of the body of joint `tip` begin.
    """
    mechanism, found = drawing.mechanism, {}
    for name, joint in mechanism.joints.items():
        label, body = name.removesuffix("_mass"), joint.bodies[0]
        alone = sum(name in other.bodies for other in mechanism.joints.values()) == 1
        if label == name or joint.kind != "weld" or joint.bodies[1] != name or joint.yields or not alone:
            continue
        if body not in mechanism.bodies or not mechanism.bodies[body].elastic:
            continue
        at = drawing.bodies[body].to_local(drawing.bodies[name].position)
        placed = drawing.frames.get(label)
        if placed is not None:
            places = [placed.pose.position] if placed.body == body else []
        else:
            leads = label in mechanism.joints and body in mechanism.joints[label].bodies
            places = list(chain_of(drawing, body).nodes[[0, -1]]) if leads else []
        if any(np.allclose(at, place, rtol=0.0, atol=_SAME) for place in places):
            found[name] = label
    return found


def _fix(written: RowFrames, label: str, place: Attached) -> None:
    if place.body not in written.frames:
        raise InputError(
            "a part on an elastic body is a row of masses in a table, which has no points of its own",
            part=f'body "{place.body}"', hint="use a point of the elastic body",
        )  # fmt: skip
    written.fixed(label, place.body, place.pose)


def _actuators(written: RowFrames, actuators: Mapping[str, Any]) -> dict[str, Any]:
    """Return what rows with μ = 1 do not contain of the actuators; everything if their order differs from the rows."""
    if [row[0] for row in written.geometry if row[2]] != list(actuators):
        written.geometry = [(*row[:2], 0, *row[3:]) for row in written.geometry]
        return dict(actuators)
    keys = {name: {key: value for key, value in part.items() if key != "joint"} for name, part in actuators.items()}
    return {name: part for name, part in keys.items() if part}


def _stiffnesses(
    mechanism: Mechanism, written: RowFrames, joints: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return rows of stiffnesses for joints with one number per direction; and the other keys of joints."""
    rows, rest = [], {}
    moving = {row[0]: row for row in written.geometry if row[3] != 2}
    for name, joint in mechanism.joints.items():
        keys = {key: joints[name][key] for key in _KEPT if joints[name].get(key) is not None}
        row = moving.get(name)
        values = {} if row is None else _plain(joint, actuated=bool(row[2]))
        if row is not None and row[11] == joint.bodies[0] and joint.yields and not _round(joint, values):
            raise InputError(
                "stiffnesses of a row are along axes of its antecedent, but these are along axes of the body it moves",
                part=f'joint "{name}"', hint="exchange the order of its two bodies",
            )  # fmt: skip
        if values:
            rows.append({"joint": name, **values})
            keys = {key: value for key, value in keys.items() if key not in ("stiffness", "elastic")}
        if keys:
            rest[name] = keys
    return rows, rest


def _plain(joint: Joint, *, actuated: bool) -> dict[str, float]:
    """Return stiffnesses by column if they are numbers; nothing for a matrix or a table."""
    keys = joint.elastic if joint.elastic is not None else joint.stiffness
    if not isinstance(keys, Mapping):
        return {}
    own = OWN[joint.kind]
    values = {
        name: value for key, value in keys.items() if (name := STIFFNESSES.named(key)) and isinstance(value, float)
    }
    loose = [name for name in values if own in name.split(".")]
    return {} if len(values) < len(keys) or (loose and not actuated) else values


def _round(joint: Joint, values: Mapping[str, float]) -> bool:
    """Return whether its stiffness is the same along all directions across its axis."""
    only_drive = not joint.elastic and joint.stiffness is None
    same = values.get("x") == values.get("y") and values.get("rx") == values.get("ry")
    return only_drive or (bool(values) and same and not any("." in name for name in values))


def _mass(
    written: RowFrames, drawing: Drawing, body: str, mass: MassProperties, carried: Mapping[str, str]
) -> tuple[Any, ...]:
    """Return a row of masses, in the axes of the row of its body, or of its carrier's row on an elastic body."""
    if body not in carried:
        frame, local_mass, label = written.frames[body], mass, written.rows[body]
    else:
        label, own = carried[body], drawing.bodies[body]
        carrier = drawing.mechanism.joints[body].bodies[0]
        frame = drawing.frames[label].pose if label in drawing.frames else written.frames[carrier]
        home = drawing.bodies[carrier]
        local_mass = transformed_mass(mass, home.axes.T @ own.axes, home.to_local(own.position))
        if label not in drawing.frames and (
            written.rows[carrier] != label or np.abs(frame.position - home.to_local(own.position)).max() > _SAME
        ):
            raise InputError(
                f'it has the name of row "{label}" of the table, but another position',
                part=f'body "{body}"',
                hint="rename the body",
            )
    found = transformed_mass(local_mass, frame.axes.T, -frame.axes.T @ frame.position)
    return (label, found.mass, *found.center, *found.inertia[np.triu_indices(3)])


def _outside(drawing: Drawing, body: str, mass: MassProperties) -> dict[str, Any]:
    """Return a rigid body of the file, in the axes of the drawing."""
    pose = drawing.bodies[body]
    at = {"at": pose.position.tolist()}
    if not mass.mass and not mass.inertia.any():
        return {"mass": 0.0, **at}
    turned = transformed_mass(mass, pose.axes, np.zeros(3))
    return {**as_body(turned), "center": (pose.position + turned.center).tolist(), **at}


def _block(name: str, headings: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = [", ".join(_cell(cell) for cell in row) for row in rows]
    return "".join([f"  {name}: |\n", *(f"    {line}\n" for line in [", ".join(headings), *lines])]) if lines else ""


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else repr(float(value) + 0.0)


# Points that springs, forces, sensors and the like name, as frames that rows of a table define.


_NOT_PLACES = ("joint", "reaction", "axis", "axes", "coordinates", "law", "name", "description")
_SECTIONS = ("springs", "dampers", "forces", "actuators", "sensors", "motions", "point_masses")


@dataclass(eq=False)
class FramesInUse:
    """Existing frames by name, and the additional frames that are needed."""

    drawing: Drawing
    taken: set[str]
    new: dict[str, Attached] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def named(self, reference: str) -> str:
        """Return the frame of a point; a new one for a point, an end or the origin of a body."""
        if reference in self.drawing.frames or reference == "ground":
            self.used.add(reference)
            return reference
        name = f"{reference.replace('.', '_')}_place"
        while name in self.taken:
            name += "_"
        if name not in self.new:
            self.new[name] = self.drawing.find_frame(reference, ())
        return name


def with_places(data: Mapping[str, Any], places: FramesInUse) -> dict[str, Any]:
    """Return sections of a mechanism file with a frame for every point."""
    return {key: _replace_places(part, places) if key in _SECTIONS else part for key, part in data.items()}


def _replace_places(parts: Mapping[str, Any], places: FramesInUse) -> dict[str, Any]:
    return {name: _part(part, places) if isinstance(part, Mapping) else part for name, part in parts.items()}


def _part(part: Mapping[str, Any], places: FramesInUse) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in part.items():
        if key in _NOT_PLACES:
            found[key] = value
        elif isinstance(value, str) and _is_place(value, places.drawing):
            found[key] = places.named(value)
        elif isinstance(value, tuple | list) and value and all(isinstance(item, str) for item in value):
            found[key] = [places.named(item) if _is_place(item, places.drawing) else item for item in value]
        elif key == "tool" and isinstance(value, Mapping):
            found[key] = _part(value, places)
        else:
            found[key] = value
    return found


def _is_place(reference: str, drawing: Drawing) -> bool:
    head = reference.partition(".")[0]
    known = (*drawing.frames, *drawing.joint_points, *drawing.bodies)
    return reference in known or ("." in reference and head in drawing.bodies)
