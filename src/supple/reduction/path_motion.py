"""A motion along a path, in its arclength."""

from __future__ import annotations

import numpy as np

from supple.diagnostics import InputError
from supple.diagnostics.quoting import values_text
from supple.reduction.path import ARCLENGTH, Path, travelled
from supple.time_functions.function_of_time import Trajectory

_OFF = 1e-4  # of its length: further away is elsewhere


def along_path(path: Path, course: Trajectory) -> Trajectory:
    """σ, σ̇ = c²θ'·θ̇ and σ̈ = c²θ'·θ̈ of a motion that runs along the path, from its beginning to its end or part of it.

    θ' is a unit vector in the metric of σ, and θ'' is normal to it.
    """
    lower, upper = np.array([(box.lower[0], box.upper[0]) for box in path.boxes]).T
    knots = np.concatenate([piece.sigma for piece in path.pieces])
    first = np.linalg.norm((path.at(knots).theta - course.theta[0]) * path.scale, axis=1)
    sigma = np.clip(knots[int(np.argmin(first))] + travelled(course, path.scale), 0.0, path.length)
    piece = np.searchsorted(lower[1:], sigma, side="right")
    for _ in range(6):  # Gauss-Newton towards the nearest point of the piece
        curve = path.at(sigma)
        off = (course.theta - curve.theta) * path.scale
        sigma = np.clip(sigma + np.einsum("ni,ni->n", off, curve.slope * path.scale), lower[piece], upper[piece])
    curve = path.at(sigma)
    off = np.linalg.norm((course.theta - curve.theta) * path.scale, axis=1)
    if off.max() > _OFF * path.length:
        n = int(np.argmax(off))
        where = values_text(course.coordinates, course.theta[n])
        raise InputError(
            f"it is {off[n]:.2g} {path.unit} off the path of the model at {course.time[n]:.6g} s ({where})",
            part="motion", hint="take the motion the model was made for, or reduce along this one",
        )  # fmt: skip
    along = curve.slope * path.scale**2
    rates, accelerations = (np.einsum("ni,ni->n", along, x)[:, None] for x in (course.rates, course.accelerations))
    return Trajectory((ARCLENGTH,), course.time, sigma[:, None], rates, accelerations)
