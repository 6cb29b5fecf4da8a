"""A robot as its URDF describes it: links with mass, and the joints that make them a tree, all checked."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from supple.diagnostics import InputError, nearest
from supple.diagnostics.quoting import quoted
from supple.formats.urdf_xml import fault
from supple.geometry.inertia import MassProperties, nothing

Array = NDArray[np.float64]

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_SHORTEST_AXIS = 1e-9
_ROUNDING = 1e-15  # m²: a radius of gyration of 30 nm


@dataclass(frozen=True)
class Placement:
    """Axes and origin of a frame in another: x = position + axes x_frame."""

    axes: Array
    position: Array

    def __matmul__(self, inner: Placement) -> Placement:
        return Placement(self.axes @ inner.axes, self.position + self.axes @ inner.position)


HERE = Placement(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Follows:
    """Of a mimicking joint: its coordinate is multiplier times that of `joint`, plus offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class RobotJoint:
    """A joint; its frame, where all coordinates are zero, is the child's.

    placement : the child's frame in the parent's; axis : (3,) in the child's
    lower, upper, effort : None where nothing is said
    """

    type: str
    parent: str
    child: str
    placement: Placement
    axis: Array
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    damping: float | None = None
    friction: float | None = None
    follows: Follows | None = None


@dataclass(frozen=True, eq=False)
class Robot:
    """Links and joints by their names in the URDF.

    masses : of each link, in its axes; parent : the joint that leads to a link; order : links, parents first
    elements : the XML, for lines
    """

    name: str
    file: str
    root: str
    masses: dict[str, MassProperties]
    joints: dict[str, RobotJoint]
    parent: dict[str, str]
    order: tuple[str, ...]
    links: dict[str, Any]
    elements: dict[str, Any]

    def placements(self) -> dict[str, Placement]:
        """Every link's frame in the root's, all coordinates zero."""
        found = {self.root: HERE}
        for link in self.order[1:]:
            joint = self.joints[self.parent[link]]
            found[link] = found[joint.parent] @ joint.placement
        return found


def robot_of(element: Any, file: str) -> Robot:
    """The robot in an element <robot>; what is wrong is told with its line."""
    links = _named(element, "link", file)
    elements = _named(element, "joint", file)
    parent: dict[str, str] = {}
    for name, joint in elements.items():
        _require_joint(joint, links, elements, file)
        child = joint.find("child").get("link")
        if child in parent:
            raise fault(
                f'link {quoted(child)} already has a parent, through joint {quoted(parent[child])} (line '
                f"{elements[parent[child]].sourceline}): a tree cannot hold a loop",
                joint, file, hint="leave this joint out and close the loop under `constraints:` in the side-car",
            )  # fmt: skip
        parent[child] = name
    order = _order(links, elements, parent, file)
    read = _values(element, file)
    masses = {link.name: _mass(link, links[link.name], file) for link in read.links}
    joints = {joint.name: _joint(joint, elements[joint.name], file) for joint in read.joints}
    name = element.get("name") or "robot"
    return Robot(name, file, order[0], masses, joints, parent, order, links, elements)


def _values(element: Any, file: str) -> Any:
    """What yourdfpy reads; nothing but links and joints is left, so it meets no meshes."""
    from yourdfpy import URDF  # takes a second, and only robots need it

    if not element.get("name"):
        element.set("name", "robot")
    try:
        return URDF.load(
            io.BytesIO(etree.tostring(element)), build_scene_graph=False, build_collision_scene_graph=False,
            load_meshes=False, load_collision_meshes=False,
        ).robot  # fmt: skip
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(f"it cannot be read as URDF ({error})", file=file, hint="check it with check_urdf") from error


