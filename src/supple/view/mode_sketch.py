"""Mode shapes, drawn over the undeformed mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.formulations.elastic.body_matrices import ElasticBody
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.configuration import Configuration
from supple.kinematics.numbering import Numbering
from supple.modal_analysis.mode_energy import plane_normal
from supple.view.house_style import in_house_style, new_figure
from supple.view.panels import panel_axes, panels
from supple.view.sketch import body_colors, sketch
from supple.view.sketch_places import SketchPlaces, convex_outline, sketch_places

if TYPE_CHECKING:
    from supple.modal_analysis.mode_set import ModeSet


UNDEFORMED, NODE = "#cfcfcf", "#2b2b2b"
_SAMPLES = 9  # points on an element between its nodes
_LARGEST = 0.12  # drawn displacement relative to the size of the mechanism
_COLUMNS = 3
_THIN = 0.1  # smallest half side of a panel's box, relative to the largest
_CLOUD = 1500  # largest number of nodes of a solid that are drawn


@in_house_style
def mode_sketch(
    modes: ModeSet,
    *,
    which: Sequence[int] | None = None,
    scale: float = 1.0,
    nodes: bool = True,
    axes: Sequence[Any] | None = None,
    figure: Any = None,
) -> Any:
    """Draw the mode shapes of one configuration, one panel each, and return the panels.

    which : indices of the modes from 0; default: the first six
    scale : factor on the displacements; by default the largest is drawn as 12 % of the mechanism's size
    nodes : mark the nodes of the meshes
    axes  : axes to draw into, one each (projection="3d" for a spatial mechanism); or a (sub)figure to fill

    The amplitude of a mode is arbitrary; each title gives the drawn length of its largest displacement.
    """
    if modes.frequencies_hz.ndim != 1:
        raise InputError(
            f"mode shapes can be drawn for one configuration only (got {len(modes.frequencies_hz)})",
            hint="compute the modes of one of them",
        )
    chosen = list(range(min(len(modes), 6))) if which is None else [int(i) for i in which]
    for i in chosen:
        if not 0 <= i < len(modes):
            raise InputError(f"there is no mode {i}: indices go from 0 to {len(modes) - 1}", hint="omit `which`")
    if not chosen:
        raise InputError("no mode to draw", hint="give at least one index")
    count = len(chosen)
    drawn_on = panels_of(count, modes.rest.numbering, figure) if axes is None else panel_axes(axes, count)
    drawn = DeformedShapes(modes.configuration, modes.rest)
    for panel, i in zip(drawn_on, chosen, strict=True):
        shape = {body.name: body.shapes @ modes.shapes[i, body.start : body.stop] for body in modes.rest.bodies}
        largest = drawn.draw(panel, shape, scale, nodes).drawn_displacement
        panel.set_title(f"{i + 1}: {modes.frequencies_hz[i]:.4g} Hz\nlargest drawn as {length(largest)}", fontsize=9)
    return panels(drawn_on)


def length(metres: float) -> str:
    """Return a length with a suitable unit."""
    for unit, size in (("m", 1.0), ("mm", 1e-3), ("µm", 1e-6)):
        if abs(metres) >= size:
            return f"{metres / size:.3g} {unit}"
    return f"{metres * 1e9:.3g} nm" if metres else "0"


def panels_of(count: int, numbering: Numbering, figure: Any, width: float = 3.4, height: float = 3.1) -> list[Any]:
    """Return axes for several mechanisms side by side, in the plane or in space."""
    columns = min(_COLUMNS, count)
    rows = -(-count // columns)
    if figure is None:
        taller = 0.0 if numbering.mechanism.planar else 0.5  # names of axes are below a box in space
        figure = new_figure(width * columns, (height + taller) * rows)
    if numbering.mechanism.planar:
        return [figure.add_subplot(rows, columns, i + 1) for i in range(count)]
    elevation, azimuth = _view(plane_normal(numbering))
    found = []
    for i in range(count):
        panel = figure.add_subplot(rows, columns, i + 1, projection="3d", computed_zorder=False)
        panel.view_init(elev=elevation, azim=azimuth)
        found.append(panel)
    return found


def _view(normal: Array | None) -> tuple[float, float]:
    """Return elevation and azimuth in degrees, oblique to the mechanism's plane so that all motions are visible."""
    if normal is None:
        return 22.0, -58.0
    if abs(normal[2]) > 0.7:
        return 35.0, -58.0
    front = normal if normal[1] < 0.0 or (normal[1] == 0.0 and normal[0] > 0.0) else -normal
    return 24.0, float(np.degrees(np.arctan2(front[1], front[0]))) + 48.0


def _make_room(axes: Any, points: Array) -> None:
    """Set the limits around all points in space; a nearly flat mechanism gets a visible box."""
    if axes.name != "3d":
        return
    low, high = points.min(axis=0), points.max(axis=0)
    half = np.maximum(0.55 * (high - low), _THIN * (high - low).max())
    middle = 0.5 * (low + high)
    axes.set(**{f"{x}lim": (middle[k] - half[k], middle[k] + half[k]) for k, x in enumerate("xyz")})


