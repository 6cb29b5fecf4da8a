"""A mechanism of rigid bodies, hinges and slides as tables, which `load` reads as the same mechanism.

R_i is the frame of joint i on its body, z_i its axis; any frame has six parameters in any other (`parameters_of`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.description.drawing import Drawing, Pose
from supple.description.joints.joint import Joint
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.parts import part_name
from supple.formats.khalil_kleinfinger.closures import KINDS, WITH_AXIS
from supple.formats.khalil_kleinfinger.places import Places, with_places
from supple.formats.khalil_kleinfinger.transform import HERE, along_z, parameters_of, within
from supple.formats.mechanism_text import as_text
from supple.geometry.inertia import MassProperties
from supple.geometry.rotation import axes_from_z

_SIGMA = {"revolute": 0, "prismatic": 1}
_KEPT = ("limits", "viscous", "dry", "motor", "drive")  # what a joint says that no table has
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
_MASSES = ("body", "mass", "x", "y", "z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@dataclass(eq=False)
class Written:
    """Rows as they come about; frames : R_i in the axes of its body, by body; rows : label of the row, by body."""

    drawing: Drawing
    frames: dict[str, Pose] = field(default_factory=lambda: {GROUND: HERE})
    rows: dict[str, str] = field(default_factory=lambda: {GROUND: "0"})
    geometry: list[tuple[Any, ...]] = field(default_factory=list)
    closures: list[tuple[str, str, str, str]] = field(default_factory=list)

    def fixed(self, label: str, body: str, pose: Pose) -> str:
        """A row σ = 2 for a frame on a body, in the body's axes."""
        six = parameters_of(within(self.frames[body], pose))
        self.geometry.append((label, self.rows[body], 0, 2, *six, "", ""))
        return label

    @property
    def taken(self) -> set[str]:
        """Names that rows have, or will have."""
        mechanism = self.drawing.mechanism
        return {*mechanism.joints, *mechanism.frames, *(str(row[0]) for row in self.geometry)}

    def new(self, label: str) -> str:
        """A label that no row has; a frame that reading a table made for its joint gives way."""
        while label in self.taken - _own_frames(self.drawing.mechanism):
            label += "_"
        return label

    def moving(self, label: str, ends: tuple[str, str], pose: Pose, at: float) -> None:
        """A row for a joint from ends[0], in whose axes its frame is `pose` where q = 0, to a body called ends[1]."""
        kind = self.drawing.mechanism.joints[label].kind
        gamma, b, alpha, d, theta, r = parameters_of(within(self.frames[ends[0]], pose))
        moved = (f"q + {theta!r}", r) if kind == "revolute" else (theta, f"q + {r!r}")
        actuator = self.drawing.mechanism.actuators.get(label)
        acts = actuator is not None and actuator.joint == label
        row = (label, self.rows[ends[0]], int(acts), _SIGMA[kind], gamma, b, alpha, d, *moved, at, ends[1])
        self.geometry.append(row)


def to_tables(mechanism: Mechanism) -> str:
    """The text of a mechanism file with `tables:`; what no table can say of a mechanism is refused."""
    _require_rigid(mechanism)
    _require_names(mechanism)
    drawing = Drawing(mechanism)
    written = Written(drawing)
    closing = _tree(written)
    for name in closing:
        _close(written, name)
    places = Places(drawing, written.taken)
    data = mechanism.model_dump(exclude_defaults=True, by_alias=True)
    rest = with_places({key: value for key, value in data.items() if key not in _MADE}, places)
    joints = {
        name: {key: part[key] for key in _KEPT if part.get(key) is not None} for name, part in data["joints"].items()
    }
    rest["joints"] = {name: part for name, part in joints.items() if part}
    rows = {row[0] for row in written.geometry}
    for name, frame in drawing.frames.items():
        if name not in rows and (name in places.used or name not in _own_frames(mechanism)):
            written.fixed(name, frame.body, frame.pose)
    for label, place in places.new.items():
        written.fixed(label, place.body, place.pose)
    masses = mass_properties(drawing)
    if [row[0] for row in written.geometry if row[2]] != list(mechanism.actuators):
        written.geometry = [(*row[:2], 0, *row[3:]) for row in written.geometry]  # their order is that of the file
    tables = [
        _block("geometry", _GEOMETRY, written.geometry),
        _block(
            "masses",
            _MASSES,
            [_mass(written, body, mass) for body, mass in masses.items() if mass.mass or mass.inertia.any()],
        ),
        _block("closures", ("first", "second", "kind", "name"), written.closures),
    ]
    return as_text({key: value for key, value in rest.items() if value != {}}) + "tables:\n" + "".join(tables)


def _require_rigid(mechanism: Mechanism) -> None:
    if mechanism.planar:
        raise InputError(
            "a table describes a mechanism in space, and this one is planar",
            part=f'mechanism "{mechanism.name}"', hint="draw it in space: leave out plane:",
        )  # fmt: skip
    for name, body in mechanism.bodies.items():
        if body.elastic:
            raise InputError("it is elastic, and only rigid bodies are written as tables", part=f'body "{name}"')
        if body.allow is not None:
            raise InputError("what it allows has no place in a table", part=f'body "{name}"', hint="leave allow out")
    for name, joint in mechanism.joints.items():
        if joint.kind not in KINDS:
            raise InputError(
                f"a {joint.kind} joint is no row of a table", part=f'joint "{name}"',
                hint=f"tables know {', '.join(KINDS)}; draw it as hinges with massless bodies between them",
            )  # fmt: skip
        if joint.kind not in _SIGMA and joint.rest is not None:
            raise InputError(
                "in a table it is zero where its frames meet", part=f'joint "{name}"', hint="leave rest out"
            )
        if joint.elasticity(None).soft:
            raise InputError("it is elastic, and only ideal joints are written as tables", part=f'joint "{name}"')


