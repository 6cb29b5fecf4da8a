"""Joint kinds as data that kinematics, recursion, drawings and files read.

A joint frame is on each of the two bodies, with axes (x, y, z); z is the joint's axis. In the plane z is the plane's
normal, and a slide moves along x. Constraint rows, sums of measures between the two frames, vanish; the rows of the
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
    """Return the directions of a joint's first frame: along its axes, then about them.

    plane : such as "xz", with directions x, z and `angle`; None in space
    """
    return (*plane, "angle") if plane else ("x", "y", "z", "rx", "ry", "rz")


POINT = (along("x"), along("y"), along("z"))
"""Rows with which the origins coincide."""
AXIS = (right_angle("x", "z"), right_angle("y", "z"))
"""Rows with which the z axes coincide."""
ORIENTATION = (right_angle("x", "y"), right_angle("y", "z"), right_angle("z", "x"))
"""Rows with which all axes coincide."""


class Step(NamedTuple):
    """Motion of the recursion: along or about an axis with a coordinate, or all three rotations without one.

    A screw slides by factor · parameter per radian.
    """

    motion: Motion
    axis: str = "z"
    coordinate: str = ""
    factor: float = 0.0
    parameter: str = ""


@dataclass(frozen=True, eq=False)
class Form:
    """Form of a joint kind in space, or in the plane.

    rows     : constraints, each of which vanishes
    measures : coordinates by name, in order; in the plane x and y stand for its two letters. The rotations of a
               spherical or free joint have no coordinate
    steps    : steps of the recursion; None if it has none, so that trees refuse the joint by name
    axis     : axis of the joint frames that the user's `axis` defines. In the plane z is the normal, which is not
    given;
               `axis` is then the direction of x where that matters (see `directed`). Default: x of the first body
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
        """Whether a direction in the plane matters: a row or coordinate is along x or y alone (rack, slot, slide).

        A hinge constrains both and has no direction.
        """
        held = {row[0].axes for row in self.rows if len(row) == 1 and row[0].measure == "along"}
        sums = [term for row in self.rows if len(row) > 1 for term in row]
        slides = [term for row in self.measures.values() for term in row]
        return len(held & {"x", "y"}) == 1 or any(term.measure == "along" for term in (*sums, *slides))

    @cached_property
    def rolls(self) -> bool:
        """Whether a constraint is a sum with an angle, as in a screw or a rack, which vanishes as drawn."""
        return any(term.measure in ("turn", "tilt") for row in self.rows if len(row) > 1 for term in row)

    def name_measures(self, plane: str | None) -> dict[str, Row]:
        """Return the coordinates under their names in space, or in a plane such as "xz"."""
        return {in_plane(name, plane): row for name, row in self.measures.items()}

    def name_steps(self, plane: str | None) -> tuple[Step, ...] | None:
        """Return the steps, with coordinates under the same names."""
        steps = self.steps
        return None if steps is None else tuple(s._replace(coordinate=in_plane(s.coordinate, plane)) for s in steps)

    def directions(self, plane: str | None) -> tuple[str, ...]:
        """Return the direction that each row constrains, named as in `Joint.stiffness`; "" for a sum."""
        return tuple(_direction(row[0], plane) if len(row) == 1 else "" for row in self.rows)

    def signs(self) -> tuple[float, ...]:
        """Return the sign, 1 or -1, with which each row measures its direction, to first order."""
        return tuple(row[0].sense for row in self.rows)

    def coordinate_directions(self, plane: str | None) -> dict[str, str]:
        """Return the direction that each coordinate is along or about."""
        return {name: _direction(row[0], plane) for name, row in self.name_measures(plane).items() if len(row) == 1}


def _direction(term: MeasureTerm, plane: str | None) -> str:
    if plane is not None:
        return "angle" if term.turns else plane[term.axis]
    return ("r" if term.turns else "") + LETTERS[term.axis]


class Parameter(NamedTuple):
    """Parameter of a joint kind; `mirrored` if its sign changes in a mirror image, as a screw's pitch does."""

    name: str
    description: str
    dimension: Dimension
    mirrored: bool = False


class Marker(NamedTuple):
    """Marker in plots: matplotlib's letter, its size, whether it is filled, whether a line shows its axis."""

    shape: str
    size: float
    filled: bool = False
    through: bool = False


@dataclass(frozen=True, eq=False)
class JointKind:
    """Record of a joint kind: everything in which joint kinds differ.

    Parameters
    ----------
    name : str
        Key in the mechanism file, whose value is the two bodies.
    description : str
        The motion that the joint allows, in one sentence.
    space : Form
        Constraint rows, coordinates and steps in space.
    plane : Form, optional
        Constraint rows, coordinates and steps in the plane. Default: the joint needs three dimensions.
    axes : {0, 1, 2}, optional
        Number of axes that the user gives: 0, 1 (`axis`) or 2 (`axes`). Default: 0.
    marker : Marker, optional
        Marker in plots. Default: none, for a joint without a point of its own.
    parameters : tuple of Parameter, optional
        Parameters of this kind, such as a pitch. Default: none.
    driven : bool, optional
        Whether a compliant drive is possible: the axis is fixed in both bodies. Default: False.

    Raises
    ------
    InputError
        If a row or step names a parameter or coordinate that does not exist.
    """

    name: str
    description: str
    space: Form
    plane: Form | None = None
    axes: int = 0
    marker: Marker | None = None
    parameters: tuple[Parameter, ...] = ()
    driven: bool = False

    def __post_init__(self) -> None:
        """Require that all parameters and coordinates that rows and steps name exist."""
        own = {"", *(item.name for item in self.parameters)}
        for form in (self.space, *((self.plane,) if self.plane else ())):
            terms = [term for row in (*form.rows, *form.measures.values()) for term in row]
            unknown = {item.parameter for item in (*terms, *(form.steps or ()))} - own
            unknown |= {step.coordinate for step in form.steps or ()} - {"", *form.measures}
            if unknown:
                raise InputError(
                    f"rows or steps use {', '.join(sorted(unknown))}, not a parameter or coordinate of this kind",
                    part=f'joint kind "{self.name}"', hint="add it to parameters or measures",
                )  # fmt: skip

    @property
    def freedoms(self) -> int:
        """Number of relative motions in space."""
        return 6 - len(self.space.rows)

    @property
    def planar_freedoms(self) -> int | None:
        """Number of relative motions in the plane; None for a joint that needs three dimensions."""
        return None if self.plane is None else 3 - len(self.plane.rows)

    @property
    def without_axis(self) -> bool:
        """Whether it has no axis of its own, so that `axis` may define its elastic directions."""
        return self.axes == 0 and not self.space.measures

    @property
    def axis_turns(self) -> bool:
        """Whether its axis is a rotation axis only, whose direction changes sign in a mirror image."""
        return bool(self.space.measures) and self.slide(self.space) is None

    def slide(self, form: Form) -> str | None:
        """Return the coordinate along its axis, or None."""
        along_axis = along(form.axis)
        return next((name for name, row in form.measures.items() if self.axes and row == along_axis), None)

    @cached_property
    def keys(self) -> dict[str, Key]:
        """Keys that this kind adds to a joint."""
        own = {item.name: Key(Annotated[Number, of(item.dimension)], item.description) for item in self.parameters}
        return {self.name: Key(tuple[str, str], self.description), **own}
