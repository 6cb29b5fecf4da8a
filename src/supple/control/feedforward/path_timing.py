"""The fastest way along a path within bounds on velocities, accelerations, jerks and forces of actuators.

With z = σ̇² as a function of σ the time is ∫ dσ/√z, and all bounds but that on jerks are convex in z [Verscheure 2009].
A feasible way is improved by linear programs, each about the last solution z̄,

    max Σ ½ Δσ z̄^(-3/2) z   subject to the rows of `PathRows`,   z(0) = z(1) = 0

whose solutions all keep the bounds on jerks, and the time falls from each to the next until nothing is gained. Nodes
crowd at both ends, where σ ~ t³ (t² without bounds on jerks), so that they are about equally far apart in time. In time
σ̈ is linear between the middles of the nodes. What that exceeds is slowed down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import BSpline, PPoly, make_interp_spline
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, hstack, vstack

from supple.array_types import Array
from supple.control.feedforward.path_bounds import Bounds, PathRows, equations_at, force_limits, required
from supple.control.feedforward.reference import Reference, coordinates_of, reference, through
from supple.control.gains.decoupled_gains import PerCoordinate, per_coordinate
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.reduced.model import ReducedModel
from supple.results.units import UNKNOWN
from supple.trajectories.trajectory import Trajectory

_NODES = 160
_PROGRAMS = 40
_GAINED = 1e-4  # of the time: less is nothing
_TIGHTENED = 3  # times
_FURTHEST = 3.0  # by which z may grow in one program
_FINE = 4  # pieces of the result between nodes
_STEP = 1.01  # by which the way is slowed until forces are kept
_SLOWEST = 2.0
_SLOWED = 30  # times by a half, until it is said that no way is slow enough: 2e5 s


def timed_path(
    path: Any,
    of: Mechanism | ReducedModel,
    *,
    velocity: PerCoordinate | None = None,
    acceleration: PerCoordinate | None = None,
    jerk: PerCoordinate | None = None,
    forces: bool | Mapping[str, tuple[float, float]] = True,
) -> Reference:
    """A path from rest to rest as fast as the bounds allow.

    path     : points (P, s) of θ through which it goes smoothly; or a motion as `reference` takes it, whose time is
               forgotten, but not its stops
    of       : the mechanism or its reduced model, for coordinates and forces; elastic parts as if they were rigid
    velocity, acceleration, jerk : one number, or one for each coordinate, rad or m per s, s², s³
    forces   : True: `force_limits` of the actuators in the mechanism file; {actuator: (least, largest)}; False: none.
               Of more actuators than coordinates they are divided as the bounds need; dry friction is left out
    """
    require_arguments(timed_path, locals())
    names = coordinates_of(of)
    values = [
        np.full(len(names), np.inf) if given is None else _positive(part, per_coordinate(part, given, names))
        for part, given in (("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk))
    ]
    bounds = Bounds(values[0], values[1], values[2], force_limits(of, forces))
    if not np.isfinite(bounds.acceleration).any() and bounds.forces is None:
        raise InputError(
            "nothing bounds its accelerations, and it would take no time", part="path",
            hint="give acceleration=, or force_limits of the actuators",
        )  # fmt: skip
    crowded = _Crowded(2 if np.isfinite(bounds.jerk).any() else 1)
    clock = 0.0
    parts: list[tuple[Array, ...]] = []
    for curve in smooth_pieces(path, of):
        rows = PathRows(curve, crowded.nodes(_NODES), bounds, of)
        z = _fastest(rows, _slow(rows, crowded))
        for _ in range(_TIGHTENED if crowded.power > 1 else 0):
            rows.ease = _eased(rows, z)
            z = _fastest(rows, z)
        t, course = _within(rows, z, of)
        inside = slice(1 if parts else 0, None)
        parts.append((clock + t[inside], *(part[inside] for part in course)))
        clock += float(t[-1])
    time, theta, rates, accelerations = (np.concatenate(column) for column in zip(*parts, strict=True))
    units = of.units if isinstance(of, ReducedModel) else UNKNOWN
    return through(Trajectory(names, time, theta, rates, accelerations, units))


def _positive(part: str, values: Array) -> Array:
    if not (values > 0.0).all():
        raise InputError(f"it is {values.min():g}", part=part, hint="give bounds above 0")
    return values


class _Crowded(NamedTuple):
    """σ = g(x), g' ~ x^p (1 - x)^p: p = 2 where jerks are bounded, else 1."""

    power: int

    @property
    def polynomial(self) -> Polynomial:
        whole = (Polynomial([0.0, 1.0, -1.0]) ** self.power).integ()
        return whole / whole(1.0)

    def nodes(self, count: int) -> Array:
        sigma = self.polynomial(np.linspace(0.0, 1.0, count + 1))
        sigma[[0, -1]] = 0.0, 1.0
        return np.asarray(sigma)


