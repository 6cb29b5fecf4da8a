"""Rows of the geometry from a drawing: R_i is the frame of joint i on its body, z_i its axis.

Any frame has six parameters in any other (`parameters_of`). x and y of R_i where q = 0 are those of the joint's first
frame, so that its stiffnesses are along them. O_i is where the joint sits; on an elastic body it is where its beams
begin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.description.drawing import Drawing, Pose
from supple.description.joints.joint import Joint
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.parts import part_name
from supple.formats.khalil_kleinfinger.chains import Chain, chain_of
from supple.formats.khalil_kleinfinger.closures import WITH_AXIS
from supple.formats.khalil_kleinfinger.transform import HERE, along_z, parameters_of, relative_pose, then
from supple.geometry.rotation import axes_from_z

SIGMA = {"revolute": 0, "prismatic": 1}
_NEAR = 1e-9  # of the largest of some lengths


@dataclass(eq=False)
class RowFrames:
    """Rows as they come about; frames : R_i in the axes of its body, by body; rows : label of the row, by body.

    chains : of elastic bodies, from O_i; outside : rigid bodies that no hinge or slide leads to, in axes of the drawing
    """

    drawing: Drawing
    frames: dict[str, Pose] = field(default_factory=lambda: {GROUND: HERE})
    rows: dict[str, str] = field(default_factory=lambda: {GROUND: "0"})
    geometry: list[tuple[Any, ...]] = field(default_factory=list)
    closures: list[tuple[str, str, str, str]] = field(default_factory=list)
    chains: dict[str, Chain] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)

    def fixed(self, label: str, body: str, pose: Pose) -> str:
        """A row σ = 2 for a frame on a body, in the body's axes."""
        six = parameters_of(relative_pose(self.frames[body], pose))
        self.geometry.append((label, self.rows[body], 0, 2, *six, "", ""))
        return label

    @property
    def taken(self) -> set[str]:
        """Names that rows have, or will have."""
        mechanism = self.drawing.mechanism
        return {*mechanism.joints, *mechanism.frames, *self.outside, *(str(row[0]) for row in self.geometry)}

    def new(self, label: str) -> str:
        """A label that no row has; a frame that reading a table made for its joint gives way."""
        while label in self.taken - own_frames(self.drawing.mechanism):
            label += "_"
        return label

    def moving(self, label: str, ends: tuple[str, str], pose: Pose, at: float, foot: float | None = None) -> None:
        """A row for a joint from ends[0], in whose axes its frame is `pose` where q = 0, to a body called ends[1].

        foot : r, where the joint does not sit at O_i but at the foot of the common normal
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
    """All rows of a mechanism's joints; carried : bodies (and their welds) that the table of masses says."""
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
    """Frames that reading a table makes for its joints: they come about again."""
    endings = ("_a", "_b", "_start", "_end")
    return {
        frame for name, joint in mechanism.joints.items() for frame in joint.frames or ()
        if frame in [name + ending for ending in endings]
    }  # fmt: skip


def _next(joints: Mapping[str, Joint], reached: Collection[str]) -> str | None:
    """The first hinge or slide that leads from what is reached to what is not."""
    for name, joint in joints.items():
        if joint.kind in SIGMA and sum(body in reached for body in joint.bodies) == 1:
            return name
    return None


def _grow(found: RowFrames, name: str, joint: Joint) -> None:
    """A row for a hinge or slide and the body that it leads to."""
    turned = joint.bodies[0] not in found.rows
    before, body = joint.bodies[::-1] if turned else joint.bodies
    first, second, at = joint_poses(found.drawing, name, joint, turned=turned)
    foot = None
    if found.drawing.mechanism.bodies[body].elastic:
        chain = chain_of(found.drawing, body).starting_on(second.position, second.axes[:, 2])
        if chain is None:
            raise InputError(
                f'neither end of its beams lies on the axis of joint "{name}", where those of a table begin',
                part=f'body "{body}"', hint="weld bodies together that begin there, one for each side",
            )  # fmt: skip
        found.chains[body] = chain
        shift = float(second.axes[:, 2] @ (chain.nodes[0] - second.position))
        if abs(shift) > _NEAR * max(beam.length for beam in chain.beams):
            _require_foot(found, name, before, then(first, along_z(0.0, shift)).position, body)
            first, second, foot = then(first, along_z(0.0, shift)), then(second, along_z(0.0, shift)), shift
    found.frames[body] = second
    found.moving(name, (before, body), first, at, foot)
    found.rows[body] = name


