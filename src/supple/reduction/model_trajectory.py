"""Motions of a mechanism in the coordinates of its reduced model.

The model may fix some coordinates of the mechanism, or move along a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.diagnostics import InputError
from supple.diagnostics.errors import values_text
from supple.formats.model_description import restore_mechanism
from supple.reduced.model import ReducedModel
from supple.reduction.path import ARCLENGTH, Path, path_from, sum_travel
from supple.time_functions.function_of_time import Trajectory
from supple.trajectories.trajectory import Prescribed, trajectory

_STILL = 1e-9  # largest deviation of a fixed coordinate from its value, relative to 1 or to that value


def without_fixed_coordinates(course: Trajectory, held: Mapping[str, float]) -> Trajectory:
    """Return the motion of the other coordinates; InputError if the motion moves a fixed coordinate."""
    for name, value in held.items():
        off = float(np.abs(course.theta[:, course.coordinates.index(name)] - value).max())
        if off > _STILL * max(1.0, abs(value)):
            raise InputError(
                f'"{name}" is fixed at {value:.6g} in the model, but the motion moves it by {off:.3g}',
                part="motion", hint="give a motion that keeps its value, or reduce with a range for it in the region",
            )  # fmt: skip
    kept = [i for i, name in enumerate(course.coordinates) if name not in held]
    return replace(
        course, coordinates=tuple(course.coordinates[i] for i in kept), theta=course.theta[:, kept],
        rates=course.rates[:, kept], accelerations=course.accelerations[:, kept],
    )  # fmt: skip


_OFF = 1e-4  # of the path's length: largest distance of a motion from the path


def along_path(path: Path, course: Trajectory) -> Trajectory:
    """Return a motion along a path in its arclength σ, over the whole path or part of it.

    σ̇ = c²θ'·θ̇ and σ̈ = c²θ'·θ̈. θ' is a unit vector in the metric of σ, and θ'' is normal to it.
    """
    lower, upper = np.array([(box.lower[0], box.upper[0]) for box in path.boxes]).T
    knots = np.concatenate([piece.sigma for piece in path.pieces])
    first = np.linalg.norm((path.at(knots).theta - course.theta[0]) * path.scale, axis=1)
    sigma = np.clip(knots[int(np.argmin(first))] + sum_travel(course, path.scale), 0.0, path.length)
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
            f"the motion is {off[n]:.2g} {path.unit} off the path of the model at {course.time[n]:.6g} s ({where})",
            part="motion", hint="use the motion that the model was reduced along, or reduce along this one",
        )  # fmt: skip
    along = curve.slope * path.scale**2
    rates, accelerations = (np.einsum("ni,ni->n", along, x)[:, None] for x in (course.rates, course.accelerations))
    return Trajectory((ARCLENGTH,), course.time, sigma[:, None], rates, accelerations)


def follows_path(model: ReducedModel) -> bool:
    """Return whether the model's coordinate is the arclength of a path."""
    return "path" in model.provenance.get("options", {})


def model_trajectory(model: ReducedModel, motion: Prescribed, **instants: Any) -> Trajectory:
    """Return a motion, in any form that `trajectory` accepts, in the coordinates of the model."""
    course = trajectory(restore_mechanism(model), motion, **instants)
    if not follows_path(model):
        return without_fixed_coordinates(course, model.held_coordinates)
    return along_path(path_from(model.provenance["options"]["path"]), course)
