"""Time-optimal motion along a path within bounds of velocities, accelerations, jerks and forces of actuators.

With z = σ̇² as a function of σ the time is ∫ dσ/√z, and all bounds except that of jerks are convex in z [Verscheure
2009]. A feasible solution is improved by linear programs, each about the last solution z̄,

    max Σ ½ Δσ z̄^(-3/2) z   subject to the rows of `PathRows`,   z(0) = z(1) = 0

All solutions keep the bounds of jerks. The time decreases from each to the next until it converges. Nodes are dense at
both ends, where σ ~ t³ (t² without bounds of jerks), so that they are about evenly spaced in time. In time σ̈ is linear
between the midpoints of the nodes. If the result exceeds a bound, the motion is slowed down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import BSpline, PPoly, make_interp_spline
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, hstack, vstack

from supple.array_types import Array
from supple.control.feedforward.reference import Reference, reference
from supple.control.gains.feedback_gain import PerCoordinate, per_coordinate
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError, require_known
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.equations.equations_of_motion import EquationsOfMotion
from supple.formats.model_description import restore_mechanism
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel
from supple.results.units import UNKNOWN
from supple.systems.protocols import system_of
from supple.time_functions.function_of_time import Trajectory

_NODES = 160
_PROGRAMS = 40
_GAINED = 1e-4  # of the time: change at convergence
_TIGHTENED = 3  # times that bounds of jerks are tightened
_FURTHEST = 3.0  # largest factor of z in one program
_FINE = 4  # pieces of the result between nodes
_STEP = 1.01  # factor of the duration until forces are kept
_SLOWEST = 2.0
_SLOWED = 30  # times that the duration grows by a half before the path is infeasible: 2e5 s


def timed_path(
    path: Any,
    of: Mechanism | ReducedModel,
    *,
    velocity: PerCoordinate | None = None,
    acceleration: PerCoordinate | None = None,
    jerk: PerCoordinate | None = None,
    forces: bool | Mapping[str, tuple[float, float]] = True,
) -> Reference:
    """Return the fastest motion along a path, from rest to rest, within bounds.

    Parameters
    ----------
    path : array_like of shape (P, s), str, Motion, Trajectory or Reference
        Points of θ that a smooth path passes through, rad or m; or a motion as in `reference`.

        The timing of a motion is discarded, except for its stops.
    of : Mechanism or ReducedModel
        Mechanism or reduced model that gives coordinates and forces; elastic bodies are treated as rigid.
    velocity : float, mapping of str to float, or array_like, optional
        Bounds of the velocities, rad/s or m/s; one for all, by name, or in order. Default: none.
    acceleration : float, mapping of str to float, or array_like, optional
        Bounds of the accelerations, rad/s² or m/s². Default: none.
    jerk : float, mapping of str to float, or array_like, optional
        Bounds of the jerks, rad/s³ or m/s³. Default: none.
    forces : bool or mapping of str to (float, float), optional
        Bounds of the forces of actuators, N or N m: `force_limits` of the mechanism file (True), given ones
        {actuator: (lower, upper)}, or none (False). Default: True.

        Redundant actuators share the forces as the bounds require; dry friction is not included.

    Returns
    -------
    Reference
        Motion along the path.

    Raises
    ------
    InputError
        If nothing bounds the accelerations, or the forces at rest exceed their bounds.
    NumericalError
        If the forces cannot be kept.

    See Also
    --------
    shaped : Motion without residual vibration.

    Notes
    -----
    Sequence of linear programs in z = σ̇² [Verscheure 2009]; docs/theory/feedforward.md.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> arm = supple.load("two-link")
    >>> motion = control.timed_path([[0.0, 0.0], [0.5, 0.5]], arm, velocity=2.0, acceleration=10.0, forces=False)
    >>> round(motion.end, 1)
    0.5
    """
    require_arguments(timed_path, locals())
    names = system_of(of).rigid_coordinates
    values = [
        np.full(len(names), np.inf) if given is None else _positive(part, per_coordinate(part, given, names))
        for part, given in (("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk))
    ]
    bounds = Bounds(values[0], values[1], values[2], force_limits(of, forces))
    if not np.isfinite(bounds.acceleration).any() and bounds.forces is None:
        raise InputError(
            "the accelerations are unbounded, so that the motion would take no time", part="path",
            hint="give acceleration=, or force_limits of the actuators",
        )  # fmt: skip
    distribution = _NodeDistribution(2 if np.isfinite(bounds.jerk).any() else 1)
    clock = 0.0
    parts: list[tuple[Array, ...]] = []
    for curve in smooth_pieces(path, of):
        rows = PathRows(curve, distribution.nodes(_NODES), bounds, of)
        z = _fastest(rows, _slow(rows, distribution))
        for _ in range(_TIGHTENED if distribution.power > 1 else 0):
            rows.ease = _tighten_jerks(rows, z)
            z = _fastest(rows, z)
        t, course = _within(rows, z, of)
        inside = slice(1 if parts else 0, None)
        parts.append((clock + t[inside], *(part[inside] for part in course)))
        clock += float(t[-1])
    time, theta, rates, accelerations = (np.concatenate(column) for column in zip(*parts, strict=True))
    units = of.units if isinstance(of, ReducedModel) else UNKNOWN
    return Trajectory(names, time, theta, rates, accelerations, units).function


def _positive(part: str, values: Array) -> Array:
    if not (values > 0.0).all():
        raise InputError(f"must be positive (got {values.min():g})", part=part, hint="give bounds above 0")
    return values


class _NodeDistribution(NamedTuple):
    """Distribution of nodes σ = g(x), g' ~ x^p (1 - x)^p: p = 2 if jerks are bounded, else 1."""

    power: int

    @property
    def polynomial(self) -> Polynomial:
        whole = (Polynomial([0.0, 1.0, -1.0]) ** self.power).integ()
        return whole / whole(1.0)

    def nodes(self, count: int) -> Array:
        sigma = self.polynomial(np.linspace(0.0, 1.0, count + 1))
        sigma[[0, -1]] = 0.0, 1.0
        return np.asarray(sigma)


