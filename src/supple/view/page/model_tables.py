"""A reduced model over the map of its region: its boxes, and how far off it is in each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.reduced.model import ReducedModel
from supple.reduction.comparison import local_errors
from supple.view.page.encoding import table

Array = NDArray[np.float64]

_POINTS = 8  # a box, where the model is held against the mechanism
_MOST = 1200  # points in all


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
    }
