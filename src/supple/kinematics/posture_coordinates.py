"""θ of a posture as a caller names it: by coordinates, or by the pose of a place.

Of a place the posture is the one that its straight segment from rest leads to, or where that meets the edge of the
reach, a segment from the nearest of postures spread over it: a target behind a bay of the edge is still reached if it
lies on the same side of singularities. Any other is told with its distance from the nearest reachable position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.stats.qmc import Halton

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.posture import TURNS, Posture, axes_of, component_dimension, posture, spelled
from supple.description.quantities.coordinate_dimensions import coordinate_dimensions
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import real_numbers
from supple.geometry.rotation import tilde
from supple.kinematics.closing import LedPlace, close_all, closing_start, departure, led_place
from supple.kinematics.closure_kernel import Start
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.primitives import row_value
from supple.kinematics.rest import rest

# The reachable position of a place that is nearest to one wanted: Newton's method on the distance, over θ.
#
#     V(θ) = ½ |x(θ) - x_d|²,   ∂V = -Jᵀe,   ∂²V = JᵀJ - e·∂²x,   e = x_d - x
#
# with eigenvalues of ∂²V taken positive and steps shortened until V falls. At the edge of the reach J loses rank, e is
# normal to the edge and the curvature of x makes the minimum a regular one. Components that are not those of the
# position (an orientation, coordinates that are given) count as much heavier than it. J and ∂²x are those of the rigid
# modes at hand (9, 10), and every step moves on from where the last one ended.


_HEAVY = 1e3  # weight of what is not the position
_ITERATIONS = 40
_STEP = 0.5  # rad or extents: longest step of a coordinate
_SHORTEST_STEP = 1e-4  # of a step that is still tried; the shortest piece of it that closure tries
_REACHED = 1e-13  # extents
_GAIN = 1e-8  # of the distance: less is not worth another step
_DEAD = 1e-3  # margin of the rows: closer to a dead point no step is tried
_POSITION = ("x", "y", "z")


class PlaceTarget(NamedTuple):
    """What a place is asked for: values (N, s) of the components by name, and R (N, 3, 3) where it is turned."""

    values: Array
    rotations: Array | None

    def of(self, which: NDArray[np.int64]) -> PlaceTarget:
        return PlaceTarget(self.values[which], None if self.rotations is None else self.rotations[which])


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


def nearest_moved(place: LedPlace, X: Array, w: Array, wanted: PlaceTarget) -> Near:
    """The nearest position found moving on from poses X (bodies + 1, 12) with measures w, for one that is wanted."""
    here = _near(place, X, w, wanted)
    unit, reach = place.rest.numbering.theta_scale, 1.0
    start = _start(place, here)
    for _ in range(_ITERATIONS):
        if here.distance <= _REACHED or reach <= _SHORTEST_STEP or start is None or start.margin < _DEAD:
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
        if np.abs(step).max() < _REACHED:
            break
    return here


def _start(place: LedPlace, here: Near) -> Start | None:
    arrays = place.rest.numbering.arrays
    return departure(place.rest, arrays, here.X.copy(), here.w.copy(), count=_ITERATIONS, shortest=_SHORTEST_STEP)


def _near(place: LedPlace, X: Array, w: Array, wanted: PlaceTarget) -> Near:
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


def errors(place: LedPlace, X: Array, w: Array, wanted: PlaceTarget) -> Array:
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
    weights, unit = _weights(place), place.rest.numbering.theta_scale
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
    arm = tilde(r)
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
    unit = dict(zip(numbering.coordinates, numbering.theta_scale == 1.0, strict=True))
    return np.array([axis not in _POSITION if axis else unit[name]
                     for axis, name in zip(_axes(place), place.names, strict=True)])  # fmt: skip


def _turn_between(wanted: Array, angle: Array) -> Array:
    return (wanted - angle + np.pi) % (2.0 * np.pi) - np.pi


_THERE = 1e-9  # extents, or rad and a thousandth of it: the place is where it is wanted
_SHORT = 1.0 - 1e-9  # of a way that is not gone to its end


class Posed(NamedTuple):
    """θ (N, s) of a place's poses, and X, w (N, ...) to which its own segment leads; where not `reached` (N,), how far
    along its way it came, and the rest."""

    theta: Array
    reached: Array
    X: Array
    w: Array

    def put(self, which: NDArray[np.int64], place: LedPlace, wanted: PlaceTarget) -> None:
        """Those of which θ's own segment brings the place to where it is wanted."""
        X, w, along = close_all(place.rest, np.ascontiguousarray(self.theta[which]))
        error = np.abs(errors(place, X, w, wanted.of(which))).max(axis=1, initial=0.0)
        there = (along >= 1.0) & (error <= _THERE)
        for mine, new in ((self.X, X), (self.w, w), (self.reached, along)):
            mine[which[there]] = new[there]


