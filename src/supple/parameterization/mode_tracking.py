"""Tracking of modes one by one from the germ, each step continuing the last, as in the papers.     [Brüls 2007, 3.4.4].

A mode at θ is the one reached along the straight segment from the germ, at every step the one with the largest MAC
to the step before. Where a match is poor the step is halved. The result depends on θ alone, as a configuration
does; but around a point where two frequencies meet, segments on its two sides do not lead to the same modes:
see `tracking_faults`.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.diagnostics import NumericalError
from supple.formulations.elastic_rest.constrained_modes import constrained_modes
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.parameterization.internal_modes import EXACT, SPARE
from supple.parameterization.modal_parameterization import ModalParameterization
from supple.parameterization.mode_matching import along, one_by_one

_ALIKE = 0.95  # root of the MAC below which a step is halved
_STEPS, _LEAST = 8, 2.0**-14  # of the segment: steps at first, and the shortest


def reference_modes(system: ModalParameterization, configuration: Configuration) -> Array:
    """Return the reference modes (N, k, z) at each configuration, from the last step of its segment from the germ."""
    theta = np.atleast_2d(configuration.theta)
    found = [continued_modes(system, system.germ.theta, system.reference, item) for item in theta]
    return np.array(found).reshape(len(theta), system.choice.internal, -1)


def continued_modes(system: ModalParameterization, start: Array, modes: Array, theta: Array) -> Array:
    """Return the modes (k, z) at θ that continue those at the start of a straight segment."""
    if not system.choice.internal or np.array_equal(start, theta):
        return modes
    grid = np.linspace(0.0, 1.0, _STEPS + 1)
    known = dict(zip(grid.tolist(), _modes(system, start + grid[:, None] * (theta - start)), strict=True))
    here = 0.0
    while here < 1.0:
        step = min(1.0 / _STEPS, 1.0 - here)
        while True:
            there = here + step
            if there not in known:
                known[there] = _modes(system, (start + there * (theta - start))[None])[0]
            found, alike = _match_modes(known[there], modes)
            if alike >= _ALIKE or step <= _LEAST:
                break
            step *= 0.5
        here, modes = there, found
    return modes


def _match_modes(Z: Array, reference: Array) -> tuple[Array, float]:
    chosen = np.zeros(len(reference), dtype=np.int64)
    one_by_one(Z, reference, chosen)
    found = Z[chosen].copy()
    return found, along(found, reference)


def _modes(system: ModalParameterization, theta: Array) -> Array:
    mechanism = system.rest.numbering.mechanism
    configuration = assemble(mechanism, theta, failures="mark")
    if not configuration.assembled.all():
        raise NumericalError(
            "the segment from the germ meets a dead point",
            part=f'mechanism "{mechanism.name}"',
            hint="choose a germ from which straight lines reach the whole region",
        )
    held = system.rest.list_loaded_rows()
    X = np.ascontiguousarray(configuration.X)
    return constrained_modes(system.rest, held, X, system.choice.internal + SPARE, EXACT)[1]
