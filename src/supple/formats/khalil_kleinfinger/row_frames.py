"""Rows of the tables from a drawing: frames R_i of the geometry, and elastic bodies as chains of beams."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Drawing, Pose
from supple.description.elastic.placed_beam import PlacedBeam, placed_beams
from supple.description.joints.joint import Joint
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formats.khalil_kleinfinger.beams import distance_from
from supple.formats.khalil_kleinfinger.closures import WITH_AXIS
from supple.formats.khalil_kleinfinger.geometry import HERE, along_z, parameters_of, relative_pose, then
from supple.geometry.rotation import axes_from_z

# Elastic bodies as rows of the table of beams: consecutive beams, the first from the origin of the body's row.
#
# This is possible if the beams of the body form one chain that begins on the axis of its joint.


HEADINGS = (
    "body", "beam", "length", "S", "Iy", "Iz", "torsion", "E", "G", "rho", "phi", "theta", "psi", "elements",
)  # fmt: skip
_NEAR = 1e-9  # of a beam's length, or of the largest length: closer points coincide
_UPRIGHT = 1e-9  # cos θ below which φ and ψ are about the same axis


class Chain(NamedTuple):
    """Beams of a body in order, each with its axes (x along the chain); nodes (n + 1, 3); all in body axes."""

    beams: tuple[PlacedBeam, ...]
    axes: tuple[Array, ...]
    nodes: Array

    def touches(self, place: Array) -> bool:
        """Return whether a point, in body axes, is on one of the beams."""
        return any(distance_from(place, a, b) <= _NEAR * float(np.linalg.norm(b - a)) for a, b in self.spans)

    @property
    def spans(self) -> list[tuple[Array, Array]]:
        """Pairs of consecutive nodes."""
        return list(zip(self.nodes[:-1], self.nodes[1:], strict=True))

    def reverse(self) -> Chain:
        """Return the chain from its other end; x and y of the sections change sign, z does not."""
        turned = tuple(R * np.array([-1.0, -1.0, 1.0]) for R in reversed(self.axes))
        return Chain(tuple(reversed(self.beams)), turned, self.nodes[::-1].copy())

    def start_on(self, origin: Array, axis: Array) -> Chain | None:
        """Return the chain from its end at the origin, or else on the axis through it; None if there is no such end."""
        ways = (self, self.reverse())
        size = _NEAR * max(beam.length for beam in self.beams)
        for chain in ways:
            if np.linalg.norm(chain.nodes[0] - origin) <= size:
                return chain
        for chain in ways:
            away = chain.nodes[0] - origin
            if np.linalg.norm(away - (away @ axis) * axis) <= size:
                return chain
        return None

    def rows(self, label: str, frame: Pose) -> list[tuple[Any, ...]]:
        """Return the rows of the table, in the frame of the body's row."""
        found = []
        for i, (beam, axes) in enumerate(zip(self.beams, self.axes, strict=True)):
            section, material = beam.sections[0], beam.material
            found.append(
                (
                    label, i + 1, beam.length, section.area, section.Iy, section.Iz, section.torsion,
                    material.youngs_modulus, material.G, material.density, *angles_of(frame.axes.T @ axes),
                    beam.elements,
                )
            )  # fmt: skip
        return found


def chain_of(drawing: Drawing, body: str) -> Chain:
    """Return the beams of an elastic body as a chain; refuse properties that a row cannot describe."""
    described, part = drawing.mechanism.bodies[body], f'body "{body}"'
    if described.superelement is not None:
        raise InputError("a superelement cannot be written as a table of beams", part=part)
    if described.attach is not None:
        raise InputError("rigid arms (attach) cannot be written in a table of beams", part=part)
    beams = placed_beams(drawing, body)
    for beam in beams:
        _require_plain(beam)
    return _order_beams(beams, part)


