"""Where each coefficient of a local model stands in a row of results."""

from __future__ import annotations

from itertools import accumulate
from math import prod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rigid_layout(s: int, actuators: int, outputs: int, dry: int) -> Layout:
    """Of a rigid mechanism."""
    return Layout(
        {
            "M": (s, s),
            "dM": (s, s, s),
            "christoffel": (s, s, s),
            "potential": (1,),
            "force": (s,),
            "dforce": (s, s),
            "damping": (s, s),
            "input_map": (s, actuators),
            "outputs": (outputs, 1 + s + s * s),
            "friction_map": (dry, s),
            "ddamping": (s, s, s),
            "dinput_map": (s, actuators, s),
            "dfriction_map": (dry, s, s),
        }
    )


def flexible_layout(s: int, constraint: int, internal: int, actuators: int, outputs: int, dry: int) -> Layout:
    """Of a flexible mechanism with n = s + constraint + internal coordinates.

    dM : ∂M/∂η; dforce : ∂p/∂η; outputs : value, ∂/∂θ (s), ∂²/∂θ² (s, s), Ψ_o (n - s), ∂Ψ_o/∂θ (n - s, s)
    told : ω² of the internal modes, their smallest overlap with the reference, Σ 2^i over their places among all
    """
    n = s + constraint + internal
    return Layout(
        {
            "M": (n, n),
            "dM": (n, n, n),
            "christoffel": (n, n, n),
            "K": (n, n),
            "potential": (1,),
            "force": (n,),
            "dforce": (n, n),
            "damping": (n, n),
            "input_map": (n, actuators + constraint),
            "outputs": (outputs, 1 + s + s * s + (n - s) * (1 + s)),
            "friction_map": (dry, n),
            "told": (internal + 2,),
            "dK": (n, n, s),
            "ddamping": (n, n, s),
            "dinput_map": (n, actuators + constraint, s),
            "dfriction_map": (dry, n, s),
        }
    )


class Layout:
    """Where each coefficient stands in a row of results: its shapes, in order."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]):
        self.shapes = shapes
        starts = [0, *accumulate(prod(shape) for shape in self.shapes.values())]
        self.offsets = np.array(starts, dtype=np.int64)
        self.width = starts[-1]
        self._places = list(zip(self.shapes.items(), starts[:-1], starts[1:], strict=True))

    def split(self, rows: Array) -> dict[str, Array]:
        """Views of (..., width) results by name."""
        lead = rows.shape[:-1]
        return {name: rows[..., start:stop].reshape(lead + shape) for (name, shape), start, stop in self._places}