def _require_foot(found: RowFrames, name: str, before: str, origin: Any, body: str) -> None:
    """A table puts a joint at O_i if beams of both bodies pass there, and only otherwise at the foot of the normal."""
    chain = found.chains.get(before)
    if chain is None or chain.touches(origin):
        raise InputError(
            f'its beams begin on the axis of joint "{name}", away from where it sits',
            part=f'body "{body}"', hint="let them begin at the joint",
        )  # fmt: skip


def _set_outside(found: RowFrames, missing: list[str]) -> None:
    """A rigid body that no hinge or slide leads to stands in the file itself, drawn with the axes of the drawing."""
    mechanism = found.drawing.mechanism
    body = next((name for name in missing if not mechanism.bodies[name].elastic), None)
    if body is None:
        raise InputError(
            "no chain of hinges and slides leads to it from the ground", part=f'body "{missing[0]}"',
            hint="an elastic body of a table hangs on a hinge or slide",
        )  # fmt: skip
    if body in mechanism.joints and mechanism.joints[body].kind in SIGMA:
        raise InputError(
            "a joint is called so, too, and rows of a table have one name each",
            part=f'body "{body}"', hint="give it another name",
        )  # fmt: skip
    found.outside.append(body)
    found.rows[body] = body
    found.frames[body] = Pose(np.zeros(3), found.drawing.bodies[body].axes.T)


def _close(found: RowFrames, name: str, joint: Joint) -> None:
    first, second, at = joint_poses(found.drawing, name, joint, turned=False)
    a, b = joint.bodies
    end = found.fixed(found.new(f"{name}_end"), b, second)
    if joint.kind in SIGMA:
        found.moving(name, (a, f"{name}_cut"), first, at)
        found.closures.append((name, end, "weld", ""))
    else:
        found.closures.append((found.fixed(found.new(f"{name}_start"), a, first), end, joint.kind, name))


def joint_poses(drawing: Drawing, name: str, joint: Joint, *, turned: bool) -> tuple[Pose, Pose, float]:
    """Frames of a joint on both its bodies, z the axis, that coincide where q = 0; and q as drawn.

    turned : they are asked for from the second body to the first, about the opposite axis
    """
    path = ("joints", name)
    if joint.kind in WITH_AXIS and joint.axis is None:
        raise InputError("it has no axis", part=part_name(path), hint="say about or along what: axis: z")
    E = np.eye(3)
    if joint.axis is not None:  # of a weld that of its stiffnesses
        axis = drawing.direction(joint.axis, (*path, "axis"))
        E = axes_from_z(-axis if turned else axis)
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
    elif joint.kind == "prismatic":  # the frames are drawn together, where the coordinate is `rest`
        first = then(first, along_z(0.0, -value))
    else:
        second = then(second, along_z(value, 0.0))
    return first, second, value


def _measured(drawing: Drawing, joint: Joint, first: Pose, second: Pose, *, turned: bool) -> float:
    """The coordinate of a hinge or slide as its frames are drawn."""
    a, b = (drawing.bodies[body] for body in (joint.bodies[::-1] if turned else joint.bodies))
    start = Pose(a.to_world(first.position), a.axes @ first.axes)
    seen = relative_pose(start, Pose(b.to_world(second.position), b.axes @ second.axes))
    if joint.kind == "prismatic":
        return float(seen.position[2])
    return float(np.arctan2(seen.axes[1, 0], seen.axes[0, 0])) if joint.kind == "revolute" else 0.0