def angles_of(R: Array) -> tuple[float, float, float]:
    """Return (φ, θ, ψ) of R = rot(z, φ) rot(y, θ) rot(x, ψ); ψ = 0 if θ is a right angle."""
    cosine = float(np.hypot(R[0, 0], R[1, 0]))
    theta = float(np.arctan2(-R[2, 0], cosine))
    if cosine > _UPRIGHT:
        return float(np.arctan2(R[1, 0], R[0, 0])), theta, float(np.arctan2(R[2, 1], R[2, 2]))
    return float(np.arctan2(-R[0, 1], R[1, 1])), theta, 0.0


def _require_plain(beam: PlacedBeam) -> None:
    faults = {
        "it tapers": beam.sections[0] != beam.sections[1],
        "it is a Timoshenko beam": beam.theory != "euler-bernoulli",
        "it has an offset": bool(beam.arm.any()),
        "its material has damping": beam.material.damping is not None,
        "it has no mass": beam.material.density == 0.0,
    }
    wrong = next((what for what, so in faults.items() if so), None)
    if wrong is not None:
        raise InputError(
            f"{wrong}, but a table describes only straight, slender and uniform beams with mass",
            part=f'beam "{beam.name}"',
        )


def _order_beams(beams: tuple[PlacedBeam, ...], part: str) -> Chain:
    """Return the beams along the chain, from the first end that no other beam shares."""
    nodes: list[Array] = []
    ends = [[_node(nodes, place, beam.length) for place in beam.places] for beam in beams]
    counts = np.bincount([end for pair in ends for end in pair], minlength=len(nodes))
    if len(nodes) != len(beams) + 1 or counts.max() > 2:
        raise InputError("its beams branch, but beams of a table are consecutive", part=part,
                         hint="divide it into bodies of one chain each, connected by welds")  # fmt: skip
    at = next(end for end in ends[0] + [end for pair in ends for end in pair] if counts[end] == 1)
    order, axes, path_nodes, left = [], [], [nodes[at]], dict(enumerate(ends))
    while left:
        number = next((i for i, pair in left.items() if at in pair), None)
        if number is None:
            raise InputError("its beams are not connected", part=part)
        pair = left.pop(number)
        forward = pair[0] == at
        at = pair[1] if forward else pair[0]
        order.append(beams[number])
        axes.append(beams[number].axes * (1.0 if forward else np.array([-1.0, -1.0, 1.0])))
        path_nodes.append(nodes[at])
    return Chain(tuple(order), tuple(axes), np.array(path_nodes))


def _node(nodes: list[Array], place: Array, length: float) -> int:
    for i, other in enumerate(nodes):
        if np.linalg.norm(place - other) <= _NEAR * length:
            return i
    nodes.append(place)
    return len(nodes) - 1


# Rows of the geometry: R_i is the frame of joint i on its body, z_i its axis.
#
# Any frame has six parameters relative to any other (`parameters_of`). x and y of R_i where q = 0 are those of the
# joint's first frame, so that its stiffnesses are along them. O_i is the point of the joint; on an elastic body it is
# the start of its beams.


SIGMA = {"revolute": 0, "prismatic": 1}


