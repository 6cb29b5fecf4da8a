"""How alike two sets of shapes are: the modal assurance criterion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError


def mac(first: ArrayLike, second: ArrayLike, mass: Array | None = None) -> Array:
    """MAC (..., k, k') = |φᴴ M φ'|² / (φᴴ M φ · φ'ᴴ M φ'), from 0 (nothing in common) to 1 (the same but for a factor).

    first, second : (..., k, n) and (..., k', n) shapes in the same coordinates, real or complex, of any length
    mass          : (n, n); the unit matrix if left out, as for the coordinates z of modes
    """
    a: NDArray[Any] = np.asarray(first)
    b: NDArray[Any] = np.asarray(second)
    if a.shape[-1] != b.shape[-1]:
        raise InputError(
            f"the shapes have {a.shape[-1]} and {b.shape[-1]} coordinates",
            part="mac",
            hint="take shapes in the same coordinates: of modes that were asked for with the same count",
        )
    weighted = b if mass is None else b @ mass
    own = a if mass is None else a @ mass
    shared = np.abs(a.conj() @ np.swapaxes(weighted, -1, -2)) ** 2
    lengths = [np.real(np.sum(left.conj() * right, axis=-1)) for left, right in ((a, own), (b, weighted))]
    return np.asarray(shared / (lengths[0][..., :, None] * lengths[1][..., None, :]))