def _eased(rows: PathRows, z: Array) -> Array:
    """The bounds on jerks, tightened by what the motion in time exceeds them: steps are coarse where jerks jump."""
    _, s0, s1, s2, s3 = _in_time(rows, z)
    d1, d2, d3 = (rows.curve(np.clip(s0, 0.0, 1.0), k) for k in (1, 2, 3))
    jerks = np.abs(d1 * s3[:, None] + 3.0 * d2 * (s1 * s2)[:, None] + d3 * s1[:, None] ** 3)
    over = (jerks / rows.bounds.jerk).max(axis=1)[:-1].reshape(-1, _FINE).max(axis=1)  # of each piece, about one node
    found = rows.ease.copy()
    found[1:-1] /= np.maximum(over, 1.0)
    return found


def _fastest(rows: PathRows, z: Array) -> Array:
    """z at the nodes, from one that keeps the bounds, by linear programs."""
    time = np.inf
    for _ in range(_PROGRAMS):
        better = _program(rows, z)
        if better is None:
            break
        z, last, time = better, time, _duration(rows, better)
        if last - time <= _GAINED * time:
            break
    return z


def _slow(rows: PathRows, crowded: _Crowded) -> Array:
    """σ = g(t/T), slow enough to keep all bounds."""
    x = np.linspace(0.0, 1.0, len(rows.nodes))
    shape = crowded.polynomial.deriv()(x) ** 2
    shape[[0, -1]] = 0.0
    T = 1.0
    for _ in range(_SLOWED):
        z = shape / T**2
        if _kept(rows, z):
            return z
        T *= 1.5
    raise InputError(
        "it cannot be followed however slowly: the forces at rest are beyond their bounds", part="path",
        hint="raise force_limits, or keep it where they suffice",
    )  # fmt: skip


def _kept(rows: PathRows, z: Array) -> bool:
    inner = np.maximum(z, 1e-300)
    checks = [(z - rows.largest())[1:-1], _over(rows.accelerations(), z)]
    checks.append(_over(rows.jerks(np.where(z > 0.0, z, 1.0)), z))
    if any(len(check) and check.max() > 0.0 for check in checks):
        return False
    if rows.bounds.forces is None:
        return True
    return _program(rows, inner, fixed=True) is not None


def _over(rows: tuple[csr_array, Array], z: Array) -> Array:
    return np.asarray(rows[0] @ z - rows[1])


def _program(rows: PathRows, near: Array, fixed: bool = False) -> Array | None:
    """The best z about z̄, in units of z̄; None where there is none. fixed : at z̄ itself, whether forces suffice."""
    count = len(near)
    scale = np.where(near > 0.0, near, 1.0)
    with np.errstate(divide="ignore"):
        most = np.minimum(rows.largest() / scale, _FURTHEST)
    span = np.stack([np.full(count, 1.0 / _FURTHEST), most], axis=1)
    span[[0, -1]] = 0.0
    if fixed:
        span[1:-1] = 1.0
    between = np.zeros(count)
    between[1:-1] = 0.5 * (rows.nodes[2:] - rows.nodes[:-2])
    gain = np.where(between > 0.0, -between / np.sqrt(scale), 0.0)
    tables = [rows.accelerations(), rows.jerks(scale)] if not fixed else []
    A = csr_array(vstack([table[0] for table in tables])) if tables else csr_array((0, count))
    b = np.concatenate([table[1] for table in tables]) if tables else np.zeros(0)
    A = csr_array(A.multiply(scale[None, :]))
    size = np.maximum(np.abs(b), 1e-300)
    A, b = csr_array(A.multiply(1.0 / size[:, None])), b / size
    if rows.bounds.forces is None:
        found = linprog(gain, A_ub=A if len(b) else None, b_ub=b if len(b) else None, bounds=span, method="highs")
        return None if found.x is None else np.asarray(found.x * scale)
    P, Q, r = rows.forces(near)
    extra = Q.shape[1]
    limits = np.tile(rows.bounds.forces, (len(rows.middle), 1))
    unit = np.maximum(np.abs(r).max(initial=0.0), 1.0)
    equal = hstack([csr_array(P.multiply(scale[None, :])) / unit, Q / unit])
    wide = block_array([[A, csr_array((A.shape[0], extra))]]) if len(b) else None
    found = linprog(
        np.concatenate([gain, np.zeros(extra)]), A_ub=wide, b_ub=b if len(b) else None, A_eq=equal, b_eq=r / unit,
        bounds=np.vstack([span, limits]), method="highs",
    )  # fmt: skip
    return None if found.x is None else np.asarray(found.x[:count] * scale)