def coordinate_values(mechanism: Mechanism, at: At) -> Array:
    """θ as numbers: (s,) or (N, s). Coordinates that are not mentioned stay at rest.

    A place instead of coordinates: {"tool": [x, y, z]} or {"tool.x": x, ...}; what is not mentioned of it stays too.
    """
    theta, posed = postured(mechanism, at)
    if posed is not None and not (posed.reached >= 1.0).all():
        raise out_of_reach(mechanism, at, posed)
    return theta


def postured(mechanism: Mechanism, at: At) -> tuple[Array, Posed | None]:
    """θ, and where a place gives it, how far each was reached."""
    position = rest(mechanism)
    names = position.numbering.coordinates
    if at is None:
        return position.theta.copy(), None
    posed = None
    if isinstance(at, str):
        require_known("configuration", at, mechanism.configurations)
        at = mechanism.configurations[at]
    if isinstance(at, Mapping):
        found = posture(mechanism, in_numbers(mechanism, at))
        if found.components:
            lead, values = _batch({**found.coordinates, **found.components})
            posed = _posed(mechanism, found, values)
            theta = posed.theta.reshape(*lead, len(names))
        else:
            if found.coordinates:
                position.numbering.require_coordinates()
            lead, values = _batch(found.coordinates)
            theta = np.broadcast_to(position.theta, (*lead, len(names))).copy()
            for name, value in values.items():
                theta[..., names.index(name)] = value.reshape(lead)
    else:
        theta = real_numbers("θ", at, finite=False).copy()
    if theta.ndim not in (1, 2) or theta.shape[-1] != len(names):
        raise InputError(
            f"θ has {len(names)} coordinates ({', '.join(names) or 'none'}), not shape {theta.shape}",
            hint="give (s,) values, or (N, s) for a batch",
        )
    if not np.isfinite(theta).all():
        raise InputError("θ holds values that are not finite", hint="leave them out")
    return theta, posed


def in_numbers(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Any]:
    """A posture by components, its texts with units in SI."""
    known = mechanism.coordinate_names()

    def number(name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        of = coordinate_dimensions(mechanism, name).value if name in known else component_dimension(mechanism, name)
        return quantity(value, of)

    return {name: number(name, value) for name, value in spelled(mechanism, given).items()}


def _batch(given: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, Array]]:
    """The leading axes, () or (N,), and each value as (N,)."""
    values = {name: real_numbers(name, value, finite=False) for name, value in given.items()}
    for name, value in values.items():
        if value.ndim > 1:
            raise InputError(f'"{name}" has shape {value.shape}', hint="give a number, or (N,) of them for a batch")
        if not np.isfinite(value).all():
            raise InputError(f'"{name}" is not finite', hint="leave it out")
    try:
        lead = np.broadcast_shapes(*(value.shape for value in values.values()))
    except ValueError:
        sizes = ", ".join(f"{name} {value.size}" for name, value in values.items())
        raise InputError(f"values of different number are given: {sizes}", hint="give one each, or N each") from None
    return lead, {name: np.broadcast_to(value, lead).reshape(-1) for name, value in values.items()}


