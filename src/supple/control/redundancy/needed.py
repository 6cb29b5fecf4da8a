"""What a motion needs at an instant, of whoever drives it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from supple.array_types import Array
from supple.inverse_dynamics.force_distribution import Objective


class Needed(NamedTuple):
    """B u = Q with the forces u of the chosen actuators.

    B : (s, a), Q : (s,); inertia : () -> M (s, s), asked for where the forces do not suffice
    multipliers : () -> Σ λ² + Σ w u² as a quadratic of u, None where reactions are not known
    """

    B: Array
    Q: Array
    inertia: Callable[[], Array]
    multipliers: Callable[[], Objective] | None = None
