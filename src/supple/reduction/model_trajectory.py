"""A motion of the mechanism that a model was made from, in the model's coordinates.

The model may hold some of the mechanism's coordinates, or move along a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.diagnostics import InputError
from supple.diagnostics.errors import values_text
from supple.formats.model_description import described
from supple.reduced.model import ReducedModel
from supple.reduction.path import ARCLENGTH, Path, path_from, travelled
from supple.time_functions.function_of_time import Trajectory
from supple.trajectories.trajectory import Prescribed, trajectory

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


_OFF = 1e-4  # of its length: further away is elsewhere


def along_path(path: Path, course: Trajectory) -> Trajectory:
    """A motion along a path, in its arclength σ, from the path's beginning to its end or part of it.

    σ̇ = c²θ'·θ̇ and σ̈ = c²θ'·θ̈. θ' is a unit vector in the metric of σ, and θ'' is normal to it.
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


def follows_path(model: ReducedModel) -> bool:
    """Whether the model's coordinate is the arclength of a path."""
    return "path" in model.provenance.get("options", {})


def model_trajectory(model: ReducedModel, motion: Prescribed, **instants: Any) -> Trajectory:
    """A motion, however `trajectory` takes it, without coordinates that the model holds, or along its path."""
    course = trajectory(described(model), motion, **instants)
    if not follows_path(model):
        return without_held(course, model.held)
    return along_path(path_from(model.provenance["options"]["path"]), course)
