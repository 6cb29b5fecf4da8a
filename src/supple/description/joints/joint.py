"""Joints: two bodies, position, axis, limits, friction, and stiffness."""

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
    """Rotor behind a gear: it rotates `gear` times as fast as the joint."""

    inertia: Annotated[NotNegative, of(INERTIA)]
    """Inertia of the rotor about its own axis, kg m²."""
    gear: OfCoordinate = 1.0
    """Rotor angle per unit of the joint's coordinate, rad/rad or rad/m."""


class Drive(Part):
    """Compliance between a motor and the body it moves (gearbox, belt, spindle), about or along the joint's axis."""

    stiffness: PositiveOfCoordinate
    """Stiffness at the joint with the motor locked, N m/rad or N/m."""
    damping: NotNegativeOfCoordinate = 0.0
    """Damping parallel to this stiffness, N m s/rad or N s/m."""


class Joint(PartOfKind):
    """Joint between two bodies; its coordinates measure the motion of the second body relative to the first.

    Examples
    --------
    >>> import supple
    >>> hinge = supple.Joint(revolute=("ground", "arm"), axis="z", viscous=0.1)
    >>> hinge.kind, hinge.bodies, hinge.coordinates(None)
    ('revolute', ('ground', 'arm'), ('angle',))
    """

    kinds: ClassVar = JOINT_KINDS

    at: Place | None = None
    """Position of the joint in the drawing. Default: the point that has the joint's name."""
    frames: tuple[str, str] | None = None
    """Frame on each body, instead of `at`. Axes are then in the axes of these frames, and all coordinates are zero
    where the frames coincide."""
    axis: Direction | None = None
    """Axis of the joint: a direction in the drawing, or `[A, D]`, from A to D. In the plane, not given for a hinge (its
    axis is the normal); the direction of a slide, and of other kinds for which a direction matters (rack, slot). For an
    elastic weld or spherical joint, the z axis of its elastic directions (in the plane the first); default: the
    drawing's."""
    axes: tuple[Direction, Direction] | None = None
    """Two axes of a universal joint."""
    rest: OfCoordinate | dict[str, OfCoordinate] | None = None
    """Values of the coordinates as drawn, rad or m. Default: in the plane, angles are measured between the bodies' axes
    (the axis of a rod points to its second point); all other coordinates are zero as drawn."""
    limits: Interval | dict[str, Interval] | None = None
    """Least and largest value of each coordinate, rad or m."""
    viscous: NotNegativeOfCoordinate | dict[str, NotNegativeOfCoordinate] | None = None
    """Viscous friction, N m s/rad or N s/m."""
    dry: NotNegativeOfCoordinate | dict[str, NotNegativeOfCoordinate] | None = None
    """Dry friction, N m or N, independent of the load."""
    motor: Motor | dict[str, Motor] | None = None
    """Motor that moves with the coordinate, with its rotor inertia."""
    drive: Drive | dict[str, Drive] | None = None
    """Compliant drive of a revolute, prismatic or cylindrical joint. The coordinate is then that of the motor after the
    gear, and the body deflects relative to it. `motor`, `viscous`, `dry` and all loads along the coordinate act on the
    motor's side."""

    stiffness: Stiffness | None = None
    """Stiffness instead of the ideal constraint: N/m along x, y, z and N m/rad about them (rx, ry, rz). The axes are
    those of the joint's first frame, with z as the joint's axis; in the plane the two letters of the plane and `angle`.
    Give one number per direction (`rigid` for a rigid one), values by direction, or a symmetric matrix. By direction,
    `x.ry` (N) couples two directions, and a table `{over: lift, at: [...], values: [...]}` depends on a coordinate or
    on the `load`. Directions that are not named stay rigid. About its own axis, a joint that an actuator moves is
    compliant behind its motor, as with `drive`; 0 means no such compliance."""
    elastic: dict[str, PositiveOfCoordinate] | None = None
    """Stiffness of the directions that the joint constrains, by direction: the form of older files. Prefer `stiffness`.
    """
    elastic_damping: Beside | None = None
    """Damping parallel to these stiffnesses, N s/m, N s or N m s/rad, in the same forms."""
    elastic_loss: Share | None = None
    """Loss factor η of these stiffnesses and of the drive's, which become k (1 + i η), in addition to all other
    damping."""

    per_coordinate: ClassVar[tuple[str, ...]] = ("rest", "limits", "viscous", "dry", "motor", "drive")

    @property
    def bodies(self) -> tuple[str, str]:
        return self.kind_value

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of its kind, such as a pitch."""
        return {item.name: getattr(self, item.name) for item in JOINT_KINDS[self.kind].parameters}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self._kinds()
        if len(kinds) != 1:
            listed = ", ".join(JOINT_KINDS)
            raise ValueError(f"a joint needs exactly one kind: {listed}")
        first, second = self.bodies
        if first == second:
            raise ValueError(f'a joint connects two different bodies (got "{first}" twice)')
        if len(self.chosen("at", "frames")) > 1:
            raise ValueError("a joint takes either at (in the drawing) or frames (one on each body), not both")
        if len(self.chosen("stiffness", "elastic")) > 1:
            raise ValueError("stiffness and elastic have the same meaning: write stiffness only")
        if self.elastic_damping and not self.chosen("stiffness", "elastic"):
            raise ValueError("elastic_damping needs a stiffness, and the joint has none: add stiffness")
        if self.elastic_loss and not self.chosen("stiffness", "elastic", "drive"):
            raise ValueError("elastic_loss needs a stiffness, and the joint has none: add stiffness, or a drive")
        kind = JOINT_KINDS[kinds[0]]
        if self.drive is not None and not kind.driven:
            driven = ", ".join(other.name for other in JOINT_KINDS.values() if other.driven)
            raise ValueError(f"a {kind.name} joint cannot have a drive; joints that can: {driven}")
        if self.axis is not None and kind.axes != 1 and not (kind.without_axis and self._has_stiffness):
            only = "; axis is only allowed with stiffness, as its z direction" if kind.without_axis else ""
            raise ValueError(f"a {kind.name} joint has no single axis{only}")
        if (self.axes is not None) != (kind.axes == 2):
            raise ValueError(
                f"a {kind.name} joint needs axes: [first, second]"
                if kind.axes == 2
                else f"a {kind.name} joint has no pair of axes"
            )
        return self

    @property
    def _has_stiffness(self) -> bool:
        return bool(self.stiffness or self.elastic)

    @property
    def yields(self) -> bool:
        """Whether it is elastic in some direction, or behind a drive."""
        entries = stiffness_entries(self.stiffness, tuple("123456")[: len(self.stiffness or ())])
        return bool(self.elastic or self.drive) or any(entries.values())

    def form(self, plane: str | None) -> Form:
        """Return its rows, coordinates and steps in space or in a plane; refuse a kind without a planar form."""
        kind = JOINT_KINDS[self.kind]
        found = kind.space if plane is None else kind.plane
        if found is None:
            planar = [name for name, other in JOINT_KINDS.items() if other.plane is not None]
            raise InputError(
                f"a {self.kind} joint needs three dimensions", hint="use one of " + ", ".join(planar) + " in the plane"
            )
        return found

    def coordinates(self, plane: str | None) -> tuple[str, ...]:
        """Return the names of the joint's scalar coordinates, in space or in a plane such as "xz"."""
        return tuple(self.form(plane).name_measures(plane))

    def slide(self, plane: str | None) -> str | None:
        """Return the name of the coordinate along its axis, or None."""
        return JOINT_KINDS[self.kind].slide(self.form(plane))

    def list_held(self, plane: str | None) -> tuple[str, ...]:
        """Return the directions that it constrains and that may be elastic, in space or in a plane such as "xz"."""
        rows = self.form(plane).directions(plane)
        return tuple(name for name in directions(plane) if name in rows)

    def drives(self, plane: str | None) -> dict[str, Drive]:
        """Return the compliant drives by coordinate, from `drive` or from `stiffness` about its own axis."""
        moved = {name: self.value("drive", name, plane) for name in self.coordinates(plane)}
        found = {name: drive for name, drive in moved.items() if drive is not None}
        if self.stiffness is not None and JOINT_KINDS[self.kind].driven:
            own = self.elasticity(plane)
            for name in own.driven:
                found[name] = Drive(stiffness=own.drive_stiffness(name), damping=own.drive_damping(name))
        return found

    def list_elastic(self, plane: str | None) -> tuple[str, ...]:
        """Return the names of all elastic directions: constrained ones, and `drive` about or along its axis."""
        drives = self.drives(plane)
        named = ("drive",) if len(self.coordinates(plane)) == 1 else tuple(f"drive.{name}" for name in drives)
        return (*self.elasticity(plane).soft, *(named if drives else ()))

    def elasticity(self, plane: str | None) -> Elasticity:
        """Return the elasticity over its directions, in space or in a plane such as "xz"."""
        return elasticity(self, plane)

    def stiffness_matrix(self, plane: str | None = None) -> NDArray[np.float64]:
        """Return the stiffness matrix K (6, 6) in the joint's frame, or (3, 3) in a plane.

        Parameters
        ----------
        plane : str, optional
            Plane of the mechanism, such as "xz". Default: in space.

        Returns
        -------
        numpy.ndarray
            K over x, y, z, rx, ry, rz (N/m, N, N m/rad); in a plane over its letters and `angle`. The diagonal is
            infinite in rigid directions and 0 in free ones. On the joint's own axis it is the stiffness of the drive
            with the motor locked. A stiffness from a table counts with the largest of its values.
        """
        found = self.elasticity(plane)
        K, names = found.K.copy(), found.directions
        for name in set(self.list_held(plane)) - set(found.soft):
            K[names.index(name), names.index(name)] = np.inf
        for coordinate, way in self.form(plane).coordinate_directions(plane).items():
            drive = self.value("drive", coordinate, plane)
            if drive is not None:
                K[names.index(way), names.index(way)] = drive.stiffness
        return K

    def value(self, field: str, coordinate: str, plane: str | None) -> Any:
        """Return the value of a per-coordinate field (`rest`, `limits`, ...) for one coordinate, or None."""
        given = getattr(self, field)
        if isinstance(given, dict):
            return given.get(coordinate)
        return given if self.coordinates(plane)[:1] == (coordinate,) else None
