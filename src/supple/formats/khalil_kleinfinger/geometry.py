"""The table of geometry: every row a frame R_i, whose body moves about or along its z axis, or fixed (σ = 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from supple.description.drawing import Pose
from supple.description.mechanism import GROUND
from supple.description.quantities.dimension import ANGLE, LENGTH
from supple.description.quantities.expression import current_parameters, use_parameters
from supple.diagnostics import nearest
from supple.diagnostics.quoting import quoted
from supple.formats.khalil_kleinfinger.table import Columns, Row
from supple.formats.khalil_kleinfinger.transform import HERE, along_x, along_z, khalil_kleinfinger, then

COLUMNS = Columns(
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
class Link:
    """One row, worked out.

    kind : "revolute", "prismatic" or "fixed"; antecedent : label of the row before it, None at the base
    before : the body that its joint starts from
    name : of the joint, or of the frame that a fixed row defines; body : what carries the frame
    placement : R_i as drawn; zero : R_i in its antecedent's frame where q = 0; foot : the point of the axis z_i at
    which the common normal with the antecedent's axis ends, in the antecedent's frame; drawn_at : q as drawn
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

    @property
    def moves(self) -> bool:
        return self.kind != "fixed"


def links_of(rows: list[Row], outside: Mapping[str, Pose]) -> dict[str, Link]:
    """All rows by their labels, antecedents first.

    outside : bodies that the file draws itself, where they are; rows may start from them
    """
    labels: dict[str, Row] = {}
    for row in rows:
        if row.label in labels:
            raise row.fault("joint", f"row {labels[row.label].number} is called so, too", hint="number rows once each")
        if row.label in (BASE, GROUND) or row.label in outside:
            raise row.fault("joint", "this name is taken", hint="0 is the base; give the row another number or name")
        labels[row.label] = row
    found: dict[str, Link] = {}
    waiting = dict(labels)
    while waiting:
        ready = [label for label, row in waiting.items() if _antecedent(row, labels, outside) not in waiting]
        if not ready:
            row = next(iter(waiting.values()))
            raise row.fault(
                "antecedent", f"the rows go round in a circle ({', '.join(list(waiting)[:6])}) and never reach 0",
                hint="a loop is closed by a row of closures, not by an antecedent",
            )  # fmt: skip
        for label in ready:
            found[label] = _link(waiting.pop(label), found, outside)
    return {label: found[label] for label in labels}


def _antecedent(row: Row, labels: Mapping[str, Row], outside: Mapping[str, Pose]) -> str:
    said = row.text("antecedent")
    if said not in labels and said not in outside and said not in (BASE, GROUND):
        raise row.fault("antecedent", f"there is no row {quoted(said)}", hint=nearest(said, [BASE, *labels, *outside]))
    return said


def _link(row: Row, found: Mapping[str, Link], outside: Mapping[str, Pose]) -> Link:
    said = row.text("antecedent")
    before = found.get(said)
    carrier = before.body if before is not None else said if said in outside else GROUND
    placed = before.placement if before is not None else outside.get(said, HERE)
    sigma = row.text("sigma")
    if sigma not in KINDS:
        raise row.fault("sigma", f"{quoted(sigma)} is no σ", hint="0 revolute, 1 prismatic, 2 fixed")
    kind = KINDS[sigma]
    actuated = row.text("actuated", "0")
    if actuated not in ("0", "1") or (actuated == "1" and kind == "fixed"):
        what = "a fixed row has no actuator" if actuated == "1" else f"{quoted(actuated)} is no μ"
        raise row.fault("actuated", what, hint="1 where a motor moves the joint, 0 elsewhere")
    gamma, alpha = row.value("gamma", ANGLE, 0.0), row.value("alpha", ANGLE)
    b, d = row.value("b", LENGTH, 0.0), row.value("d", LENGTH)
    (theta, turned), (r, slid) = _moving(row, "theta", kind == "revolute"), _moving(row, "r", kind == "prismatic")
    foot = then(along_z(gamma, b), along_x(alpha, d))
    zero = khalil_kleinfinger(gamma, b, alpha, d, theta, r)
    name, body = _names(row, kind, carrier)
    return Link(
        row, row.label, kind, before.label if before is not None else None, carrier, name, body, actuated == "1",
        then(then(placed, zero), along_z(turned, slid)), zero, foot, turned + slid,
    )  # fmt: skip


def _moving(row: Row, column: str, moves: bool) -> tuple[float, float]:
    """(what the cell says at q = 0, q as drawn) of θ or r.

    The cell of a moving joint is `q + constant` (or empty: q), drawn at the column q; or a number, where the joint is
    drawn, and then θ or r itself is the coordinate.
    """
    dimension = ANGLE if column == "theta" else LENGTH
    if not moves:
        return row.value(column, dimension), 0.0
    at = row.value("q", dimension, 0.0)
    if row.text(column, "") == "":
        return 0.0, at
    symbols = [name for name in variables(row.label, column) if name not in current_parameters()]
    values = []
    for value in (0.0, 1.0, 2.0):
        with use_parameters({**current_parameters(), **dict.fromkeys(symbols, value)}):
            values.append(row.value(column, dimension))
    if max(values) - min(values) <= _CLOSE:
        if "q" in row.cells and row.text("q", "") != "":
            raise row.fault("q", f"column {quoted(column)} says already where it is drawn", hint="leave one empty")
        return 0.0, values[0]
    if abs(values[1] - values[0] - 1.0) > _CLOSE or abs(values[2] - values[1] - 1.0) > _CLOSE:
        raise row.fault(column, "this is not q and a constant", hint="write q, q + pi/2, or where it is drawn")
    return values[0], at


def variables(label: str, column: str) -> list[str]:
    """What the variable of a joint may be called in its own row."""
    stems = ("q", "t", "th", "theta", "θ") if column == "theta" else ("q", "r")
    return ["q", *(f"{stem}{label}" for stem in stems if f"{stem}{label}".isidentifier())]


def _names(row: Row, kind: str, carrier: str) -> tuple[str, str]:
    """(joint or frame, body) in the mechanism; rows that are only numbered are joint3, body3, frame3."""
    label = row.label
    numbered = label.isdecimal()
    if not numbered and not _NAME.fullmatch(label):
        raise row.fault("joint", "a part cannot be called so", hint="take a number, or letters, digits, _ and -")
    if kind == "fixed":
        return f"frame{label}" if numbered else label, carrier
    body = row.text("body", f"body{label}" if numbered else label)
    if not _NAME.fullmatch(body) or body == GROUND:
        raise row.fault("body", f"a body cannot be called {quoted(body)}", hint="take letters, digits, _ and -")
    return f"joint{label}" if numbered else label, body
