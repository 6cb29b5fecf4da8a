"""Whether two reduced models are one, bit for bit."""

from __future__ import annotations

import supple


def same(model: supple.ReducedModel, other: supple.ReducedModel) -> bool:
    """Arrays, constants and errors."""
    arrays = all(a.tobytes() == b.tobytes() for a, b in zip(model.fitted.arrays, other.fitted.arrays, strict=True))
    known = other.layout.constants
    constants = all(value.tobytes() == known[key].tobytes() for key, value in model.layout.constants.items())
    return arrays and constants and model.error == other.error and model.layout.columns == other.layout.columns
