"""A piecewise polynomial along a motion: its value, and its first and second rates there.

ξ(t) moves with ξ̇ and ξ̈:   T_n = 2 ξ T_{n-1} - T_{n-2}
                           Ṫ_n = 2 (ξ̇ T + ξ Ṫ)_{n-1} - Ṫ_{n-2}
                           T̈_n = 2 (ξ̈ T + 2 ξ̇ Ṫ + ξ T̈)_{n-1} - T̈_{n-2}
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.diagnostics import InputError

Numbers = NDArray[Any]  # real, or complex where derivatives are taken by a complex step


def along(fitted: Piecewise, x: Numbers, v: Numbers, a: Numbers, columns: tuple[int, int]) -> Numbers:
    """f, ḟ and f̈ (3, N, columns) at points x with rates v and second rates a, (N, s) each.

    Arguments may be complex: the polynomial is that of the box in which their real part lies.
    """
    leaves = fitted.locate(np.real(x))
    if (leaves == NOWHERE).any():
        n = int(np.flatnonzero(leaves == NOWHERE)[0])
        raise InputError(
            f"{np.array2string(np.real(x[n]), precision=6)} lies outside the region the model was made for",
            hint="stay inside, or reduce over a larger region",
        )
    kind = np.result_type(x, v, a, float)
    found = np.zeros((3, len(x), columns[1] - columns[0]), dtype=kind)
    for leaf in np.unique(leaves):
        here = np.flatnonzero(leaves == leaf)
        first, terms, degree = (int(k) for k in fitted.arrays.leaves_i[leaf])
        center, inverse = fitted.arrays.leaves_f[leaf]
        T = _powers((x[here] - center) * inverse, v[here] * inverse, a[here] * inverse, degree)
        indices = fitted.arrays.indices[:terms]
        basis = np.zeros((3, len(here), terms), dtype=kind)
        basis[0] = 1.0
        for axis in range(x.shape[1]):
            basis = _product(basis, T[..., axis][:, indices[:, axis]].swapaxes(1, 2))
        found[:, here] = basis @ fitted.arrays.coefficients[first : first + terms, columns[0] : columns[1]]
    return found


def _powers(xi: Numbers, v: Numbers, a: Numbers, degree: int) -> Numbers:
    """T_n and its rates (3, degree + 1, N, s)."""
    T = np.zeros((3, max(degree, 1) + 1, *xi.shape), dtype=np.result_type(xi, v, a))
    T[0, 0] = 1.0
    T[:, 1] = xi, v, a
    for n in range(2, degree + 1):
        T[:, n] = 2.0 * _product(T[:, 1], T[:, n - 1]) - T[:, n - 2]
    return T


def _product(f: Numbers, g: Numbers) -> Numbers:
    """Value and rates of a product, (3, ...)."""
    return np.stack([f[0] * g[0], f[1] * g[0] + f[0] * g[1], f[2] * g[0] + 2.0 * f[1] * g[1] + f[0] * g[2]])
