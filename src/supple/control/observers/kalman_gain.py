"""The steady gain of a Kalman filter in discrete time.

    P = F (P - P Hᵀ S⁻¹ H P) Fᵀ + Q,   S = H P Hᵀ + R,   L = P Hᵀ S⁻¹                        [Kalman 1960]

P is the covariance of X before the measurement, and X̂ ← X̂ + L (y - ŷ) what the measurement makes of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

from supple.array_types import Array
from supple.diagnostics import InputError

_KEPT = 1e-9  # a part of the error that stays longer than this many samples' inverse is not seen


class SteadyGain(NamedTuple):
    """L (N, o); P (N, N) before the measurement, after it (I - L H) P; S (o, o) of the innovation."""

    L: Array
    P: Array
    S: Array

    @property
    def errors(self) -> Array:
        """RMS error of each state after the measurement, (N,)."""
        kept = np.diag(self.P) - np.einsum("ij,jk,ik->i", self.L, self.S, self.L)
        return np.asarray(np.sqrt(np.maximum(kept, 0.0)))


def steady_gain(F: Array, H: Array, Q: Array, R: Array, names: tuple[str, ...]) -> SteadyGain:
    """Of a plant with process noise Q (N, N) between samples and measurement noise R (o, o).

    names : of the states, for what nothing measures
    """
    size = _sizes(F, Q)
    F_, H_, Q_ = F * size / size[:, None], H * size, Q / np.outer(size, size)
    try:
        P = solve_discrete_are(F_.T, H_.T, Q_, R)
    except (LinAlgError, ValueError):
        P = np.full_like(F, np.nan)
    S = H_ @ P @ H_.T + R
    L = np.linalg.solve(S, H_ @ P).T if np.isfinite(P).all() else P[:, : len(H)]
    left = F_ - L @ H_ @ F_
    if not np.isfinite(L).all() or np.abs(np.linalg.eigvals(left)).max(initial=0.0) > 1.0 - _KEPT:
        raise InputError(
            f"nothing that is measured tells {_unseen(F, H, names)}, or nothing disturbs it", part="Kalman filter",
            hint="add a sensor that feels it, or give noise to its coordinate",
        )  # fmt: skip
    return SteadyGain(size[:, None] * L, P * np.outer(size, size), S)


def _sizes(F: Array, Q: Array) -> Array:
    """What each state may be disturbed by within some samples, so that units do not decide what is small."""
    P = Q.copy()
    for _ in range(8):
        P = F @ P @ F.T + Q
    size = np.sqrt(np.maximum(np.diag(P), 0.0))
    return np.asarray(np.where(size > 0.0, size, 1.0))


def _unseen(F: Array, H: Array, names: tuple[str, ...]) -> str:
    """The state that takes most part in what the measurements see least."""
    size = np.linalg.norm(H, axis=1, keepdims=True)
    rows = [H / np.where(size > 0.0, size, 1.0)]
    for _ in range(len(F) - 1):
        rows.append(rows[-1] @ F)
    least = np.linalg.svd(np.vstack(rows))[2][-1]
    return f'"{names[int(np.abs(least).argmax())]}"'
