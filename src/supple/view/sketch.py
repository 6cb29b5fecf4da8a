"""Sketch of a configuration: bodies as lines, joints as symbols, cylinders, springs and guides.

The figure is created without pyplot's window manager, so that no window opens; `savefig` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.kinematics.configuration import Configuration
from supple.kinematics.numbering import Numbering
from supple.view.house_style import FAINT, GRID, INK, PALETTE, in_house_style, new_figure
from supple.view.panels import one_of, panels, root_figure
from supple.view.sketch_places import (
    SketchPlaces,
    body_kinds,
    convex_outline,
    convex_triangles,
    ground_symbol,
    sketch_places,
    zigzag,
)

DRIVEN = "#f2a33c"
_THIN = 0.14  # smallest half side of the box around a spatial mechanism, relative to the largest
_MANY = 8  # bodies; with more, marks are smaller and fewer names are shown


@in_house_style
def sketch(
    configuration: Configuration,
    *,
    axes: Any = None,
    color: str | None = None,
    labels: bool = True,
    centers: bool = False,
    fade: float = 0.12,
    view: tuple[float, float] = (22.0, -58.0),
) -> Any:
    """Draw a configuration; for a batch the last one in full, and the others as ghosts that fade towards the first.

    Joints with an actuator are filled. The function returns the panels.

    axes    : axes to draw into (projection="3d" for a spatial mechanism); default: a new figure
    color   : one colour for all bodies; default: bodies of a kind (leg1, leg2, ...) share a colour
    labels  : names of points, joints and bodies, as far as there is space
    centers : mark the centres of mass
    fade    : opacity of the first configuration of a batch
    view    : elevation and azimuth of a new figure of a spatial mechanism, °
    """
    numbering = configuration.rest.numbering
    zoom = 1.12 if axes is None else 0.9  # beside other panels, the names of the axes need space
    axes = _fitting_axes(None if axes is None else one_of(axes), numbering, view)
    places = sketch_places(numbering)
    poses = configuration.X.reshape(-1, *configuration.X.shape[-2:])[np.atleast_1d(configuration.assembled)]
    if len(poses) == 0:
        raise InputError("none of these configurations could be assembled", hint="give an assembled configuration")
    colors = {name: color or chosen for name, chosen in body_colors(numbering.mechanism).items()}
    for X, alpha in zip(poses[:-1], np.linspace(fade, 0.45, max(len(poses) - 1, 1)), strict=False):
        _Drawn(axes, numbering, X).ghost(places, colors, float(alpha), 0.4 / len(poses))
    drawn = _Drawn(axes, numbering, poses[-1])
    drawn.guides(places)
    drawn.bodies(places, colors)
    drawn.lines(places)
    drawn.joints(places)
    if centers:
        drawn.centers()
    _finish(axes, numbering, zoom)
    if labels:
        place_labels(axes, list(drawn.labels(places, colors)), drawn.strokes, _find_text_boxes(axes))
    return panels(axes)


class _Drawn:
    """One configuration on the axes; `strokes` are lines that labels avoid."""

    def __init__(self, axes: Any, numbering: Numbering, X: Array):
        self.axes, self.numbering, self.X = axes, numbering, X
        self.mechanism = numbering.mechanism
        self.dimension = 2 if self.mechanism.planar else 3
        self.extent = numbering.arrays.extent
        self.many = len(self.mechanism.bodies) > _MANY
        self.strokes: list[Array] = []

    def at(self, body: str, local: Array) -> Array:
        """Return places (..., 3) on a body in drawing coordinates: (..., 2) in the plane, else (..., 3)."""
        pose = self.X[self.numbering.body_index(body)]
        return (pose[:3] + local @ pose[3:].reshape(3, 3).T)[..., : self.dimension]

    def direction(self, body: str, axis: Array) -> Array:
        return (self.X[self.numbering.body_index(body), 3:].reshape(3, 3) @ axis)[: self.dimension]

    def line(self, points: Array, **style: Any) -> None:
        self.axes.plot(*points.T, solid_capstyle="round", **style)

    def marker(self, point: Array, marker: Any, size: float, **style: Any) -> None:
        size *= 0.8 if self.many else 1.0
        self.axes.plot(*point[:, None], marker=marker, markersize=size, linestyle="none", **style)

    def ground(self, point: Array) -> None:
        self.marker(point, ground_symbol(), 24, color=FAINT, markeredgewidth=1.2, zorder=1)

    def bodies(
        self, places: SketchPlaces, colors: dict[str, str], alpha: float = 1.0, thin: float = 1.0, plate: float = 0.16
    ) -> None:
        """Draw bodies: a line through two places, a light plate through more, or a line for each of several beams."""
        for body in self.mechanism.bodies:
            if body in places.beams:
                for beam in self.at(body, places.beams[body]):
                    self.line(beam, linewidth=thin * 2.8, color=colors[body], alpha=alpha, zorder=2)
                    self.strokes.append(beam)
                continue
            points = self.at(body, places.bodies[body])
            if len(points) < 2:
                continue
            outline = convex_outline(points)
            width = 2.8 if len(outline) == 2 else 1.8
            if len(outline) > 2:
                self._plate(points, outline, colors[body], plate)
                outline = np.vstack([outline, outline[:1]])
            self.line(outline, linewidth=thin * width, color=colors[body], alpha=alpha, zorder=2)
            self.strokes.append(outline)

    def _plate(self, points: Array, outline: Array, color: str, alpha: float) -> None:
        if self.dimension == 2:
            self.axes.fill(*outline.T, color=color, alpha=alpha, linewidth=0, zorder=1)
            return
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

        faces = convex_triangles(points) or [outline]
        self.axes.add_collection3d(Poly3DCollection(faces, facecolor=color, alpha=alpha, linewidth=0, zorder=1))

    def ghost(self, places: SketchPlaces, colors: dict[str, str], alpha: float, plate: float) -> None:
        """Draw bodies of a ghost as thin lines."""
        self.bodies(places, colors, alpha, thin=0.6, plate=min(plate, 0.16) * alpha)
        for (section, _), ends in places.lines.items():
            if section == "actuators":
                points = np.array([self.at(end.body, end.position) for end in ends])
                self.line(points, color=INK, linewidth=1.6, alpha=alpha, zorder=2)

    def guides(self, places: SketchPlaces) -> None:
        for name, interval in places.guides.items():
            frames = places.joints[name]
            axis = self.direction(GROUND, frames.Ea[:, 0 if self.dimension == 2 else 2])
            ends = self.at(GROUND, frames.pa) + np.outer(interval, axis)
            self.line(ends, color=FAINT, linewidth=5.0, alpha=0.45, zorder=0)

    def lines(self, places: SketchPlaces) -> None:
        """Draw cylinders (a double line for the barrel, a single one for the rod), springs and dampers."""
        for (section, _), ends in places.lines.items():
            a, b = (self.at(end.body, end.position) for end in ends)
            straight = np.array([a, b])
            self.strokes.append(straight)
            if section == "actuators":
                barrel = np.array([a, a + 0.58 * (b - a)])
                self.line(straight, color=INK, linewidth=2.0, zorder=3)
                self.line(barrel, color=INK, linewidth=7.0, zorder=3)
                self.line(barrel, color="white", linewidth=4.2, zorder=3)
            elif section == "springs":
                self.line(zigzag(a, b, 0.018 * self.extent), color=INK, linewidth=1.1, zorder=3)
            else:
                self.line(straight, color=INK, linewidth=1.2, linestyle=(0, (4, 2)), zorder=3)
            for end, point in zip(ends, straight, strict=True):
                self.marker(point, ".", 5, color=INK, zorder=5)
                if end.body == GROUND:
                    self.ground(point)

    def joints(self, places: SketchPlaces) -> None:
        driven = {actuator.joint.partition(".")[0] for actuator in self.mechanism.actuators.values() if actuator.joint}
        for name, frames in places.joints.items():
            joint = self.mechanism.joints[name]
            point = self.at(joint.bodies[1], frames.pb)
            marker, slides = JOINT_KINDS[joint.kind].marker, joint.slide(self.mechanism.plane) is not None
            assert marker is not None  # such a joint has a place
            if GROUND in joint.bodies and not slides:
                self.ground(point)
            if self.dimension == 3 and marker.through:
                axis = 0.035 * self.extent * self.direction(joint.bodies[0], frames.Ea[:, 2])
                through = np.array([point - axis, point + axis])
                self.line(through, color=INK, linewidth=1.2, zorder=4)
                self.strokes.append(through)
            # a slider often carries another joint at its center
            size = marker.size * (1.6 if slides and GROUND in joint.bodies else 1.0)
            fill = DRIVEN if name in driven else INK if marker.filled else "white"
            self.marker(
                point, marker.shape, size, markerfacecolor=fill, markeredgecolor=INK, markeredgewidth=1.2, zorder=5
            )

    def centers(self) -> None:
        for body, properties in mass_properties(self.numbering.drawing).items():
            if properties.mass > 0.0:
                point = self.at(body, np.asarray(properties.center))
                self.marker(point, r"$\oplus$", 9, color=INK, markeredgewidth=0.3, zorder=6)
                self.strokes.append(np.array([point, point]))

    def labels(self, places: SketchPlaces, colors: dict[str, str]) -> Iterator[Label]:
        """Yield names of joint points, of elements between places, and of bodies."""
        points: dict[str, Array] = {}
        for name, frames in places.joints.items():
            joint = self.mechanism.joints[name]
            if not self.many or GROUND in joint.bodies:
                text = joint.at if isinstance(joint.at, str) else name
                points.setdefault(text, self.at(joint.bodies[1], frames.pb))
        for ends in places.lines.values():
            for end in ends:
                if end.name in self.mechanism.frames:
                    points.setdefault(end.name, self.at(end.body, end.position))
        yield from (Label(text, point[None], INK) for text, point in points.items())
        for (_, name), ends in places.lines.items():
            yield Label(name, np.array([self.at(end.body, end.position) for end in ends]), INK, beside=False)
        kinds = body_kinds(tuple(self.mechanism.bodies))
        for body, kind in kinds.items():
            found = self.at(body, places.bodies[body])
            if len(found) > 0 and not (self.many and list(kinds.values()).count(kind) > 1):
                yield Label(body, found, colors[body], beside=len(found) == 1)


def body_colors(mechanism: Mechanism) -> dict[str, str]:
    """Return a colour for each kind of body."""
    kinds = body_kinds(tuple(mechanism.bodies))
    order = list(dict.fromkeys(kinds.values()))
    return {name: PALETTE[order.index(kind) % len(PALETTE)] for name, kind in kinds.items()}


def _fitting_axes(axes: Any, numbering: Numbering, view: tuple[float, float]) -> Any:
    planar = numbering.mechanism.planar
    if axes is None:
        figure = new_figure(10.0, 7.0)
        if planar:
            return figure.add_subplot()
        axes = figure.add_subplot(projection="3d", computed_zorder=False)
        axes.view_init(*view)
    elif planar == (axes.name == "3d"):
        wanted = "flat axes" if planar else 'axes with projection="3d"'
        raise InputError(f'mechanism "{numbering.mechanism.name}" needs {wanted}', hint="omit axes for a new figure")
    return axes


def _find_text_boxes(axes: Any) -> list[Array]:
    """Return pixel boxes (2, 2) of the texts of 3D axes, which names must avoid."""
    if axes.name != "3d":
        return []
    root_figure(axes).draw_without_rendering()  # the boxes are known only after drawing
    found = []
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        texts = [axis.label, *(tick.label1 for tick in axis.get_major_ticks() if tick.label1.get_text())]
        found += [np.array(text.get_window_extent().get_points()) for text in texts]
    return found


def _finish(axes: Any, numbering: Numbering, zoom: float) -> None:
    """Set equal scales and unobtrusive axes with the letters of the drawing."""
    plane = numbering.mechanism.plane
    axes.tick_params(labelsize=8, colors=FAINT)
    for letter, name in zip("xyz", plane or "xyz", strict=False):
        getattr(axes, f"set_{letter}label")(f"{name} / m", color=INK, fontsize=9)
    if plane:
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.12)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[:].set_visible(False)
    else:
        axes.set_aspect("equal")
        limits = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
        # A nearly flat mechanism gets a visible box with space for its numbers.
        half = np.maximum(0.5 * np.ptp(limits, axis=1), _THIN * np.ptp(limits, axis=1).max())
        middle = limits.mean(axis=1)
        axes.set(**{f"{x}lim": (middle[k] - half[k], middle[k] + half[k]) for k, x in enumerate("xyz")})
        sides = (2.0 * half).tolist()
        axes.set_box_aspect(sides, zoom=zoom)
        for axis, side in zip((axes.xaxis, axes.yaxis, axes.zaxis), sides, strict=True):
            axis.labelpad = 1  # clear of the numbers, and inside the figure
            axis.set_tick_params(pad=0)
            axis._axinfo["grid"].update(color=GRID, linewidth=0.8)
            axis.pane.set(facecolor="white", edgecolor="#dddddd")
            axis.line.set_color("#bbbbbb")
            # Only as many numbers as fit on the side; otherwise they would overlap.
            axis.get_major_locator().set_params(nbins=max(1, round(5.0 * side / max(sides))))
            if zoom < 1.0 and side < 0.4 * max(sides):  # a small panel; scales are equal, so the other sides show them
                axis.set_ticklabels([])
    engine = axes.figure.figure.get_layout_engine()
    if engine is not None:  # names are placed in the final layout
        engine.execute(axes.figure.figure)
    axes.apply_aspect()


# Placement of names on a sketch: beside their objects, off the lines, without overlap.


SIZE = 9.0  # size of the letters, points
_NEAR, _FAR = (8.0, 13.0), (8.0, 13.0, 20.0)  # distances of a name, points
_DIAGONAL = [np.array([x, y]) for y in (1.0, -1.0) for x in (1.0, -1.0)]
_STRAIGHT = [np.array(pair) for pair in ((0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0))]
_CROSSING = 4.0  # cost of a line point under a name; a name that costs more than _MOST is omitted
_MOST = 5 * _CROSSING


class Label(NamedTuple):
    """Name and its places (k, 2 or 3).

    beside : True if it is beside its one place; otherwise along the line between two, or inside the plate of more
    """

    text: str
    places: Array
    color: str
    beside: bool = True


def place_labels(axes: Any, labels: list[Label], strokes: list[Array], written: Sequence[Array] = ()) -> None:
    """Write each label where it covers the fewest strokes; omit labels without space.

    written : occupied boxes (2, 2) in pixels
    """
    dot = axes.figure.dpi / 72.0  # pixels per point
    ink = [_sample_line(_pixels(axes, stroke), 4.0 * dot) for stroke in strokes]
    around = 5.5 * dot * np.array([np.zeros(2), *_STRAIGHT, *(0.7 * d for d in _DIAGONAL)])  # disc of a mark
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
    """Yield cost, place and offset in points of candidate positions; preferred ones cost least."""
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
                # The gap is measured to the box, not to its center; a corner may be closer than a side.
                share = 0.6 if turn < len(_DIAGONAL) else 1.0
                yield 0.5 * later + 0.15 * gap + 0.05 * turn, place, direction * (share * gap + half)


def _half_size(label: Label) -> Array:
    """Return half the width and height of the written name, points."""
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
    """Return pixel coordinates (k, 2) of points (k, 2 or 3) of the drawing."""
    if points.shape[1] == 3:
        from mpl_toolkits.mplot3d import proj3d  # type: ignore[import-untyped]

        x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
        points = np.column_stack([x, y])
    return np.asarray(axes.transData.transform(points))


def _sample_line(line: Array, step: float) -> Array:
    """Return points along a polyline, about `step` apart."""
    pieces = []
    for a, b in pairwise(line):
        count = max(int(np.linalg.norm(b - a) / step), 1)
        pieces.append(a + np.linspace(0.0, 1.0, count + 1)[:, None] * (b - a))
    return np.vstack(pieces)
