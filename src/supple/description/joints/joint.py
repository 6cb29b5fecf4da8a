"""Joints: which two bodies, where, about or along what, and what resists."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import model_validator

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


class JointKind(NamedTuple):
    """What the description needs to know of a kind of joint.

    coordinates : names of the scalar coordinates it leaves free, in order; the rotations of a
                  spherical or free joint have no scalar coordinate
    axes        : how many axes the user gives: 0, 1 (`axis`) or 2 (`axes`)
    freedoms    : relative motions left free, in space and in the plane (None: not a planar joint)
    free        : the directions of its first frame that it leaves free
    planar_free : the same in the plane: 0 and 1 along the frame's axes, 2 the rotation
    """

    coordinates: tuple[str, ...]
    axes: int
    freedoms: int
    planar_freedoms: int | None
    free: tuple[str, ...] = ()
    planar_free: tuple[int, ...] = ()


HELD_ABOUT = ("weld", "spherical")
"""Kinds without an axis of their own, whose elastic directions an `axis` turns."""

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
"""Of a joint's first frame: along its axes, then about them."""

DRIVEN = ("revolute", "prismatic", "cylindrical")
"""Kinds whose axis is fixed in both bodies, so that a drive may yield about or along it."""

JOINT_KINDS: dict[str, JointKind] = {
    "revolute": JointKind(("angle",), 1, 1, 1, ("rz",), (2,)),
    "prismatic": JointKind(("slide",), 1, 1, 1, ("z",), (0,)),
    "cylindrical": JointKind(("slide", "angle"), 1, 2, None, ("z", "rz")),
    "universal": JointKind(("first", "second"), 2, 2, None, ("rz", "rx")),
    "spherical": JointKind((), 0, 3, None, ("rx", "ry", "rz")),
    "planar": JointKind(("x", "y", "angle"), 1, 3, 3, ("x", "y", "rz"), (0, 1, 2)),
    "translation": JointKind(("x", "y", "z"), 0, 3, 2, ("x", "y", "z"), (0, 1)),
    "weld": JointKind((), 0, 0, 0),
    "free": JointKind(("x", "y", "z"), 0, 6, 3, DIRECTIONS, (0, 1, 2)),
}


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


class Joint(Part):
    """A joint between two bodies; its coordinates measure the second body against the first."""

    revolute: tuple[str, str] | None = None
    """One rotation about `axis`."""
    prismatic: tuple[str, str] | None = None
    """One translation along `axis`."""
    cylindrical: tuple[str, str] | None = None
    """Translation along and rotation about `axis`."""
    universal: tuple[str, str] | None = None
    """Two rotations: `axes[0]` fixed in the first body, `axes[1]` in the second, at right angles."""
    spherical: tuple[str, str] | None = None
    """Three rotations about a point."""
    planar: tuple[str, str] | None = None
    """Two translations in a plane and the rotation about its normal `axis`."""
    translation: tuple[str, str] | None = None
    """Three translations, no rotation."""
    weld: tuple[str, str] | None = None
    """No motion."""
    free: tuple[str, str] | None = None
    """Every motion."""

    at: Place | None = None
    """Where it is drawn; the point of the joint's own name if left out."""
    frames: tuple[str, str] | None = None
    """In place of `at`: a frame on each body; axes are then in the frames' own, and all coordinates
    are zero where the frames coincide."""
    axis: Direction | None = None
    """In the drawing, also `[A, D]`, from A to D; in the plane the hinge axis is the plane's normal. Of an elastic weld
    or spherical joint the z axis of its elastic directions (in the plane the first); the drawing's if left out."""
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

    elastic: dict[str, PositiveOfCoordinate] | None = None
    """Stiffness in place of the ideal constraint, N/m along x, y, z and N m/rad about them (rx, ry, rz): axes of the
    joint's first frame, z its axis. In the plane the two letters of the plane and `angle`. Directions that are not
    named stay ideal; a free one takes a spring."""
    elastic_damping: dict[str, NotNegativeOfCoordinate] | None = None
    """Damping beside these stiffnesses, N s/m or N m s/rad."""

    per_coordinate: ClassVar[tuple[str, ...]] = ("rest", "limits", "viscous", "dry", "motor", "drive")

    @property
    def kind(self) -> str:
        return self.chosen(*JOINT_KINDS)[0]

    @property
    def bodies(self) -> tuple[str, str]:
        return getattr(self, self.kind)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self.chosen(*JOINT_KINDS)
        if len(kinds) != 1:
            listed = ", ".join(JOINT_KINDS)
            raise ValueError(f"a joint has exactly one kind: {listed}")
        first, second = self.bodies
        if first == second:
            raise ValueError(f'a joint connects two different bodies, not "{first}" with itself')
        if len(self.chosen("at", "frames")) > 1:
            raise ValueError("a joint is placed by at (in the drawing) or by frames (one on each body), not both")
        if self.elastic_damping and not self.elastic_damping.keys() <= (self.elastic or {}).keys():
            raise ValueError("elastic_damping stands beside a stiffness: name its directions under elastic as well")
        kind = JOINT_KINDS[kinds[0]]
        if self.drive is not None and kinds[0] not in DRIVEN:
            raise ValueError(
                f"a drive yields about or along one axis: of a {', '.join(DRIVEN)} joint, not a {kinds[0]} one"
            )
        if self.axis is not None and kind.axes != 1 and not (kinds[0] in HELD_ABOUT and self.elastic):
            only = "; only where it is elastic an axis turns its directions" if kinds[0] in HELD_ABOUT else ""
            raise ValueError(f"a {kinds[0]} joint has no single axis{only}")
        if (self.axes is not None) != (kind.axes == 2):
            raise ValueError(
                "a universal joint needs axes: [first, second]"
                if kind.axes == 2
                else f"a {kinds[0]} joint has no pair of axes"
            )
        return self

    def coordinates(self, plane: str | None) -> tuple[str, ...]:
        """Names of the joint's scalar coordinates, in space or in a plane such as "xz"."""
        names = JOINT_KINDS[self.kind].coordinates
        if plane is None:
            return names
        return {
            "planar": (plane[0], plane[1], "angle"),
            "free": (plane[0], plane[1], "angle"),
            "translation": (plane[0], plane[1]),
        }.get(self.kind, names)

    def held(self, plane: str | None) -> tuple[str, ...]:
        """Names of the directions that it holds and that may be elastic, in space or in a plane such as "xz"."""
        kind = JOINT_KINDS[self.kind]
        if plane is None:
            return tuple(name for name in DIRECTIONS if name not in kind.free)
        return tuple(name for i, name in enumerate((*plane, "angle")) if i not in kind.planar_free)

    def drives(self, plane: str | None) -> dict[str, Drive]:
        """The drives that yield, by the coordinate they move."""
        found = {name: self.value("drive", name, plane) for name in self.coordinates(plane)}
        return {name: drive for name, drive in found.items() if drive is not None}

    def yielding(self, plane: str | None) -> tuple[str, ...]:
        """Names of all directions in which it gives way: those of `elastic`, and `drive` about or along its axis."""
        drives = self.drives(plane)
        named = ("drive",) if len(self.coordinates(plane)) == 1 else tuple(f"drive.{name}" for name in drives)
        return (*(self.elastic or ()), *(named if drives else ()))

    def value(self, field: str, coordinate: str, plane: str | None) -> Any:
        """What a per-coordinate field (`rest`, `limits`, ...) says of one coordinate, or None."""
        given = getattr(self, field)
        if isinstance(given, dict):
            return given.get(coordinate)
        return given if self.coordinates(plane)[:1] == (coordinate,) else None
