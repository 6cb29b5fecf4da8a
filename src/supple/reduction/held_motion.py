"""A motion of a mechanism in the coordinates of a model that holds some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from supple.diagnostics import InputError
from supple.time_functions.function_of_time import Trajectory

_STILL = 1e-9  # how far a motion may leave the value of a held coordinate, of 1 or that value


def without_held(course: Trajectory, held: Mapping[str, float]) -> Trajectory:
    """The motion of the other coordinates; it has to leave those that are held where they are."""
    for name, value in held.items():
        off = float(np.abs(course.theta[:, course.coordinates.index(name)] - value).max())
        if off > _STILL * max(1.0, abs(value)):
            raise InputError(
                f'the model holds "{name}" at {value:.6g}, and the motion takes it {off:.3g} away',
                part="motion", hint="give a motion that leaves it alone, or reduce with it in the region",
            )  # fmt: skip
    kept = [i for i, name in enumerate(course.coordinates) if name not in held]
    return replace(
        course, coordinates=tuple(course.coordinates[i] for i in kept), theta=course.theta[:, kept],
        rates=course.rates[:, kept], accelerations=course.accelerations[:, kept],
    )  # fmt: skip
