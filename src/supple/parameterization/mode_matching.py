"""Which of the lowest modes are retained, and with which sign (docs/theory/parameterization.md, eqs. 11, 12a, 23)."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.energy_modes import rising
from supple.formulations.elastic_rest.rows import FIRST, WIDTH
from supple.parameterization.mode_choice import MODES, SORTED
from supple.parameterization.mode_reference import Following, compared, overlaps, towards

KEPT = 0.5  # smallest overlap at which a subspace still counts as the reference's


@kernel
def retained(lowest, C, following, chosen):
    """Places of the modes to keep among the lowest, in `chosen` (k,); C (m, n) : the rows at θ."""
    if following.tracking == SORTED:
        for i in range(chosen.shape[0]):
            chosen[i] = i
    elif following.tracking == MODES:
        one_by_one(lowest.shapes, following.reference, chosen)
    else:
        most_alike(overlaps(lowest, Following(following.tracking, compared(following, C))), chosen)


@kernel
def most_alike(P, chosen):
    """Which k of the modes stand for the reference, by rising frequency; P (modes, k) are their overlaps with it.

    The lowest ones as long as every direction of the reference has a part of at least KEPT in them: a subspace that
    only turns is followed, however far. Otherwise those that span most of the reference.
    """
    k = chosen.shape[0]
    if towards(np.ascontiguousarray(P[:k]))[2].min() >= KEPT:
        for i in range(k):
            chosen[i] = i
        return
    share = np.zeros(P.shape[0])
    for i in range(P.shape[0]):
        for j in range(k):
            share[i] -= P[i, j] * P[i, j]
    most = rising(share)[:k]
    for i, place in enumerate(rising(most)):
        chosen[i] = most[place]


@kernel
def one_by_one(Z, reference, chosen):
    """For each mode of the reference the one of Z that is most like it, best matches first, none taken twice."""
    count, k = Z.shape[0], reference.shape[0]
    match = np.abs(np.dot(Z, np.ascontiguousarray(reference.T)))
    for _ in range(k):
        best, row, column = -1.0, 0, 0
        for i in range(count):
            for j in range(k):
                if match[i, j] > best:
                    best, row, column = match[i, j], i, j
        chosen[column] = row
        for j in range(k):
            match[row, j] = -2.0
        for i in range(count):
            match[i, column] = -2.0


@kernel
def along(Phi, reference):
    """Turn the sign of every mode to that of its reference, in place; the smallest product (the root of the MAC)."""
    least = 1.0
    for i in range(Phi.shape[0]):
        product = 0.0
        for c in range(Phi.shape[1]):
            product += Phi[i, c] * reference[i, c]
        if product < 0.0:
            for c in range(Phi.shape[1]):
                Phi[i, c] = -Phi[i, c]
        least = min(least, abs(product))
    return least


@kernel
def upwards(rest, z):
    """Turn the sign of a mode so that its largest displacement of a part is positive.

    Rotations count with the mechanism's size, so that the sign is the same in all units.
    """
    largest = 0.0
    for p in range(rest.part_i.shape[0]):
        first, width = rest.part_i[p, FIRST], rest.part_i[p, WIDTH]
        for c in range(rest.shapes.shape[1]):
            total = 0.0
            for k in range(width):
                total += rest.shapes[p, c, k] * z[first + k]
            if rest.column[c] > 2:
                total *= rest.extent
            if abs(total) > 1.000001 * abs(largest):
                largest = total
    if largest < 0.0:
        for c in range(z.shape[0]):
            z[c] = -z[c]