def led_of(mechanism: Mechanism, given: Posture) -> LedPlace:
    """The place with the components that are given, and where fewer are than it has freedoms, those that stay."""
    s, axes = len(rest(mechanism).numbering.coordinates), axes_of(mechanism)
    positions = axes[: 2 if mechanism.planar else 3]
    led = {axis for axis in axes if axis in given.components}
    for more in ((), positions, axes):
        wanted = led | set(more)
        if len(wanted) + len(given.coordinates) == s:
            order = tuple(axis for axis in axes if axis in wanted)
            return led_place(mechanism, given.place, order, tuple(given.coordinates))
    listed = ", ".join([*(f"{given.said}.{axis}" for axis in axes if axis in led), *given.coordinates])
    lacking = s - len(led) - len(given.coordinates)
    raise InputError(
        f"{listed} do not make a posture: {len(led) + len(given.coordinates)} are given, and the mobility is {s}",
        part=f'mechanism "{mechanism.name}"',
        hint=f"give {-lacking} fewer"
        if lacking < 0
        else f"give {lacking} more of {', '.join(axes)} or of its coordinates",
    )


def _posed(mechanism: Mechanism, given: Posture, values: dict[str, Array]) -> Posed:
    place = led_of(mechanism, given)
    wanted = _wanted(place, given, values)
    found = place.led_to(wanted.values, wanted.rotations)
    count, position = len(wanted.values), place.rest
    X, w = np.broadcast_to(position.X, (count, *position.X.shape)).copy(), np.tile(position.w, (count, 1))
    posed = Posed(found.theta, np.minimum(found.reached, _SHORT), X, w)
    posed.put(np.flatnonzero(found.reached >= 1.0), place, wanted)
    left = np.flatnonzero(posed.reached < 1.0)
    if len(left):
        theta, there = led_from_others(place, wanted.of(left))
        posed.theta[left[there]] = theta[there]
        posed.put(left[there], place, wanted)
    return posed


def _wanted(place: LedPlace, given: Posture, values: dict[str, Array]) -> PlaceTarget:
    """Components in the order of the place's; those that are not given stay as at rest."""
    count = len(next(iter(values.values())))
    found = np.broadcast_to(place.home, (count, len(place.names))).copy()
    for i, name in enumerate(place.names):
        key = name if name in given.coordinates else name.rpartition(".")[2]
        if key in values and key not in TURNS:
            found[:, i] = values[key]
    if "rx" not in values:
        return PlaceTarget(found, None)
    vectors = np.stack([values[axis] for axis in TURNS], axis=1)
    return PlaceTarget(found, Rotation.from_rotvec(vectors).as_matrix())


def out_of_reach(mechanism: Mechanism, at: At, posed: Posed) -> InputError:
    """The error for the first posture that was not reached: how far away the nearest one found is."""
    if isinstance(at, str):
        at = mechanism.configurations[at]
    assert isinstance(at, Mapping)
    given = posture(mechanism, in_numbers(mechanism, at))
    _, values = _batch({**given.coordinates, **given.components})
    place = led_of(mechanism, given)
    n = int(np.flatnonzero(posed.reached < 1.0)[0])
    near = _nearest(place, _wanted(place, given, values).of(np.array([n])))
    extent = float(place.rest.numbering.arrays.extent)
    said = {f"{given.said}.{key}" if key in given.components else key: value[n] for key, value in values.items()}
    asked = ", ".join(f"{name}={value:.6g}" for name, value in said.items())
    part = f'mechanism "{mechanism.name}" at {asked}'
    names = place.rest.numbering.coordinates
    theta = ",".join(f"{name}={value:.6g}" for name, value in zip(names, near.theta, strict=True))
    if near.distance <= _THERE:
        return InputError(
            f'place "{given.said}" gets there only beyond a singular configuration, on another branch',
            part=part, hint=f"give the coordinates, {theta}, or draw the rest on that branch",
        )  # fmt: skip
    return InputError(
        f'place "{given.said}" does not reach it: the nearest point found is {_position(place, near.X)}, '
        f"{near.distance * extent:.6g} m away",
        part=part, hint=f"ask for a point within reach; the nearest is at {theta}",
    )  # fmt: skip


def _nearest(place: LedPlace, wanted: PlaceTarget) -> Near:
    """The nearest position to one that is wanted: from where its segment ended, from the nearest of the postures spread
    over the reach, and from rest."""
    spread = spread_postures(place)
    other = int(spread.nearest(wanted, 1)[0, 0])
    ended = place.solved(wanted.values, wanted.rotations).X[0]
    arrays, first = place.rest.numbering.arrays, place.rest.numbering.constraints
    rows = range(first, place.rest.numbering.rows)
    w = np.array([row_value(arrays.rows_i, arrays.rows_f, row, ended, place.rest.w) for row in rows])
    starts = [(ended, w), (spread.X[other], spread.w[other]), (place.rest.X, place.rest.w)]
    found = [nearest_moved(place, X, w, wanted) for X, w in starts]
    away = [near for near in found if near.distance > _THERE]  # there itself it stands beyond a singular configuration
    return min(away or found, key=lambda near: near.distance)


