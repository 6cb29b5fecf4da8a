"""A sketch of a configuration: bodies as lines, joints as their symbols, cylinders, springs and guides.

A figure is made without the plotting library's window manager, so that nothing ever opens; `axes.figure.savefig`
writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.description.mass_properties import mass_properties
from supple.description.mechanism import GROUND
from supple.diagnostics import InputError
from supple.kinematics.configuration import Configuration
from supple.kinematics.joint_constraints import JointFrames
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.numbering import Numbering
from supple.kinematics.sketch_labels import Label, place_labels
from supple.kinematics.sketch_shapes import convex_outline, convex_triangles, ground_symbol, zigzag

Array = NDArray[np.float64]

INK, FAINT, DRIVEN = "#2b2b2b", "#9a9a9a", "#f2a33c"
PALETTE = ("#3b6ea8", "#c8553d", "#4f8f5b", "#8a5fa0", "#b8862b", "#3a9a9a", "#b5527d", "#6b6b6b")
MARKERS = {
    "revolute": ("o", 7.5), "prismatic": ("s", 11.0), "cylindrical": ("h", 8.5), "universal": ("D", 6.5),
    "spherical": (".", 9.0), "planar": ("P", 8.0), "weld": ("X", 7.0),
}  # fmt: skip
_WITHOUT_PLACE = ("translation", "free")
_MANY = 8  # bodies: with more, only what stands out is named


class Places(NamedTuple):
    """Everything a sketch marks, as positions fixed on bodies.

    bodies : body -> (k, 3) joints, rod ends and attachments on it, in its axes
    joints : joint -> its frames on the two bodies
    lines  : (section, name) -> the two attachments (body, position) of a cylinder, spring or damper
    """

    bodies: dict[str, Array]
    joints: dict[str, JointFrames]
    lines: dict[tuple[str, str], tuple[tuple[str, Array], tuple[str, Array]]]


def sketch(
    configuration: Configuration,
    *,
    axes: Any = None,
    color: str | None = None,
    labels: bool = True,
    centers: bool = False,
    fade: float = 0.12,
) -> Any:
    """Draw a configuration; of a batch the last in full, the others as ghosts, fading towards the first.

    Returns the axes.

    axes    : where to draw (with projection="3d" for a spatial mechanism); a new figure if left out
    color   : one colour for all bodies; else bodies of a kind (leg1, leg2, ...) share one
    labels  : names of points, joints and bodies, as far as they find room
    centers : mark the centres of mass
    fade    : opacity of the first configuration of a batch
    """
    numbering = configuration.rest.numbering
    axes = _fitting_axes(axes, numbering)
    places = _places(numbering)
    poses = np.atleast_3d(configuration.X) if configuration.X.ndim == 2 else configuration.X
    poses = poses.reshape(-1, *configuration.X.shape[-2:])[np.atleast_1d(configuration.assembled)]
    if len(poses) == 0:
        raise InputError("none of these configurations is assembled", hint="sketch those that are")
    colors = {name: color or chosen for name, chosen in _body_colors(tuple(numbering.mechanism.bodies)).items()}
    for X, alpha in zip(poses[:-1], np.linspace(fade, 0.45, max(len(poses) - 1, 1)), strict=False):
        _Drawn(axes, numbering, X).ghost(places, colors, float(alpha), 0.4 / len(poses))
    drawn = _Drawn(axes, numbering, poses[-1])
    drawn.guides(places)
    drawn.bodies(places, colors)
    drawn.lines(places)
    drawn.joints(places)
    if centers:
        drawn.centers()
    _finish(axes, numbering)
    if labels:
        place_labels(axes, list(drawn.labels(places, colors)), drawn.strokes, FAINT)
    return axes


class _Drawn:
    """One configuration on the axes; `strokes` are the lines that labels keep clear of."""

    def __init__(self, axes: Any, numbering: Numbering, X: Array):
        self.axes, self.numbering, self.X = axes, numbering, X
        self.mechanism = numbering.mechanism
        self.dimension = 2 if self.mechanism.planar else 3
        self.extent = numbering.arrays.extent
        self.strokes: list[Array] = []

    def at(self, body: str, local: Array) -> Array:
        """World position(s) of places (..., 3) on a body: (..., 2) in the plane, else (..., 3)."""
        pose = self.X[self.numbering.body_index(body)]
        return (pose[:3] + local @ pose[3:].reshape(3, 3).T)[..., : self.dimension]

    def direction(self, body: str, axis: Array) -> Array:
        return (self.X[self.numbering.body_index(body), 3:].reshape(3, 3) @ axis)[: self.dimension]

    def line(self, points: Array, **style: Any) -> None:
        self.axes.plot(*points.T, solid_capstyle="round", **style)

    def marker(self, point: Array, marker: Any, size: float, **style: Any) -> None:
        self.axes.plot(*point[:, None], marker=marker, markersize=size, linestyle="none", **style)

    def bodies(
        self, places: Places, colors: dict[str, str], alpha: float = 1.0, thin: float = 1.0, plate: float = 0.16
    ) -> None:
        """A line through two places, a light plate through more."""
        for body, local in places.bodies.items():
            if body == GROUND or len(local) == 0:
                continue
            points = self.at(body, local)
            outline = convex_outline(points)
            width = 2.8 if len(outline) == 2 else 1.8
            if len(outline) > 2:
                self._plate(points, outline, colors[body], plate)
                outline = np.vstack([outline, outline[:1]])
            if len(outline) > 1:
                self.line(outline, linewidth=thin * width, color=colors[body], alpha=alpha, zorder=2)
                self.strokes.append(outline)

    def ghost(self, places: Places, colors: dict[str, str], alpha: float, plate: float) -> None:
        """Thin lines alone, for the other configurations of a batch."""
        self.bodies(places, colors, alpha, thin=0.6, plate=min(plate, 0.16) * alpha)
        for (section, _), ends in places.lines.items():
            if section == "actuators":
                points = np.array([self.at(*end) for end in ends])
                self.line(points, color=INK, linewidth=1.6, alpha=alpha, zorder=2)

    def _plate(self, points: Array, outline: Array, color: str, alpha: float) -> None:
        if self.dimension == 2:
            self.axes.fill(*outline.T, color=color, alpha=alpha, linewidth=0, zorder=1)
            return
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        faces = convex_triangles(points) or [outline]
        self.axes.add_collection3d(Poly3DCollection(faces, facecolor=color, alpha=alpha, linewidth=0, zorder=1))

    def guides(self, places: Places) -> None:
        """The line a slider runs along, over its limits where it has any."""
        for name, joint in self.mechanism.joints.items():
            if joint.kind not in ("prismatic", "cylindrical") or GROUND not in joint.bodies:
                continue
            frames = places.joints[name]
            first, second = joint.bodies
            axis = self.direction(first, frames.Ea[:, 0 if self.dimension == 2 else 2])
            here, origin = self.at(second, frames.pb), self.at(first, frames.pa)
            low, high = self._slide_limits(name) or (-0.12 * self.extent, 0.12 * self.extent)
            start = here if self._slide_limits(name) is None else origin - self._drawn_slide(name) * axis
            self.line(start + np.outer([low, high], axis), color=FAINT, linewidth=5.0, alpha=0.45, zorder=0)

    def _slide_limits(self, joint: str) -> tuple[float, float] | None:
        limits = [
            actuator.limits
            for actuator in self.mechanism.actuators.values()
            if actuator.limits and actuator.joint is not None and actuator.joint.partition(".")[0] == joint
        ]
        own = self.mechanism.joints[joint].value("limits", "slide", self.mechanism.plane)
        return own or (limits[0] if limits else None)

    def _drawn_slide(self, joint: str) -> float:
        """Value of the slide where the frames of the joint coincide."""
        return float(self.mechanism.joints[joint].value("rest", "slide", self.mechanism.plane) or 0.0)

    def lines(self, places: Places) -> None:
        for (section, _), ends in places.lines.items():
            a, b = (self.at(*end) for end in ends)
            self.strokes.append(np.array([a, b]))
            if section == "actuators":  # a cylinder: a double line for the barrel, a single one for the rod
                barrel = np.array([a, a + 0.58 * (b - a)])
                self.line(np.array([a, b]), color=INK, linewidth=2.0, zorder=3)
                self.line(barrel, color=INK, linewidth=7.0, zorder=3)
                self.line(barrel, color="white", linewidth=4.2, zorder=3)
            elif section == "springs":
                self.line(zigzag(a, b, 0.018 * self.extent), color=INK, linewidth=1.1, zorder=3)
            else:
                self.line(np.array([a, b]), color=INK, linewidth=1.2, linestyle=(0, (4, 2)), zorder=3)

    def joints(self, places: Places) -> None:
        driven = {actuator.joint.partition(".")[0] for actuator in self.mechanism.actuators.values() if actuator.joint}
        for name, joint in self.mechanism.joints.items():
            if joint.kind in _WITHOUT_PLACE:
                continue
            frames = places.joints[name]
            point = self.at(joint.bodies[1], frames.pb)
            if GROUND in joint.bodies and joint.kind not in ("prismatic", "cylindrical"):
                self.marker(point, ground_symbol(), 24, color=FAINT, markeredgewidth=1.2, zorder=1)
            if self.dimension == 3 and joint.kind in ("revolute", "cylindrical"):
                axis = 0.035 * self.extent * self.direction(joint.bodies[0], frames.Ea[:, 2])
                self.line(np.array([point - axis, point + axis]), color=INK, linewidth=1.2, zorder=4)
            marker, size = MARKERS[joint.kind]
            size *= 1.0 if joint.kind != "prismatic" or GROUND in joint.bodies else 0.6
            fill = DRIVEN if name in driven else INK if joint.kind == "spherical" else "white"
            self.marker(point, marker, size, markerfacecolor=fill, markeredgecolor=INK, markeredgewidth=1.2, zorder=5)
        for (section, _), ends in places.lines.items():
            for body, local in ends:
                symbol = ground_symbol() if body == GROUND and section != "actuators" else None
                if symbol is not None:
                    self.marker(self.at(body, local), symbol, 24, color=FAINT, markeredgewidth=1.2, zorder=1)
                self.marker(self.at(body, local), ".", 5, color=INK, zorder=5)

    def centers(self) -> None:
        for body, properties in mass_properties(self.numbering.drawing).items():
            if properties.mass > 0.0:
                point = self.at(body, np.asarray(properties.center))
                self.marker(point, r"$\oplus$", 9, color=INK, markeredgewidth=0.3, zorder=6)
                self.strokes.append(np.array([point, point]))

    def labels(self, places: Places, colors: dict[str, str]) -> Iterator[Label]:
        """Names of the places where joints are, then of the bodies."""
        seen: set[str] = set()
        many = len(self.mechanism.bodies) > _MANY
        for name, frames in places.joints.items():
            joint = self.mechanism.joints[name]
            text = joint.at if isinstance(joint.at, str) else name
            if text not in seen and not (many and GROUND not in joint.bodies):
                seen.add(text)
                yield Label(text, self.at(joint.bodies[1], frames.pb)[None], INK)
        for section, name in places.lines:
            ends = places.lines[section, name]
            yield Label(name, np.array([self.at(*end) for end in ends]), INK, between=True)
        kinds = _kinds(tuple(self.mechanism.bodies))
        for body, kind in kinds.items():
            if len(places.bodies[body]) > 0 and not (many and list(kinds.values()).count(kind) > 1):
                points = self.at(body, places.bodies[body])
                yield Label(body, points, colors[body], between=len(points) > 1)


def _places(numbering: Numbering) -> Places:
    drawing, mechanism = numbering.drawing, numbering.mechanism
    on_bodies: dict[str, list[Array]] = {name: [] for name in (GROUND, *mechanism.bodies)}
    for name, length in drawing.lengths.items():
        on_bodies[name] += [np.zeros(3), np.array([length, 0.0, 0.0])]
    joints = {}
    for name, joint in mechanism.joints.items():
        if joint.kind not in _WITHOUT_PLACE:
            joints[name] = joint_frames(drawing, name)
            for body, local in zip(joint.bodies, (joints[name].pa, joints[name].pb), strict=True):
                on_bodies[body].append(local)
    lines = {}
    for section in ("actuators", "springs", "dampers", "forces", "sensors"):
        for name, part in getattr(mechanism, section).items():
            named = part.between or (getattr(part, "at", None), getattr(part, "position", None))
            ends = [drawing.attached(place, (section, name)) for place in named if place is not None]
            for end in ends:
                on_bodies[end.body].append(end.pose.position)
            if part.between is not None and section in ("actuators", "springs", "dampers"):
                first, second = ((end.body, end.pose.position) for end in ends)
                lines[section, name] = (first, second)
    extent = numbering.arrays.extent
    return Places({body: _distinct(found, 1e-6 * extent) for body, found in on_bodies.items()}, joints, lines)


def _distinct(points: list[Array], tolerance: float) -> Array:
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > tolerance for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


def _kinds(bodies: tuple[str, ...]) -> dict[str, str]:
    """Bodies named alike but for a number or an axis (leg1, rod_x2) are of a kind, unless all are."""
    stems = {name: re.sub(r"(_?[xyz]?[0-9]+|_[xyz])$", "", name) or name for name in bodies}
    return stems if len(set(stems.values())) > 1 else {name: name for name in bodies}


def _body_colors(bodies: tuple[str, ...]) -> dict[str, str]:
    kinds = _kinds(bodies)
    order = list(dict.fromkeys(kinds.values()))
    return {name: PALETTE[order.index(kind) % len(PALETTE)] for name, kind in kinds.items()}


def _fitting_axes(axes: Any, numbering: Numbering) -> Any:
    planar = numbering.mechanism.planar
    if axes is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 5.0), layout="constrained")
        axes = figure.add_subplot() if planar else figure.add_subplot(projection="3d", computed_zorder=False)
        if not planar:
            axes.view_init(elev=22, azim=-58)
    elif planar == (axes.name == "3d"):
        wanted = "flat axes" if planar else 'axes with projection="3d"'
        raise InputError(f'mechanism "{numbering.mechanism.name}" needs {wanted}', hint="leave axes out to get them")
    return axes


def _finish(axes: Any, numbering: Numbering) -> None:
    """Equal scales, quiet axes with the letters of the drawing."""
    planar = numbering.mechanism.plane
    axes.tick_params(labelsize=8, colors=FAINT)
    for letter, name in zip("xyz", planar or "xyz", strict=False):
        getattr(axes, f"set_{letter}label")(f"{name} / m", color=INK, fontsize=9)
    if planar:
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.12)
        axes.grid(color="#ececec", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in axes.spines.values():
            side.set_visible(False)
    else:
        axes.set_aspect("equal")
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.labelpad = -2  # else the names leave the figure
            axis.set_tick_params(pad=-1)
            axis.pane.set(facecolor="white", edgecolor="#dddddd")
            axis._axinfo["grid"].update(color="#ececec", linewidth=0.8)
            axis.line.set_color("#bbbbbb")
            axis.set_major_locator(_few_ticks())
    axes.apply_aspect()


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5)
