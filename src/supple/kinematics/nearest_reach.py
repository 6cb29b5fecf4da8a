"""The reachable position of a place that is nearest to one wanted: Newton's method on the distance, over θ.

    V(θ) = ½ |x(θ) - x_d|²,   ∂V = -Jᵀe,   ∂²V = JᵀJ - e·∂²x,   e = x_d - x

with eigenvalues of ∂²V taken positive and steps shortened until V falls. At the edge of the reach J loses rank, e is
normal to the edge and the curvature of x makes the minimum a regular one. Components that are not those of the position
(an orientation, coordinates that are given) count as much heavier than it. J and ∂²x are those of the rigid modes
at hand (9, 10), and every step moves on from where the last one ended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.array_types import Array
from supple.geometry.rotation import skew
from supple.kinematics.closing import close_all, departure
from supple.kinematics.closure_kernel import Start
from supple.kinematics.configuration import Configuration
from supple.kinematics.led_place import LedPlace

_HEAVY = 1e3  # weight of what is not the position
_ITERATIONS = 40
_STEP = 0.5  # rad or extents: longest step of a coordinate
_SHORTEST = 1e-4  # of a step that is still tried; the shortest piece of it that closure tries
_THERE = 1e-13  # extents
_GAIN = 1e-8  # of the distance: less is not worth another step
_DEAD = 1e-3  # margin of the rows: closer to a dead point no step is tried
_POSITION = ("x", "y", "z")


class Wanted(NamedTuple):
    """What a place is asked for: values (N, s) of the components by name, and R (N, 3, 3) where it is turned."""

    values: Array
    rotations: Array | None

    def of(self, which: NDArray[np.int64]) -> Wanted:
        return Wanted(self.values[which], None if self.rotations is None else self.rotations[which])


class Near(NamedTuple):
    """Where a search ended: θ (s,), poses X, measures w, and e (s,), weighted, in extents."""

    theta: Array
    X: Array
    w: Array
    error: Array

    @property
    def distance(self) -> float:
        """In extents."""
        return float(np.linalg.norm(self.error))


def nearest_moved(place: LedPlace, X: Array, w: Array, wanted: Wanted) -> Near:
    """The nearest position found moving on from poses X (bodies + 1, 12) with measures w, for one that is wanted."""
    here = _near(place, X, w, wanted)
    unit, reach = units(place), 1.0
    start = _start(place, here)
    for _ in range(_ITERATIONS):
        if here.distance <= _THERE or reach <= _SHORTEST or start is None or start.margin < _DEAD:
            break
        step = _newton(place, here, start)
        theta = here.theta + reach * step * unit
        X_next, w_next, reached = close_all(place.rest, theta[None], start, _ITERATIONS)
        trial = _near(place, X_next[0], w_next[0], wanted)
        if reached[0] >= 1.0 and trial.distance < here.distance:
            settled = trial.distance > (1.0 - _GAIN) * here.distance
            here, start, reach = trial, _start(place, trial), min(1.0, 4.0 * reach)
            if settled:
                break
        else:
            reach *= 0.25
        if np.abs(step).max() < _THERE:
            break
    return here


def _start(place: LedPlace, here: Near) -> Start | None:
    arrays = place.rest.numbering.arrays
    return departure(place.rest, arrays, here.X.copy(), here.w.copy(), count=_ITERATIONS, shortest=_SHORTEST)


def _near(place: LedPlace, X: Array, w: Array, wanted: Wanted) -> Near:
    theta = w[: len(place.names)].copy()
    return Near(theta, X, w, errors(place, X[None], w[None], wanted)[0])


def side(place: LedPlace, X: Array, w: Array) -> Array:
    """(N,) sign of det ∂y/∂θ: it changes where branches meet; 0 where they do."""
    found = np.zeros(len(X))
    for n in range(len(X)):
        arrays = place.rest.numbering.arrays
        start = departure(place.rest, arrays, X[n].copy(), w[n].copy(), count=len(X))
        found[n] = 0.0 if start is None else np.sign(np.linalg.det(_moved(place, start)[0]))
    return found


def errors(place: LedPlace, X: Array, w: Array, wanted: Wanted) -> Array:
    """e (N, s), weighted: how far each component is from what is wanted, at poses X (N, ...) or one that is wanted."""
    here = Configuration(place.rest, w[:, : len(place.names)], X, w, np.ones(len(X)))
    P = here.mechanism.plane_axes()
    pose = here.frame(place.place)
    x, R = pose.position @ P, P.T @ pose.rotation @ P
    error = np.empty((len(X), len(place.names)))
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


def _newton(place: LedPlace, here: Near, start: Start) -> Array:
    """A step (s,) of θ in its units, at most _STEP long."""
    J, bend = _moved(place, start)
    weights, unit = _weights(place), units(place)
    J = J * weights[:, None] * unit
    bend = bend * weights[:, None, None] * unit[:, None] * unit
    H = J.T @ J - np.einsum("c,cij->ij", here.error, bend)
    values, vectors = np.linalg.eigh(0.5 * (H + H.T))
    floor = 1e-12 * np.abs(values).max() + 1e-300
    step = vectors @ ((vectors.T @ (J.T @ here.error)) / np.maximum(np.abs(values), floor))
    return np.asarray(step * min(1.0, _STEP / max(float(np.abs(step).max()), 1e-300)), dtype=np.float64)


def _moved(place: LedPlace, start: Start) -> tuple[Array, Array]:
    """J (c, s) = ∂y/∂θ, and ∂²x (c, s, s) of the components of the position; zero of all others.

    δ_j p = R (v_j + ω_j × r),   ∂_k δ_j p = R (ω_k × (v_j + ω_j × r) + ∂_k v_j + ∂_k ω_j × r)     [kinematics, 5, 6]
    """
    numbering, s = place.rest.numbering, len(place.names)
    body, r, _ = numbering.place(place.place)
    R = start.X[body, 3:].reshape(3, 3)
    Psi, dPsi = np.zeros((6, s)), np.zeros((6, s * s))
    Psi[numbering.arrays.column], dPsi[numbering.arrays.column] = start.Psi[body], start.dPsi[body]
    arm = skew(r)
    dp = Psi[:3] - arm @ Psi[3:]
    ddp = (dPsi[:3] - arm @ dPsi[3:]).reshape(3, s, s)
    ddp = R @ (ddp + np.cross(Psi[3:].T[None, :, :], dp.T[:, None, :]).transpose(2, 0, 1)).reshape(3, -1)
    ddp = ddp.reshape(3, s, s)
    velocity, turning = R @ dp, R @ Psi[3:]
    J, bend = np.zeros((s, s)), np.zeros((s, s, s))
    for i, axis in enumerate(_axes(place)):
        if axis in _POSITION:
            J[i] = velocity[_POSITION.index(axis)]
            bend[i] = 0.5 * (ddp[_POSITION.index(axis)] + ddp[_POSITION.index(axis)].T)
        elif axis == "angle":
            J[i] = turning[2]
        elif axis == "":
            J[i, numbering.coordinates.index(place.names[i])] = 1.0
        else:
            J[i] = turning[("rx", "ry", "rz").index(axis)]
    return J, bend


def _axes(place: LedPlace) -> tuple[str, ...]:
    """Which component each name is, positions in the drawing's axes; empty for a coordinate of θ."""
    letters = place.rest.numbering.mechanism.plane
    known = place.rest.numbering.coordinates
    axes = ("" if name in known else name.rpartition(".")[2] for name in place.names)
    return tuple(
        axis if letters is None or axis not in (*letters,) else _POSITION[letters.index(axis)] for axis in axes
    )


def _weights(place: LedPlace) -> Array:
    """(s,): positions in extents, all others in rad or extents and heavier."""
    extent, angles = float(place.rest.numbering.arrays.extent), _angles(place)
    heavy = np.array([1.0 if axis in _POSITION else _HEAVY for axis in _axes(place)])
    return heavy / np.where(angles, 1.0, extent)


def _angles(place: LedPlace) -> NDArray[np.bool_]:
    numbering = place.rest.numbering
    unit = dict(zip(numbering.coordinates, units(place) == 1.0, strict=True))
    return np.array([axis not in _POSITION if axis else unit[name]
                     for axis, name in zip(_axes(place), place.names, strict=True)])  # fmt: skip


def units(place: LedPlace) -> Array:
    """(s,) of θ: 1 rad, or the extent."""
    numbering = place.rest.numbering
    s = len(numbering.coordinates)
    angles = numbering.angles()[numbering.constraints : numbering.constraints + s]
    return np.where(angles, 1.0, float(numbering.arrays.extent))


def _turn_between(wanted: Array, angle: Array) -> Array:
    return (wanted - angle + np.pi) % (2.0 * np.pi) - np.pi
