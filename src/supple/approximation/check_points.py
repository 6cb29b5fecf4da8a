"""Check points for the error of a fit: evenly scattered, and where a fit is likely to be worst."""

from __future__ import annotations

from functools import cache

import numpy as np

from supple.approximation.fits.scattered_fit import halton_points
from supple.array_types import Array


def boundary_points(dimension: int, count: int, seed: int) -> Array:
    """Return points of [-1, 1]^s concentrated towards the boundary, every second one on faces, edges or corners.

    Polynomials fitted inside a box are worst near its boundary, the more so the more faces meet.
    """
    points = np.sin(0.5 * np.pi * halton_points(dimension, count, seed))
    if dimension == 1:  # the faces are two points, which are known already
        return points
    size = np.sort(np.abs(points), axis=1)[:, ::-1]
    for n in range(1, count, 2):
        faces = 1 + (n // 2) % dimension
        on_face = np.abs(points[n]) >= size[n, faces - 1]
        points[n, on_face] = np.sign(points[n, on_face])
    return points


@cache
def _candidates(dimension: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in boundary_points(dimension, 700 * min(dimension, 4), seed=1).tolist())


def candidates(dimension: int) -> Array:
    """Return many points of [-1, 1]^s among which the worst ones are sought; always the same."""
    return np.array(_candidates(dimension))


def peaks(points: Array, height: Array, count: int, apart: float = 0.25) -> Array:
    """Return the `count` points (N, s) of largest height, no two closer than `apart`."""
    chosen: list[int] = []
    remaining = np.argsort(-height, kind="stable")
    while len(remaining) and len(chosen) < count:
        chosen.append(int(remaining[0]))
        remaining = remaining[np.abs(points[remaining] - points[remaining[0]]).max(axis=1) >= apart]
    return points[chosen]


def fill_gaps(known: Array, count: int, seed: int) -> Array:
    """Return new points (count, s) of [-1, 1]^s, far from all known ones (N, s) and from each other.

    Distances are taken in arccos ξ, in which errors of polynomials oscillate evenly.
    """
    s = known.shape[1]
    pool = boundary_points(s, max(200, 8 * count), seed)
    angle = np.arccos(pool)
    if len(known):
        have = np.arccos(np.clip(known, -1.0, 1.0))
        distance = np.min([np.linalg.norm(angle - one, axis=1) for one in have], axis=0)
    else:
        distance = np.linalg.norm(angle - angle[0], axis=1) + 1.0
    chosen = []
    for _ in range(count):
        n = int(np.argmax(distance))
        chosen.append(n)
        distance = np.minimum(distance, np.linalg.norm(angle - angle[n], axis=1))
    return pool[chosen]


def cloud(points: Array, radius: float = 0.15, count: int = 80) -> Array:
    """Return points (N, s) of [-1, 1]^s and many around each of them.

    The search climbs through them from a peak among a few points to the true one.
    """
    steps = radius * np.vstack([np.zeros((1, points.shape[1])), halton_points(points.shape[1], count, seed=2)])
    return np.clip(points[:, None] + steps, -1.0, 1.0).reshape(-1, points.shape[1])