def _duration(rows: PathRows, z: Array) -> float:
    return float((2.0 * rows.width / (np.sqrt(z[1:]) + np.sqrt(z[:-1]))).sum())


def _in_time(rows: PathRows, z: Array) -> tuple[Array, ...]:
    """Times, and σ, σ̇, σ̈, σ⃛ there: σ̈ is linear between the middles of the nodes' times."""
    root = np.sqrt(z)
    steps = 2.0 * rows.width / (root[1:] + root[:-1])
    a = np.diff(z) / (2.0 * rows.width)
    smooth = bool(np.isfinite(rows.bounds.jerk).any())
    if smooth:  # σ = j t³/6 in the first and in the last step
        steps[[0, -1]] *= 1.5
    nodes = np.concatenate([[0.0], np.cumsum(steps)])
    times = 0.5 * (nodes[1:] + nodes[:-1])
    inside = slice(1, -1) if smooth else slice(None)
    first_last = [0.0, 0.0] if smooth else [a[0], a[-1]]
    times = np.concatenate([nodes[:1], times[inside], nodes[-1:]])
    values = np.concatenate([first_last[:1], a[inside], first_last[1:]])
    second = PPoly(np.stack([np.diff(values) / np.diff(times), values[:-1]]), times)
    first, way = second.antiderivative(1), second.antiderivative(2)
    T = float(times[-1])
    # What is left at the end, of the order of a step squared, goes away along a polynomial.
    off, drift = 1.0 - float(way(T)), -float(first(T))
    blend = PPoly(
        np.array([[6.0 * off - 3.0 * drift * T], [-15.0 * off + 7.0 * drift * T], [10.0 * off - 4.0 * drift * T],
                  [0.0], [0.0], [0.0]]) / T ** np.arange(5.0, -1.0, -1.0)[:, None], [0.0, T],
    )  # fmt: skip
    fine = np.concatenate([times[:-1, None] + np.diff(times)[:, None] * np.arange(_FINE) / _FINE]).ravel()
    fine = np.append(fine, T)
    third = np.append(np.repeat(second.c[0], _FINE), second.c[0, -1]) + blend(fine, 3)
    return fine, way(fine) + blend(fine), first(fine) + blend(fine, 1), second(fine) + blend(fine, 2), third


def _within(rows: PathRows, z: Array, of: Mechanism | ReducedModel) -> tuple[Array, tuple[Array, Array, Array]]:
    """Times, and θ, θ̇, θ̈ there, slowed down until every bound is kept."""
    t, s0, s1, s2, _ = _in_time(rows, z)
    d0, d1, d2 = (rows.curve(np.clip(s0, 0.0, 1.0), k) for k in range(3))
    rates, accelerations = d1 * s1[:, None], d1 * s2[:, None] + d2 * s1[:, None] ** 2
    names = tuple(str(k) for k in range(d0.shape[1]))
    made = through(Trajectory(names, t, d0, rates, accelerations))
    seen = made.sampled((t[:-1, None] + np.diff(t)[:, None] * np.array([1e-6, 0.5, 1.0 - 1e-6])).ravel())
    bounds = (rows.bounds.velocity, rows.bounds.acceleration, rows.bounds.jerk)
    pace = max(1.0, *(float((np.abs(seen[:, k + 1]) / bounds[k]).max()) ** (1.0 / (k + 1)) for k in range(3)))
    while not _forces_kept(rows.bounds, of, seen[:, 0], seen[:, 1] / pace, seen[:, 2] / pace**2):
        pace *= _STEP
        if pace > _SLOWEST:
            raise NumericalError("the forces could not be kept", part="path", hint="raise force_limits a little")
    return t * pace, (d0, rates / pace, accelerations / pace**2)


def _forces_kept(
    bounds: Bounds, of: Mechanism | ReducedModel, theta: Array, rates: Array, accelerations: Array
) -> bool:
    if bounds.forces is None:
        return True
    here = equations_at(of, theta)
    B, Q = here.input_map[:, : theta.shape[1]], required(here, rates, accelerations)
    if B.shape[2] > B.shape[1]:  # more actuators than coordinates: the program has divided them
        return True
    u = np.linalg.solve(B, Q[..., None])[..., 0]
    room = 1e-6 * np.abs(u).max()
    return bool((u >= bounds.forces[:, 0] - room).all() and (u <= bounds.forces[:, 1] + room).all())


# Paths in θ without time: θ(σ), 0 ≤ σ ≤ 1, and its derivatives.


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
