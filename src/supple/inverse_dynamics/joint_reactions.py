"""Reactions in the joints along a motion, from the balance of forces on every body.

    Φ_qᵀ λ = M v̇ - Q - Σ_a ∇ℓ_a u_a + Σ_j ∇ℓ_j f_j sgn(ℓ̇_j)

With redundant constraints λ is not unique; the least is used, with moments divided by the mechanism's extent.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.array_types import Array
from supple.formulations.absolute.instant import Balance, balance, least_multipliers
from supple.formulations.absolute.reaction import Reaction, reaction_of
from supple.formulations.absolute.system import Absolute, absolute
from supple.kinematics.motion import BodyRates

_TOGETHER = 500  # times whose matrices are in memory at once


def balances(moving: BodyRates) -> Iterator[tuple[Absolute, slice, Balance]]:
    """Yield the balance of all bodies along a motion, some times at once."""
    problem = absolute(moving.configuration.rest, rigid=True)
    here = moving.configuration
    for start in range(0, len(here.theta), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        yield problem, some, balance(problem, BodyRates(here.part(some), moving.V[some], moving.dV[some]))


def unknown_multipliers(moving: BodyRates, friction: Array) -> tuple[Array, Array]:
    """Return the multipliers without any actuator (N, m), and the reduction by a unit of each actuator (N, m, a).

    friction : (N, f) dry friction forces along their joint coordinates

    Newtons and newton-metres are weighted alike.
    """
    free, unit = [], []
    for problem, some, found in balances(moving):
        required = _with_friction(found, friction[some])
        columns = np.concatenate([required[..., None], found.actuators.transpose(0, 2, 1)], axis=2)
        least = least_multipliers(problem, found.joints, columns, scaled=False)
        free.append(least[..., 0])
        unit.append(least[..., 1:])
    return np.concatenate(free), np.concatenate(unit)


def joint_reactions(moving: BodyRates, u: Array, friction: Array) -> dict[str, Reaction]:
    """Return force and moment of each joint on its second body, in world axes, about the joint's point on that body.

    u        : (N, actuators) forces of all actuators
    friction : (N, f) dry friction along its joint coordinates

    Both act in addition to the reactions, along the joints' free motions.
    """
    numbering = moving.configuration.rest.numbering
    names = list(numbering.mechanism.joints)
    parts: dict[str, list[Reaction]] = {name: [] for name in names}
    for problem, some, found in balances(moving):
        needed = _with_friction(found, friction[some]) - np.einsum("na,nai->ni", u[some], found.actuators)
        multipliers = least_multipliers(problem, found.joints, needed[..., None])[..., 0]
        for name in names:
            parts[name].append(reaction_of(problem, found.X, multipliers, name))
    return {
        name: Reaction(np.concatenate([part.force for part in some]), np.concatenate([part.moment for part in some]))
        for name, some in parts.items()
    }


def _with_friction(found: Balance, friction: Array) -> Array:
    return found.required + np.einsum("nf,nfi->ni", friction, found.frictions)
