"""Table of the geometry: every row is a frame R_i, whose body moves about or along its z axis, or is fixed (σ = 2).

A frame follows from its antecedent in the notation of Khalil and Kleinfinger (1986).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Pose
from supple.description.mechanism import GROUND
from supple.description.quantities.dimension import ANGLE, LENGTH
from supple.description.quantities.expression import current_parameters, use_parameters
from supple.diagnostics import describe_unknown
from supple.diagnostics.errors import quote
from supple.formats.khalil_kleinfinger.cell_table import Row, TableColumns, names_within
from supple.geometry.rotation import rotation_about, rotation_vector

# Transformation between frames in the notation of Khalil and Kleinfinger (1986).


X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
HERE = Pose(np.zeros(3), np.eye(3))


def then(outer: Pose, inner: Pose) -> Pose:
    """Return the pose of a frame given in another frame: T = T_outer T_inner."""
    return Pose(outer.to_world(inner.position), outer.axes @ inner.axes)


def relative_pose(outer: Pose, inner: Pose) -> Pose:
    """Return the pose of the second frame relative to the first: T_outer⁻¹ T_inner."""
    return Pose(outer.to_local(inner.position), outer.axes.T @ inner.axes)


def along_z(angle: float, distance: float) -> Pose:
    """Return rot(z, angle) trans(z, distance)."""
    return Pose(distance * Z, rotation_about(Z, angle))


def along_x(angle: float, distance: float) -> Pose:
    """Return rot(x, angle) trans(x, distance)."""
    return Pose(distance * X, rotation_about(X, angle))


def khalil_kleinfinger(gamma: float, b: float, alpha: float, d: float, theta: float, r: float) -> Pose:
    """Return the pose of frame i in its antecedent j, with angles in rad and lengths in m.

    ʲT_i = rot(z, γ) trans(z, b) rot(x, α) trans(x, d) rot(z, θ) trans(z, r)
                                                [Rognant, Courteille, Maurine 2010, eq. 1; Khalil, Kleinfinger 1986]
    """
    return then(then(along_z(gamma, b), along_x(alpha, d)), along_z(theta, r))


def parameters_of(pose: Pose) -> tuple[float, float, float, float, float, float]:
    """Return the parameters (γ, b, α, d, θ, r) of a pose: the inverse of `khalil_kleinfinger`.

    x after γ is the common normal of the two z axes. Where they are parallel, it passes through the axes of both
    origins with b = 0; where they coincide, γ = 0 as well.
    """
    z, p = pose.axes[:, 2], pose.position
    sine = float(np.hypot(z[0], z[1]))
    if sine > _PARALLEL:
        gamma = float(np.arctan2(z[0], -z[1]))  # z = Rz(γ) Rx(α) e_z = (sin γ sin α, -cos γ sin α, cos α)
        alpha = float(np.arctan2(sine, z[2]))
    else:
        aside = float(np.hypot(p[0], p[1]))
        gamma = float(np.arctan2(p[1], p[0])) if aside > _PARALLEL * max(1.0, abs(float(p[2]))) else 0.0
        alpha = 0.0 if z[2] > 0.0 else np.pi
    n, c, s = rotation_about(Z, gamma) @ X, np.cos(alpha), np.sin(alpha)
    d = float(n @ p)
    across = float((rotation_about(Z, gamma) @ np.array([0.0, 1.0, 0.0])) @ p)  # = -s r
    r = -across / s if sine > _PARALLEL else float(p[2]) * c
    b = float(p[2]) - c * r if sine > _PARALLEL else 0.0
    turned = (rotation_about(Z, gamma) @ rotation_about(X, alpha)).T @ pose.axes
    theta = float(np.arctan2(turned[1, 0], turned[0, 0]))
    return gamma, b, float(alpha), d, theta, float(r)


_PARALLEL = 1e-12


def frame_entry(pose: Pose) -> dict[str, Any]:
    """Return `at` and `rotation` of the mechanism file for a pose; always with a rotation, since copies rotate it."""
    upright = {"rotation": {"about": "z", "angle": 0.0}}
    return {"at": pose.position.tolist(), **(rotation_entry(pose.axes) or upright)}


def rotation_entry(axes: Array) -> dict[str, Any]:
    """Return `rotation` of the mechanism file; empty if the axes are parallel."""
    turn = rotation_vector(axes)
    angle = float(np.linalg.norm(turn))
    return {"rotation": {"about": (turn / angle).tolist(), "angle": angle}} if angle > 0.0 else {}


# The table.


COLUMNS = TableColumns(
    {
        "joint": ("j", "i", "Joint"), "antecedent": ("a", "ant", "a(i)"), "actuated": ("mu", "μ"), "sigma": ("σ",),
        "gamma": ("γ",), "b": (), "alpha": ("α",), "d": (), "theta": ("θ",), "r": (), "q": (), "body": (),
    },
    needed=("joint", "antecedent", "sigma", "alpha", "d", "theta", "r"),
)  # fmt: skip
KINDS = {"0": "revolute", "1": "prismatic", "2": "fixed"}
BASE = "0"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]{0,63}")
_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class TableLink:
    """Evaluated row.

    kind : "revolute", "prismatic" or "fixed"; antecedent : label of its antecedent row, None at the base
    before : the body on which its joint starts
    name : of the joint, or of the frame that a fixed row defines; body : the body of the frame
    placement : R_i as drawn; zero : R_i in its antecedent's frame where q = 0; foot : the point of the axis z_i at
    which the common normal with the antecedent's axis ends, in the antecedent's frame; drawn_at : q as drawn
    follows : q = Σ factor times q of other rows, by their labels; empty if it is independent
    """

    row: Row
    label: str
    kind: str
    antecedent: str | None
    before: str
    name: str
    body: str
    actuated: bool
    placement: Pose
    zero: Pose
    foot: Pose
    drawn_at: float
    follows: dict[str, float] = field(default_factory=dict)

    @property
    def moves(self) -> bool:
        """Whether the row has a joint."""
        return self.kind != "fixed"


def links_of(rows: list[Row], outside: Mapping[str, Pose]) -> dict[str, TableLink]:
    """Return all rows by their labels, antecedents first.

    outside : poses of bodies that the file draws itself, on which rows may start
    """
    labels: dict[str, Row] = {}
    for row in rows:
        if row.label in labels:
            raise row.fault(
                "joint", f"row {labels[row.label].number} has the same name", hint="give each row its own number"
            )
        if row.label in (BASE, GROUND) or row.label in outside:
            raise row.fault(
                "joint", "this name is already used (0 is the base)", hint="give the row another number or name"
            )
        labels[row.label] = row
    found: dict[str, TableLink] = {}
    courses = _courses(labels)
    waiting = dict(labels)
    while waiting:
        ready = [label for label, row in waiting.items() if _antecedent(row, labels, outside) not in waiting]
        if not ready:
            row = next(iter(waiting.values()))
            raise row.fault(
                "antecedent", f"the rows form a circle ({', '.join(list(waiting)[:6])}) that does not reach 0",
                hint="close a loop by a row of closures, not by an antecedent",
            )  # fmt: skip
        for label in ready:
            found[label] = _link(waiting.pop(label), found, outside, courses)
    return {label: found[label] for label in labels}


def _antecedent(row: Row, labels: Mapping[str, Row], outside: Mapping[str, Pose]) -> str:
    antecedent = row.text("antecedent")
    if antecedent not in labels and antecedent not in outside and antecedent not in (BASE, GROUND):
        message, hint = describe_unknown("row", antecedent, [BASE, *labels, *outside])
        raise row.fault("antecedent", message, hint=hint)
    return antecedent


def _link(
    row: Row, found: Mapping[str, TableLink], outside: Mapping[str, Pose], courses: Mapping[str, JointVariable | None]
) -> TableLink:
    antecedent = row.text("antecedent")
    before = found.get(antecedent)
    carrier = before.body if before is not None else antecedent if antecedent in outside else GROUND
    placed = before.placement if before is not None else outside.get(antecedent, HERE)
    kind, course = _kind(row), courses[row.label]
    actuated = row.text("actuated", "0")
    if actuated not in ("0", "1") or (actuated == "1" and kind == "fixed"):
        what = "a fixed row cannot be actuated" if actuated == "1" else f"{quote(actuated)} is not a value of μ"
        raise row.fault("actuated", what, hint="use 1 for an actuated joint, otherwise 0")
    gamma, alpha = row.value("gamma", ANGLE, 0.0), row.value("alpha", ANGLE)
    b, d = row.value("b", LENGTH, 0.0), row.value("d", LENGTH)
    theta = course.zero if course is not None and kind == "revolute" else row.value("theta", ANGLE)
    r = course.zero if course is not None and kind == "prismatic" else row.value("r", LENGTH)
    at = 0.0 if course is None else course.drawn_at
    foot = then(along_z(gamma, b), along_x(alpha, d))
    zero = khalil_kleinfinger(gamma, b, alpha, d, theta, r)
    name, body = _names(row, kind, carrier)
    return TableLink(
        row, row.label, kind, before.label if before is not None else None, carrier, name, body, actuated == "1",
        then(then(placed, zero), along_z(*((at, 0.0) if kind == "revolute" else (0.0, at)))), zero, foot, at,
        {} if course is None else course.follows,
    )  # fmt: skip


def _kind(row: Row) -> str:
    sigma = row.text("sigma")
    if sigma not in KINDS:
        raise row.fault(
            "sigma", f"{quote(sigma)} is not a value of σ", hint="use 0 (revolute), 1 (prismatic) or 2 (fixed)"
        )
    return KINDS[sigma]


class JointVariable(NamedTuple):
    """Joint variable of a row: θ or r = zero + q, q = drawn_at as drawn, q = Σ factor times q of followed rows."""

    zero: float
    drawn_at: float
    follows: dict[str, float]


def _courses(rows: Mapping[str, Row]) -> dict[str, JointVariable | None]:
    """Return the joint variable of every row; None for a fixed one. Followers are drawn where the others move them."""
    columns = {label: _COLUMN.get(_kind(row)) for label, row in rows.items()}
    own = {label: [] if column is None else variable_names(label, column) for label, column in columns.items()}
    of_others: dict[str, str] = {}  # "q" alone is that of its own row
    for label, names in own.items():
        for name in names[1:]:
            of_others.setdefault(name, label)
    found = {
        label: None if column is None else _course(rows[label], column, own[label], of_others)
        for label, column in columns.items()
    }
    settled: dict[str, float] = {
        label: course.drawn_at for label, course in found.items() if course is not None and not course.follows
    }
    waiting = {label: course for label, course in found.items() if course is not None and course.follows}
    while waiting:
        ready = [label for label, course in waiting.items() if all(leader in settled for leader in course.follows)]
        if not ready:
            label = next(iter(waiting))
            raise rows[label].fault(
                columns[label] or "theta", f"rows {', '.join(waiting)} follow each other in a circle",
                hint="make one of them independent: write q there",
            )  # fmt: skip
        for label in ready:
            course = waiting.pop(label)
            settled[label] = sum(factor * settled[leader] for leader, factor in course.follows.items())
            found[label] = course._replace(drawn_at=settled[label])
    return found


_COLUMN = {"revolute": "theta", "prismatic": "r"}


def _course(row: Row, column: str, own: list[str], of_others: Mapping[str, str]) -> JointVariable:
    """Return the joint variable of a moving row.

    Its cell is `q + constant` (or empty, for q), drawn at the column q; a number, where the joint is drawn and θ or r
    itself is the coordinate; or an expression such as `2*q1 + pi/2` in the coordinates of other rows.
    """
    dimension = ANGLE if column == "theta" else LENGTH
    at = row.value("q", dimension, 0.0)
    if row.text(column, "") == "":
        return JointVariable(0.0, at, {})
    known = current_parameters()
    used = [name for name in sorted(names_within(row.text(column))) if name not in known]
    leaders = [of_others[name] for name in used if name not in own and name in of_others]
    symbols = {label: [name for name in used if of_others.get(name) == label and name not in own] for label in leaders}
    symbols |= {"": [name for name in own if name not in known]}

    def evaluate(at_value: Mapping[str, float]) -> float:
        given = {name: at_value.get(label, 0.0) for label, names in symbols.items() for name in names}
        with use_parameters({**known, **given}):
            return row.value(column, dimension)

    zero = evaluate({})
    factors = {label: evaluate({label: 1.0}) - zero for label in symbols}
    straight = [abs(evaluate({label: 2.0}) - zero - 2.0 * factor) for label, factor in factors.items()]
    together = evaluate(dict.fromkeys(symbols, 1.0)) - zero - sum(factors.values())
    itself = factors.pop("")
    follows = {label: factor for label, factor in factors.items() if abs(factor) > _CLOSE}
    if max([*straight, abs(together)]) > _CLOSE * max(1.0, *(abs(factor) for factor in factors.values()), abs(itself)):
        raise row.fault(
            column,
            "the cell must be linear in q",
            hint="write q, q + pi/2, 2*q1 (follows row 1), or the value as drawn",
        )
    if follows and abs(itself) > _CLOSE:
        raise row.fault(
            column,
            f"it has its own q and follows row {next(iter(follows))}, so that q would not be the angle of a joint",
            hint="add a row for the motor behind a belt or gear, and let this row follow both",
        )  # fmt: skip
    if not follows and abs(itself) > _CLOSE:
        if abs(itself - 1.0) > _CLOSE:
            raise row.fault(
                column, "the cell must be q plus a constant", hint="write q, q + pi/2, or the value as drawn"
            )
        return JointVariable(zero, at, {})
    if "q" in row.cells and row.text("q", "") != "":
        raise row.fault("q", f"column {quote(column)} already has the value as drawn", hint="leave one of them empty")
    return JointVariable(zero, 0.0, follows) if follows else JointVariable(0.0, zero, {})


def variable_names(label: str, column: str) -> list[str]:
    """Return the names that a joint variable may have in its own row."""
    stems = ("q", "t", "th", "theta", "θ") if column == "theta" else ("q", "r")
    return ["q", *(f"{stem}{label}" for stem in stems if f"{stem}{label}".isidentifier())]


def _names(row: Row, kind: str, carrier: str) -> tuple[str, str]:
    """Return the names of (joint or frame, body); numbered rows are joint3, body3, frame3."""
    label = row.label
    numbered = label.isdecimal()
    if not numbered and not _NAME.fullmatch(label):
        raise row.fault(
            "joint", f"{quote(label)} is not a valid name", hint="use a number, or letters, digits, _ and -"
        )
    if kind == "fixed":
        return f"frame{label}" if numbered else label, carrier
    body = row.text("body", f"body{label}" if numbered else label)
    if not _NAME.fullmatch(body) or body == GROUND:
        raise row.fault("body", f"{quote(body)} is not a valid name of a body", hint="use letters, digits, _ and -")
    return f"joint{label}" if numbered else label, body
