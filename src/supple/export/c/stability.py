"""Stability limit of explicit steps of a model, from the eigenvalues of its linear models at rest."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import NumericalError
from supple.reduced.model import ReducedModel

_POINTS = 27
_GROWTH = 1e-6  # tolerance on |R| - 1, for rounding errors in the eigenvalues of undamped oscillations


class StableStep(NamedTuple):
    """Stability limit of explicit steps.

    step    : longest stable step of the Runge-Kutta method of order 4, s; inf if there is no limit
    fastest : |λ| of the fastest eigenvalue, 1/s
    points  : number of checked points at which M is positive definite
    """

    step: float
    fastest: float
    points: int


def stable_step(model: ReducedModel) -> StableStep:
    """Return the stability limit at random points (fixed seed), undeformed, at rest, without inputs.

    Dry friction is steepest at rest. Parameters of a family are also checked at both ends of their ranges.
    """
    found = [_stable(model)]
    for item in () if model.family is None else model.family.parameters:
        found += [_stable(model.at(**{item.name: value})) for value in (item.lower, item.upper)]
    return StableStep(
        min(item.step for item in found), max(item.fastest for item in found), sum(item.points for item in found)
    )


def _stable(model: ReducedModel) -> StableStep:
    leaves, rng = model.fitted.arrays.leaves_f, np.random.default_rng(2)
    poles, n = [], model.layout.size
    for center, inverse in leaves[rng.integers(len(leaves), size=_POINTS)]:
        theta = center + rng.uniform(-1.0, 1.0, len(center)) * 0.999 / inverse
        try:
            linear = model.linearize(
                theta, rates=np.zeros(n), inputs=np.zeros(len(model.layout.inputs)), delta=np.zeros(n - len(theta)),
                drives=False,
            )  # fmt: skip
        except NumericalError:
            continue
        poles.append(np.linalg.eigvals(linear.A).astype(complex))
    found = np.concatenate(poles) if poles else np.zeros(0, dtype=complex)
    fastest = float(np.abs(found).max(initial=0.0))
    # Unstable poles, such as those of an inverted pendulum, do not limit the step.
    decaying = found[found.real <= 1e-6 * fastest]
    return StableStep(_longest(decaying), fastest, len(poles))


def _longest(poles: NDArray[np.complex128]) -> float:
    """Return the largest h with |R(hλ)| ≤ 1 for every λ, R(z) = 1 + z + z²/2 + z³/6 + z⁴/24."""
    if not np.abs(poles).max(initial=0.0) > 0.0:
        return np.inf
    return min(float(_reach(round(float(np.angle(pole)), 12))) / abs(pole) for pole in poles if abs(pole) > 0.0)


@cache
def _reach(angle: float) -> float:
    """Return the |z| up to which |R| ≤ 1 in a direction of the left half plane."""
    z = np.linspace(0.0, 3.0, 3001)[1:] * np.exp(1j * angle)
    grown = np.abs(1.0 + z + z**2 / 2.0 + z**3 / 6.0 + z**4 / 24.0) > 1.0 + _GROWTH
    return float(np.abs(z[np.argmax(grown)] if grown.any() else z[-1]))
