"""Static equilibrium: the configuration at which no coordinate is pushed.

p(θ) + B(θ) u = 0, by Newton's method with the exact gradient of p, downhill in the potential.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.coefficients import carried
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.measures import key_of
from supple.parameterization.local_model import local

Array = NDArray[np.float64]

_ITERATIONS, _TRIES = 100, 12
_STOPPED = 4  # times in all that a dead point may stand in the way
_SMALL = 1e-10  # of the largest force met on the way, or of all loads together
_NUDGE = 1e-3  # rad or m: how an unstable equilibrium is left


def equilibrium(mechanism: Mechanism, start: At = None, *, inputs: ArrayLike | None = None) -> Configuration:
    """A stable equilibrium under gravity, springs, constant forces and constant actuator forces.

    As in every undeformed configuration, what is elastic is taken as rigid; `deflection` tells how it sags there.

    start  : where the search begins, as in `assemble`
    inputs : (actuators,) constant forces; zero if left out
    """
    u = np.zeros(len(mechanism.actuators)) if inputs is None else np.asarray(inputs, float)
    here = assemble(mechanism, start)
    theta = here.theta.copy()
    scale = _weight(here)
    longest, stopped = 0.3, 0
    for _ in range(_ITERATIONS):
        model = local(mechanism, here, rigid=True)
        force = model.force + model.input_map @ u
        scale = np.maximum(scale, np.abs(force))
        K = -0.5 * (model.dforce + model.dforce.T)
        values, vectors = np.linalg.eigh(K)
        floor = 1e-8 * max(float(np.abs(values).max()), 1e-12)
        if (np.abs(force) <= _SMALL * scale.max()).all():
            if values[0] >= -floor:
                return here
            step = _NUDGE * vectors[:, 0]  # on a summit or saddle: down along the steepest way
        else:
            # Along directions that curve down, go downhill all the same.
            step = vectors @ ((vectors.T @ force) / np.maximum(np.abs(values), floor))
            step *= min(1.0, longest / float(np.abs(step).max()))
        here, taken, dead = _downhill(mechanism, theta, step, float(model.potential) - float(u @ _lengths(here)), u)
        stopped += dead
        if not taken or stopped > _STOPPED:
            break
        if dead:  # not so far next time
            longest = float(np.abs(here.theta - theta).max())
        theta = here.theta.copy()
    raise InputError(
        f"no equilibrium was found from {np.array2string(theta, precision=4)}; the largest force left is "
        f"{float(np.abs(force).max()):.3g} N (or N m)",
        part=f'mechanism "{mechanism.name}"',
        hint="start closer to it, or add what holds the mechanism (springs, actuator forces)",
    )


def _downhill(
    mechanism: Mechanism, theta: Array, step: Array, potential: float, u: Array
) -> tuple[Configuration, bool, int]:
    """Shorten the step until the potential falls (or the force is at rounding).

    Returns where that is, whether it was found, and how often a dead point stood in the way.
    """
    dead = 0
    for _ in range(_TRIES):
        here = assemble(mechanism, (theta + step)[None], failures="mark")
        if bool(here.assembled[0]):
            single = Configuration(here.rest, here.theta[0], here.X[0], here.w[0], here.reached[0])
            model = local(mechanism, single, rigid=True)
            tolerance = 1e-12 * max(abs(potential), 1.0)
            if float(model.potential) - float(u @ _lengths(single)) <= potential + tolerance:
                return single, True, dead
            step = 0.5 * step
        else:  # beyond a dead point, where looking is expensive
            step, dead = 0.1 * step, dead + 1
    return assemble(mechanism, theta), False, dead


def _weight(here: Configuration) -> Array:
    """What all loads together could do along each coordinate: what a force at rest is small against."""
    numbering = here.rest.numbering
    total = float(np.linalg.norm(carried(here.rest).arrays.loads_f[:, 3:6], axis=1).sum())
    first = numbering.constraints
    return total * np.where(numbering.angles()[first : first + len(here.theta)], numbering.arrays.extent, 1.0)


def _lengths(configuration: Configuration) -> Array:
    """Coordinates of the actuators: constant forces u have the potential -u·ℓ."""
    numbering = configuration.rest.numbering
    keys = [key_of(numbering.mechanism, actuator) for actuator in numbering.mechanism.actuators.values()]
    return np.array([configuration.w[numbering.measures[key] - numbering.constraints] for key in keys])
