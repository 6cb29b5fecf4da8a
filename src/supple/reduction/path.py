"""Path through θ as a one-dimensional region: θ(σ) with the arclength σ.

    dσ² = Σ_i (c_i dθ_i)²

If all coordinates are angles, or all are lengths, c_i = 1 and σ is in rad or m. If both occur, σ is in m, and an angle
counts as the arc it sweeps at the mechanism's extent L: c_i = L.

A motion may stop and continue in another direction, or reverse. There θ(σ) has a corner, and θ' two values: the path
consists of smooth pieces, each with its own interval of σ. The duration of a standstill does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from supple.approximation.refinement.box import Box
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import values_text
from supple.equations.equations_of_motion import christoffel
from supple.equations.row import RowLayout, local_layout
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.time_functions.function_of_time import Trajectory
from supple.trajectories.trajectory import Prescribed, trajectory

ARCLENGTH = "arclength"
_INSTANTS = 8001  # of a motion, from which its path is computed
_KNOTS = 600  # of a smooth piece, at most
_DEGREE = 5
_CORNER = 0.2  # rad between neighbouring chords: a larger angle is a corner
_STILL = 1e-7  # of the length: a shorter chord has no direction
_SAME = 1e-5  # of the length: closer corners are one


class Curve(NamedTuple):
    """Values θ, θ' = dθ/dσ and θ'' at N values of σ, (N, s) each."""

    theta: Array
    slope: Array
    bend: Array


class Piece(NamedTuple):
    """Smooth part of a path: values θ (K, s) at increasing σ (K,), joined by a spline of degree five."""

    sigma: Array
    theta: Array


@dataclass(frozen=True, eq=False)
class Path:
    """Path through configurations of a mechanism.

    coordinates : names of θ
    scale       : c_i (s,)
    unit        : unit of σ
    """

    coordinates: tuple[str, ...]
    scale: Array
    unit: str
    pieces: tuple[Piece, ...]

    @property
    def length(self) -> float:
        """Arclength at the end; it is 0 at the beginning."""
        return float(self.pieces[-1].sigma[-1])

    @property
    def boxes(self) -> list[Box]:
        """Interval of σ of each piece."""
        return [Box((float(piece.sigma[0]),), (float(piece.sigma[-1]),)) for piece in self.pieces]

    @cached_property
    def _splines(self) -> list[Any]:
        return [make_interp_spline(*piece, k=min(_DEGREE, len(piece.sigma) - 1)) for piece in self.pieces]

    def at(self, sigma: ArrayLike) -> Curve:
        """Evaluate the path at σ (N,); a corner belongs to the piece that ends there."""
        given = np.asarray(sigma, dtype=float)
        piece = np.searchsorted([part.sigma[0] for part in self.pieces[1:]], given, side="right")
        curve = Curve(*(np.empty((len(given), len(self.coordinates))) for _ in range(3)))
        for n, spline in enumerate(self._splines):
            mine = piece == n
            for order, values in enumerate(curve):
                values[mine] = spline(given[mine], order)
        return curve

    def data(self) -> dict[str, Any]:
        """Return JSON data that `path_from` reads back bit for bit."""
        return {
            "coordinates": list(self.coordinates), "scale": self.scale.tolist(), "unit": self.unit,
            "pieces": [[piece.sigma.tolist(), piece.theta.tolist()] for piece in self.pieces],
        }  # fmt: skip


def path_from(data: dict[str, Any]) -> Path:
    """Return a path from the data of `Path.data`."""
    pieces = tuple(Piece(np.array(sigma, dtype=float), np.array(theta, dtype=float)) for sigma, theta in data["pieces"])
    return Path(tuple(data["coordinates"]), np.array(data["scale"], dtype=float), str(data["unit"]), pieces)


def path_of(mechanism: Mechanism, given: Prescribed | ArrayLike) -> Path:
    """Return the path of a motion (named, Motion, Trajectory, CSV file) or through configurations (N, s) in order.

    Every configuration must be reached from rest; InputError names the first one that is not.
    """
    course = trajectory_of(mechanism, given)
    scale, unit = _scale(mechanism)
    far = sum_travel(course, scale)
    if not far[-1] > 0.0:
        raise InputError(
            "the motion stands still, so its path has no length",
            part=_part_name(given),
            hint="give a motion that moves",
        )
    path = Path(course.coordinates, scale, unit, tuple(_pieces(course, far, scale)))
    _require_reachable(mechanism, path, _part_name(given))
    return path


