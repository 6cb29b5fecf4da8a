"""Links and joints of a robot as parts of a mechanism, in the format of the mechanism file.

The drawing is the robot with all coordinates zero, in the axes of its root link; joints that mimic others are drawn
where they then are. A link on a fixed joint is a frame on the body it is fixed to, and its mass is added to that body.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mechanism import GROUND
from supple.diagnostics.errors import quote
from supple.formats.urdf.grammar import choose_name, fault
from supple.formats.urdf.robot import TYPES, Follows, Placement, Robot, RobotJoint
from supple.formats.yaml_tree import KeyPath
from supple.geometry.inertia import MassProperties, zero_mass
from supple.geometry.rotation import rotation_about

FLOATING_BASE = "floating_base"


@dataclass(frozen=True)
class UrdfOptions:
    """Options of a side-car for the tree.

    mimic  : treatment of mimicking joints: "coupled", "free", or "locked"
    locked, spherical : joints that are locked, or that are spherical
    """

    floating: bool = False
    mimic: str = "coupled"
    locked: Collection[str] = ()
    spherical: Collection[str] = ()


@dataclass(frozen=True, eq=False)
class UrdfParts:
    """Tree in the format of the mechanism file, with lines.

    data : bodies, frames, joints, couplings; actuators : one for each joint that may have one
    carrier : link -> body (or the ground); placements : link -> its frame in the drawing
    names : link or joint in the URDF -> part
    """

    robot: Robot
    names: dict[str, str]
    carrier: dict[str, str]
    placements: dict[str, Placement]
    data: dict[str, dict[str, Any]]
    actuators: dict[str, dict[str, Any]]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    files: dict[KeyPath, str] = field(default_factory=dict)
    written: dict[KeyPath, str] = field(default_factory=dict)

    def note(self, section: str, written: str, element: Any) -> None:
        """Register the line of a part, and its name in the URDF."""
        path = (section, self.names[written])
        self.lines[path] = element.sourceline
        if self.names[written] != written:
            self.written[path] = written


def parts_of_robot(robot: Robot, names: dict[str, str], chosen: UrdfOptions) -> UrdfParts:
    """Return bodies, frames, joints and possible actuators of a robot."""
    led = {name: _resolve_mimic(name, robot, chosen) for name in robot.joints}
    held = {name for name, (factor, _) in led.items() if factor == 0.0}
    placements = _placements(robot, led)
    carrier = {robot.root: names[robot.root] if chosen.floating else GROUND}
    for link in robot.order[1:]:
        joint = robot.joints[robot.parent[link]]
        carrier[link] = carrier[joint.parent] if robot.parent[link] in held else names[link]
    data: dict[str, dict[str, Any]] = {"bodies": {}, "frames": {}, "joints": {}, "couplings": {}}
    parts = UrdfParts(robot, names, carrier, placements, data, {})
    _add_links(parts)
    if chosen.floating:
        name = choose_name(FLOATING_BASE, names.values())
        parts.data["joints"][name] = {"free": [GROUND, names[robot.root]]}
        parts.lines["joints", name] = robot.links[robot.root].sourceline
    for name, joint in robot.joints.items():
        if name not in held:
            _add_joint(parts, name, "spherical" if name in chosen.spherical else TYPES[joint.type], led[name][1])
    if chosen.mimic == "coupled":
        for name, joint in robot.joints.items():
            if name not in held and joint.follows is not None:
                _couple(parts, name, joint.follows)
    return parts


def placement_entry(placement: Placement) -> dict[str, Any]:
    """Return `at` and `rotation` of a frame in the drawing."""
    turn = Rotation.from_matrix(placement.axes).as_rotvec()
    angle = float(np.linalg.norm(turn))
    about = turn / angle if angle > 0.0 else np.array([0.0, 0.0, 1.0])
    return {"at": placement.position.tolist(), "rotation": {"about": about.tolist(), "angle": angle}}


def _resolve_mimic(name: str, robot: Robot, chosen: UrdfOptions) -> tuple[float, float]:
    """Return (m, c) of a joint's coordinate q = m q₀ + c, with the independent coordinate q₀; m = 0 if it is locked."""
    behind: list[str] = []
    while robot.joints[name].type != "fixed" and name not in chosen.locked:
        follows = robot.joints[name].follows
        if follows is None or chosen.mimic == "free":
            factor = 1.0
            break
        if name in behind:
            element = robot.elements[name]
            raise fault(
                f"it mimics itself, through {', '.join(quote(other) for other in behind)}",
                element.find("mimic"), robot.file, within=element, hint="remove the <mimic> of one of them",
            )  # fmt: skip
        behind.append(name)
        if chosen.mimic == "locked":
            return 0.0, follows.offset
        name = follows.joint
    else:
        factor = 0.0
    offset = 0.0
    for other in reversed(behind):
        follows = robot.joints[other].follows
        assert follows is not None  # all joints in this list mimic others
        factor, offset = follows.multiplier * factor, follows.multiplier * offset + follows.offset
    return factor, offset