def _tighten_jerks(rows: PathRows, z: Array) -> Array:
    """Return tighter bounds of jerks, by the excess of the motion in time: steps are coarse where jerks jump."""
    _, s0, s1, s2, s3 = _in_time(rows, z)
    d1, d2, d3 = (rows.curve(np.clip(s0, 0.0, 1.0), k) for k in (1, 2, 3))
    jerks = np.abs(d1 * s3[:, None] + 3.0 * d2 * (s1 * s2)[:, None] + d3 * s1[:, None] ** 3)
    over = (jerks / rows.bounds.jerk).max(axis=1)[:-1].reshape(-1, _FINE).max(axis=1)  # of each piece, about one node
    found = rows.ease.copy()
    found[1:-1] /= np.maximum(over, 1.0)
    return found


def _fastest(rows: PathRows, z: Array) -> Array:
    """Return z at the nodes by linear programs, from one that keeps the bounds."""
    time = np.inf
    for _ in range(_PROGRAMS):
        better = _program(rows, z)
        if better is None:
            break
        z, last, time = better, time, _duration(rows, better)
        if last - time <= _GAINED * time:
            break
    return z


def _slow(rows: PathRows, distribution: _NodeDistribution) -> Array:
    """Return z of σ = g(t/T), slow enough to keep all bounds."""
    x = np.linspace(0.0, 1.0, len(rows.nodes))
    shape = distribution.polynomial.deriv()(x) ** 2
    shape[[0, -1]] = 0.0
    T = 1.0
    for _ in range(_SLOWED):
        z = shape / T**2
        if _check_bounds(rows, z):
            return z
        T *= 1.5
    raise InputError(
        "the path cannot be followed at any speed: the forces at rest exceed their bounds", part="path",
        hint="raise force_limits, or keep the path where they are sufficient",
    )  # fmt: skip


def _check_bounds(rows: PathRows, z: Array) -> bool:
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


def _program(rows: PathRows, current: Array, fixed: bool = False) -> Array | None:
    """Return the best z about z̄, or None if there is none; fixed : check the forces at z̄ itself."""
    count = len(current)
    scale = np.where(current > 0.0, current, 1.0)
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
    P, Q, r = rows.forces(current)
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
    """Return times, and σ, σ̇, σ̈, σ⃛ there: σ̈ is linear between the midpoints of the nodes' times."""
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
    first, position = second.antiderivative(1), second.antiderivative(2)
    T = float(times[-1])
    # The residual at the end, of the order of a step squared, is removed along a polynomial.
    off, drift = 1.0 - float(position(T)), -float(first(T))
    blend = PPoly(
        np.array([[6.0 * off - 3.0 * drift * T], [-15.0 * off + 7.0 * drift * T], [10.0 * off - 4.0 * drift * T],
                  [0.0], [0.0], [0.0]]) / T ** np.arange(5.0, -1.0, -1.0)[:, None], [0.0, T],
    )  # fmt: skip
    fine = np.concatenate([times[:-1, None] + np.diff(times)[:, None] * np.arange(_FINE) / _FINE]).ravel()
    fine = np.append(fine, T)
    third = np.append(np.repeat(second.c[0], _FINE), second.c[0, -1]) + blend(fine, 3)
    return fine, position(fine) + blend(fine), first(fine) + blend(fine, 1), second(fine) + blend(fine, 2), third