def trajectory_of(mechanism: Mechanism, given: Prescribed | ArrayLike) -> Trajectory:
    """Return a motion at many instants; configurations (N, s) are passed at a speed of about one."""
    names = rest(mechanism).numbering.coordinates
    if not isinstance(given, list | tuple | np.ndarray):
        motion = cast(Prescribed, given)
        time = trajectory(mechanism, motion).time
        return trajectory(mechanism, motion, times=np.linspace(time[0], time[-1], _INSTANTS))
    points = _points(given, names)
    chords = np.linalg.norm(np.diff(points, axis=0) * _scale(mechanism)[0], axis=1)
    if not chords.all():
        n = int(np.flatnonzero(chords == 0.0)[0])
        raise InputError(f"configurations {n + 1} and {n + 2} are equal", part="path", hint="remove one of them")
    at = np.concatenate([[0.0], np.cumsum(chords)])
    spline = make_interp_spline(at, points, k=min(_DEGREE, len(points) - 1))
    time = np.linspace(0.0, at[-1], _INSTANTS)
    theta, slope, bend = (np.asarray(spline(time, order)) for order in (0, 1, 2))
    return Trajectory(names, time, theta, slope, bend)


def sum_travel(course: Trajectory, scale: Array) -> Array:
    """Return the distance travelled at every instant (N,): Σ |c Δθ|.

    It is slightly less than the arclength where the path is curved.
    """
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(course.theta, axis=0) * scale, axis=1))])


def _points(given: Any, names: Sequence[str]) -> Array:
    try:
        points = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.ndim != 2 or points.shape[1] != len(names) or len(points) < 2 or not np.isfinite(points).all():
        raise InputError(
            f"a path needs at least two configurations of {', '.join(names)}",
            part="path", hint=f"give finite numbers of shape (N, {len(names)})",
        )  # fmt: skip
    return points


def _scale(mechanism: Mechanism) -> tuple[Array, str]:
    """Return c_i and the unit of σ."""
    numbering = rest(mechanism).numbering
    angles = numbering.turns
    if angles.all() or not angles.any():
        return np.ones(len(angles)), "rad" if angles.all() else "m"
    return np.where(angles, float(numbering.arrays.extent), 1.0), "m"


def _pieces(course: Trajectory, far: Array, scale: Array) -> list[Piece]:
    """Cut the path at corners, then take evenly spaced instants of each part as knots.

    A piece begins one floating-point step after the end of the previous one, so that its first sample is its own.
    """
    pieces: list[Piece] = []
    start = 0.0
    for first, last in pairwise([0, *_corners(course, far, scale), len(far) - 1]):
        apart = (far[last] - far[first]) / _KNOTS
        chosen = [first]
        for n in range(first + 1, last):
            if far[n] - far[chosen[-1]] >= apart and far[last] - far[n] >= apart:
                chosen.append(n)
        theta = np.ascontiguousarray(course.theta[[*chosen, last]])
        pieces.append(Piece(start + _arclengths(theta * scale), theta))
        start = float(np.nextafter(pieces[-1].sigma[-1], np.inf))
    return pieces


def _arclengths(points: Array) -> Array:
    """Return the arclength (K,) at points (K, s) of the spline through them.

    It is ∫ |dx/du| du with u the length of chords.
    """
    u = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = make_interp_spline(u, points, k=min(_DEGREE, len(u) - 1))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = 0.5 * np.diff(u)
    inside = u[:-1, None] + half[:, None] * (1.0 + nodes)
    speed = np.linalg.norm(spline(inside.ravel(), 1), axis=1).reshape(inside.shape)
    return np.concatenate([[0.0], np.cumsum(half * (speed @ weights))])


def _corners(course: Trajectory, far: Array, scale: Array) -> list[int]:
    """Return the instants at which the path changes its direction abruptly, between chords long enough to have one."""
    chords = np.diff(course.theta, axis=0) * scale
    size = np.linalg.norm(chords, axis=1)
    moving = np.flatnonzero(size > _STILL * far[-1])
    direction = chords[moving] / size[moving, None]
    turned = np.linalg.norm(np.diff(direction, axis=0), axis=1) > _CORNER
    corners: list[int] = []
    for n in np.flatnonzero(turned):
        corner = int(moving[n + 1])  # beginning of the chord in the new direction: a standstill before has no length
        if corners and far[corner] - far[corners[-1]] <= _SAME * far[-1]:
            corners[-1] = corner  # one corner between two instants
        else:
            corners.append(corner)
    return corners


def _require_reachable(mechanism: Mechanism, path: Path, part: str) -> None:
    sigma = np.concatenate([piece.sigma for piece in path.pieces])
    theta = path.at(sigma).theta
    reached = assemble(mechanism, theta, failures="mark").assembled
    if reached.all():
        return
    n = int(np.flatnonzero(~reached)[0])
    where = values_text(path.coordinates, theta[n])
    raise InputError(
        f"the path leaves the workspace: {where}, after {sigma[n]:.4g} {path.unit} of {path.length:.4g} {path.unit}, "
        "cannot be assembled",
        part=part,
        hint="choose a path that does not reach dead points; `supple assemble --at` reports what locks there",
    )  # fmt: skip


def _part_name(given: Any) -> str:
    return f'path "{given}"' if isinstance(given, str) else "path"