def _named(element: Any, tag: str, file: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in element.findall(tag):
        name = part.get("name")
        if name in found:
            raise fault(f"the name is taken (line {found[name].sourceline})", part, file, hint="give it another name")
        found[name] = part
    return found


def _require_joint(joint: Any, links: dict[str, Any], joints: dict[str, Any], file: str) -> None:
    kind = joint.get("type")
    if kind not in TYPES:
        said = "it has no type" if kind is None else f"the type {quoted(kind)} is not known"
        raise fault(said, joint, file, hint=f"take one of {', '.join(TYPES)}")
    for end in ("parent", "child"):
        found = joint.find(end)
        link = None if found is None else found.get("link")
        if found is None or link is None:
            raise fault(f"it has no {end}", joint, file, hint=f'add <{end} link="..."/>')
        if link not in links:
            raise fault(f"its {end} {quoted(link)} is not a link", found, file, within=joint, hint=nearest(link, links))
    if joint.find("parent").get("link") == joint.find("child").get("link"):
        raise fault("it connects a link with itself", joint, file, hint="check its parent and child")
    axis = joint.find("axis")
    xyz = None if axis is None or kind in ("fixed", "floating") else axis.get("xyz")
    if xyz is not None and np.linalg.norm([float(word) for word in xyz.split()]) < _SHORTEST_AXIS:
        raise fault("its axis is zero", axis, file, within=joint, hint='give a direction, xyz="0 0 1" for one')
    mimic = joint.find("mimic")
    if mimic is not None and (mimic.get("joint") not in joints or mimic.get("joint") == joint.get("name")):
        raise fault(
            f"it mimics {quoted(mimic.get('joint'))}, which is not another joint",
            mimic, file, within=joint, hint=nearest(mimic.get("joint"), joints),
        )  # fmt: skip


def _order(links: dict[str, Any], joints: dict[str, Any], parent: dict[str, str], file: str) -> tuple[str, ...]:
    """Links with parents before children, in the order of the file; one tree holds them all."""
    roots = [name for name in links if name not in parent]
    if not roots:
        raise InputError(
            "every link has a parent: the joints go round in a circle",
            file=file, hint="leave one joint out and close the loop under `constraints:` in the side-car",
        )  # fmt: skip
    if len(roots) > 1:
        raise fault(
            f"no joint leads to it, nor to link {quoted(roots[0])} (line {links[roots[0]].sourceline}): a robot has "
            "one root",
            links[roots[1]], file, hint="connect them with a joint, fixed or floating",
        )  # fmt: skip
    children: dict[str, list[str]] = {name: [] for name in links}
    for joint in joints.values():
        children[joint.find("parent").get("link")].append(joint.find("child").get("link"))
    order: list[str] = []
    waiting = [roots[0]]
    while waiting:
        link = waiting.pop()
        order.append(link)
        waiting.extend(reversed(children[link]))
    left = [name for name in links if name not in order]
    if left:
        raise fault(
            f"the joints from it go round in a circle ({', '.join(left[:6])}) and never reach the root",
            joints[parent[left[0]]], file, hint="connect it to the root, and close the loop in the side-car",
        )  # fmt: skip
    return tuple(order)


def _mass(link: Any, element: Any, file: str) -> MassProperties:
    if link.inertial is None:
        return nothing()
    mass = float(link.inertial.mass or 0.0)
    if mass < 0.0:
        found = element.find("inertial/mass")
        raise fault(f"its mass {mass:g} kg is negative", found, file, within=element, hint="give a mass of 0 or more")
    placed = _placement(link.inertial.origin)
    inertia = np.zeros((3, 3)) if link.inertial.inertia is None else link.inertial.inertia
    if np.abs(inertia).max() < _ROUNDING * mass:  # a point mass, to rounding, which may well be negative
        inertia = np.zeros((3, 3))
    return MassProperties(mass, placed.position, placed.axes @ inertia @ placed.axes.T)


def _joint(joint: Any, element: Any, file: str) -> RobotJoint:
    limit, dynamics, mimic = joint.limit, joint.dynamics, joint.mimic
    lower, upper = (None, None) if limit is None else (limit.lower, limit.upper)
    if lower is not None and upper is not None and lower > upper:
        found = element.find("limit")
        raise fault(f"its lower limit {lower:g} is above its upper {upper:g}", found, file, within=element)
    return RobotJoint(
        type=joint.type,
        parent=joint.parent,
        child=joint.child,
        placement=_placement(joint.origin),
        axis=joint.axis,
        lower=lower,
        upper=upper,
        effort=None if limit is None else limit.effort,
        damping=_number(None if dynamics is None else dynamics.damping),
        friction=_number(None if dynamics is None else dynamics.friction),
        follows=None if mimic is None else Follows(mimic.joint, mimic.multiplier, mimic.offset),
    )


def _placement(matrix: Array | None) -> Placement:
    return HERE if matrix is None else Placement(matrix[:3, :3], matrix[:3, 3])


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
