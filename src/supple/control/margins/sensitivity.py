"""The sensitivity of a loop as a function of frequency, and at which frequencies to look.

    L = C_L (z - A_L)⁻¹ B_L + D_L,     S = (1 + L)⁻¹ = E - E C_L (z - A_c)⁻¹ B_L E,     E = (1 + D_L)⁻¹
    A_c = A_L - B_L E C_L,             z = iω, of a sampled loop exp(iωT)

S has the poles of the closed loop, which is stable: it is finite on the whole axis, where L need not be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.linear_model import LinearModel

ComplexArray = NDArray[np.complex128]

_DECADES = 2.0  # beyond the slowest and the fastest pole
_BROAD, _CLOSE = 60, 24  # frequencies a decade over all, and on each side of every pole
_REACH = 30.0  # damping widths from a pole within which frequencies are close


class Sensitivity:
    """S(ω) (m, m) of a loop that is closed with u = -L u; stable, poles : of the closed loop, 1/s."""

    def __init__(self, loop: LinearModel) -> None:
        m = len(loop.inputs)
        direct = np.eye(m) + loop.D
        if abs(np.linalg.det(direct)) < 1e-12:
            raise InputError(
                "what its inputs do at once comes back at once, and undoes them", part="open loop",
                hint="leave out the direct part of the controller, or let it work at samples",
            )  # fmt: skip
        self.E = np.linalg.inv(direct)
        self.A = loop.A - loop.B @ self.E @ loop.C
        self.B, self.C, self.step = loop.B @ self.E, self.E @ loop.C, loop.step
        self.highest = np.inf if loop.step is None else np.pi / loop.step
        found = np.linalg.eigvals(self.A).astype(complex)
        self.stable = bool((found.real < 0.0).all() if loop.step is None else (np.abs(found) < 1.0).all())
        self.poles = found if loop.step is None else _continuous(found, loop.step)
        open_poles = np.linalg.eigvals(loop.A).astype(complex)
        self._known = np.append(self.poles, open_poles if loop.step is None else _continuous(open_poles, loop.step))

    def at(self, omega: ArrayLike) -> ComplexArray:
        """S (..., m, m) at frequencies (...) in rad/s; infinity is allowed without a sample time."""
        w = np.asarray(omega, dtype=float)
        finite = np.where(np.isfinite(w), w, 0.0)
        z = 1j * finite if self.step is None else np.exp(1j * finite * self.step)
        x = np.linalg.solve(z[..., None, None] * np.eye(len(self.A)) - self.A, self.B.astype(complex))
        found = self.E - self.C @ x
        return np.where(np.isfinite(w)[..., None, None], found, self.E)

    def grid(self) -> Array:
        """Frequencies (N,), rad/s, rising from 0: even over all decades, and close about every pole of both loops.

        About a pole -σ ± iω₀ they stand at ω₀ ± σ x with x from 0 to far, as much of the response as any other.
        """
        size = np.abs(self._known)
        size = size[size > 0.0]
        if not len(size):
            size = np.ones(1)
        top = min(self.highest, size.max() * 10.0**_DECADES)
        low = min(size.min(), top) * 10.0**-_DECADES
        low = max(low, 1e-9 * top)
        broad = np.geomspace(low, top, int(_BROAD * np.log10(top / low)) + 2)
        turning = self._known[self._known.imag > 1e-3 * np.abs(self._known)]
        width = np.maximum(np.abs(turning.real), 1e-6 * turning.imag)
        away = np.append(0.0, np.geomspace(1e-2, _REACH, _CLOSE))
        away = np.append(-away[:0:-1], away)
        close = (turning.imag[:, None] + width[:, None] * away).ravel()
        close = close[(close > low) & (close < top)]
        ends = [0.0] if np.isfinite(self.highest) else [0.0, np.inf]
        return np.unique(np.concatenate([broad, close, ends]))


def _continuous(found: ComplexArray, step: float) -> ComplexArray:
    """(1/T) log z; of z = 0, a pure delay, what has decayed within a sample by far."""
    return np.asarray(np.log(np.where(np.abs(found) < 1e-12, 1e-12 + 0j, found)) / step, dtype=complex)
