"""Robot as described by its URDF: links with mass, and the joints that connect them to a tree, all checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from scipy.spatial.transform import Rotation

from supple.array_types import Array
from supple.diagnostics import InputError, describe_unknown, nearest
from supple.diagnostics.errors import quote
from supple.formats.urdf.grammar import fault
from supple.geometry.inertia import MassProperties, zero_mass

TYPES = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "weld", "floating": "free",
    "planar": "planar",
}  # fmt: skip
"""Joint types of URDF, and the corresponding joint kinds."""
_SHORTEST_AXIS = 1e-9
_ROUNDING = 1e-15  # m²: a radius of gyration of 30 nm


@dataclass(frozen=True)
class Placement:
    """Axes and origin of a frame in another: x = position + axes x_frame."""

    axes: Array
    position: Array

    @classmethod
    def from_rpy(cls, xyz: Sequence[float], rpy: Sequence[float]) -> Placement:
        """Return the frame at xyz, rotated about the outer frame's fixed axes: R = Rz(y) Ry(p) Rx(r)."""
        return cls(Rotation.from_euler("xyz", rpy).as_matrix(), np.array(xyz, float))

    def __matmul__(self, inner: Placement) -> Placement:
        return Placement(self.axes @ inner.axes, self.position + self.axes @ inner.position)