def _placements(robot: Robot, led: dict[str, tuple[float, float]]) -> dict[str, Placement]:
    """Return the poses of the links in the drawing, with independent joints at zero."""
    found = {robot.root: Placement(np.eye(3), np.zeros(3))}
    for link in robot.order[1:]:
        name = robot.parent[link]
        joint = robot.joints[name]
        found[link] = found[joint.parent] @ joint.placement
        at = led[name][1]
        if at != 0.0 and _single(TYPES[joint.type]):
            found[link] = found[link] @ _move_joint(joint, at)
    return found


def _single(kind: str) -> bool:
    """Return whether a joint kind has one coordinate."""
    return len(JOINT_KINDS[kind].space.measures) == 1


def _move_joint(joint: RobotJoint, value: float) -> Placement:
    if not JOINT_KINDS[TYPES[joint.type]].space.turns:
        return Placement(np.eye(3), value * joint.axis / np.linalg.norm(joint.axis))
    return Placement(rotation_about(joint.axis, value), np.zeros(3))


def _add_links(parts: UrdfParts) -> None:
    robot, names = parts.robot, parts.names
    total: dict[str, MassProperties] = {}
    home: dict[str, Placement] = {}
    for link in robot.order:
        body = parts.carrier[link]
        if body == names[link]:
            home[body], total[body] = parts.placements[link], zero_mass()
            parts.note("bodies", link, robot.links[link])
            _note_masses(parts, body, robot.links[link])
        else:
            parts.data["frames"][names[link]] = {"on": body, **placement_entry(parts.placements[link])}
            parts.note("frames", link, robot.links[link])
        if body != GROUND:
            total[body] += _transform_mass(home[body], parts.placements[link], robot.masses[link])
    for body, mass in total.items():
        J = mass.inertia
        parts.data["bodies"][body] = {
            "mass": float(mass.mass),
            "center": (home[body].position + home[body].axes @ mass.center).tolist(),
            "inertia": {key: float(J["xyz".index(key[0]), "xyz".index(key[1])]) for key in _ENTRIES},
            **placement_entry(home[body]),
        }


_ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")


def _note_masses(parts: UrdfParts, body: str, link: Any) -> None:
    for key, where in (("mass", "inertial/mass"), ("center", "inertial/origin"), ("inertia", "inertial/inertia")):
        found = link.find(where)
        if found is not None:
            parts.lines["bodies", body, key] = found.sourceline


def _transform_mass(home: Placement, link: Placement, mass: MassProperties) -> MassProperties:
    """Return the mass properties of a link in the axes of the body that carries it."""
    R = home.axes.T @ link.axes
    p = home.axes.T @ (link.position - home.position)
    return MassProperties(mass.mass, p + R @ mass.center, R @ mass.inertia @ R.T)


def _add_joint(parts: UrdfParts, written: str, kind: str, at: float) -> None:
    robot, name = parts.robot, parts.names[written]
    joint, element = robot.joints[written], robot.elements[written]
    placement = parts.placements[joint.child]
    data: dict[str, Any] = {kind: [parts.carrier[joint.parent], parts.carrier[joint.child]]}
    data["at"] = placement.position.tolist()
    if JOINT_KINDS[kind].axes:
        data["axis"] = (placement.axes @ joint.axis).tolist()
    parts.data["joints"][name] = data
    parts.note("joints", written, element)
    for key, tag in (("axis", "axis"), ("limits", "limit"), ("viscous", "dynamics"), ("dry", "dynamics")):
        found = element.find(tag)
        if found is not None:
            parts.lines["joints", name, key] = found.sourceline
    if not _single(kind):
        return
    if at != 0.0:
        data["rest"] = float(at)
    for key, value in (("viscous", joint.damping), ("dry", joint.friction)):
        if value:
            data[key] = float(value)
    actuator: dict[str, Any] = {"joint": name}
    # Limits without a range, which many files have, are ignored; a continuous joint has none.
    lower, upper = (None, None) if joint.type == "continuous" else (joint.lower, joint.upper)
    if lower is not None and upper is not None and lower < upper:
        data["limits"] = actuator["limits"] = [float(lower), float(upper)]
    if joint.effort:
        actuator["force_limits"] = [-abs(float(joint.effort)), abs(float(joint.effort))]
    if joint.follows is None:
        parts.actuators[name] = actuator
        parts.note("actuators", written, element)


def _couple(parts: UrdfParts, written: str, follows: Follows) -> None:
    """Couple q to the joint that it mimics: q = multiplier times its coordinate, plus offset."""
    robot, element = parts.robot, parts.robot.elements[written]
    ends = [parts.names[name] for name in (written, follows.joint)]
    for name, end in zip((written, follows.joint), ends, strict=True):
        kinds = {*parts.data["joints"][end]} & {*JOINT_KINDS}
        if not all(_single(kind) for kind in kinds):
            raise fault(
                f"it mimics joint {quote(follows.joint)}, but joint {quote(name)} does not have one coordinate",
                element.find("mimic"), robot.file, within=element,
                hint="write `mimic: free` in the side-car to make it an independent joint",
            )  # fmt: skip
    name = choose_name(f"{ends[0]}_mimic", [*parts.names.values(), *parts.data["couplings"]])
    parts.data["couplings"][name] = {
        "coordinates": {ends[0]: 1.0, ends[1]: -follows.multiplier},
        "value": follows.offset,
    }
    parts.lines["couplings", name] = element.find("mimic").sourceline
