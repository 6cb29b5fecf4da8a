"""Where the names go on a sketch: beside what they name, off the lines, never on one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array

SIZE = 9.0  # of the letters, points
_NEAR, _FAR = (8.0, 13.0), (8.0, 13.0, 20.0)  # how far off a name may stand, points
_DIAGONAL = [np.array([x, y]) for y in (1.0, -1.0) for x in (1.0, -1.0)]
_STRAIGHT = [np.array(pair) for pair in ((0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0))]
_CROSSING = 4.0  # price of a spot of a line under a name; a name that costs more than _MOST is left out
_MOST = 5 * _CROSSING


class Label(NamedTuple):
    """A name and the places (k, 2 or 3) it belongs to.

    beside : stands beside its one place; else along the line between two, or inside the plate of more
    """

    text: str
    places: Array
    color: str
    beside: bool = True


def place_labels(axes: Any, labels: list[Label], strokes: list[Array], written: Sequence[Array] = ()) -> None:
    """Write each label where it covers the least of the strokes; leave out one that finds no room.

    written : boxes (2, 2) in pixels that are taken already
    """
    dot = axes.figure.dpi / 72.0  # pixels a point
    ink = [_sampled(_pixels(axes, stroke), 4.0 * dot) for stroke in strokes]
    around = 5.5 * dot * np.array([np.zeros(2), *_STRAIGHT, *(0.7 * d for d in _DIAGONAL)])  # a mark's disc
    ink += [_pixels(axes, label.places) + around for label in labels if label.beside]
    covered = np.vstack(ink) if ink else np.empty((0, 2))
    taken: list[Array] = list(written)
    for label in labels:
        best = None
        for price, place, offset in _candidates(label):
            centre = _pixels(axes, place[None])[0] + offset * dot
            half = _half_size(label) * dot
            box = np.array([centre - half, centre + half])
            if any((box[0] < other[1]).all() and (other[0] < box[1]).all() for other in taken):
                continue
            price += _CROSSING * int(((covered > box[0]) & (covered < box[1])).all(axis=1).sum())
            if price <= _MOST and (best is None or price < best[0]):
                best = (price, place, offset, box)
        if best is not None:
            taken.append(best[3])
            _write(axes, label, best[1], best[2])


def _candidates(label: Label) -> Iterator[tuple[float, Array, Array]]:
    """Price, place and offset in points of every position tried, the preferred ones cheapest."""
    middle = label.places.mean(axis=0)
    if len(label.places) > 2:
        yield 0.0, middle, np.zeros(2)
    if label.beside or len(label.places) > 2:
        anchors = [middle]
    else:
        a, b = label.places
        anchors = [a + share * (b - a) for share in (0.5, 0.4, 0.6, 0.3, 0.7)]
    half = _half_size(label)
    for later, place in enumerate(anchors):
        for gap in _FAR if label.beside else _NEAR:
            for turn, direction in enumerate(_DIAGONAL + _STRAIGHT):
                # The box, not its middle, stands off by the gap; a corner comes nearer than a side.
                share = 0.6 if turn < len(_DIAGONAL) else 1.0
                yield 0.5 * later + 0.15 * gap + 0.05 * turn, place, direction * (share * gap + half)


def _half_size(label: Label) -> Array:
    """Half the width and height of the written name, points."""
    return 0.5 * SIZE * np.array([0.58 * len(label.text) + 0.3, 1.2])


def _write(axes: Any, label: Label, place: Array, offset: Array) -> None:
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import ScaledTranslation

    right, up = offset / 72.0
    moved = axes.transData + ScaledTranslation(right, up, axes.figure.dpi_scale_trans)
    axes.text(
        *place, label.text, transform=moved, fontsize=SIZE, color=label.color, ha="center", va="center",
        fontstyle="normal" if label.beside else "italic", zorder=8,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip


def _pixels(axes: Any, points: Array) -> Array:
    """Where points (k, 2 or 3) of the drawing appear: (k, 2)."""
    if points.shape[1] == 3:
        from mpl_toolkits.mplot3d import proj3d  # type: ignore[import-untyped]

        x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
        points = np.column_stack([x, y])
    return np.asarray(axes.transData.transform(points))


def _sampled(line: Array, step: float) -> Array:
    """Points along a polyline, about `step` apart."""
    pieces = []
    for a, b in pairwise(line):
        count = max(int(np.linalg.norm(b - a) / step), 1)
        pieces.append(a + np.linspace(0.0, 1.0, count + 1)[:, None] * (b - a))
    return np.vstack(pieces)