def _within(rows: PathRows, z: Array, of: Mechanism | ReducedModel) -> tuple[Array, tuple[Array, Array, Array]]:
    """Return times, and θ, θ̇, θ̈ there, slowed down until every bound is kept."""
    t, s0, s1, s2, _ = _in_time(rows, z)
    d0, d1, d2 = (rows.curve(np.clip(s0, 0.0, 1.0), k) for k in range(3))
    rates, accelerations = d1 * s1[:, None], d1 * s2[:, None] + d2 * s1[:, None] ** 2
    names = tuple(str(k) for k in range(d0.shape[1]))
    motion = Trajectory(names, t, d0, rates, accelerations).function
    sampled = motion.sample((t[:-1, None] + np.diff(t)[:, None] * np.array([1e-6, 0.5, 1.0 - 1e-6])).ravel())
    bounds = (rows.bounds.velocity, rows.bounds.acceleration, rows.bounds.jerk)
    pace = max(1.0, *(float((np.abs(sampled[:, k + 1]) / bounds[k]).max()) ** (1.0 / (k + 1)) for k in range(3)))
    while not _forces_kept(rows.bounds, of, sampled[:, 0], sampled[:, 1] / pace, sampled[:, 2] / pace**2):
        pace *= _STEP
        if pace > _SLOWEST:
            raise NumericalError(
                "the bounds of the forces are exceeded", part="path", hint="raise force_limits a little"
            )
    return t * pace, (d0, rates / pace, accelerations / pace**2)


def _forces_kept(
    bounds: Bounds, of: Mechanism | ReducedModel, theta: Array, rates: Array, accelerations: Array
) -> bool:
    if bounds.forces is None:
        return True
    here = equations_at(of, theta)
    B, Q = here.input_map[:, : theta.shape[1]], forces_without_friction(here, rates, accelerations)
    if B.shape[2] > B.shape[1]:  # redundant actuators: the program has distributed the forces
        return True
    u = np.linalg.solve(B, Q[..., None])[..., 0]
    room = 1e-6 * np.abs(u).max()
    return bool((u >= bounds.forces[:, 0] - room).all() and (u <= bounds.forces[:, 1] + room).all())


# Geometric paths in θ: θ(σ), 0 ≤ σ ≤ 1, and its derivatives.


_INSTANTS = 4001  # samples of a motion
_POINTS = 121  # of a piece, evenly spaced along it
_STILL = 1e-5  # of the largest speed: slower motion is a stop


def smooth_pieces(path: Any, of: Mechanism | ReducedModel) -> list[BSpline]:
    """Return θ(σ) of the pieces of a path between stops, each a spline over 0 ... 1.

    path : points (P, s) that a smooth path passes through, in order; or a motion as in `reference`, without its timing
    """
    names = system_of(of).rigid_coordinates
    if not isinstance(path, np.ndarray | list | tuple):
        found = reference(path, of)
        if not isinstance(found, Reference):
            raise InputError(
                "a callable motion has no end", part="path", hint="give reference(motion, model, until=...)"
            )
        return _of_motion(found)
    points = real_numbers("path", path, finite=False)
    if points.ndim != 2 or points.shape[1] != len(names) or len(points) < 2 or not np.isfinite(points).all():
        raise InputError(
            f"points of shape {points.shape} for the coordinates {', '.join(names)}", part="path",
            hint=f"give at least two finite points (P, {len(names)})",
        )  # fmt: skip
    size = np.maximum(np.ptp(points, axis=0), 1e-12)
    length = np.linalg.norm(np.diff(points, axis=0) / size, axis=1)
    if not length.all():
        raise InputError("two consecutive points are equal", part="path", hint="remove one of them")
    sigma = np.concatenate([[0.0], np.cumsum(length)]) / length.sum()
    return [make_interp_spline(sigma, points, k=_degree(len(points)))]


