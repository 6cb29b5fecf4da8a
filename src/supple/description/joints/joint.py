"""Joints: which two bodies, where, about or along what, and what resists."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from supple.description.elastic.material import Share
from supple.description.joints.elasticity import Beside, Elasticity, Stiffness, elasticity, stiffness_entries
from supple.description.joints.joint_kind import Form, directions
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.part_of_kind import PartOfKind
from supple.description.quantities.dimension import INERTIA
from supple.description.quantities.quantity import (
    Direction,
    Interval,
    NotNegative,
    NotNegativeOfCoordinate,
    OfCoordinate,
    Part,
    Place,
    PositiveOfCoordinate,
    of,
)
from supple.diagnostics import InputError


class Motor(Part):
    """A rotor behind a gear: it turns `gear` times as fast as the joint."""

    inertia: Annotated[NotNegative, of(INERTIA)]
    """Of the rotor, about its own axis, kg m²."""
    gear: OfCoordinate = 1.0
    """Rotor angle for a unit of the joint's coordinate (rad/rad, or rad/m)."""


class Drive(Part):
    """Compliance between a motor and what it moves: a gearbox, a belt, a spindle, about or along the joint's axis."""

    stiffness: PositiveOfCoordinate
    """Seen at the joint, N m/rad or N/m, the motor held."""
    damping: NotNegativeOfCoordinate = 0.0
    """Beside this stiffness, N m s/rad or N s/m."""


