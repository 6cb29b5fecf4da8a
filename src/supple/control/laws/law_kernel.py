"""One sample of an affine law, in place: what every linear and scheduled controller calls.

The law is one array of numbers, integers by their bits, laid out as `law_arrays` says; the matrices at σ come from the
kernel that gives reduced models their rows.
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.packing import NOWHERE
from supple.approximation.piecewise.packing import S as AXES
from supple.compilation import kernel
from supple.control.laws.law_arrays import BOUNDS, COMMANDS, KNOWN, PRODUCTS, RATES, SIGMA_PLACES, STATES, SWEPT
from supple.reduced.arrays import NUMBERS, ROW, TEMPLATE, WIDTH
from supple.reduced.single_kernel import row_at, single_scratch

ANSWERED, OUTSIDE, CLAMPED = range(3)


@kernel
def law_size(Z):
    """Numbers of the vector that `law_in_place` works on: x, z, u, x⁺, σ, the row, the leaf, workspace."""
    header = Z[ROW]
    n, m, a, s = Z[header + STATES], Z[header + KNOWN], Z[header + COMMANDS], Z[AXES]
    return 2 * n + m + a + s + Z[header + WIDTH] + 1 + (single_scratch(Z) if s > 0 else 0)


@kernel(inline=True)
def affine(row, at, count, vector):
    """Σ_j row[at + j] vector[j]."""
    total = 0.0
    for j in range(count):
        total += row[at + j] * vector[j]
    return total


@kernel(purpose="control laws")
def law_in_place(memory, vector):
    """u = C x + D z + d, then x ← A x + B z + b, with the matrices at σ, a part of z clamped into the region.

    vector : as `law_size` counts it; x and z (but for products of rates) are given, u and x are left
    Returns ANSWERED, CLAMPED where σ lay beyond its bounds, or OUTSIDE where nothing was fitted (u is then nan).
    """
    Z = memory.view(np.int64)
    F = memory[Z[NUMBERS] :]
    header, s = Z[ROW], Z[AXES]
    n, m, a, width = Z[header + STATES], Z[header + KNOWN], Z[header + COMMANDS], Z[header + WIDTH]
    x, z = vector[:n], vector[n : n + m]
    u, new = vector[n + m : n + m + a], vector[n + m + a : 2 * n + m + a]
    swept, rates, product = Z[header + SWEPT], Z[header + RATES], Z[header + PRODUCTS]
    for i in range(swept):
        for j in range(i, swept):
            z[product] = z[rates + i] * z[rates + j]
            product += 1
    at = 2 * n + m + a + s
    status = ANSWERED
    row = F[Z[header + TEMPLATE] : Z[header + TEMPLATE] + width]
    if s > 0:
        sigma, row = vector[at - s : at], vector[at : at + width]
        places, bounds = Z[header + SIGMA_PLACES], Z[header + BOUNDS]
        for i in range(s):
            given = z[Z[places + i]]
            sigma[i] = min(max(given, F[bounds + i]), F[bounds + s + i])
            if sigma[i] != given:
                status = CLAMPED
        leaf = row_at(Z, F, sigma, vector, at + width + 1, row, np.int64(vector[at + width]))
        vector[at + width] = leaf
        if leaf == NOWHERE:
            for i in range(a):
                u[i] = np.nan
            return OUTSIDE
    B, b = n * n, n * (n + m)
    C = b + n
    D, d = C + a * n, C + a * (n + m)
    for i in range(a):
        u[i] = affine(row, C + i * n, n, x) + affine(row, D + i * m, m, z) + row[d + i]
    for i in range(n):
        new[i] = affine(row, i * n, n, x) + affine(row, B + i * m, m, z) + row[b + i]
    for i in range(n):
        x[i] = new[i]
    return status
