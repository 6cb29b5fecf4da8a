"""Where each coefficient of a local model stands in a row of results."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Layout:
    """Where each coefficient stands in a row of results."""

    def __init__(self, s: int, actuators: int, outputs: int, dry: int):
        self.shapes = {
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
        sizes = [int(np.prod(shape)) for shape in self.shapes.values()]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.width = sum(sizes)
        starts = np.cumsum([0, *sizes]).tolist()
        self._places = list(zip(self.shapes.items(), starts[:-1], starts[1:], strict=True))

    def split(self, rows: Array) -> dict[str, Array]:
        """Views of (..., width) results by name."""
        lead = rows.shape[:-1]
        return {name: rows[..., start:stop].reshape(lead + shape) for (name, shape), start, stop in self._places}