def _of_motion(motion: Reference) -> list[BSpline]:
    times = np.linspace(motion.begin, motion.end, _INSTANTS)
    course = motion.sample(times)
    size = np.ptp(course[:, 0], axis=0)
    if not size.any():
        raise InputError("the path has no length", part="path", hint="give different points, or a motion that moves")
    speed = np.linalg.norm(course[:, 1] / np.where(size > 0.0, size, np.inf), axis=1)
    moving = np.concatenate([[False], speed > _STILL * speed.max(), [False]])
    edges = np.flatnonzero(np.diff(moving.astype(int)))
    pieces = []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        inside = slice(max(first - 1, 0), min(last + 1, len(times)))
        t, v = times[inside], speed[inside]
        length = np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(t))])
        at = np.interp(np.linspace(0.0, length[-1], _POINTS), length, t)
        theta = motion.sample(at)[:, 0]
        way = np.linalg.norm(np.diff(theta, axis=0) / np.where(size > 0.0, size, np.inf), axis=1)
        sigma = np.concatenate([[0.0], np.cumsum(way)]) / way.sum()
        pieces.append(make_interp_spline(sigma, theta, k=_degree(len(theta))))
    return pieces


def _degree(points: int) -> int:
    return 5 if points >= 6 else 3 if points >= 4 else points - 1


