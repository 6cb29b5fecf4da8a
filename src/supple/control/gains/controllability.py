"""Which states the inputs cannot reach.

The reachable subspace is the smallest that holds the columns of B and is mapped into itself by A; Q is an orthonormal
basis of what is at right angles to it, QᵀB = 0 and QᵀA = (QᵀA Q) Qᵀ. Built direction by direction, with a decision on
the rank at each, it does not lose digits to repeated eigenvalues, as a test of every eigenvalue would.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import matrix_balance

from supple.array_types import Array

_RANK = 1e-10  # a direction that adds less, of the largest, adds nothing


@dataclass(frozen=True, eq=False)
class Unreached:
    """modes : eigenvalues of A that no feedback can move; states : the names that take part, largest first."""

    modes: NDArray[np.complex128]
    states: tuple[str, ...]

    def __bool__(self) -> bool:
        return len(self.modes) > 0

    def __str__(self) -> str:
        return ", ".join(f'"{name}"' for name in self.states[:6]) + (", ..." if len(self.states) > 6 else "")


def unreached(A: Array, B: Array, names: tuple[str, ...], *, unstable: bool = False) -> Unreached:
    """What no input reaches; with `unstable` only modes that do not decay by themselves."""
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    outside = _outside(balanced, B / scale[:, None])
    values, vectors = np.linalg.eig(outside.T @ balanced @ outside) if outside.size else (np.zeros(0), outside)
    if unstable:
        slow = values.real >= -1e-9 * max(1.0, float(np.abs(values).max(initial=0.0)))
        values, vectors = values[slow], vectors[:, slow]
    share = np.abs(outside @ vectors).max(axis=1, initial=0.0) if len(values) else np.zeros(len(A))
    order = [int(i) for i in np.argsort(-share, kind="stable") if share[i] > 0.1 * share.max(initial=0.0)]
    return Unreached(values.astype(complex), tuple(names[i] for i in order))


def _outside(A: Array, B: Array) -> Array:
    """Orthonormal basis (n, k) of what is at right angles to the reachable subspace."""
    size = np.linalg.norm(B, axis=0)
    found = np.zeros((len(A), 0))
    new = B[:, size > 0.0] / size[size > 0.0]
    scale = max(float(np.linalg.norm(A, 2)), np.finfo(float).tiny)
    while new.shape[1] and found.shape[1] < len(A):
        for _ in range(2):  # once more for the digits that the first subtraction lost
            new = new - found @ (found.T @ new)
        U, sigma, _ = np.linalg.svd(new, full_matrices=False)
        kept = U[:, sigma > _RANK]
        found = np.hstack([found, kept])
        new = A @ kept / scale
    whole = np.linalg.qr(found, mode="complete")[0] if found.shape[1] else np.eye(len(A))
    return whole[:, found.shape[1] :]
