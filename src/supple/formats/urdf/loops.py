"""Loop closures of a robot: constraints between two links, in two formats.

`constraints` follows the element <constraint> that is proposed for urdfdom: a type, and on either link an origin and an
axis. `closed_loop` with `type` names pairs of joints (or links) whose frames coincide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator

from supple.array_types import Array
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.quantities.dimension import ANGLE
from supple.description.quantities.quantity import Length, Name, Number, Part, of
from supple.diagnostics import InputError, describe_unknown
from supple.diagnostics.errors import quote
from supple.formats.urdf.grammar import choose_name
from supple.formats.urdf.links_and_joints import UrdfParts, placement_entry
from supple.formats.urdf.robot import TYPES, Placement, Robot
from supple.formats.yaml_tree import KeyPath, YamlTree
from supple.geometry.rotation import axes_from_x, axes_from_z

_KINDS = {
    **TYPES,
    "cylindrical": "cylindrical",
    "universal": "universal",
    "spherical": "spherical",
    "ball": "spherical",
}
_PARALLEL = 1e-6


def _inner(key: str) -> BeforeValidator:
    """Return a validator that reads `parent: arm` for `parent: {link: arm}`, as in XML."""

    def bare(value: Any) -> Any:
        return value[key] if isinstance(value, Mapping) and set(value) == {key} else value

    return BeforeValidator(bare)


Triple = tuple[Number, Number, Number]
Angle = Annotated[Number, of(ANGLE)]
LinkName = Annotated[str, _inner("link")]
Axis = Annotated[Triple, _inner("xyz")]
ConstraintType = Literal[
    "revolute", "continuous", "prismatic", "cylindrical", "universal", "spherical", "ball", "planar", "fixed"
]


class Origin(Part):
    """Frame on a link."""

    xyz: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)
    rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    """Rotation about the link's fixed x, y and z axes, in this order, rad."""

    def placement(self) -> Placement:
        """Return the pose of the frame on the link."""
        return Placement.from_rpy(self.xyz, self.rpy)


class LoopConstraint(Part):
    """Joint that closes a loop: its frame on each of two links, and its axis in each."""

    type: ConstraintType
    parent: LinkName
    parent_origin: Origin = Origin()
    parent_axis: Axis = (1.0, 0.0, 0.0)
    child: LinkName
    child_origin: Origin = Origin()
    child_axis: Axis = (1.0, 0.0, 0.0)


class Loops(Part):
    """Loops and motors of a side-car, in both formats."""

    constraints: dict[Name, LoopConstraint] = {}
    closed_loop: tuple[tuple[str, str], ...] = ()
    type: tuple[Literal["3d", "6d", "3D", "6D"], ...] = ()
    name_mot: tuple[str, ...] | None = None
    joint_name: tuple[str, ...] = ()
    joint_type: tuple[Literal["SPHERICAL", "spherical"], ...] = ()


def constraint_data(element: Any) -> dict[str, Any]:
    """Return an element <constraint> in the format of a side-car."""
    found: dict[str, Any] = {} if element.get("type") is None else {"type": element.get("type")}
    for inner in element:
        if inner.tag in ("parent", "child"):
            found[inner.tag] = inner.get("link")
        elif inner.tag.endswith("_axis"):
            found[inner.tag] = [float(word) for word in inner.get("xyz", "1 0 0").split()]
        else:
            values = {key: inner.get(key) for key in ("xyz", "rpy") if inner.get(key) is not None}
            found[inner.tag] = {key: [float(word) for word in text.split()] for key, text in values.items()}
    return found


def markers(robot: Robot, loops: Loops) -> set[str]:
    """Return hinges that only mark a cut: two on one axis, without further links.

    A hinge that was cut is in the tree twice, once on either side, each with a small link. The pair could spin about
    the hinge's axis without any effect; it is restored to one hinge instead.
    """
    inner = {joint.parent for joint in robot.joints.values()}
    found: set[str] = set()
    for pair in loops.closed_loop:
        if all(name in robot.joints for name in pair):
            first, second = (robot.joints[name] for name in pair)
            hinges = all(TYPES[joint.type] == "revolute" for joint in (first, second))
            bare = first.child not in inner and second.child not in inner
            if hinges and bare and _parallel(first.axis, second.axis):
                found |= {*pair}
    return found