class Joint(PartOfKind):
    """A joint between two bodies; its coordinates measure the second body against the first."""

    kinds: ClassVar = JOINT_KINDS

    at: Place | None = None
    """Where it is drawn; the point of the joint's own name if left out."""
    frames: tuple[str, str] | None = None
    """In place of `at`: a frame on each body; axes are then in the frames' own, and all coordinates
    are zero where the frames coincide."""
    axis: Direction | None = None
    """In the drawing, also `[A, D]`, from A to D. In the plane a hinge's axis is the normal, which is not given; of a
    slide, and of other kinds where a direction in the plane has a meaning (a rack, a slot), it is that direction. Of an
    elastic weld or spherical joint the z axis of its elastic directions (in the plane the first); the drawing's if left
    out."""
    axes: tuple[Direction, Direction] | None = None
    """Of a universal joint."""
    rest: OfCoordinate | dict[str, OfCoordinate] | None = None
    """Values of the coordinates as drawn. Left out: in the plane angles are measured between the bodies'
    axes (a rod's axis points to its second point), everything else is zero as drawn."""
    limits: Interval | dict[str, Interval] | None = None
    """Least and largest value of each coordinate."""
    viscous: NotNegativeOfCoordinate | dict[str, NotNegativeOfCoordinate] | None = None
    """Viscous friction, N m s/rad or N s/m."""
    dry: NotNegativeOfCoordinate | dict[str, NotNegativeOfCoordinate] | None = None
    """Dry friction, N m or N, independent of the load."""
    motor: Motor | dict[str, Motor] | None = None
    """Rotor inertia that the coordinate carries along."""
    drive: Drive | dict[str, Drive] | None = None
    """Of a revolute, prismatic or cylindrical joint: its coordinate is then the motor's, seen through the gear, and the
    body deflects against it. `motor`, `viscous`, `dry` and all that acts on the coordinate are on the motor's side."""

    stiffness: Stiffness | None = None
    """Stiffness in place of the ideal constraint, N/m along x, y, z and N m/rad about them (rx, ry, rz): axes of the
    joint's first frame, z its axis; in the plane the two letters of the plane and `angle`. A number for each direction
    (`rigid` where it does not yield), by direction, or a symmetric matrix; by direction `x.ry` (N) couples two, and a
    table `{over: lift, at: [...], values: [...]}` follows a coordinate, or the `load`. What is not named stays ideal.
    About its own axis a joint that an actuator moves yields behind its motor, as with `drive`; 0 says nothing of it."""
    elastic: dict[str, PositiveOfCoordinate] | None = None
    """The same by direction and of those that the joint holds alone, as files had it before `stiffness`."""
    elastic_damping: Beside | None = None
    """Damping beside these stiffnesses, N s/m, N s or N m s/rad, in the same forms."""
    elastic_loss: Share | None = None
    """Loss factor η of these stiffnesses, and of the drive's: each becomes k (1 + i η), beside all other damping."""

    per_coordinate: ClassVar[tuple[str, ...]] = ("rest", "limits", "viscous", "dry", "motor", "drive")

    @property
    def bodies(self) -> tuple[str, str]:
        return self.said

    @property
    def parameters(self) -> dict[str, float]:
        """Numbers that only its kind has, such as a pitch."""
        return {item.name: getattr(self, item.name) for item in JOINT_KINDS[self.kind].parameters}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self._kinds()
        if len(kinds) != 1:
            listed = ", ".join(JOINT_KINDS)
            raise ValueError(f"a joint has exactly one kind: {listed}")
        first, second = self.bodies
        if first == second:
            raise ValueError(f'a joint connects two different bodies, not "{first}" with itself')
        if len(self.chosen("at", "frames")) > 1:
            raise ValueError("a joint is placed by at (in the drawing) or by frames (one on each body), not both")
        if len(self.chosen("stiffness", "elastic")) > 1:
            raise ValueError("it has stiffness and elastic, which say the same: write stiffness alone")
        if self.elastic_damping and not self.chosen("stiffness", "elastic"):
            raise ValueError("elastic_damping stands beside a stiffness, and it has none: add stiffness")
        if self.elastic_loss and not self.chosen("stiffness", "elastic", "drive"):
            raise ValueError("elastic_loss is that of a stiffness, and it has none: add stiffness, or a drive")
        kind = JOINT_KINDS[kinds[0]]
        if self.drive is not None and not kind.driven:
            driven = ", ".join(other.name for other in JOINT_KINDS.values() if other.driven)
            raise ValueError(f"a drive yields about or along one axis: of a {driven} joint, not a {kind.name} one")
        if self.axis is not None and kind.axes != 1 and not (kind.held_about and self._stiffness_said):
            only = "; only where it is elastic an axis turns its directions" if kind.held_about else ""
            raise ValueError(f"a {kind.name} joint has no single axis{only}")
        if (self.axes is not None) != (kind.axes == 2):
            raise ValueError(
                f"a {kind.name} joint needs axes: [first, second]"
                if kind.axes == 2
                else f"a {kind.name} joint has no pair of axes"
            )
        return self

    @property
    def _stiffness_said(self) -> bool:
        return bool(self.stiffness or self.elastic)

    @property
    def yields(self) -> bool:
        """Whether it gives way in some direction, or behind a drive."""
        said = stiffness_entries(self.stiffness, tuple("123456")[: len(self.stiffness or ())])
        return bool(self.elastic or self.drive) or any(said.values())

    def form(self, plane: str | None) -> Form:
        """Its rows, coordinates and steps, in space or in a plane; a kind that needs three dimensions is refused."""
        kind = JOINT_KINDS[self.kind]
        found = kind.space if plane is None else kind.plane
        if found is None:
            planar = [name for name, other in JOINT_KINDS.items() if other.plane is not None]
            raise InputError(
                f"a {self.kind} joint needs three dimensions", hint="in the plane take " + ", ".join(planar)
            )
        return found

    def coordinates(self, plane: str | None) -> tuple[str, ...]:
        """Names of the joint's scalar coordinates, in space or in a plane such as "xz"."""
        return tuple(self.form(plane).measured(plane))

    def slide(self, plane: str | None) -> str | None:
        """Name of the coordinate along its axis, if it has one."""
        return JOINT_KINDS[self.kind].slide(self.form(plane))

    def held(self, plane: str | None) -> tuple[str, ...]:
        """Names of the directions that it holds and that may be elastic, in space or in a plane such as "xz"."""
        rows = self.form(plane).directions(plane)
        return tuple(name for name in directions(plane) if name in rows)

    def drives(self, plane: str | None) -> dict[str, Drive]:
        """The drives that yield, by the coordinate they move: of `drive`, or of `stiffness` about its own axis."""
        moved = {name: self.value("drive", name, plane) for name in self.coordinates(plane)}
        found = {name: drive for name, drive in moved.items() if drive is not None}
        if self.stiffness is not None and JOINT_KINDS[self.kind].driven:
            own = self.elasticity(plane)
            for name in own.driven:
                found[name] = Drive(stiffness=own.drive_stiffness(name), damping=own.drive_damping(name))
        return found

    def yielding(self, plane: str | None) -> tuple[str, ...]:
        """Names of all directions in which it gives way: those it would hold, and `drive` about or along its axis."""
        drives = self.drives(plane)
        named = ("drive",) if len(self.coordinates(plane)) == 1 else tuple(f"drive.{name}" for name in drives)
        return (*self.elasticity(plane).soft, *(named if drives else ()))

    def elasticity(self, plane: str | None) -> Elasticity:
        """How it yields over its directions, in space or in a plane such as "xz"."""
        return elasticity(self, plane)

    def stiffness_matrix(self, plane: str | None = None) -> NDArray[np.float64]:
        """K (6, 6) in its frame, over x, y, z, rx, ry, rz (N/m, N, N m/rad); in a plane such as "xz" (3, 3), over its
        letters and `angle`. The diagonal is infinite where it is rigid and 0 where it moves freely; about its own axis
        it is that of the drive, the motor held. A stiffness from a table counts with the largest of its values."""
        found = self.elasticity(plane)
        K, names = found.K.copy(), found.directions
        for name in set(self.held(plane)) - set(found.soft):
            K[names.index(name), names.index(name)] = np.inf
        for coordinate, way in self.form(plane).coordinate_directions(plane).items():
            drive = self.value("drive", coordinate, plane)
            if drive is not None:
                K[names.index(way), names.index(way)] = drive.stiffness
        return K

    def value(self, field: str, coordinate: str, plane: str | None) -> Any:
        """What a per-coordinate field (`rest`, `limits`, ...) says of one coordinate, or None."""
        given = getattr(self, field)
        if isinstance(given, dict):
            return given.get(coordinate)
        return given if self.coordinates(plane)[:1] == (coordinate,) else None
