"""The reachable position of a place that is nearest to one wanted: Newton's method on the distance, over θ.

    V(θ) = ½ |x(θ) - x_d|²,   ∂V = -Jᵀe,   ∂²V = JᵀJ - e·∂²x,   e = x_d - x

with eigenvalues of ∂²V taken positive and steps shortened until V falls. At the edge of the reach J loses rank, e is
normal to the edge and the curvature of x makes the minimum a regular one. Components that are not those of the position
(an orientation, coordinates that are given) count as much heavier than it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.stats.qmc import Halton

from supple.diagnostics import InputError
from supple.kinematics.closing import close_all, departure
from supple.kinematics.configuration import Configuration
from supple.kinematics.led_place import LedPlace
from supple.kinematics.motion import motion
from supple.kinematics.primitives import row_value

Array = NDArray[np.float64]

_HEAVY = 1e3  # weight of what is not the position
_ITERATIONS = 40
_STEP = 0.5  # rad or extents: longest step of a coordinate
_SHORTEST = 1e-9  # of a step that is still tried
_THERE = 1e-13  # extents
_GAIN = 1e-8  # of the distance: less is not worth another step
_DEAD = 1e-3  # margin of the rows: closer to a dead point no step is tried
_SPREAD = 400  # postures over the reach
_POSITION = ("x", "y", "z")


class Wanted(NamedTuple):
    """What a place is asked for: values (N, s) of the components by name, and R (N, 3, 3) where it is turned."""

    values: Array
    rotations: Array | None

    def of(self, which: NDArray[np.int64]) -> Wanted:
        return Wanted(self.values[which], None if self.rotations is None else self.rotations[which])


class Near(NamedTuple):
    """Where a search ended: poses X, measures w, coordinates θ (N, ...), and e (N, s), weighted, in extents."""

    theta: Array
    X: Array
    w: Array
    error: Array

    def put(self, which: NDArray[np.int64], other: Near, rows: NDArray[np.bool_]) -> None:
        for mine, new in zip(self, other, strict=True):
            mine[which[rows]] = new[rows]


At = Callable[[LedPlace, Array, Wanted], tuple[Near, NDArray[np.bool_]]]
"""The positions at θ, and which of them can be assembled."""


def nearest_reach(place: LedPlace, theta: Array, wanted: Wanted) -> Near:
    """The nearest positions found from θ (N, s), which can be assembled: all of them along θ's segment from rest."""
    return _descended(place, _at(place, theta, wanted)[0], wanted, _at)


def nearest_moved(place: LedPlace, X: Array, wanted: Wanted) -> Near:
    """The nearest position found moving on from poses X (bodies + 1, 12), without a jump, for one that is wanted."""
    arrays, first = place.rest.numbering.arrays, place.rest.numbering.constraints
    rows = range(first, place.rest.numbering.rows)
    w = np.array([row_value(arrays.rows_i, arrays.rows_f, row, X, place.rest.w) for row in rows])
    theta = w[: len(place.names)].copy()
    here = Configuration(place.rest, theta[None], X[None], w[None], np.ones(1))
    state = Near(theta[None], X[None].copy(), w[None], _error(place, here, wanted))

    def moved(place: LedPlace, theta: Array, wanted: Wanted) -> tuple[Near, NDArray[np.bool_]]:
        start = departure(place.rest, arrays, state.X[0].copy(), state.w[0].copy(), count=_ITERATIONS)
        if start is None or start.margin < _DEAD:
            return state, np.zeros(1, bool)
        X, w, reached = close_all(place.rest, np.ascontiguousarray(theta), start, _ITERATIONS)
        error = _error(place, Configuration(place.rest, theta, X, w, reached), wanted)
        return Near(theta.copy(), X, w, error), reached >= 1.0

    return _descended(place, state, wanted, moved)


