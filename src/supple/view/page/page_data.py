"""All that the page shows of a mechanism, a reduced model or runs, as one dictionary."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from supple.comparison.comparison import local_errors
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError
from supple.formats.model_description import described
from supple.kinematics.closing import start_of
from supple.kinematics.closure import assemble
from supple.kinematics.closure_kernel import Start
from supple.kinematics.configuration import At
from supple.kinematics.limits import limited
from supple.kinematics.rest import Rest, rest
from supple.reduced.model import ReducedModel
from supple.results.units import MODAL
from supple.view.page.encoding import encoded, table
from supple.view.page.load_choice import counts_loads
from supple.view.page.region import ranges
from supple.view.page.scene import scene
from supple.view.page.vibration import COUNT, vibrating, vibration

__all__ = ["encoded", "page_data"]

FORMAT = 1


def page_data(
    thing: Mechanism | ReducedModel, *, at: At = None, preload: bool | None = None, count: int = COUNT
) -> dict[str, Any]:
    """The page of a mechanism, or of a reduced model and the mechanism it was made from.

    at      : the posture that it opens with; rest if left out
    preload : modes with the geometric stiffness of loads at rest; left out, see `counts_loads`
    count   : how many modes
    """
    mechanism = described(thing) if isinstance(thing, ReducedModel) else thing
    position = rest(mechanism)
    numbering, found = position.numbering, vibrating(position, count, preload=counts_loads(thing, preload))
    elastic = None if isinstance(found, str) else found.rest
    notes: list[str] = []
    return {
        "format": FORMAT,
        "name": mechanism.name,
        "description": mechanism.description or "",
        "kinematics": closing_rows(position),
        "coordinates": [
            item.data(float(value)) for item, value in zip(ranges(position), position.theta, strict=True)
        ],
        "limits": [
            {"part": part, "measure": row - numbering.constraints, "limits": list(limits),
             "unit": "rad" if numbering.angles()[row] else "m"}
            for part, row, limits in limited(numbering)
        ],
        "configurations": _configurations(position, notes),
        "scene": scene(numbering, elastic),
        "vibration": None if isinstance(found, str) else vibration(position, found, count),
        "still": found if isinstance(found, str) else "",
        "at": None if at is None else [float(value) for value in assemble(mechanism, at).theta],
        "notes": notes,
        **({"model": model_tables(mechanism, thing)} if isinstance(thing, ReducedModel) else {}),
    }  # fmt: skip


def _configurations(position: Rest, notes: list[str]) -> dict[str, list[float]]:
    """θ of the named configurations; those that cannot be assembled are told."""
    mechanism = position.numbering.mechanism
    found = {"rest": [float(value) for value in position.theta]}
    for name in mechanism.configurations:
        try:
            found[name] = [float(value) for value in assemble(mechanism, name).theta]
        except (InputError, NumericalError) as error:
            notes.append(f'configuration "{name}" is left out: {error.message}')
    return found


# What the page needs to close loops by itself: the rows of the mechanism, and where closure sets out.
#
# The page repeats `assemble`: Newton's method along the segment from rest (docs/theory/kinematics.md, docs/view.md).


def closing_rows(position: Rest) -> dict[str, Any]:
    """Rows, rest with its rigid modes, and the rank that rows have away from dead points."""
    numbering = position.numbering
    arrays, nothing = numbering.arrays, np.zeros((0,))
    # Without θ nothing moves on the page, and rows that leave motions free have no start.
    still = Start(position.X, position.w, nothing, nothing, 1.0, 1.0, 0.0)
    start = start_of(position) if numbering.coordinates else still
    return {
        "rows": {
            "sizes": table(arrays.sizes, "i4"),
            "tree": table(arrays.tree, "i4"),
            "reach": table(arrays.reach, "i4"),
            "column": table(arrays.column, "i4"),
            "selected": table(position.selected, "i4"),
            "rows_i": table(arrays.rows_i, "i4"),
            "rows_f": table(arrays.rows_f),
            "extent": float(arrays.extent),
        },
        "rest": {
            "X": table(start.X),
            "w": table(start.w),
            "Psi": table(start.Psi),
            "dPsi": table(start.dPsi),
            "sign": float(start.sign),
            "margin": float(start.margin),
        },
        "rank": int(numbering.columns - position.mobility.mobility + len(numbering.coordinates)),
    }


# A reduced model over the map of its region: its boxes, and how far off it is in each.


_POINTS = 8  # a box, where the model is held against the mechanism
_MOST = 1200  # points in all
_MOST_NUMBERS = 150_000  # of polynomials in double precision


def model_tables(mechanism: Mechanism, model: ReducedModel) -> dict[str, Any]:
    """Boxes (boxes, dimension) with the largest error of each family at some points in each, against the mechanism."""
    leaves = model.fitted.leaves
    low, high = np.array([box.lower for box in leaves]), np.array([box.upper for box in leaves])
    each = max(1, min(_POINTS, _MOST // len(leaves)))
    shares = np.random.default_rng(7).random((len(leaves), each, low.shape[1]))
    x = (low[:, None] + shares * (high - low)[:, None]).reshape(-1, low.shape[1])
    says = [
        f"Reduced model “{model.name}”: {len(leaves)} boxes, {model.layout.size} coordinates. Errors are those at "
        f"{each} points in each box, against the mechanism."
    ]
    if model.family is not None:
        says.append(f"Of a family, at {model.family}.")
    errors: dict[str, Any] = {}
    try:
        found = local_errors(mechanism, model, x)
        errors = {name: table(off.reshape(len(leaves), each).max(axis=1), "f4") for name, off in found.items()}
    except InputError as error:
        says.append(f"Errors within boxes are not shown: {error.message}.")
    return {
        "name": model.name,
        "coordinates": list(model.layout.coordinates[: model.layout.theta]),
        "low": table(low),
        "high": table(high),
        "errors": errors,
        "stated": {name: float(value) for name, value in model.error.items()},
        "says": says,
        "function": fitted_function(model, says),
        "internal": model.layout.internal,
    }


def fitted_function(model: ReducedModel, says: list[str]) -> dict[str, Any]:
    """The fitted polynomials of what a posture has of coefficients, which the page evaluates by itself.

    On leaf l, with ξ = (x - c_l) / h_l:  f = Σ_k c_lk T_{α_k}(ξ); `columns` names each with its unit
    """
    arrays, layout = model.fitted.arrays, model.layout
    columns: list[dict[str, Any]] = []
    taken: list[int] = []
    for name, (first, stop) in layout.columns.items():
        known = _COEFFICIENTS.get(name)
        if known is None:
            continue
        for place, (label, unit) in enumerate(known(model)):
            if name not in ("M", "K") and not arrays.coefficients[:, first + place].any():
                continue  # zero everywhere; of M and K the page takes all
            columns.append({"coefficient": name, "place": place, "label": label, "unit": unit})
            taken.append(first + place)
        assert stop - first == layout.widths[name]
    kind = "f8" if arrays.coefficients.shape[0] * len(taken) <= _MOST_NUMBERS else "f4"
    if kind == "f4":
        says.append("Its coefficients are kept in single precision here.")
    left = sorted(set(layout.columns) - set(_COEFFICIENTS))
    if left:
        says.append(f"Not among what is shown of it: {', '.join(left)}.")
    return {
        "roots_f": table(arrays.roots_f), "roots_i": table(arrays.roots_i, "i4"),
        "nodes_i": table(arrays.nodes_i, "i4"), "nodes_f": table(arrays.nodes_f),
        "leaves_i": table(arrays.leaves_i, "i4"), "leaves_f": table(arrays.leaves_f),
        "indices": table(arrays.indices[: int(arrays.leaves_i[:, 1].max(initial=0))], "i4"),
        "coefficients": table(arrays.coefficients[:, taken], kind),
        "columns": columns,
        "constants": {
            name: np.asarray(values).ravel().tolist() for name, values in layout.constants.items() if name in ("M", "K")
        },
        "size": layout.size, "theta": layout.theta,
    }  # fmt: skip


def _unit(model: ReducedModel, seconds: int, *names: str) -> str:
    """Of a coefficient that is kg m² s⁻ᵏ over coordinates, k `seconds`; nothing where a unit of theirs is not known."""
    units = [model.units.coordinates.get(name, "") for name in names]
    if not all(unit in _POWERS for unit in units):
        return ""
    kg, m = (total - sum(_POWERS[unit][i] for unit in units) for i, total in enumerate((1.0, 2.0)))
    if seconds == 2 and kg == 1.0:
        return {2.0: "N m", 1.0: "N", 0.0: "N/m"}[m]
    top = " ".join(part for part in ({1.0: "kg", 0.5: "√kg"}.get(kg, ""), {2.0: "m²", 1.0: "m"}.get(m, "")) if part)
    return f"{top or '1'}/s{'²' * (seconds == 2)}" if seconds else top


_POWERS = {"m": (0.0, 1.0), "rad": (0.0, 0.0), MODAL: (0.5, 1.0)}
"""Powers of kg and m in the units of coordinates."""


def _pairs(letter: str, seconds: int) -> Callable[[ReducedModel], list[tuple[str, str]]]:
    def named(model: ReducedModel) -> list[tuple[str, str]]:
        names = model.layout.coordinates
        pairs = combinations_with_replacement(names, 2)
        return [(f"{letter} of {a}, {b}", _unit(model, seconds, a, b)) for a, b in pairs]

    return named


_COEFFICIENTS: dict[str, Callable[[ReducedModel], list[tuple[str, str]]]] = {
    "M": _pairs("M", 0),
    "K": _pairs("K", 2),
    "damping": _pairs("D", 1),
    "potential": lambda model: [("potential", "J")],
    "force": lambda model: [(f"p along {name}", _unit(model, 2, name)) for name in model.layout.coordinates],
    "outputs": lambda model: [(name, model.units.outputs.get(name, "")) for name in model.layout.measures],
}
"""What each packed column of a coefficient is called, and its unit; others are not on the page."""