HERE = Placement(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Follows:
    """Mimicking joint: its coordinate is multiplier times that of `joint`, plus offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class RobotJoint:
    """Joint; its frame, in which all coordinates are zero, is the child's.

    placement : the child's frame in the parent's; axis : (3,) in the child's
    lower, upper, effort : None if not given
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


def robot_of(element: Any, file: str) -> Robot:
    """Return the robot in an element <robot>; errors have their line."""
    links = _index_by_name(element, "link", file)
    elements = _index_by_name(element, "joint", file)
    parent: dict[str, str] = {}
    for name, joint in elements.items():
        _require_joint(joint, links, elements, file)
        child = joint.find("child").get("link")
        if child in parent:
            raise fault(
                f'link {quote(child)} already has a parent, through joint {quote(parent[child])} (line '
                f"{elements[parent[child]].sourceline}), but a URDF tree cannot contain a loop",
                joint, file, hint="remove this joint, and close the loop under `constraints:` in the side-car",
            )  # fmt: skip
        parent[child] = name
    order = _order(links, elements, parent, file)
    masses = {name: _mass(link, file) for name, link in links.items()}
    joints = {name: _joint(joint, file) for name, joint in elements.items()}
    name = element.get("name") or "robot"
    return Robot(name, file, order[0], masses, joints, parent, order, links, elements)


def _index_by_name(element: Any, tag: str, file: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in element.findall(tag):
        name = part.get("name")
        if name in found:
            raise fault(
                f"the name is already used (line {found[name].sourceline})", part, file, hint="choose another name"
            )
        found[name] = part
    return found


def _require_joint(joint: Any, links: dict[str, Any], joints: dict[str, Any], file: str) -> None:
    kind = joint.get("type")
    if kind not in TYPES:
        problem = "it has no type" if kind is None else f"unknown type {quote(kind)}"
        raise fault(problem, joint, file, hint=f"use one of {', '.join(TYPES)}")
    for end in ("parent", "child"):
        found = joint.find(end)
        link = None if found is None else found.get("link")
        if found is None or link is None:
            raise fault(f"it has no {end}", joint, file, hint=f'add <{end} link="..."/>')
        if link not in links:
            message, hint = describe_unknown(f"{end} link", link, links)
            raise fault(message, found, file, within=joint, hint=hint)
    if joint.find("parent").get("link") == joint.find("child").get("link"):
        raise fault("it connects a link with itself", joint, file, hint="check its parent and child")
    axis = joint.find("axis")
    xyz = None if axis is None or kind in ("fixed", "floating") else axis.get("xyz")
    if xyz is not None and np.linalg.norm([float(word) for word in xyz.split()]) < _SHORTEST_AXIS:
        raise fault(
            "its axis is the zero vector", axis, file, within=joint, hint='give a direction, such as xyz="0 0 1"'
        )
    mimic = joint.find("mimic")
    if mimic is not None and (mimic.get("joint") not in joints or mimic.get("joint") == joint.get("name")):
        raise fault(
            f"it mimics {quote(mimic.get('joint'))}, which is not another joint",
            mimic, file, within=joint, hint=nearest(mimic.get("joint"), joints),
        )  # fmt: skip


def _order(links: dict[str, Any], joints: dict[str, Any], parent: dict[str, str], file: str) -> tuple[str, ...]:
    """Return the links in the order of the file, parents before children; they must form one tree."""
    roots = [name for name in links if name not in parent]
    if not roots:
        raise InputError(
            "every link has a parent: the joints form a circle",
            file=file, hint="remove one joint, and close the loop under `constraints:` in the side-car",
        )  # fmt: skip
    if len(roots) > 1:
        raise fault(
            f"no joint leads to it, nor to link {quote(roots[0])} (line {links[roots[0]].sourceline}), but a robot "
            "has one root",
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
    reached = set(order)
    left = [name for name in links if name not in reached]
    if left:
        raise fault(
            f"the joints from it form a circle ({', '.join(left[:6])}) that does not reach the root",
            joints[parent[left[0]]], file, hint="connect it to the root, and close the loop in the side-car",
        )  # fmt: skip
    return tuple(order)


def _mass(link: Any, file: str) -> MassProperties:
    inertial = link.find("inertial")
    if inertial is None:
        return zero_mass()
    found = inertial.find("mass")
    mass = _number(found, "value", 0.0)
    if mass < 0.0:
        raise fault(
            f"its mass must not be negative (got {mass:g} kg)",
            found,
            file,
            within=link,
            hint="give a mass of 0 or more",
        )
    placed, inertia = _placement(inertial), _inertia(inertial.find("inertia"))
    if np.abs(inertia).max() < _ROUNDING * mass:  # a point mass: the rounding error may be negative
        inertia = np.zeros((3, 3))
    return MassProperties(mass, placed.position, placed.axes @ inertia @ placed.axes.T)


def _inertia(element: Any) -> Array:
    """Return the inertia [[ixx, ixy, ixz], ...]; omitted entries, or an omitted element, are zero."""
    return np.array([[_number(element, f"i{min(a, b)}{max(a, b)}", 0.0) for b in "xyz"] for a in "xyz"])


def _joint(joint: Any, file: str) -> RobotJoint:
    limit, dynamics, mimic = (joint.find(tag) for tag in ("limit", "dynamics", "mimic"))
    lower, upper = _number(limit, "lower"), _number(limit, "upper")
    if lower is not None and upper is not None and lower > upper:
        raise fault(f"its lower limit {lower:g} is above its upper limit {upper:g}", limit, file, within=joint)
    return RobotJoint(
        type=joint.get("type"),
        parent=joint.find("parent").get("link"),
        child=joint.find("child").get("link"),
        placement=_placement(joint),
        axis=np.array(_numbers(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))),
        lower=lower,
        upper=upper,
        effort=_number(limit, "effort"),
        damping=_number(dynamics, "damping"),
        friction=_number(dynamics, "friction"),
        follows=_follows(mimic),
    )


def _follows(mimic: Any) -> Follows | None:
    if mimic is None:
        return None
    return Follows(mimic.get("joint"), _number(mimic, "multiplier", 1.0), _number(mimic, "offset", 0.0))


def _placement(element: Any) -> Placement:
    """Return the pose of an element's <origin>; the identity without one."""
    origin = element.find("origin")
    zero = (0.0, 0.0, 0.0)
    return HERE if origin is None else Placement.from_rpy(_numbers(origin, "xyz", zero), _numbers(origin, "rpy", zero))


def _numbers(element: Any, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    """Return an attribute's numbers, or the default if it or the whole element is omitted."""
    text = None if element is None else element.get(name)
    return default if text is None else tuple(float(word) for word in text.split())


@overload
def _number(element: Any, name: str) -> float | None: ...
@overload
def _number(element: Any, name: str, default: float) -> float: ...
def _number(element: Any, name: str, default: float | None = None) -> float | None:
    text = None if element is None else element.get(name)
    return default if text is None else float(text)