def _descended(place: LedPlace, here: Near, wanted: Wanted, at: At) -> Near:
    """Newton's method from there, in place."""
    theta = here.theta
    active = np.arange(len(theta))
    reach = np.ones(len(theta))  # of each, how much of Newton's step is tried
    for _ in range(_ITERATIONS):
        active = active[(np.linalg.norm(here.error[active], axis=1) > _THERE) & (reach[active] > _SHORTEST)]
        if len(active) == 0:
            break
        asked = wanted.of(active)
        try:
            step = _newton(place, here, active, asked)
        except (InputError, np.linalg.LinAlgError):
            break
        small = np.abs(step).max(axis=1) < _THERE
        unit = _units(place)
        trial, assembled = at(place, here.theta[active] + reach[active, None] * step * unit, asked)
        before, after = (np.linalg.norm(error, axis=1) for error in (here.error[active], trial.error))
        better = assembled & (after < before)
        here.put(active, trial, better)
        reach[active] = np.where(better, np.minimum(1.0, 4.0 * reach[active]), 0.25 * reach[active])
        reach[active[small | (better & (after > (1.0 - _GAIN) * before))]] = 0.0
    return here


def side(place: LedPlace, X: Array, w: Array) -> Array:
    """(N,) sign of det ∂y/∂θ: it changes where branches meet."""
    J = _moved(place, Configuration(place.rest, w[:, : len(place.names)], X, w, np.ones(len(X))))[0]
    return np.sign(np.linalg.det(J))


def nearest_of(place: LedPlace, wanted: Wanted) -> Array:
    """θ (N, s): of postures spread over the limits, on the side of the rest, those nearest to what is wanted."""
    theta = place.rest.numbering.mechanism.remembered(f"spread {place.names}", lambda: _spread(place))
    X, w, reached = close_all(place.rest, theta)
    here = Configuration(place.rest, theta, X, w, reached)
    found = np.empty((len(wanted.values), theta.shape[1]))
    for n in range(len(found)):
        one = wanted.of(np.full(len(theta), n))
        found[n] = theta[np.argmin(np.linalg.norm(_error(place, here, one), axis=1))]
    return found


def _spread(place: LedPlace) -> Array:
    """θ (K, s) within limits, or half a turn or half the extent to both sides of the rest; the rest among them."""
    mechanism, home = place.rest.numbering.mechanism, place.rest.theta
    low, high = home - 0.5 * _units(place), home + 0.5 * _units(place)
    turning = _units(place) == 1.0
    low[turning], high[turning] = home[turning] - np.pi, home[turning] + np.pi
    for i, name in enumerate(place.rest.numbering.coordinates):
        limits = mechanism.actuators[name].limits if name in mechanism.actuators else None
        if limits is not None:
            low[i], high[i] = limits
    theta = np.vstack([home, low + Halton(len(home), scramble=False).random(_SPREAD) * (high - low)])
    X, w, reached = close_all(place.rest, theta)
    theta, X, w = (part[reached >= 1.0] for part in (theta, X, w))
    return np.ascontiguousarray(theta[side(place, X, w) == side(place, place.rest.X[None], place.rest.w[None])])


def _at(place: LedPlace, theta: Array, wanted: Wanted) -> tuple[Near, NDArray[np.bool_]]:
    """The positions at θ, and which of them can be assembled."""
    X, w, reached = close_all(place.rest, np.ascontiguousarray(theta), rounds=_ITERATIONS)
    here = Configuration(place.rest, theta, X, w, reached)
    return Near(theta.copy(), X, w, _error(place, here, wanted)), reached >= 1.0


def _error(place: LedPlace, here: Configuration, wanted: Wanted) -> Array:
    """e (N, s): how far each component is from what is wanted."""
    P = here.mechanism.plane_axes()
    pose = here.frame(place.place)
    x, R = pose.position @ P, P.T @ pose.rotation @ P
    error = np.empty(wanted.values.shape)
    for i, axis in enumerate(_axes(place)):
        if axis in _POSITION:
            error[:, i] = wanted.values[:, i] - x[:, _POSITION.index(axis)]
        elif axis == "angle":
            error[:, i] = _turn_between(wanted.values[:, i], np.arctan2(R[:, 1, 0], R[:, 0, 0]))
        elif axis == "":
            error[:, i] = wanted.values[:, i] - here.coordinates[place.names[i]]
    if place.turned is not None:
        target = np.broadcast_to(place.orientation, R.shape) if wanted.rotations is None else wanted.rotations
        turn = Rotation.from_matrix(target @ np.swapaxes(R, -1, -2)).as_rotvec()
        error[:, place.turned : place.turned + 3] = turn
    return error * _weights(place)


