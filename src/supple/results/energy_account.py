"""How well the account of energy of a run balances."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array

# 1 % of the energy is ½ % of an amplitude, what a plot just shows; steps that follow the motion stay far below.
LARGEST_DEFECT = 0.01
_ROUNDING = 1e-9  # of a potential: what changes by less does not move


def energy_defect(kinetic: Array, potential: Array, works: Array, balance: Array, least: float) -> float:
    """What the account is off by at worst, over the largest energy that was exchanged in the run.

    kinetic, potential, balance : (N,), works : (N, k), put in or lost since the start, all in J
    least : J, below which nothing moves

        max |balance| / max(T, max V - min V, |W|, least)

    The zero of a potential is arbitrary and does not count, but for its rounding.
    """
    if not len(balance):
        return 0.0
    largest = float(np.abs(potential).max())
    exchanged = max(kinetic.max(), np.ptp(potential), _ROUNDING * largest, least, np.abs(works).max(initial=0.0))
    return float(np.abs(balance).max() / exchanged) if exchanged > 0.0 else 0.0