def _require_names(mechanism: Mechanism) -> None:
    for name in mechanism.frames:
        if name in mechanism.joints:
            raise InputError(
                "a joint is called so, too, and rows of a table have one name each",
                part=f'frame "{name}"', hint="give the frame another name",
            )  # fmt: skip


def _tree(written: Written) -> list[str]:
    """Rows from the ground outwards over hinges and slides; the joints that are left close loops."""
    mechanism = written.drawing.mechanism
    left = dict(mechanism.joints)
    while (name := _next(left, written.rows)) is not None:
        joint = left.pop(name)
        turned = joint.bodies[0] not in written.rows
        before, body = joint.bodies[::-1] if turned else joint.bodies
        first, second, at = _joint_frames(written.drawing, name, joint, turned=turned)
        written.frames[body] = second
        written.moving(name, (before, body), first, at)
        written.rows[body] = name
    missing = [body for body in mechanism.bodies if body not in written.rows]
    if missing:
        raise InputError(
            "no chain of hinges and slides leads to it from the ground", part=f'body "{missing[0]}"',
            hint="welded bodies are one body in a table",
        )  # fmt: skip
    return list(left)


def _next(joints: Mapping[str, Joint], reached: Collection[str]) -> str | None:
    """The first hinge or slide that leads from what is reached to what is not."""
    for name, joint in joints.items():
        if joint.kind in _SIGMA and sum(body in reached for body in joint.bodies) == 1:
            return name
    return None


def _close(written: Written, name: str) -> None:
    joint = written.drawing.mechanism.joints[name]
    first, second, at = _joint_frames(written.drawing, name, joint, turned=False)
    a, b = joint.bodies
    end = written.fixed(written.new(f"{name}_end"), b, second)
    if joint.kind in _SIGMA:
        written.moving(name, (a, f"{name}_cut"), first, at)
        written.closures.append((name, end, "weld", ""))
    else:
        written.closures.append((written.fixed(written.new(f"{name}_start"), a, first), end, joint.kind, name))


def _joint_frames(drawing: Drawing, name: str, joint: Joint, *, turned: bool) -> tuple[Pose, Pose, float]:
    """Frames of a joint on both its bodies, z the axis, that coincide where q = 0; and q as drawn.

    turned : they are asked for from the second body to the first, about the opposite axis
    """
    path = ("joints", name)
    axis = np.array([0.0, 0.0, 1.0])
    if joint.kind in WITH_AXIS:
        if joint.axis is None:
            raise InputError("it has no axis", part=part_name(path), hint="say about or along what: axis: z")
        axis = drawing.direction(joint.axis, (*path, "axis"))
    E = axes_from_z(-axis if turned else axis) if joint.kind in WITH_AXIS else np.eye(3)
    if joint.frames is not None:
        places = [drawing.attached(reference, path).pose for reference in joint.frames]
        poses = [Pose(pose.position, pose.axes @ E) for pose in places]
        value = 0.0
    else:
        at: Any = joint.at if joint.at is not None else name
        axes = [drawing.bodies[body].axes.T @ E for body in joint.bodies]
        positions = [drawing.on_body(body, at, path) for body in joint.bodies]
        poses = [Pose(p, R) for p, R in zip(positions, axes, strict=True)]
        value = float(joint.rest) if isinstance(joint.rest, float) else 0.0
    first, second = poses[::-1] if turned else poses
    if joint.frames is not None:
        value = _measured(drawing, joint, first, second, turned=turned)
    else:  # the frames are drawn together, where the coordinate is `rest`
        back = along_z(-value, 0.0) if joint.kind == "revolute" else along_z(0.0, -value)
        first = Pose(first.to_world(back.position), first.axes @ back.axes)
    return first, second, value


def _measured(drawing: Drawing, joint: Joint, first: Pose, second: Pose, *, turned: bool) -> float:
    """The coordinate of a hinge or slide as its frames are drawn."""
    a, b = (drawing.bodies[body] for body in (joint.bodies[::-1] if turned else joint.bodies))
    start = Pose(a.to_world(first.position), a.axes @ first.axes)
    seen = within(start, Pose(b.to_world(second.position), b.axes @ second.axes))
    if joint.kind == "prismatic":
        return float(seen.position[2])
    return float(np.arctan2(seen.axes[1, 0], seen.axes[0, 0])) if joint.kind == "revolute" else 0.0


def _mass(written: Written, body: str, mass: MassProperties) -> tuple[Any, ...]:
    frame = written.frames[body]
    R = frame.axes.T
    J = R @ mass.inertia @ R.T
    return (written.rows[body], mass.mass, *(R @ (mass.center - frame.position)), *J[np.triu_indices(3)])


def _own_frames(mechanism: Mechanism) -> set[str]:
    """Frames that reading a table makes for its joints: they come about again."""
    endings = ("_a", "_b", "_start", "_end")
    return {
        frame for name, joint in mechanism.joints.items() for frame in joint.frames or ()
        if frame in [name + ending for ending in endings]
    }  # fmt: skip


def _block(name: str, headings: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = [", ".join(_cell(cell) for cell in row) for row in rows]
    return "".join([f"  {name}: |\n", *(f"    {line}\n" for line in [", ".join(headings), *lines])]) if lines else ""


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else repr(float(value) + 0.0)
