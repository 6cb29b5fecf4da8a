"""The shapes a sketch is made of: convex outlines of bodies, the zigzag of a spring, the symbol of the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.array_types import Array

_FLAT = 1e-6  # of the largest spread: points on a line, or in a plane


def convex_outline(points: Array) -> Array:
    """Corners (k, 2 or 3) of the convex outline of points that lie on a line or in a plane.

    On a line these are its two ends. Points that fill space have no outline: their outline in the plane that
    fits them best is given.
    """
    centre = points.mean(axis=0)
    _, spread, directions = np.linalg.svd(points - centre, full_matrices=False)
    if len(points) < 2 or spread[0] == 0.0:
        return points[:1]
    if len(points) == 2 or spread[1] < _FLAT * spread[0]:
        along = (points - centre) @ directions[0]
        return points[[int(along.argmin()), int(along.argmax())]]
    return points[_hull_order((points - centre) @ directions[:2].T)]


def convex_triangles(points: Array) -> list[Array]:
    """Faces of the convex hull of points that fill space; none for points in a plane."""
    if len(points) < 4 or np.linalg.matrix_rank(points - points.mean(axis=0), tol=_FLAT * np.ptp(points)) < 3:
        return []
    from scipy.spatial import ConvexHull

    return [points[face] for face in ConvexHull(points).simplices]


def _hull_order(flat: Array) -> list[int]:
    """Indices of the convex hull of points in the plane, counter-clockwise (monotone chain)."""
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()

    def half(indices: list[int]) -> list[int]:
        chain: list[int] = []
        for i in indices:
            while len(chain) > 1 and _turn(flat[chain[-2]], flat[chain[-1]], flat[i]) <= 0.0:
                chain.pop()
            chain.append(i)
        return chain[:-1]

    return half(order) + half(order[::-1])


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def zigzag(a: Array, b: Array, width: float, turns: int = 7) -> Array:
    """A spring from a to b: straight ends, and a zigzag between them across the line."""
    along = b - a
    if len(a) == 2:
        across = np.array([-along[1], along[0]])
    else:
        across = np.cross(along, np.eye(3)[int(np.abs(along).argmin())])
    length = np.linalg.norm(across)
    if length == 0.0:
        return np.array([a, b])
    across *= width / length
    shares = np.concatenate([[0.0, 0.15], np.linspace(0.15, 0.85, 2 * turns + 1)[1:-1], [0.85, 1.0]])
    sides = np.zeros_like(shares)
    sides[2:-2] = np.where(np.arange(len(shares) - 4) % 2 == 0, 1.0, -1.0)
    return a + np.outer(shares, along) + np.outer(sides, across)


def ground_symbol() -> Any:
    """A triangle standing on a hatched line, its tip at the marked place."""
    from matplotlib.path import Path

    strokes = [[(0, 0), (-0.55, -0.75), (0.55, -0.75), (0, 0)], [(-0.9, -0.75), (0.9, -0.75)]]
    strokes += [[(x, -0.75), (x - 0.2, -1.0)] for x in (-0.6, -0.2, 0.2, 0.6)]
    vertices = [point for stroke in strokes for point in stroke]
    codes = [code for stroke in strokes for code in (Path.MOVETO, *[Path.LINETO] * (len(stroke) - 1))]
    return Path(vertices, codes)
