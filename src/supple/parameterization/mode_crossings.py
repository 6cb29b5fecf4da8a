"""Modes that meet without being coupled, told from those that veer (docs/theory/parameterization.md, eqs. 10a, 10b).

Near where two frequencies meet, an eigenvalue solver finds their modes mixed by (its residual) / (ω_i² - ω_j²), and the
slopes of their stiffness, G of (8), are then mixed too: G_ij / (ω_i² - ω_j²) is noise that grows as the square of that.
Turned by α until no G_ij is left, φ_i cos α + φ_j sin α, they are what crosses, if they cross at all:

    tan 2α = -2 G_ij / (G_jj - G_ii),   κ = ½ |(ω_j² - ω_i²) sin 2α|

κ is the stiffness that couples them then. It is the same at every θ of a strip where they veer, half the least distance
of their ω²; where it is nothing that the solver could tell from zero, they cross.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.response_operator import multipliers

CLOSE = 1e-3  # of ω²: how close two frequencies are that may be about to meet
UNCOUPLED = 1e-11  # of ω²: κ that is none, ten residuals
UNTURNED = 1e-8  # of the slopes of two modes: G_ij that may be left after the turn, with several θ


@kernel
def separate_crossings(structure, A, dC, lowest, apart):
    """Turn those of the lowest modes that cross, in place; `apart` (modes, modes) becomes 1 for them, 0 for all others.

    dC : (s, m, n) ∂C; A : the structure's response operator
    """
    count = lowest.squares.shape[0]
    apart[:, :] = 0.0
    for i in range(count):
        for j in range(i + 1, count):
            gap = lowest.squares[j] - lowest.squares[i]
            if abs(gap) < CLOSE * abs(lowest.squares[i]):
                angle, left = uncoupling_turn(structure, A, dC, lowest, i, j)
                coupling = 0.5 * abs(gap * sin(2.0 * angle))
                if left < UNTURNED and coupling < UNCOUPLED * abs(lowest.squares[i]):
                    turn_pair(lowest.shapes, i, j, angle)
                    apart[i, j], apart[j, i] = 1.0, 1.0


@kernel
def uncoupling_turn(structure, A, dC, lowest, i, j):
    """α above, the best for all θ, and what it leaves of G_ij, as a part of all of G."""
    n = lowest.shapes.shape[1]
    pair, weighted = np.empty((2, n)), np.empty((2, n))
    for c in range(n):
        pair[0, c], pair[1, c] = lowest.shapes[i, c], lowest.shapes[j, c]
        weighted[0, c] = (lowest.squares[i] + A.shift) * pair[0, c]
        weighted[1, c] = (lowest.squares[j] + A.shift) * pair[1, c]
    mu = multipliers(structure, A, weighted, np.zeros((2, dC.shape[1])))
    across, along = np.empty(dC.shape[0]), np.empty(dC.shape[0])
    whole, aa, ab, bb = 0.0, 0.0, 0.0, 0.0
    for m in range(dC.shape[0]):
        one = np.dot(np.dot(mu, dC[m]), np.ascontiguousarray(pair.T))
        first, second = 2.0 * one[0, 0], 2.0 * one[1, 1]
        across[m], along[m] = one[0, 1] + one[1, 0], 0.5 * (second - first)
        aa, ab, bb = aa + across[m] * across[m], ab + across[m] * along[m], bb + along[m] * along[m]
        whole += first * first + second * second + across[m] * across[m]
    twice = 0.5 * atan2(-2.0 * ab, bb - aa)
    left = 0.0
    for m in range(dC.shape[0]):
        rest = across[m] * cos(twice) + along[m] * sin(twice)
        left += rest * rest
    return 0.5 * twice, sqrt(left / whole) if whole > 0.0 else 0.0


@kernel
def turn_pair(shapes, i, j, angle):
    """Rows i and j turned within their plane."""
    c, s = cos(angle), sin(angle)
    for k in range(shapes.shape[1]):
        one, other = shapes[i, k], shapes[j, k]
        shapes[i, k], shapes[j, k] = c * one + s * other, c * other - s * one
