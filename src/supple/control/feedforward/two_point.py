"""Linear two-point problems of second order, at all instants together.

    M(t) ë + D(t) ė + K(t) e = r(t),   L_a (e, ė)(t_0) = g_a,   L_b (e, ė)(t_N) = g_b

Between instants h apart, with the accelerations as unknowns, to fourth order:

    ė_{k+1} - ė_k = h/24 (-ë_{k-1} + 13 ë_k + 13 ë_{k+1} - ë_{k+2})
    e_{k+1} - e_k = h/2 (ė_k + ė_{k+1}) - h²/12 (ë_{k+1} - ë_k)
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_array, block_diag, diags_array, eye_array, kron, vstack
from scipy.sparse.linalg import splu

from supple.array_types import Array


class TwoPoint:
    """times : (N,) equally far apart; matrices : M, D, K (N, m, m); begin, end : L_a, L_b, 2m rows together."""

    def __init__(self, times: Array, matrices: tuple[Array, Array, Array], begin: Array, end: Array):
        M, D, K = matrices
        self._N, self._m = len(times), M.shape[1]
        h, unit = float(times[1] - times[0]), eye_array(self._m)
        shape = (self._N - 1, self._N)
        step = diags_array([-1.0, 1.0], offsets=[0, 1], shape=shape)
        both = diags_array([0.5 * h, 0.5 * h], offsets=[0, 1], shape=shape)
        inner = diags_array([-1.0, 13.0, 13.0, -1.0], offsets=[-1, 0, 1, 2], shape=shape).tolil()
        inner[0, :2] = inner[-1, -2:] = 12.0  # the trapezoidal rule at the ends
        rows = [
            [block_diag(K), block_diag(D), block_diag(M)],
            [None, kron(step, unit), kron(h / 24.0 * inner, -unit)],
            [kron(step, unit), kron(both, -unit), kron(h**2 / 12.0 * step, unit)],
        ]
        whole = vstack([block_array(rows), self._ends(begin, end)])
        self._factor = splu(whole.tocsc())
        self._counts = (len(begin), len(end))

    def _ends(self, begin: Array, end: Array) -> object:
        """Rows of both conditions over (e, ė, ë)."""
        N, m = self._N, self._m
        found = np.zeros((2 * m, 3, N, m))
        for part in range(2):
            found[: len(begin), part, 0] = begin[:, part * m : (part + 1) * m]
            found[len(begin) :, part, -1] = end[:, part * m : (part + 1) * m]
        self._rows = (begin, end)
        return found.reshape(2 * m, -1)

    def solve(self, r: Array, begin: Array, end: Array) -> Array:
        """e, ė, ë (3, N, m) for r (N, m) and ends (2m,) that L_a and L_b are taken of."""
        N, m = self._N, self._m
        none = np.zeros(2 * (N - 1) * m)
        right = np.concatenate([r.ravel(), none, self._rows[0] @ begin, self._rows[1] @ end])
        return np.asarray(self._factor.solve(right).reshape(3, N, m))
