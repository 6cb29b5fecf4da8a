"""What a kind of joint is: data that kinematics, recursion, drawings and files read.

A joint frame sits on each of the two bodies, with axes (x, y, z); z is the joint's axis. In the plane z is the plane's
normal, and a slide runs along x. Constraint rows, sums of measures between the two frames, vanish; those of the
coordinates are the coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

from supple.description.measure import LETTERS, MeasureTerm, Row, along, in_plane, right_angle
from supple.description.part_of_kind import Key
from supple.description.quantities.dimension import Dimension
from supple.description.quantities.quantity import Number, of
from supple.diagnostics import InputError

Motion = Literal["revolute", "prismatic", "screw", "spherical"]


def directions(plane: str | None) -> tuple[str, ...]:
    """Directions of a joint's first frame: along its axes, then about them.

    plane : such as "xz", whose letters and `angle` they then are; None in space
    """
    return (*plane, "angle") if plane else ("x", "y", "z", "rx", "ry", "rz")


POINT = (along("x"), along("y"), along("z"))
"""The origins coincide."""
AXIS = (right_angle("x", "z"), right_angle("y", "z"))
"""The z axes do."""
ORIENTATION = (right_angle("x", "y"), right_angle("y", "z"), right_angle("z", "x"))
"""All axes do."""


class Step(NamedTuple):
    """One motion of the recursion: a coordinate about or along an axis, or (without one) all three rotations.

    A screw slides by factor · parameter for every radian.
    """

    motion: Motion
    axis: str = "z"
    coordinate: str = ""
    factor: float = 0.0
    parameter: str = ""


@dataclass(frozen=True, eq=False)
class Form:
    """A kind in space, or in the plane.

    rows     : constraints, each vanishes
    measures : coordinates by name, in order; in the plane x and y stand for its two letters. The rotations of a
               spherical or free joint have no coordinate
    steps    : of the recursion; None where it has none, and trees refuse it by name
    axis     : which axis of the frames the user's `axis` is. In the plane z is the normal, which nobody gives; `axis`
               is then the direction of x where that matters (see `directed`), the first body's own x if left out
    """

    rows: tuple[Row, ...] = ()
    measures: Mapping[str, Row] = field(default_factory=dict)
    steps: tuple[Step, ...] | None = None
    axis: str = "z"

    @cached_property
    def turns(self) -> bool:
        """Whether a coordinate is an angle."""
        return any(term.turns for row in self.measures.values() for term in row)

    @cached_property
    def directed(self) -> bool:
        """Whether a direction in the plane has a meaning: a coordinate or a row is along one of x and y alone, as of a
        rack, a slot or a slide. A hinge holds both and has none."""
        held = {row[0].axes for row in self.rows if len(row) == 1 and row[0].measure == "along"}
        sums = [term for row in self.rows if len(row) > 1 for term in row]
        slides = [term for row in self.measures.values() for term in row]
        return len(held & {"x", "y"}) == 1 or any(term.measure == "along" for term in (*sums, *slides))

    @cached_property
    def rolls(self) -> bool:
        """Whether a constraint is a sum with an angle, as of a screw or a rack: it vanishes as drawn."""
        return any(term.measure in ("turn", "tilt") for row in self.rows if len(row) > 1 for term in row)

    def measured(self, plane: str | None) -> dict[str, Row]:
        """Coordinates under their names in space or in a plane such as "xz"."""
        return {in_plane(name, plane): row for name, row in self.measures.items()}

    def stepped(self, plane: str | None) -> tuple[Step, ...] | None:
        """The steps, with coordinates under the same names."""
        steps = self.steps
        return None if steps is None else tuple(s._replace(coordinate=in_plane(s.coordinate, plane)) for s in steps)

    def directions(self, plane: str | None) -> tuple[str, ...]:
        """What each row holds, as `Joint.stiffness` has it: along or about an axis of the first frame; "" for a sum."""
        return tuple(_direction(row[0], plane) if len(row) == 1 else "" for row in self.rows)

    def signs(self) -> tuple[float, ...]:
        """By which factor each row measures its direction, to first order: one, or minus one."""
        return tuple(row[0].sense for row in self.rows)

    def coordinate_directions(self, plane: str | None) -> dict[str, str]:
        """The direction that each coordinate is along or about."""
        return {name: _direction(row[0], plane) for name, row in self.measured(plane).items() if len(row) == 1}


def _direction(term: MeasureTerm, plane: str | None) -> str:
    if plane is not None:
        return "angle" if term.turns else plane[term.axis]
    return ("r" if term.turns else "") + LETTERS[term.axis]


class Parameter(NamedTuple):
    """A number that only this kind has; `mirrored` if its sign changes in a mirror image, as a screw's hand does."""

    name: str
    says: str
    dimension: Dimension
    mirrored: bool = False


class Marker(NamedTuple):
    """How it is drawn: matplotlib's letter, its size, whether it is filled, whether its axis goes through it."""

    shape: str
    size: float
    filled: bool = False
    through: bool = False


@dataclass(frozen=True, eq=False)
class JointKind:
    """Everything that differs between kinds of joints.

    name   : its key in the mechanism file, with the two bodies
    says   : what it is, in one sentence
    space, plane : its rows, coordinates and steps; plane None for a joint that needs three dimensions
    axes   : how many axes the user gives: 0, 1 (`axis`) or 2 (`axes`)
    marker : None for a joint without a place of its own, which is not drawn
    parameters : numbers of its own
    driven : whether a drive may yield in it: its axis is fixed in both bodies
    """

    name: str
    says: str
    space: Form
    plane: Form | None = None
    axes: int = 0
    marker: Marker | None = None
    parameters: tuple[Parameter, ...] = ()
    driven: bool = False

    def __post_init__(self) -> None:
        """What a row or a step names is there."""
        own = {"", *(item.name for item in self.parameters)}
        for form in (self.space, *((self.plane,) if self.plane else ())):
            terms = [term for row in (*form.rows, *form.measures.values()) for term in row]
            unknown = {item.parameter for item in (*terms, *(form.steps or ()))} - own
            unknown |= {step.coordinate for step in form.steps or ()} - {"", *form.measures}
            if unknown:
                raise InputError(
                    f"its rows or steps name {', '.join(sorted(unknown))}, and it has no such parameter or coordinate",
                    part=f'joint kind "{self.name}"', hint="list it under parameters, or under measures",
                )  # fmt: skip

    @property
    def freedoms(self) -> int:
        """Relative motions left free in space."""
        return 6 - len(self.space.rows)

    @property
    def planar_freedoms(self) -> int | None:
        """The same in the plane; None for a joint that needs three dimensions."""
        return None if self.plane is None else 3 - len(self.plane.rows)

    @property
    def held_about(self) -> bool:
        """Whether it has no axis of its own, so that one may turn its elastic directions."""
        return self.axes == 0 and not self.space.measures

    @property
    def axis_turns(self) -> bool:
        """Whether its axis is one to turn about alone, which a mirror turns round; one to slide along is not."""
        return bool(self.space.measures) and self.slide(self.space) is None

    def slide(self, form: Form) -> str | None:
        """The coordinate along its axis, if there is one."""
        along_axis = along(form.axis)
        return next((name for name, row in form.measures.items() if self.axes and row == along_axis), None)

    @cached_property
    def keys(self) -> dict[str, Key]:
        """What it adds to the keys of a joint."""
        own = {item.name: Key(Annotated[Number, of(item.dimension)], item.says) for item in self.parameters}
        return {self.name: Key(tuple[str, str], self.says), **own}