@dataclass(eq=False)
class RowFrames:
    """Rows under construction.

    frames  : body -> R_i in the axes of the body
    rows    : body -> label of its row
    chains  : of elastic bodies, from O_i
    outside : rigid bodies without a hinge or slide to them, in axes of the drawing
    """

    drawing: Drawing
    frames: dict[str, Pose] = field(default_factory=lambda: {GROUND: HERE})
    rows: dict[str, str] = field(default_factory=lambda: {GROUND: "0"})
    geometry: list[tuple[Any, ...]] = field(default_factory=list)
    closures: list[tuple[str, str, str, str]] = field(default_factory=list)
    chains: dict[str, Chain] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)

    def fixed(self, label: str, body: str, pose: Pose) -> str:
        """Add a row σ = 2 for a frame on a body, in the body's axes, and return its label."""
        six = parameters_of(relative_pose(self.frames[body], pose))
        self.geometry.append((label, self.rows[body], 0, 2, *six, "", ""))
        return label

    @property
    def taken_names(self) -> set[str]:
        """Names that rows have, or will have."""
        mechanism = self.drawing.mechanism
        return {*mechanism.joints, *mechanism.frames, *self.outside, *(str(row[0]) for row in self.geometry)}

    def new(self, label: str) -> str:
        """Return a label that no row has; a frame that reading a table makes for its joint does not count."""
        while label in self.taken_names - own_frames(self.drawing.mechanism):
            label += "_"
        return label

    def add_moving(self, label: str, ends: tuple[str, str], pose: Pose, at: float, foot: float | None = None) -> None:
        """Add a row for a joint from ends[0], in whose axes its frame is `pose` where q = 0, to a body named ends[1].

        foot : r, if the joint is not at O_i but at the foot of the common normal
        """
        joint = self.drawing.mechanism.joints[label]
        gamma, b, alpha, d, theta, r = parameters_of(relative_pose(self.frames[ends[0]], pose))
        if foot is not None:
            if abs(np.sin(alpha)) < _NEAR:  # parallel axes have many common normals
                b, r = b + np.cos(alpha) * (r - foot), foot
            elif abs(r - foot) > _NEAR * max(1.0, abs(foot)):
                raise InputError(
                    f'its beams begin on the axis of joint "{label}", away from where it sits',
                    part=f'body "{ends[1]}"', hint="let them begin at the joint",
                )  # fmt: skip
        moved = (f"q + {theta!r}", r) if joint.kind == "revolute" else (theta, f"q + {r!r}")
        actuator = self.drawing.mechanism.actuators.get(label)
        acts = actuator is not None and actuator.joint == label
        row = (label, self.rows[ends[0]], int(acts), SIGMA[joint.kind], gamma, b, alpha, d, *moved, at, ends[1])
        self.geometry.append(row)


def row_frames(drawing: Drawing, carried: Collection[str]) -> RowFrames:
    """Return all rows of a mechanism's joints; carried : bodies (and their welds) in the table of masses."""
    found = RowFrames(drawing)
    bodies = [body for body in drawing.mechanism.bodies if body not in carried]
    left = {name: joint for name, joint in drawing.mechanism.joints.items() if name not in carried}
    while True:
        while (name := _next(left, found.rows)) is not None:
            _grow(found, name, left.pop(name))
        missing = [body for body in bodies if body not in found.rows]
        if not missing:
            break
        _set_outside(found, missing)
    for name, joint in left.items():
        _close(found, name, joint)
    return found


def own_frames(mechanism: Mechanism) -> set[str]:
    """Return the frames that reading a table makes for its joints, which are made again."""
    endings = ("_a", "_b", "_start", "_end")
    return {
        frame for name, joint in mechanism.joints.items() for frame in joint.frames or ()
        if frame in [name + ending for ending in endings]
    }  # fmt: skip


def _next(joints: Mapping[str, Joint], reached: Collection[str]) -> str | None:
    """Return the first hinge or slide between a reached body and another one."""
    for name, joint in joints.items():
        if joint.kind in SIGMA and sum(body in reached for body in joint.bodies) == 1:
            return name
    return None


def _grow(found: RowFrames, name: str, joint: Joint) -> None:
    """Add a row for a hinge or slide and the body that it leads to."""
    turned = joint.bodies[0] not in found.rows
    before, body = joint.bodies[::-1] if turned else joint.bodies
    first, second, at = joint_poses(found.drawing, name, joint, turned=turned)
    foot = None
    if found.drawing.mechanism.bodies[body].elastic:
        chain = chain_of(found.drawing, body).start_on(second.position, second.axes[:, 2])
        if chain is None:
            raise InputError(
                f'neither end of its beams is on the axis of joint "{name}", where beams of a table begin',
                part=f'body "{body}"', hint="divide it into bodies that begin there, connected by welds",
            )  # fmt: skip
        found.chains[body] = chain
        shift = float(second.axes[:, 2] @ (chain.nodes[0] - second.position))
        if abs(shift) > _NEAR * max(beam.length for beam in chain.beams):
            _require_foot(found, name, before, then(first, along_z(0.0, shift)).position, body)
            first, second, foot = then(first, along_z(0.0, shift)), then(second, along_z(0.0, shift)), shift
    found.frames[body] = second
    found.add_moving(name, (before, body), first, at, foot)
    found.rows[body] = name


