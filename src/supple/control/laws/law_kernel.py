"""Kernel of one sample of an affine law, in place, and the array that it reads.

The law is one array of numbers, with integers stored by their bits, made by `law_array`. The matrices at σ are
evaluated by the kernel that also evaluates the rows of reduced models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.packing import HEADER, LINE, NOWHERE, join_aligned
from supple.approximation.piecewise.packing import S as AXES
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.control.laws.fitted_row import FittedRow
from supple.reduced.arrays import (
    COPIES_FROM,
    COPIES_TO,
    DRY,
    DRY_F,
    FACTOR,
    INPUTS,
    NUMBERS,
    OFFSETS,
    OUTPUTS,
    RANGES_I,
    ROW,
    ROW_HEADER,
    SLOPES_FROM,
    SLOPES_TO,
    TEMPLATE,
    VALUES,
    VALUES_FROM,
    VALUES_TO,
    WIDTH,
    N,
    S,
)
from supple.reduced.kernels import row_at, single_scratch

# An affine law as one array of numbers, for its kernel.
#
# It is laid out as a reduced model (`supple.reduced.arrays`) whose row is f̂(σ) (r,). The data of the law's own
# row follow, the numbers of A, B, b, C, D, d one after another:
#
#     row = template,   row[varying] += E f̂(σ)
#
# The positions of σ in z are stored where a reduced model has the offsets of its row, the bounds of σ where it has dry
# forces, the width of the law's row, its positions and E where it has copies and slopes.


# Slots of the header of a reduced model under the names of a law.
STATES, KNOWN, COMMANDS, SIGMA_PLACES, BOUNDS = N, INPUTS, OUTPUTS, OFFSETS, DRY_F
SWEPT, RATES, PRODUCTS = DRY, SLOPES_FROM, SLOPES_TO  # number of rates with products; positions of both in z
FULL, ENTRIES, ENTRIES_AT = COPIES_FROM, COPIES_TO, RANGES_I  # width of the row, v, position of `varying`
EXPANSION = FACTOR  # position of E; the template of the law's row follows that of f̂


class LawSizes(NamedTuple):
    """Sizes n, m, a of a law; number of rates whose products are in z, and the positions of rates and products in z."""

    states: int
    known: int
    commands: int
    swept: int
    rates: int
    products: int


def law_array(sizes: LawSizes, row: FittedRow, places: Integers) -> Array:
    """Return a row of a law in one array; places : positions of σ in z."""
    fitted, functions = row.fitted, row.factors.shape[1] if row.fitted is not None else 0
    Z, F = (np.zeros(HEADER, dtype=np.int64), np.zeros(0)) if fitted is None else fitted.kernel_arrays
    base = len(Z)
    every = np.arange(functions)
    parts_i = (places, every, every, row.varying)
    bounds = np.zeros(0) if fitted is None else find_clamp_bounds(fitted).ravel()
    parts_f = (np.zeros(functions), row.template, row.factors.ravel(), bounds)
    header = np.zeros(ROW_HEADER, dtype=np.int64)
    header[[STATES, KNOWN, COMMANDS, SWEPT, RATES, PRODUCTS]] = sizes
    header[[S, WIDTH, VALUES, FULL, ENTRIES]] = len(places), functions, functions, len(row.template), len(row.varying)
    header[[SIGMA_PLACES, VALUES_FROM, VALUES_TO, ENTRIES_AT]] = np.cumsum(
        [base + ROW_HEADER, *(len(part) for part in parts_i[:-1])]
    )
    header[[TEMPLATE, EXPANSION, BOUNDS]] = np.cumsum([len(F), *(len(part) for part in parts_f[:-1])])[[0, 2, 3]]
    used = base + len(header) + sum(len(part) for part in parts_i)
    integers = np.concatenate([Z, header, *parts_i, np.zeros(-used % LINE, dtype=np.int64)]).astype(np.int64)
    integers[ROW], integers[NUMBERS] = base, len(integers)
    return join_aligned([integers.view(np.float64), F, *parts_f])


def find_clamp_bounds(fitted: Piecewise) -> Array:
    """Return the lower and upper bounds of σ, (2, s)."""
    roots = fitted.arrays.roots_f
    return np.stack([roots[:, 0].min(axis=0), roots[:, 1].max(axis=0)])


# One sample.


ANSWERED, OUTSIDE, CLAMPED = range(3)


@kernel
def row_size(Z):
    """Return the size of a row over σ in the work array: σ, the row, the leaf."""
    return Z[AXES] + Z[Z[ROW] + FULL] + 1


@kernel
def row_scratch(Z):
    """Return the size of the workspace of a row: f̂(σ), then that of its evaluation."""
    return single_scratch(Z) + Z[Z[ROW] + WIDTH] if Z[AXES] > 0 else 0


@kernel
def law_size(Z, E):
    """Return the size of the work array of `law_in_place`.

    It holds x, z, u, x⁺; σ, the row and the leaf of the matrices Z, then of the equilibrium E; x - x_e, z - z_e;
    workspace.
    """
    header = Z[ROW]
    n, m, a = Z[header + STATES], Z[header + KNOWN], Z[header + COMMANDS]
    scratch = max(row_scratch(Z), row_scratch(E))
    return 3 * n + 2 * m + a + row_size(Z) + row_size(E) + scratch


def law_vector(memory: Array, rest: Array) -> Array:
    """Return the work array with zeros and no known leaf."""
    Z, E = memory.view(np.int64), rest.view(np.int64)
    vector = np.zeros(int(law_size(Z, E)))
    header = Z[ROW]
    first = 2 * Z[header + STATES] + Z[header + KNOWN] + Z[header + COMMANDS] + row_size(Z)
    vector[[first - 1, first + row_size(E) - 1]] = NOWHERE
    return vector


@kernel(inline=True)
def affine(row, at, count, vector):
    """Return Σ_j row[at + j] vector[j]."""
    total = 0.0
    for j in range(count):
        total += row[at + j] * vector[j]
    return total


@kernel
def row_over(memory, z, vector, at, scratch):
    """Evaluate the row at σ into the work array from position `at` + s on; constant rows too.

    σ is a part of z, clamped to the region.

    at : position where σ, the row and the leaf begin

    Returns ANSWERED, CLAMPED or OUTSIDE.
    """
    Z = memory.view(np.int64)
    F = memory[Z[NUMBERS] :]
    header, s = Z[ROW], Z[AXES]
    width, count = Z[header + FULL], Z[header + WIDTH]
    own = Z[header + TEMPLATE] + count
    row = vector[at + s : at + s + width]
    for i in range(width):
        row[i] = F[own + i]
    if s == 0:
        return ANSWERED
    status = ANSWERED
    sigma = vector[at : at + s]
    places, bounds = Z[header + SIGMA_PLACES], Z[header + BOUNDS]
    for i in range(s):
        given = z[Z[places + i]]
        sigma[i] = min(max(given, F[bounds + i]), F[bounds + s + i])
        if sigma[i] != given:
            status = CLAMPED
    functions = vector[scratch : scratch + count]
    leaf = row_at(Z, F, sigma, vector, scratch + count, functions, np.int64(vector[at + s + width]))
    vector[at + s + width] = leaf
    if leaf == NOWHERE:
        return OUTSIDE
    entries, factors = Z[header + ENTRIES_AT], Z[header + EXPANSION]
    for i in range(Z[header + ENTRIES]):
        row[Z[entries + i]] += affine(F, factors + i * count, count, functions)
    return status


@kernel(purpose="control laws")
def law_in_place(memory, rest, vector):
    """Compute u = u_e + C (x - x_e) + D (z - z_e) + d, then x ← x_e + A (x - x_e) + B (z - z_e) + b, at σ, a part of z.

    memory : array of the matrices
    rest   : array of the equilibrium, all zero where its row is empty
    vector : work array (`law_size`); x and z, except products of rates, are inputs; u and x are overwritten

    Returns ANSWERED, CLAMPED where σ was outside its bounds, or OUTSIDE where nothing was fitted (u is then nan).
    """
    Z, E = memory.view(np.int64), rest.view(np.int64)
    header = Z[ROW]
    n, m, a = Z[header + STATES], Z[header + KNOWN], Z[header + COMMANDS]
    x, z = vector[:n], vector[n : n + m]
    u, new = vector[n + m : n + m + a], vector[n + m + a : 2 * n + m + a]
    swept, rates, product = Z[header + SWEPT], Z[header + RATES], Z[header + PRODUCTS]
    for i in range(swept):
        for j in range(i, swept):
            z[product] = z[rates + i] * z[rates + j]
            product += 1
    first = 2 * n + m + a
    second = first + row_size(Z)
    third = second + row_size(E)
    status = row_over(memory, z, vector, first, third + n + m)
    known = row_over(rest, z, vector, second, third + n + m)
    if status == OUTSIDE or known == OUTSIDE:
        for i in range(a):
            u[i] = np.nan
        return OUTSIDE
    row, still = vector[first + Z[AXES] : second], vector[second + E[AXES] : third]
    dx, dz = vector[third : third + n], vector[third + n : third + n + m]
    keeps = E[E[ROW] + FULL] > 0
    for i in range(n):
        dx[i] = x[i] - still[i] if keeps else x[i]
    for i in range(m):
        dz[i] = z[i] - still[n + i] if keeps else z[i]
    B, b = n * n, n * (n + m)
    C = b + n
    D, d = C + a * n, C + a * (n + m)
    for i in range(a):
        u[i] = affine(row, C + i * n, n, dx) + affine(row, D + i * m, m, dz) + row[d + i]
    for i in range(n):
        new[i] = affine(row, i * n, n, dx) + affine(row, B + i * m, m, dz) + row[b + i]
    if keeps:
        for i in range(a):
            u[i] += still[n + m + i]
        for i in range(n):
            new[i] += still[i]
    for i in range(n):
        x[i] = new[i]
    return max(status, known)
