"""Paths in θ without time: θ(σ), 0 ≤ σ ≤ 1, and its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from supple.control.feedforward.reference import Reference, coordinates_of, reference
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.reduced.model import ReducedModel

_INSTANTS = 4001  # at which a motion is looked at
_POINTS = 121  # of a piece, equally far apart along it
_STILL = 1e-5  # of the largest speed: a stop


def smooth_pieces(path: Any, of: Mechanism | ReducedModel) -> list[BSpline]:
    """θ(σ) of the pieces of a path between stops, each a spline over 0 ... 1.

    path : points (P, s) through which it goes smoothly, in order; or a motion as `reference` takes it, of which the
           time is forgotten
    """
    names = coordinates_of(of)
    if not isinstance(path, np.ndarray | list | tuple):
        found = reference(path, of)
        if not isinstance(found, Reference):
            raise InputError("a callable motion has no end", part="path", hint="give reference(motion, of, until=...)")
        return _of_motion(found)
    points = real_numbers("path", path, finite=False)
    if points.ndim != 2 or points.shape[1] != len(names) or len(points) < 2 or not np.isfinite(points).all():
        raise InputError(
            f"points of the shape {points.shape} for {', '.join(names)}", part="path",
            hint=f"give at least two finite points (P, {len(names)})",
        )  # fmt: skip
    size = np.maximum(np.ptp(points, axis=0), 1e-12)
    length = np.linalg.norm(np.diff(points, axis=0) / size, axis=1)
    if not length.all():
        raise InputError("two points that follow one another are the same", part="path", hint="leave one out")
    sigma = np.concatenate([[0.0], np.cumsum(length)]) / length.sum()
    return [make_interp_spline(sigma, points, k=_degree(len(points)))]


def _of_motion(motion: Reference) -> list[BSpline]:
    times = np.linspace(motion.begin, motion.end, _INSTANTS)
    course = motion.sampled(times)
    size = np.ptp(course[:, 0], axis=0)
    if not size.any():
        raise InputError("it does not move", part="path", hint="give one with a length")
    speed = np.linalg.norm(course[:, 1] / np.where(size > 0.0, size, np.inf), axis=1)
    moving = np.concatenate([[False], speed > _STILL * speed.max(), [False]])
    edges = np.flatnonzero(np.diff(moving.astype(int)))
    pieces = []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        inside = slice(max(first - 1, 0), min(last + 1, len(times)))
        t, v = times[inside], speed[inside]
        length = np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(t))])
        at = np.interp(np.linspace(0.0, length[-1], _POINTS), length, t)
        theta = motion.sampled(at)[:, 0]
        way = np.linalg.norm(np.diff(theta, axis=0) / np.where(size > 0.0, size, np.inf), axis=1)
        sigma = np.concatenate([[0.0], np.cumsum(way)]) / way.sum()
        pieces.append(make_interp_spline(sigma, theta, k=_degree(len(theta))))
    return pieces


def _degree(points: int) -> int:
    return 5 if points >= 6 else 3 if points >= 4 else points - 1
