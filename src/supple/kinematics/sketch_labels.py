"""Where the names go on a sketch: beside what they name, off the lines, never on one another."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIZE = 9.0  # of the letters, points
_GAPS = (9.0, 14.0, 20.0)  # how far from its place a name may stand, points
_DIRECTIONS = [(np.cos(angle), np.sin(angle)) for angle in np.deg2rad([45, 135, -45, -135, 90, -90, 0, 180])]


class Label(NamedTuple):
    """A name and the places (k, 2 or 3) it may stand beside; `between`: somewhere along them, not at them."""

    text: str
    places: Array
    color: str
    between: bool = False

    @property
    def gaps(self) -> tuple[float, ...]:
        """How far from its place it may stand: inside a plate, close to a line, anywhere near a point."""
        if not self.between:
            return _GAPS
        return _GAPS[:2] if len(self.places) < 3 else (-100.0, *_GAPS[:2])


def place_labels(axes: Any, labels: list[Label], strokes: list[Array], halo: str) -> None:
    """Write each label where it covers the least; leave out one that would cover another."""
    dots = 1.0 / 72.0 * axes.figure.dpi  # pixels a point
    lines = [_sampled(_pixels(axes, stroke), 4.0 * dots) for stroke in strokes]
    ink = np.vstack(lines) if lines else np.empty((0, 2))
    marks = [_pixels(axes, label.places) for label in labels if not label.between]
    ink = np.vstack([ink, *[mark + offset for mark in marks for offset in _disc(6.0 * dots)]])
    taken: list[Array] = []
    for label in labels:
        found = _best(axes, label, ink, taken, dots)
        if found is not None:
            place, offset, box = found
            taken.append(box)
            _write(axes, label, place, offset)


def _best(axes: Any, label: Label, ink: Array, taken: list[Array], dots: float) -> tuple[Array, Array, Array] | None:
    """The cheapest free box: (place, offset in points, box in pixels)."""
    half = 0.5 * dots * SIZE * np.array([0.62 * len(label.text) + 0.3, 1.25])
    cheapest = None
    for preference, place in enumerate(_anchors(label)):
        pixel = _pixels(axes, place[None])[0]
        for gap in label.gaps:
            for order, direction in enumerate(_DIRECTIONS):
                # The nearest edge of the box, not its middle, stands at the gap.
                reach = max(gap * dots + np.abs(np.array(direction)) @ half * (0.9 if order < 4 else 1.0), 0.0)
                centre = pixel + reach * np.array(direction)
                box = np.array([centre - half, centre + half])
                if any((box[0] < other[1]).all() and (other[0] < box[1]).all() for other in taken):
                    continue
                covered = int(((ink > box[0]) & (ink < box[1])).all(axis=1).sum())
                cost = 4.0 * covered + 0.15 * gap + 0.05 * order + 0.5 * preference
                if cheapest is None or cost < cheapest[0]:
                    cheapest = (cost, place, (centre - pixel) / dots, box)
    return None if cheapest is None or cheapest[0] > 4.0 * 8 else cheapest[1:]


def _anchors(label: Label) -> list[Array]:
    if not label.between:
        return [label.places[0]]
    if len(label.places) > 2:
        return [label.places.mean(axis=0)]
    a, b = label.places
    return [a + share * (b - a) for share in (0.5, 0.4, 0.6, 0.3, 0.7)]


def _write(axes: Any, label: Label, place: Array, offset: Array) -> None:
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import ScaledTranslation

    moved = axes.transData + ScaledTranslation(offset[0] / 72.0, offset[1] / 72.0, axes.figure.dpi_scale_trans)
    axes.text(
        *place, label.text, transform=moved, fontsize=SIZE, color=label.color, ha="center", va="center",
        fontstyle="italic" if label.between else "normal", zorder=8,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip


def _pixels(axes: Any, points: Array) -> Array:
    """Where points (k, 2 or 3) of the drawing appear: (k, 2)."""
    if points.shape[1] == 3:
        from mpl_toolkits.mplot3d import proj3d

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


def _disc(radius: float) -> Array:
    return radius * np.array([(0, 0), *_DIRECTIONS])
