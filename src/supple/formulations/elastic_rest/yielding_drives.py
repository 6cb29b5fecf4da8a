"""Drives with compliance: an additional coordinate of the body that a motor moves, and its motor side as a part.

The motor side of a joint rotates relative to the body by -δ about (or slides along) the joint's axis e, at the point p:

    (u, φ)_motor = S_p z - (e × 0, e) δ,   V = ½ k δ²                              (docs/theory/elastic-rest.md, eq. 21)

All rows of the joint, including its coordinate, refer to the motor side: with q the angle between the bodies, the
coordinate is θ = q - δ. The motor side has no mass of its own; the motor inertia acts along θ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.description.mass_properties import mass_properties
from supple.geometry.inertia import MassProperties
from supple.geometry.rotation import tilde
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import ALONG, ANGLE, FACTOR, PA, PB, ROW_WIDTH, SCALE, U, V, W

if TYPE_CHECKING:
    from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates


DEFLECTION = 1e-10  # of the inertia that turns with it: what a deflection is given, so that it is of unit mass in z


@dataclass(frozen=True, eq=False)
class YieldingDrive:
    """A drive and its coordinate.

    body, side : body that has the coordinate, and its end in the joint's rows
    place      : (3,) of the joint, and axis (3,) of δ as motion of the motor side, in axes of the body
    slides     : translation along the axis, otherwise rotation about it
    inertia    : kg m² or kg, of δ alone; column: its position in z, once known; loss : η of its stiffness
    """

    joint: str
    coordinate: str
    body: int
    side: int
    place: Array
    axis: Array
    slides: bool
    stiffness: float
    damping: float
    inertia: float
    column: int = -1
    loss: float = 0.0

    def motion(self, at: Array) -> Array:
        """Return displacement and rotation (6,) of the motor side, at a position on the body, for unit z."""
        turn = np.zeros(3) if self.slides else self.axis
        shift = self.axis if self.slides else np.cross(self.place - at, self.axis)
        return np.concatenate([shift, turn]) / np.sqrt(self.inertia)

    def row(self, extent: float) -> tuple[int, Array]:
        """Return kind and constants of the row of δ, from the motor side to the body or back."""
        found = np.zeros(ROW_WIDTH)
        found[FACTOR] = 1.0
        found[PA : PA + 3] = found[PB : PB + 3] = self.place
        if self.slides:
            found[U : U + 3], found[SCALE] = self.axis, extent
            return ALONG, found
        across = np.linalg.svd(self.axis[None])[2][1]
        found[U : U + 3], found[V : V + 3], found[W : W + 3] = across, np.cross(self.axis, across), across
        found[SCALE] = 1.0
        return ANGLE, found

    def bend(self, force: Array, moment: Array, turn: Array, unit: Array) -> Array:
        """Return the matrix of ½ zᵀ(.)z, the work of forces on the motor side of a rigid body to second order.

        The forces refer to the body's origin. turn : (3, size) rotation of the body over z; unit (size,) selects δ.
        With the body's rotation φ the motor side moves by Δu = φ × e δ for translation, or by Δu = -φ × (e × p) δ - ½ e
        × (e × p) δ², Δφ = ½ φ × e δ.
        """
        scale = 1.0 / np.sqrt(self.inertia)
        if self.slides:
            half = np.outer(turn.T @ tilde(self.axis) @ force, unit) * -scale
            return half + half.T
        lever = np.cross(self.axis, self.place)
        half = np.outer(turn.T @ (tilde(lever) @ force - 0.5 * tilde(self.axis) @ moment), unit) * scale
        return half + half.T + force @ np.cross(self.axis, lever) * scale**2 * np.outer(unit, unit)


def yielding_drives(numbering: Numbering) -> tuple[YieldingDrive, ...]:
    """Return all drives in the order of the file; the second body has the coordinate, unless it is the ground."""
    mechanism, properties = numbering.mechanism, mass_properties(numbering.drawing)
    found = []
    for name, joint in mechanism.joints.items():
        for coordinate, drive in joint.drives(mechanism.plane).items():
            frames = joint_frames(numbering.drawing, name)
            sides = [numbering.body_index(body) for body in joint.bodies]
            side = 1 if sides[1] < len(numbering.bodies) else 0
            (moved,) = joint.form(mechanism.plane).name_measures(mechanism.plane)[coordinate]
            slides = not moved.turns
            axis = (frames.Ea, frames.Eb)[side][:, moved.axis]
            places = (frames.pa, frames.pb)
            inertias = [
                _about(properties[body], place, axes[:, moved.axis], slides)
                for body, place, axes in zip(joint.bodies, places, (frames.Ea, frames.Eb), strict=True)
                if body in properties
            ]
            moving = [value for value in inertias if value > 0.0] or [_whole(properties, numbering, slides)]
            found.append(
                YieldingDrive(
                    name, coordinate, sides[side], side, places[side], axis if side == 0 else -axis, slides,
                    drive.stiffness, drive.damping, DEFLECTION * min(moving),
                    loss=float(joint.elastic_loss or 0.0),
                )
            )  # fmt: skip
    return tuple(found)


def _about(properties: MassProperties, place: Array, axis: Array, slides: bool) -> float:
    """Return the inertia of a body about an axis through a point, or its mass."""
    if slides:
        return float(properties.mass)
    lever = np.cross(axis, properties.center - place)
    return float(axis @ properties.inertia @ axis + properties.mass * lever @ lever)


def _whole(properties: dict[str, MassProperties], numbering: Numbering, slides: bool) -> float:
    total = sum(item.mass for item in properties.values()) or 1.0
    return float(total * (1.0 if slides else numbering.arrays.extent**2))


def bodies_with_drives(
    bodies: list[BodyCoordinates], drives: tuple[YieldingDrive, ...]
) -> tuple[list[BodyCoordinates], tuple[YieldingDrive, ...]]:
    """Return the bodies with an additional coordinate for each drive, and the drives with its position in z."""
    start, found, placed = 0, [], {}
    for b, body in enumerate(bodies):
        own = [i for i, drive in enumerate(drives) if drive.body == b]
        wider = replace(
            body,
            start=start,
            stiffness=np.concatenate([body.stiffness, [drives[i].stiffness / drives[i].inertia for i in own]]),
            shapes=_wider(body.shapes, 1, len(own)),
            rigid=_wider(body.rigid, 0, len(own)),
            to_condensed=_wider(body.to_condensed, 1, len(own)),
            deflections=len(own),
        )
        for k, i in enumerate(own):
            placed[i] = replace(drives[i], column=start + body.size + k)
        found.append(wider)
        start = wider.stop
    return found, tuple(placed[i] for i in range(len(drives)))


def _wider(matrix: Array, axis: int, count: int) -> Array:
    """Append zeros along an axis."""
    return np.pad(matrix, [(0, count if i == axis else 0) for i in range(2)])