# Bounds along a path as linear rows in z = σ̇² at its nodes.
#
#     θ̇ = θ' √z,   θ̈ = θ' a + θ'' z,   θ⃛ = √z (θ' a' + 3 θ'' a + θ''' z),   a = σ̈ = z'/2
#     B u = m a + c z + d √z + g,   m = M θ',  c = M θ'' + Γ[θ', θ'],  d = D θ'
#
# Between nodes a is constant, a = (z_{i+1} - z_i)/2Δσ; accelerations and forces are bounded at the midpoints, jerks at
# the nodes. Nonlinear terms are linearized at z̄, the last solution, on the safe side: 1/√z from below for
# jerks, so that a solution that keeps the rows keeps the bounds.


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the motion along a path.

    velocity, acceleration, jerk : (s,), inf where there is none
    forces : lower and upper (a, 2), or None
    """

    velocity: Array
    acceleration: Array
    jerk: Array
    forces: Array | None = None


def equations_at(of: Mechanism | ReducedModel, theta: Array) -> EquationsOfMotion:
    """Return the equations of motion at θ (N, s) with elastic bodies treated as rigid (a flexible model at δ = 0)."""
    points = np.ascontiguousarray(theta)
    return of.evaluate(points) if isinstance(of, ReducedModel) else local(of, points, rigid=True)


def forces_without_friction(here: EquationsOfMotion, rates: Array, accelerations: Array) -> Array:
    """Return the forces along θ (N, s) without dry friction."""
    s, n = rates.shape[1], len(here.coordinates)
    v, a = (np.hstack([part, np.zeros((len(part), n - s))]) for part in (rates, accelerations))
    return here.required_forces(v, a)[:, :s]


class PathRows:
    """Rows of the linear programs of one piece of a path, at nodes σ (N + 1,)."""

    def __init__(self, curve: BSpline, nodes: Array, bounds: Bounds, of: Mechanism | ReducedModel):
        self.nodes, self.bounds, self.curve = nodes, bounds, curve
        self.width = np.diff(nodes)
        self.ease = np.ones(len(nodes))  # factor of the bounds of jerks, below 1 where steps are too coarse for them
        self.middle = 0.5 * (nodes[:-1] + nodes[1:])
        count = len(nodes)
        i = np.arange(count - 1)
        half = 0.5 / self.width
        self._a = csr_array((np.r_[-half, half], (np.r_[i, i], np.r_[i, i + 1])), shape=(count - 1, count))
        self._z = csr_array((np.full(2 * count - 2, 0.5), (np.r_[i, i], np.r_[i, i + 1])), shape=(count - 1, count))
        if bounds.forces is not None:
            self._forces(of)

    def _forces(self, of: Mechanism | ReducedModel) -> None:
        """Set m, c, d, g (N, s) and B (N, s, a) at the midpoints, from required forces at three states."""
        theta, first, second = (self.curve(self.middle, k) for k in range(3))
        here, none = equations_at(of, theta), np.zeros_like(theta)
        g = forces_without_friction(here, none, none)
        m = forces_without_friction(here, none, first) - g
        forth, back = (
            forces_without_friction(here, first, second) - g,
            forces_without_friction(here, -first, second) - g,
        )
        s = theta.shape[1]
        self.force_parts = (m, 0.5 * (forth + back), 0.5 * (forth - back), g)
        self.input_map = here.input_map[:, :s]

    def largest(self) -> Array:
        """Return the largest z (N + 1,) for the velocities; next to the ends also for the jerk.

        Next to the ends σ = j t³/6, z = ¼ j² (6 σ/j)^(4/3).
        """
        first = np.abs(self.curve(self.nodes, 1))
        with np.errstate(divide="ignore"):
            z = ((self.bounds.velocity / first) ** 2).min(axis=1)
            for end, beside in ((0, 1), (-1, -2)):
                j = float((self.bounds.jerk / first[end]).min() * self.ease[beside])
                if np.isfinite(j):
                    way = abs(self.nodes[beside] - self.nodes[end])
                    z[beside] = min(z[beside], 0.25 * j**2 * (6.0 * way / j) ** (4.0 / 3.0))
        return np.asarray(z)

    def accelerations(self) -> tuple[csr_array, Array]:
        """Return rows A and right sides b of A z ≤ b."""
        rows, right = [], []
        first, second = self.curve(self.middle, 1), self.curve(self.middle, 2)
        for i, bound in enumerate(self.bounds.acceleration):
            if np.isfinite(bound):
                row = _times(first[:, i], self._a) + _times(second[:, i], self._z)
                rows += [row, -row]
                right += [np.full(len(self.middle), bound)] * 2
        return _stack_rows(rows, right, len(self.nodes))

    def jerks(self, current: Array) -> tuple[csr_array, Array]:
        """Return the rows of θ' a' + 3 θ'' a + θ''' z ≤ J/√z.

        The right side lies above its tangent (3 - z/z̄) J/2√z̄, which replaces it.
        """
        inner = np.arange(1, len(self.nodes) - 1)
        first, second, third = (self.curve(self.nodes[inner], k) for k in (1, 2, 3))
        apart = np.diff(self.middle)
        after, before = self._a[inner], self._a[inner - 1]
        change, mean = _times(1.0 / apart, after - before), 0.5 * (after + before)
        here = csr_array((np.ones(len(inner)), (np.arange(len(inner)), inner)), shape=(len(inner), len(self.nodes)))
        root = np.sqrt(current[inner])
        rows, right = [], []
        for i, bound in enumerate(self.bounds.jerk):
            if np.isfinite(bound):
                row = _times(first[:, i], change) + _times(3.0 * second[:, i], mean) + _times(third[:, i], here)
                most = bound * self.ease[inner]
                tangent = _times(0.5 * most / current[inner], here)
                rows += [_times(root, row) + tangent, -_times(root, row) + tangent]
                right += [1.5 * most] * 2
        return _stack_rows(rows, right, len(self.nodes))

    def forces(self, current: Array) -> tuple[csr_array, csr_array, Array]:
        """Return rows P, Q with P z + Q u = r, u (N a,): at each midpoint, with d √z replaced by its tangent."""
        m, c, d, g = self.force_parts
        root = np.sqrt(np.maximum(self._z @ current, 1e-300))
        N, s, a = self.input_map.shape
        P = vstack(
            [_times(m[:, i], self._a) + _times(c[:, i] + 0.5 * d[:, i] / root, self._z) for i in range(s)]
        ).tocsr()
        k = np.arange(N)
        Q = vstack(
            [
                csr_array(
                    (-self.input_map[:, i].ravel(), (np.repeat(k, a), (k[:, None] * a + np.arange(a)).ravel())),
                    shape=(N, N * a),
                )
                for i in range(s)
            ]
        ).tocsr()
        return P, Q, -(g + 0.5 * d * root[:, None]).T.ravel()


def force_limits(of: Mechanism | ReducedModel, given: bool | Mapping[str, tuple[float, float]]) -> Array | None:
    """Return the limits of forces (a, 2) in the order of the inputs; None if there are none."""
    if given is False:
        return None
    mechanism = restore_mechanism(of) if isinstance(of, ReducedModel) else of
    names = system_of(of).inputs
    limits = {name: one.force_limits for name, one in mechanism.actuators.items()}
    if isinstance(given, Mapping):
        for name in given:
            require_known("actuator", name, names, part="forces")
        limits = dict(given)
    found = np.array([limits.get(name) or (-np.inf, np.inf) for name in names], dtype=float)
    if not (found[:, 0] <= found[:, 1]).all():
        raise InputError("a lower limit is above the upper one", part="forces", hint="give (lower, upper)")
    return found if np.isfinite(found).any() else None


def _times(factors: Array, rows: csr_array) -> csr_array:
    """Multiply each row by its factor."""
    return csr_array(rows.multiply(np.asarray(factors)[:, None]))


def _stack_rows(rows: list[csr_array], right: list[Array], width: int) -> tuple[csr_array, Array]:
    if not rows:
        return csr_array((0, width)), np.zeros(0)
    return csr_array(vstack(rows)), np.concatenate(right)
