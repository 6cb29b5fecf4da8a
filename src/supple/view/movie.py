"""Movies of a vibration mode or of a run, as .gif or .mp4."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.files.whole import write_beside
from supple.formulations.elastic.body_matrices import ElasticBody
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.rest import rest
from supple.view.house_style import INK, in_house_style
from supple.view.mode_sketch import UNDEFORMED, displacements, element_curves, length, rigid_arms
from supple.view.page.played_motion import PlaybackMotion, meshes_of
from supple.view.sketch import body_colors, sketch
from supple.view.sketch_places import convex_outline, sketch_places

# A mechanism as lines that follow the poses of its bodies and the displacements of their nodes.


_SAMPLES = 6  # points on an element


class MovingLines:
    """Lines that are redrawn in every frame of a movie: a stroke (k, 2 or 3) per line, always in the same order.

    colors, widths : of the strokes; the last stroke is that of the joints, which are marked
    """

    def __init__(self, mechanism: Mechanism):
        self.mechanism, self.numbering = mechanism, rest(mechanism).numbering
        self.dimension = 2 if mechanism.planar else 3
        self.places = sketch_places(self.numbering)
        self.meshes = meshes_of(mechanism)
        self.outlines = {name: self._outline(name) for name in self.numbering.bodies if name not in self.meshes}
        self._colors = body_colors(mechanism)
        self.colors: list[str] = []
        self.widths: list[float] = []

    def _outline(self, name: str) -> list[Array]:
        """Return the lines of a rigid body in its axes: its beams, or the outline of its places."""
        if name in self.places.beams:
            return list(self.places.beams[name])
        points = self.places.bodies[name]
        if len(points) < 2:
            return []
        found = convex_outline(points)
        return [found if len(found) < 3 else np.vstack([found, found[:1]])]

    def strokes(self, X: Array, nodes: Mapping[str, Array]) -> list[Array]:
        """Return the strokes at poses X (bodies, 12), with displaced nodes (nodes, 6) of elastic bodies, body axes."""
        found: list[Array] = []
        self.colors, self.widths = [], []
        for b, name in enumerate(self.numbering.bodies):
            mesh = self.meshes.get(name)
            lines = self.outlines[name] if mesh is None else _trace_body(mesh, nodes.get(name))
            for line in lines:
                self._add(found, self._world(X, b, line), self._colors[name], 2.4)
        for (section, _), ends in self.places.lines.items():
            points = [self._at(X, nodes, end.body, end.position) for end in ends]
            self._add(found, np.array(points), INK, 3.2 if section == "actuators" else 1.2)
        marks = [
            self._at(X, nodes, self.mechanism.joints[name].bodies[1], frames.pb)
            for name, frames in self.places.joints.items()
        ]
        self._add(found, np.array(marks).reshape(-1, self.dimension), INK, 0.0)
        return found

    def _add(self, found: list[Array], stroke: Array, color: str, width: float) -> None:
        found.append(stroke)
        self.colors.append(color)
        self.widths.append(width)

    def _at(self, X: Array, nodes: Mapping[str, Array], body: str, place: Array) -> Array:
        """Return a place on a body; on an elastic body it moves with the closest node."""
        mesh, U = self.meshes.get(body), nodes.get(body)
        if mesh is not None and U is not None:
            node = mesh.node_at(place)
            if node is None:
                node = int(np.argmin(np.linalg.norm(mesh.nodes - place, axis=1)))
            place = place + U[node, :3] + np.cross(U[node, 3:], place - mesh.nodes[node])
        return self._world(X, self.numbering.body_index(body), place[None])[0]

    def _world(self, X: Array, b: int, local: Array) -> Array:
        if b == len(self.numbering.bodies):
            return local[:, : self.dimension]
        return (X[b, :3] + local @ X[b, 3:].reshape(3, 3).T)[:, : self.dimension]


def _trace_body(mesh: ElasticBody, U: Array | None) -> list[Array]:
    """Return lines of an elastic body in its axes: along its elements, or through the nodes of other meshes."""
    moved = np.zeros((len(mesh.nodes), 6)) if U is None else U
    if not len(mesh.elements):
        outline = convex_outline(mesh.nodes)
        at = [int(np.argmin(np.linalg.norm(mesh.nodes - corner, axis=1))) for corner in outline]
        points = mesh.nodes[at] + moved[at, :3]
        return [points if len(points) < 3 else np.vstack([points, points[:1]])]
    return [*element_curves(mesh, moved, _SAMPLES), *rigid_arms(mesh, moved)]


MOVIES = (".gif", ".mp4")
_RATE = 25  # frames per second
_PICTURES = 150  # largest number of frames of a run
_PERIOD = 40  # frames of one period of a mode
_LARGEST = 0.12  # displacement of a mode relative to the size of the mechanism
_SHORTEST = 4.0  # s, shortest duration of a run on the screen
_DPI = 120
_FAINT = 0.4  # opacity of fixed parts in the background


class Still(NamedTuple):
    """One frame: poses (bodies, 12) and displaced nodes {body: (nodes, 6)} of one or two mechanisms, and a title."""

    parts: Sequence[tuple[Array, Mapping[str, Array]]]
    title: str


def mode_movie(
    path: str | Path,
    mechanism: Mechanism,
    at: At = None,
    *,
    mode: int = 1,
    scale: float = 1.0,
    pictures: int = _PERIOD,
    preload: bool = True,
) -> Path:
    """Write a movie of one period of a mode, as an endless loop.

    mode     : number from 1
    scale    : factor on the displacements; by default the largest is drawn as 12 % of the mechanism's size
    pictures : number of frames per period, 25 per second
    preload  : as in `modes`
    """
    from supple.modal_analysis.modes import modes

    found = modes(mechanism, at, count=max(mode, 6), preload=preload)
    if not 1 <= mode <= len(found):
        raise InputError(f"there is no mode {mode}", part="--mode", hint=f"give a number from 1 to {len(found)}")
    shape, places = found.shapes[mode - 1], found.configuration
    still, turned = places.X[:-1], {}
    for b, body in enumerate(found.rest.bodies):
        turned[b, body.name] = displacements(found.rest, body, body.shapes @ shape[body.start : body.stop])
    largest = max(float(np.linalg.norm(U[:, :3], axis=1).max()) for U in turned.values())
    factor = scale * _LARGEST * found.rest.numbering.arrays.extent / largest if largest > 0.0 else 0.0
    hertz, drawn = found.frequencies_hz[mode - 1], length(factor * largest)
    title = f"{mechanism.name}, mode {mode}: {hertz:.4g} Hz, largest drawn as {drawn}"

    def at_phase(phase: float) -> Still:
        X, nodes = still.copy(), {}
        for (b, name), U in turned.items():
            moved = factor * np.sin(phase) * U
            if len(U) == 1:
                X[b] = _displace_pose(X[b], moved[0])
            else:
                nodes[name] = moved
        return Still([(X, nodes)], title)

    stills = [at_phase(2.0 * np.pi * k / pictures) for k in range(pictures)]
    return _film(path, MovingLines(mechanism), places, stills, _RATE)


def run_movie(
    path: str | Path,
    mechanism: Mechanism,
    runs: Sequence[PlaybackMotion],
    *,
    speed: float | None = None,
    pictures: int = _PICTURES,
) -> Path:
    """Write a movie of one run, or of two overlaid ones, the second dashed.

    speed    : 1 is real time; the default is slower if the movie would last less than 4 s
    pictures : largest number of frames, at most 25 per second
    """
    begin, end = max(run.time[0] for run in runs), min(run.time[-1] for run in runs)
    if not end > begin:
        raise InputError("the runs have no common time interval", hint="give runs whose times overlap")
    if speed is not None and not 0.0 < speed < np.inf:
        raise InputError(f"must be positive (got {speed:g})", part="--speed", hint="give a factor such as 0.1")
    slow = speed if speed is not None else min(1.0, _nice((end - begin) / _SHORTEST))
    count = int(np.clip(round(_RATE * (end - begin) / slow), 2, pictures))
    rate = (count - 1) * slow / (end - begin)
    slowed = "" if slow == 1.0 else f", speed {slow:g}"

    def at_time(time: float) -> Still:
        nearest = [int(np.argmin(np.abs(run.time - time))) for run in runs]
        parts = [
            (run.X[n], {name: values[n] for name, values in run.nodes.items()})
            for run, n in zip(runs, nearest, strict=True)
        ]
        return Still(parts, f"{mechanism.name}, {time:.3f} s{slowed}")

    stills = [at_time(time) for time in np.linspace(begin, end, count)]
    return _film(path, MovingLines(mechanism), assemble(mechanism), stills, max(1, round(rate)))


@in_house_style
def _film(path: str | Path, lines: MovingLines, behind: Configuration, pictures: Sequence[Still], rate: int) -> Path:
    """Write the movie atomically."""
    target = Path(path)
    writer = _writer(target, rate)
    strokes = [[lines.strokes(*part) for part in picture.parts] for picture in pictures]
    figure = sketch(behind, color=UNDEFORMED, labels=False).figure
    figure.set_size_inches(8.0, 6.0)
    axes = figure.axes[0]
    _make_room(axes, np.vstack([stroke for picture in strokes for part in picture for stroke in part]))
    for artist in (*axes.lines, *axes.collections):
        artist.set_alpha(_FAINT)
    title = figure.suptitle(pictures[0].title, fontsize=10, color=INK)
    drawn = [_draw_strokes(axes, lines, part, over=k > 0) for k, part in enumerate(strokes[0])]
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout is final: do not repeat it for every frame
    with write_beside(target) as beside, writer.saving(figure, str(beside), _DPI):
        for picture, parts in zip(pictures, strokes, strict=True):
            title.set_text(picture.title)
            for artists, part in zip(drawn, parts, strict=True):
                for artist, stroke in zip(artists, part, strict=True):
                    (artist.set_data if axes.name != "3d" else artist.set_data_3d)(*stroke.T)
            writer.grab_frame()
    return target


def _draw_strokes(axes: Any, lines: MovingLines, part: Sequence[Array], *, over: bool) -> list[Any]:
    """Draw the strokes of one mechanism; those of a second one are thin and dark, over the first."""
    found = []
    for stroke, color, width in zip(part, lines.colors, lines.widths, strict=True):
        style: dict[str, Any] = {
            "color": INK if over else color,
            "linewidth": 1.1 if over else width,
            "zorder": 8 + over,
        }
        if width == 0.0:
            style |= {"linestyle": "none", "marker": "o", "markersize": 4.0, "markerfacecolor": "white"}
        elif over:
            style["linestyle"] = (0, (4, 2))
        found += axes.plot(*stroke.T, **style)
    return found


def _make_room(axes: Any, points: Array) -> None:
    """Set the limits around everything that will be drawn; a thin mechanism gets a visible box."""
    limits = np.array([getattr(axes, f"get_{x}lim")() for x in "xyz"[: points.shape[1]]])
    low, high = np.minimum(limits[:, 0], points.min(axis=0)), np.maximum(limits[:, 1], points.max(axis=0))
    if axes.name == "3d":
        axes.set(**{f"{x}lim": (low[k], high[k]) for k, x in enumerate("xyz")})
        axes.set_box_aspect((high - low).tolist(), zoom=1.12)
    else:
        axes.update_datalim(np.array([low, high]))
        axes.autoscale_view()


def _displace_pose(pose: Array, moved: Array) -> Array:
    """Return a pose (12,) after a displacement (6,) in body axes, with a finite rotation that preserves the shape."""
    from supple.geometry.rotation import exponential

    R = pose[3:].reshape(3, 3)
    return np.concatenate([pose[:3] + R @ moved[:3], (R @ exponential(moved[3:])).ravel()])


def _nice(speed: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that does not exceed a speed."""
    power = 10.0 ** np.floor(np.log10(speed))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= speed * (1.0 + 1e-9)))


def _writer(target: Path, rate: int) -> Any:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    makers: dict[str, Callable[[], Any]] = {
        ".gif": lambda: PillowWriter(fps=rate),
        ".mp4": lambda: FFMpegWriter(fps=rate, codec="h264"),
    }
    if target.suffix.lower() not in makers:
        raise InputError(f"the name of a movie must end in {' or '.join(MOVIES)}", file=str(target), hint="rename it")
    if target.suffix.lower() == ".mp4":
        from matplotlib import rcParams

        rcParams["animation.ffmpeg_path"] = _ffmpeg()  # the settings of the house style are active here
    return makers[target.suffix.lower()]()


def _ffmpeg() -> str:
    """Return the path of the system's ffmpeg, or of that of imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise InputError(
            "ffmpeg was not found", part=".mp4",
            hint="install it with pip install 'supple[movies]' or from your system, or write a .gif",
        ) from None  # fmt: skip
    return str(get_ffmpeg_exe())