def _newton(place: LedPlace, here: Near, which: NDArray[np.int64], wanted: Wanted) -> Array:
    """Steps (N, s) of θ in its units, at most _STEP long."""
    w, s = here.w[which], len(place.names)
    at = Configuration(place.rest, here.theta[which], here.X[which], w, np.ones(len(which)))
    J, bend = _moved(place, at)
    weights, unit = _weights(place), _units(place)
    J = J * weights[:, None] * unit
    bend = bend * weights[:, None, None] * unit[:, None] * unit
    error = here.error[which]
    H = np.einsum("nci,ncj->nij", J, J) - np.einsum("nc,ncij->nij", error, bend)
    values, vectors = np.linalg.eigh(0.5 * (H + np.swapaxes(H, 1, 2)))
    floor = 1e-12 * np.abs(values).max(axis=1, keepdims=True) + 1e-300
    along = np.einsum("nij,ni->nj", vectors, np.einsum("nci,nc->ni", J, error)) / np.maximum(np.abs(values), floor)
    step = np.einsum("nij,nj->ni", vectors, along)
    longest = np.abs(step).max(axis=1, keepdims=True)
    assert step.shape[1] == s
    return step * np.minimum(1.0, _STEP / np.maximum(longest, 1e-300))


def _moved(place: LedPlace, here: Configuration) -> tuple[Array, Array]:
    """J (N, c, s) = ∂y/∂θ, and ∂²x (N, c, s, s) of the components of the position; zero of all others."""
    s = len(place.names)
    units = np.eye(s)
    pure = [_rates(place, here, units[j]) for j in range(s)]
    J = np.stack([first for first, _ in pure], axis=-1)
    bend = np.zeros((*J.shape, s))
    for j in range(s):
        bend[:, :, j, j] = pure[j][1]
        for k in range(j):
            both = _rates(place, here, units[j] + units[k])[1]
            bend[:, :, j, k] = bend[:, :, k, j] = 0.5 * (both - pure[j][1] - pure[k][1])
    return J, bend


def _rates(place: LedPlace, here: Configuration, unit: Array) -> tuple[Array, Array]:
    """ẏ (N, c), and ẍ of positions, for constant rates of θ."""
    P = here.mechanism.plane_axes()
    moved = motion(here, np.broadcast_to(unit, here.theta.shape)).frame(place.place)
    v, a, turning = moved.velocity @ P, moved.acceleration @ P, moved.angular_velocity @ P
    rate, second = np.zeros((len(v), len(place.names))), np.zeros((len(v), len(place.names)))
    for i, axis in enumerate(_axes(place)):
        if axis in _POSITION:
            rate[:, i], second[:, i] = (part[:, _POSITION.index(axis)] for part in (v, a))
        elif axis == "angle":
            rate[:, i] = turning[:, 2]
        elif axis == "":
            rate[:, i] = unit[here.rest.numbering.coordinates.index(place.names[i])]
        else:
            rate[:, i] = turning[:, ("rx", "ry", "rz").index(axis)]
    return rate, second


def _axes(place: LedPlace) -> tuple[str, ...]:
    """Which component each name is, positions in the drawing's axes; empty for a coordinate of θ."""
    letters = place.rest.numbering.mechanism.plane
    known = place.rest.numbering.coordinates
    axes = ("" if name in known else name.rpartition(".")[2] for name in place.names)
    return tuple(axis if letters is None or axis not in letters else _POSITION[letters.index(axis)] for axis in axes)


def _weights(place: LedPlace) -> Array:
    """(s,): positions in extents, all others in rad or extents and heavier."""
    extent, angles = float(place.rest.numbering.arrays.extent), _angles(place)
    heavy = np.array([1.0 if axis in _POSITION else _HEAVY for axis in _axes(place)])
    return heavy / np.where(angles, 1.0, extent)


def _angles(place: LedPlace) -> NDArray[np.bool_]:
    numbering = place.rest.numbering
    unit = dict(zip(numbering.coordinates, _units(place) == 1.0, strict=True))
    return np.array([axis not in _POSITION if axis else unit[name]
                     for axis, name in zip(_axes(place), place.names, strict=True)])  # fmt: skip


def _units(place: LedPlace) -> Array:
    """(s,) of θ: 1 rad, or the extent."""
    numbering = place.rest.numbering
    s = len(numbering.coordinates)
    angles = numbering.angles()[numbering.constraints : numbering.constraints + s]
    return np.where(angles, 1.0, float(numbering.arrays.extent))


def _turn_between(wanted: Array, angle: Array) -> Array:
    return (wanted - angle + np.pi) % (2.0 * np.pi) - np.pi
