"""What an estimator finds at one order: all poles, of the structure and of the noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex


class RawPoles(NamedTuple):
    """order, poles s (n,) in rad/s, participation (n, Ni): of each reference in each, of unit length."""

    order: int
    poles: Complex
    participation: Complex

    @property
    def frequencies_hz(self) -> Array:
        return np.asarray(np.abs(self.poles) / (2.0 * np.pi))

    @property
    def damping(self) -> Array:
        return np.asarray(-self.poles.real / np.abs(self.poles))

    def where(self, kept: NDArray[np.bool_]) -> RawPoles:
        """Some of them."""
        return RawPoles(self.order, self.poles[kept], self.participation[kept])