def _position(place: LedPlace, X: Array) -> str:
    mechanism = place.rest.numbering.mechanism
    pose = Configuration(place.rest, place.rest.theta, X, place.rest.w, np.ones(())).frame(place.place)
    x = (pose.position @ mechanism.plane_axes())[: 2 if mechanism.planar else 3]
    return f"[{', '.join(f'{value:.6g}' for value in x + 0.0)}]"


# Postures spread over the reach, from which a place is led to where the segment from rest does not bring it.
#
# A target behind a bay of the edge is still reached if it lies on the same side of singularities: of postures spread
# over the limits those nearest to it, which have det ∂y/∂θ with the sign it has at rest, are led to it by the same
# solver.


_SPREAD = 300  # postures over the reach
_TRIED = 4  # of them for each target, the nearest first
_SHORTEST = 0.02  # of a segment: closure gives up, for there are others


@dataclass(frozen=True, eq=False)
class SpreadPostures:
    """Poses X (K, bodies + 1, 12) and measures w (K, ...) on the side of the rest, which is the first."""

    place: LedPlace
    X: Array
    w: Array

    def nearest(self, wanted: PlaceTarget, count: int) -> NDArray[np.int64]:
        """(N, count) of them, nearest first, for each that is wanted."""
        found = np.empty((len(wanted.values), min(count, len(self.X))), dtype=np.int64)
        for n in range(len(found)):
            away = np.linalg.norm(errors(self.place, self.X, self.w, wanted.of(np.array([n]))), axis=1)
            found[n] = np.argsort(away, kind="stable")[: found.shape[1]]
        return found


def spread_postures(place: LedPlace) -> SpreadPostures:
    """Within limits, or half a turn or half the extent to both sides of the rest; computed once."""
    mechanism = place.rest.numbering.mechanism
    return mechanism.remembered(f"spread {place.place} {place.names}", lambda: _spread(place))


def _spread(place: LedPlace) -> SpreadPostures:
    mechanism, home = place.rest.numbering.mechanism, place.rest.theta
    unit = place.rest.numbering.theta_scale
    turning = unit == 1.0
    half = np.where(turning, np.pi, 0.5 * unit)
    low, high = home - half, home + half
    for i, name in enumerate(place.rest.numbering.coordinates):
        limits = mechanism.actuators[name].limits if name in mechanism.actuators else None
        if limits is not None:
            low[i], high[i] = limits
    theta = np.vstack([home, low + Halton(len(home), scramble=False).random(_SPREAD) * (high - low)])
    X, w, reached = close_all(place.rest, theta, closing_start(place.rest)._replace(shortest=_SHORTEST))
    X, w = X[reached >= 1.0], w[reached >= 1.0]
    sides = side(place, X, w)
    return SpreadPostures(place, X[sides == sides[0]], w[sides == sides[0]])


def led_from_others(place: LedPlace, wanted: PlaceTarget) -> tuple[Array, NDArray[np.bool_]]:
    """θ (N, s) and which of them are there, led from the nearest of the spread postures."""
    spread, count = spread_postures(place), len(wanted.values)
    theta, there = np.tile(place.rest.theta, (count, 1)), np.zeros(count, dtype=bool)
    nearest = spread.nearest(wanted, _TRIED)
    for turn in range(nearest.shape[1]):
        for number in np.unique(nearest[~there, turn]):
            which = np.flatnonzero(~there & (nearest[:, turn] == number))
            start = place.from_position(spread.X[number], spread.w[number], max(count, _TRIED), _SHORTEST)
            if start is None:
                continue
            asked = wanted.of(which)
            found = place.solved(asked.values, asked.rotations, start)
            arrived = found.reached >= 1.0
            theta[which[arrived]], there[which[arrived]] = found.theta[arrived], True
    return theta, there
