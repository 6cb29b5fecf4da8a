"""The generalized-α method: its four numbers, from the damping of the highest frequencies.

    (1 - α_m) a_{n+1} + α_m a_n = (1 - α_f) v̇_{n+1} + α_f v̇_n
    q_{n+1} = q_n ∘ exp(h v_n + h² ((½ - β) a_n + β a_{n+1}))
    v_{n+1} = v_n + h ((1 - γ) a_n + γ a_{n+1})

[Chung, Hulbert 1993; Brüls, Cardona, Arnold 2012 on Lie groups]. Second order for
α_m = (2ρ - 1)/(ρ + 1), α_f = ρ/(ρ + 1), γ = ½ - α_m + α_f, β = ¼ (γ + ½)², where ρ is what remains of an
infinitely fast oscillation after a step: 1 damps nothing, 0 all of it.
"""

from __future__ import annotations

from typing import NamedTuple

from supple.diagnostics import InputError


class Alpha(NamedTuple):
    """α_m, α_f, β, γ."""

    m: float
    f: float
    beta: float
    gamma: float


def alpha_of(radius: float) -> Alpha:
    """The optimal parameters for a spectral radius at infinity between 0 and 1."""
    if not 0.0 <= radius <= 1.0:
        raise InputError(f"the spectral radius at infinity is {radius:g}", hint="give a number from 0 to 1")
    m, f = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    gamma = 0.5 - m + f
    return Alpha(m, f, 0.25 * (gamma + 0.5) ** 2, gamma)