def _frame(axes: Any) -> None:
    """Set equal scales for everything that is drawn, and few numbers: panels in space are small."""
    if axes.name != "3d":
        return
    sides = [np.ptp(limits) for limits in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
    axes.set_box_aspect(sides, zoom=0.92)
    for axis, side in zip((axes.xaxis, axes.yaxis, axes.zaxis), sides, strict=True):
        axis.get_major_locator().set_params(nbins=3)
        axis.set_tick_params(labelsize=7)
        if side < 0.4 * max(sides):  # scales are equal, so the other axes show them
            axis.set_ticklabels([])


class Sizes(NamedTuple):
    """Largest displacement in m, its magnification factor, and their product as drawn."""

    largest: float
    factor: float

    @property
    def drawn_displacement(self) -> float:
        return self.largest * self.factor


class DeformedShapes:
    """Lines and nodes of all bodies, displaced by a shape."""

    def __init__(self, configuration: Configuration, rest: ElasticRest):
        self.configuration, self.rest = configuration, rest
        self.numbering = rest.numbering
        self.places: SketchPlaces = sketch_places(self.numbering)
        self.colors = body_colors(self.numbering.mechanism)
        self.dimension = 2 if self.numbering.mechanism.planar else 3
        sizes = [body.mesh.extent for body in rest.bodies if body.mesh is not None]
        self.extent = max([self.numbering.arrays.extent, *sizes])

    def draw(self, axes: Any, shape: dict[str, Array], scale: float, nodes: bool, *, to_scale: bool = False) -> Sizes:
        """Draw one shape over the undeformed mechanism.

        shape : displacements of all degrees of freedom of each body
        """
        moved = {body.name: displacements(self.rest, body, shape[body.name]) for body in self.rest.bodies}
        largest = max(float(np.linalg.norm(U[:, :3], axis=1).max()) for U in moved.values())
        factor = scale * (1.0 if to_scale else _LARGEST * self.extent / largest) if largest > 0.0 else 0.0
        touched = []
        for b, body in enumerate(self.rest.bodies):
            U, color = factor * moved[body.name], self.colors[body.name]
            if body.mesh is None:
                points = self.places.bodies[body.name]
                if len(points):
                    at = points + U[0, :3] + np.cross(U[0, 3:], points)
                    self._lines(axes, b, [convex_outline(at)], color)
                    touched += [self._world(b, points), self._world(b, at)]
                continue
            at = body.mesh.nodes + U[:, :3]
            touched += [self._world(b, body.mesh.nodes), self._world(b, at)]
            if len(body.mesh.elements):
                self._lines(axes, b, [*element_curves(body.mesh, U), *rigid_arms(body.mesh, U)], color)
            if nodes or not len(body.mesh.elements):
                step = max(1, len(at) // _CLOUD)
                points = self._world(b, at[::step])
                axes.plot(*points.T, marker=".", markersize=2.5, linestyle="none", color=NODE, zorder=7)
        _make_room(axes, np.vstack(touched))
        sketch(self.configuration, axes=axes, color=UNDEFORMED, labels=False)
        _frame(axes)
        return Sizes(largest, factor)

    def _world(self, b: int, local: Array) -> Array:
        pose = self.configuration.X[b]
        return (pose[:3] + local @ pose[3:].reshape(3, 3).T)[:, : self.dimension]

    def _lines(self, axes: Any, b: int, lines: list[Array], color: str) -> None:
        for line in lines:
            axes.plot(*self._world(b, line).T, color=color, linewidth=2.0, solid_capstyle="round", zorder=6)


def displacements(rest: ElasticRest, body: BodyCoordinates, flat: Array) -> Array:
    """Return displacements (nodes, 6) in body axes; a rigid body has one row, that of its origin."""
    full = np.zeros((1 if body.mesh is None else len(body.mesh.nodes), 6))
    if body.mesh is None:
        full[0, rest.arrays.column] = flat
    else:
        full[body.mesh.node, body.mesh.component] = flat
    return full


def element_curves(mesh: ElasticBody, U: Array, samples: int = _SAMPLES) -> Array:
    """Return deformed axes of all elements, (e, samples, 3) in body axes, from displacements U (nodes, 6).

    Displacements along the element are linear; transverse ones are Hermite cubics with the rotations of the ends as
    slopes.
    """
    s = np.linspace(0.0, 1.0, samples)[None, :, None]
    ends, of_ends = mesh.ends, U[mesh.elements]  # (e, 2, 3), (e, 2, 6)
    way = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(way, axis=1)[:, None]
    t = way / length
    turn = of_ends[..., 3:]
    u = of_ends[..., :3] + np.cross(turn, ends - mesh.nodes[mesh.elements])  # rigid arms
    along = np.einsum("eai,ei->ea", u, t)
    across = u - along[..., None] * t[:, None]
    slope = np.cross(turn, t[:, None]) * length[:, None]
    cubic = (
        (1 - 3 * s**2 + 2 * s**3) * across[:, :1]
        + (3 * s**2 - 2 * s**3) * across[:, 1:]
        + (s - 2 * s**2 + s**3) * slope[:, :1]
        + (s**3 - s**2) * slope[:, 1:]
    )
    linear = ((1 - s) * along[:, :1, None] + s * along[:, 1:, None]) * t[:, None]
    return ends[:, :1] + s * way[:, None] + cubic + linear


def rigid_arms(mesh: ElasticBody, U: Array) -> list[Array]:
    """Return displaced lines (2, 3) from nodes to the ends of elements and to places on rigid arms."""
    held = list(zip(mesh.elements.ravel().tolist(), mesh.ends.reshape(-1, 3), strict=True))
    held += [(node, np.array(place)) for place, node in mesh.places.items()]
    found = []
    for node, place in held:
        arm = place - mesh.nodes[node]
        if np.linalg.norm(arm) > 1e-6 * mesh.extent:
            at = mesh.nodes[node] + U[node, :3]
            found.append(np.array([at, at + arm + np.cross(U[node, 3:], arm)]))
    return found
