"""The lines of a band as estimators take them: receptances and the noise on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Complex

_FULL = 0.95  # of the unit circle that the band covers: the rest is where its ends, which do not meet, are joined


class Band(NamedTuple):
    """N lines of No outputs to Ni references.

    omega    : (N,) rad/s, rising, above zero
    H        : (N, No, Ni) receptances, whatever was measured: H_measured / (iω)^m
    variance : (N, No, Ni) of the noise on H, E|δH|²; a factor common to all of them is not known yet
    mirror   : None: poles come in conjugate pairs; of structural damping twice the rate of the exponential window, 1/s:
               the other pole of s is then -s                                                         [eqs. 1, 23]
    """

    omega: Array
    H: Complex
    variance: Array
    mirror: float | None = None

    @property
    def step(self) -> float:
        """T, s: of the samples whose spectrum the band would be; it covers most of the unit circle."""
        return float(2.0 * np.pi * _FULL / (self.omega[-1] - self.omega[0]))

    @property
    def angles(self) -> Array:
        """(N,) of z = exp(i (ω - ω_1) T)                                                                     [eq. 3]"""
        return np.asarray((self.omega - self.omega[0]) * self.step)

    def continuous(self, z: Complex) -> Complex:
        """Poles s of poles z = exp((s - iω_1) T), the ones nearest to the band."""
        open_end = np.pi * (1.0 - _FULL)  # half of the gap belongs to each end
        turn = np.mod(np.angle(z) + open_end, 2.0 * np.pi) - open_end
        return np.asarray((np.log(np.abs(z)) + 1j * turn) / self.step + 1j * self.omega[0])