# Coefficients along a path θ(σ), from local models at its configurations.
#
# With t = θ', n = θ'', T = diag(t, I), so that η̇ = (θ̇, δ̇) = T (σ̇, δ̇), and T' = diag(n, 0),
#
#     M → Tᵀ M T          dM/dσ = Tᵀ(∂M[t])T + T'ᵀM T + Tᵀ M T'     ∂M/∂δ_a → Tᵀ(∂M/∂δ_a)T     Γ follows from these
#     p → Tᵀ p            D_d → Tᵀ D_d T       B → Tᵀ B       J → J T       ρ_o(θ(σ)),  Ψ_o,  K: unchanged
#
# The path acts as one more constraint, which does no work. B_σ u is the force that the actuators exert along the path;
# across it the actuators, or a guide, supply the constraint forces. δ moves freely.


def path_layout(layout: RowLayout) -> RowLayout:
    """Return the layout of a row along a path: σ before δ, and θ as the last outputs."""
    n, inputs = layout.shapes["input_map"]
    s, outputs = layout.shapes["dforce_theta"][0], layout.shapes["outputs"][0]
    dry, internal = layout.shapes["friction_map"][0], layout.shapes["squares"][0]
    curved = bool(layout.shapes["mass_curvature"][0])
    return local_layout(n - s + 1, 1, inputs, outputs + s, dry, internal, curved=curved)


def path_rows(rows: Array, layout: RowLayout, curve: Curve) -> Array:
    """Return rows (N, width) with respect to (σ, δ), in `path_layout`, from rows of local models at `curve.theta`."""
    theta, t, n = curve
    full, narrow = layout.split(rows), path_layout(layout)
    narrowed = np.zeros((len(rows), narrow.width))
    parts = narrow.split(narrowed)
    s = t.shape[1]
    T = np.zeros((len(rows), full["M"].shape[1], narrow.shapes["M"][0]))
    T[:, :s, 0], T[:, s:, 1:] = t, np.eye(T.shape[2] - 1)
    turned = np.zeros_like(T)
    turned[:, :s, 0] = n

    def both(matrix: Array) -> Array:
        return np.asarray(np.swapaxes(T, 1, 2) @ matrix @ T)

    def along(slopes: Array) -> Array:
        """Return Σ_k t_k ∂_k of an array with the derivatives over θ in its last axis."""
        return np.einsum("n...k,nk->n...", slopes, t)

    def both_along(matrix: Array, slopes: Array) -> Array:
        half = np.swapaxes(turned, 1, 2) @ matrix @ T
        return both(along(slopes)) + half + np.swapaxes(half, 1, 2)

    parts["M"][:], parts["dM"][..., 0] = both(full["M"]), both_along(full["M"], full["dM"][..., :s])
    for a in range(full["M"].shape[1] - s):
        parts["dM"][..., 1 + a] = both(full["dM"][..., s + a])
    parts["christoffel"][:] = christoffel(parts["dM"])
    if full["mass_curvature"].size:
        parts["mass_curvature"][:, 0, 0] = np.einsum("nijab,ni,nj->nab", full["mass_curvature"], t, t)
    parts["K"][:] = both(full["K"])
    parts["stiffness_slope"][:, 0] = along(np.moveaxis(full["stiffness_slope"], 1, -1))
    parts["damping"][:] = both(full["damping"])
    parts["ddamping"][..., 0] = both_along(full["damping"], full["ddamping"])
    parts["potential"][:] = full["potential"]
    parts["force"][:] = np.einsum("nij,ni->nj", T, full["force"])
    steeper = np.einsum("nij,ni,nj->n", full["dforce_theta"], t, t)
    parts["dforce_theta"][:, 0, 0] = steeper + np.einsum("ni,ni->n", n, full["force"][:, :s])
    parts["force_slope"][:, 0] = along(np.moveaxis(full["force_slope"], 1, -1))
    parts["input_map"][:] = np.swapaxes(T, 1, 2) @ full["input_map"]
    steeper = np.swapaxes(T, 1, 2) @ along(full["dinput_map"]) + np.swapaxes(turned, 1, 2) @ full["input_map"]
    parts["dinput_map"][..., 0] = steeper
    parts["friction_map"][:] = full["friction_map"] @ T
    parts["dfriction_map"][..., 0] = along(full["dfriction_map"]) @ T + full["friction_map"] @ turned
    _outputs(full, parts, theta, t, n)
    for name in ("squares", "overlap", "places"):
        parts[name][:] = full[name]
    return narrowed


def _outputs(full: dict[str, Array], narrow: dict[str, Array], theta: Array, t: Array, n: Array) -> None:
    """Fill ρ_o, its slope and curvature along the path, and Ψ_o; then θ, θ' and θ'' as outputs."""
    rigid, sensed = full["rigid"], full["outputs"].shape[1]
    narrow["outputs"][:] = np.hstack([full["outputs"], theta])
    narrow["rigid"][:, :, 0] = np.hstack([np.einsum("noi,ni->no", rigid, t), t])
    bend = np.einsum("noij,ni,nj->no", full["bend"], t, t) + np.einsum("noi,ni->no", rigid, n)
    narrow["bend"][:, :, 0, 0] = np.hstack([bend, n])
    narrow["modes"][:, :sensed] = full["modes"]
    narrow["modes_slope"][:, :sensed, :, 0] = np.einsum("noak,nk->noa", full["modes_slope"], t)