def _require_foot(found: RowFrames, name: str, before: str, origin: Any, body: str) -> None:
    """Require that the joint position is as reading the table gives it: O_i first, then the foot of the normal."""
    chain = found.chains.get(before)
    if chain is None or chain.touches(origin):
        raise InputError(
            f'its beams begin on the axis of joint "{name}", away from where it sits',
            part=f'body "{body}"', hint="let them begin at the joint",
        )  # fmt: skip


def _set_outside(found: RowFrames, missing: list[str]) -> None:
    """Add a rigid body that no hinge or slide leads to, to be written in the file with the axes of the drawing."""
    mechanism = found.drawing.mechanism
    body = next((name for name in missing if not mechanism.bodies[name].elastic), None)
    if body is None:
        raise InputError(
            "no chain of hinges and slides leads to it from the ground", part=f'body "{missing[0]}"',
            hint="connect an elastic body of a table by a hinge or slide",
        )  # fmt: skip
    if body in mechanism.joints and mechanism.joints[body].kind in SIGMA:
        raise InputError(
            "a joint has the same name, but names of table rows must be unique",
            part=f'body "{body}"', hint="choose another name",
        )  # fmt: skip
    found.outside.append(body)
    found.rows[body] = body
    found.frames[body] = Pose(np.zeros(3), found.drawing.bodies[body].axes.T)


def _close(found: RowFrames, name: str, joint: Joint) -> None:
    first, second, at = joint_poses(found.drawing, name, joint, turned=False)
    a, b = joint.bodies
    end = found.fixed(found.new(f"{name}_end"), b, second)
    if joint.kind in SIGMA:
        found.add_moving(name, (a, f"{name}_cut"), first, at)
        found.closures.append((name, end, "weld", ""))
    else:
        found.closures.append((found.fixed(found.new(f"{name}_start"), a, first), end, joint.kind, name))


def joint_poses(drawing: Drawing, name: str, joint: Joint, *, turned: bool) -> tuple[Pose, Pose, float]:
    """Return the frames of a joint on both bodies, z the axis, coincident where q = 0; and q as drawn.

    turned : whether they are requested from the second body to the first, about the opposite axis
    """
    path = ("joints", name)
    if joint.kind in WITH_AXIS and joint.axis is None:
        raise InputError("the joint needs an axis", part=part_name(path), hint="add its direction, such as axis: z")
    E = np.eye(3)
    if joint.axis is not None:  # for a weld that of its stiffnesses
        axis = drawing.direction(joint.axis, (*path, "axis"))
        E = axes_from_z(-axis if turned else axis)
    if joint.frames is not None:
        places = [drawing.find_frame(reference, path).pose for reference in joint.frames]
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
        value = _measure_coordinate(drawing, joint, first, second, turned=turned)
    elif joint.kind == "prismatic":  # the frames are drawn together, where the coordinate is `rest`
        first = then(first, along_z(0.0, -value))
    else:
        second = then(second, along_z(value, 0.0))
    return first, second, value


def _measure_coordinate(drawing: Drawing, joint: Joint, first: Pose, second: Pose, *, turned: bool) -> float:
    """Return the coordinate of a hinge or slide from its frames as drawn."""
    a, b = (drawing.bodies[body] for body in (joint.bodies[::-1] if turned else joint.bodies))
    start = Pose(a.to_world(first.position), a.axes @ first.axes)
    relative = relative_pose(start, Pose(b.to_world(second.position), b.axes @ second.axes))
    if joint.kind == "prismatic":
        return float(relative.position[2])
    return float(np.arctan2(relative.axes[1, 0], relative.axes[0, 0])) if joint.kind == "revolute" else 0.0
