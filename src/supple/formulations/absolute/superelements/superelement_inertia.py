"""What the inertia of a floating body depends on: its moments at q, and the rates of these.

s = C q,   J = J₀ + J₁ q + qᵀ J₂ q,   H_k = H₀ₖ + N_k q                (docs/theory/superelements-in-motion.md, 4)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel


class Deformation(NamedTuple):
    """Of one superelement: q, q̇ and q̈ (n,), J and its rate (3, 3), and H (3, n)."""

    q: Array
    rate: Array
    second: Array
    inertia: Array
    widened: Array
    spin: Array


@kernel
def deformation(n):
    """Arrays for n coordinates at most."""
    return Deformation(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, n)))


@kernel
def held_into(values, d, first, count, out):
    """What the frames from `first` on hold: the first columns of poses X, velocities or accelerations."""
    held = 3 if d == 6 else 2
    for i in range(count):
        out[i] = values[first + i // held, i % held]


@kernel
def moments_into(elements, e, d, bent):
    """J, J̇ and H at q, q̇: of the plane's one axis where d is 3."""
    n, lowest = elements.coordinates[e], 0 if d == 6 else 2
    J0, J1, J2 = elements.inertia[e], elements.widening[e], elements.turned[e]
    H0, N = elements.spin[e], elements.turning[e]
    q, rate, J, change, H = bent.q, bent.rate, bent.inertia, bent.widened, bent.spin
    for j in range(lowest, 3):
        for k in range(j, 3):
            total, slope = J0[j, k], 0.0
            for a in range(n):
                through = 0.0
                for b in range(n):
                    through += J2[j, k, a, b] * q[b]
                total += (J1[j, k, a] + through) * q[a]
                slope += (J1[j, k, a] + 2.0 * through) * rate[a]
            J[j, k] = J[k, j] = total
            change[j, k] = change[k, j] = slope
    for k in range(lowest, 3):
        for a in range(n):
            total = H0[k, a]
            for b in range(n):
                total += N[k, a, b] * q[b]
            H[k, a] = total
