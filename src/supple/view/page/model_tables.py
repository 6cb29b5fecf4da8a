"""A reduced model over the map of its region: its boxes, and how far off it is in each."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from supple.comparison.comparison import local_errors
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.reduced.model import ReducedModel
from supple.results.units import MODAL
from supple.view.page.encoding import table

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