def add_loops(parts: UrdfParts, loops: Loops, tree: YamlTree) -> None:
    """Add joints and frames for all loops; errors name the line of the side-car."""
    for name, constraint in loops.constraints.items():
        path: KeyPath = ("constraints", name)
        first, second = (_link(parts, getattr(constraint, end), tree, (*path, end)) for end in ("parent", "child"))
        for end in ("parent_axis", "child_axis"):
            if np.linalg.norm(getattr(constraint, end)) == 0.0:
                raise _fault(tree, (*path, end), "its axis is the zero vector", "give a direction, such as [0, 0, 1]")
        a = parts.placements[first] @ constraint.parent_origin.placement()
        b = parts.placements[second] @ constraint.child_origin.placement()
        kind = _KINDS[constraint.type]
        _close(parts, name, kind, (first, second), _build_frames(kind, a, b, constraint), tree, path)
    bare = markers(parts.robot, loops)
    for i, pair in enumerate(loops.closed_loop):
        path = ("closed_loop", i)
        links = tuple(_find_link(parts, item, tree, (*path, j)) for j, item in enumerate(pair))
        a, b = (parts.placements[link] for link in links)
        kind = "spherical" if _type(loops, i, tree).lower() == "3d" else "weld"
        if kind == "weld" and set(pair) <= bare:
            kind = "revolute"
            # The frames coincide, so that one axis is valid for both, even if the second hinge has the opposite sign.
            E = axes_from_z(parts.robot.joints[pair[0]].axis)
            a, b = Placement(a.axes @ E, a.position), Placement(b.axes @ E, b.position)
        name = choose_name(f"loop_{i + 1}", [*parts.data["joints"], *parts.names.values()])
        _close(parts, name, kind, (links[0], links[1]), (a, b), tree, path)


def _close(
    parts: UrdfParts, name: str, kind: str, links: tuple[str, str], frames: tuple[Placement, Placement], tree: YamlTree,
    path: KeyPath,
) -> None:  # fmt: skip
    """Add a joint between frames of two links."""
    bodies = [parts.carrier[link] for link in links]
    if bodies[0] == bodies[1]:
        raise _fault(
            tree, path, f"links {quote(links[0])} and {quote(links[1])} are already fixed to each other",
            "use links that move relative to each other",
        )  # fmt: skip
    if name in parts.data["joints"]:
        raise _fault(tree, path, "a joint has the same name", "choose another name")
    taken = {*parts.data["frames"], *parts.data["bodies"]}
    placed = [choose_name(f"{name[:55]}_{end}", taken) for end in ("parent", "child")]
    for frame, body, placement in zip(placed, bodies, frames, strict=True):
        parts.data["frames"][frame] = {"on": body, **placement_entry(placement)}
        parts.files["frames", frame], parts.lines["frames", frame] = tree.place(path)
    joint: dict[str, Any] = {kind: bodies, "frames": placed}
    axes = JOINT_KINDS[kind].axes
    joint |= {"axes": ["z", "x"]} if axes == 2 else {"axis": "z"} if axes == 1 else {}
    parts.data["joints"][name] = joint
    parts.files["joints", name], parts.lines["joints", name] = tree.place(path)


def _build_frames(kind: str, a: Placement, b: Placement, constraint: LoopConstraint) -> tuple[Placement, Placement]:
    """Return the frames of a joint whose z is its axis; with two axes, z is the parent's and x the child's."""
    axes = JOINT_KINDS[kind].axes
    if axes == 0:
        return a, b
    if axes == 1:
        return (
            Placement(a.axes @ axes_from_z(constraint.parent_axis), a.position),
            Placement(b.axes @ axes_from_z(constraint.child_axis), b.position),
        )
    z, x = a.axes @ np.array(constraint.parent_axis), b.axes @ np.array(constraint.child_axis)
    z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
    # The drawing may be approximate: each frame takes its undetermined direction from the other side.
    across = x - (x @ z) * z
    if np.linalg.norm(across) < _PARALLEL:
        across = axes_from_z(z)[:, 0]
    across /= np.linalg.norm(across)
    first = np.column_stack([across, np.cross(z, across), z])
    up = z - (z @ x) * x
    if np.linalg.norm(up) < _PARALLEL:
        up = axes_from_x(x)[:, 2]
    up /= np.linalg.norm(up)
    return Placement(first, a.position), Placement(np.column_stack([x, np.cross(up, x), up]), b.position)


def _find_link(parts: UrdfParts, name: str, tree: YamlTree, path: KeyPath) -> str:
    """Return the link for a name in `closed_loop`: for a joint its child."""
    joints = parts.robot.joints
    return joints[name].child if name in joints else _link(parts, name, tree, path, (*joints, *parts.robot.links))


def _link(parts: UrdfParts, name: str, tree: YamlTree, path: KeyPath, known: tuple[str, ...] | None = None) -> str:
    """Return the link with this name in the URDF, or as a part."""
    name = next((link for link in parts.robot.links if parts.names[link] == name), name)
    if name not in parts.robot.links:
        what = "link" if known is None else "joint or link"
        raise _fault(tree, path, *describe_unknown(what, name, parts.robot.links if known is None else known))
    return name


def _type(loops: Loops, i: int, tree: YamlTree) -> str:
    if loops.type and len(loops.type) != len(loops.closed_loop):
        raise _fault(
            tree,
            ("type",),
            f"there are {len(loops.type)} types for {len(loops.closed_loop)} loops",
            "give one type per loop",
        )
    return loops.type[i] if loops.type else "6d"


def _parallel(first: Array, second: Array) -> bool:
    across = np.linalg.norm(np.cross(first, second))
    return bool(across < _PARALLEL * np.linalg.norm(first) * np.linalg.norm(second))


def _fault(tree: YamlTree, path: KeyPath, message: str, hint: str) -> InputError:
    file, line = tree.place(path)
    part = f"constraint {quote(path[1])}" if path[0] == "constraints" else str(path[0])
    return InputError(message, part=part, hint=hint, path=path, file=file, line=line)
