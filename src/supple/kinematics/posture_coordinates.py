"""Coordinates θ of a posture, given by coordinates or by the pose of a named point.

The posture for a pose of a point is the one at the end of the straight segment from rest. If the segment meets the edge
of the reach, segments from the nearest of postures spread over the reach are tried: a target behind a bay of the edge
is still reached if it lies on the same side of singularities. Otherwise the error states the distance from the nearest
reachable position.
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
from supple.description.posture import TURNS, Posture, axes_of, component_dimension, expand_poses, posture
from supple.description.quantities.coordinate_dimensions import coordinate_dimensions
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import real_numbers
from supple.geometry.rotation import tilde
from supple.kinematics.closing import PosedPoint, close_all, closing_start, departure, posed_point
from supple.kinematics.closure_kernel import Start
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.primitives import row_value
from supple.kinematics.rest import rest

# Reachable position of a point that is nearest to a target: Newton's method on the distance, over θ.
#
#     V(θ) = ½ |x(θ) - x_d|²,   ∂V = -Jᵀe,   ∂²V = JᵀJ - e·∂²x,   e = x_d - x
#
# with the absolute eigenvalues of ∂²V and steps shortened until V falls. At the edge of the reach J loses rank, e is
# normal to the edge and the curvature of x makes the minimum a regular one. Components other than the position (an
# orientation, given coordinates) have a much larger weight. J and ∂²x follow from the current rigid modes (9, 10), and
# every step continues from the end of the last one.


_HEAVY = 1e3  # weight of components other than the position
_ITERATIONS = 40
_STEP = 0.5  # rad or extents: longest step of a coordinate
_SHORTEST_STEP = 1e-4  # smallest fraction of a step that is tried; also the shortest step of the closure
_REACHED = 1e-13  # extents
_GAIN = 1e-8  # relative reduction of the distance below which the search ends
_DEAD = 1e-3  # margin of the rows below which no step is tried: a dead point is close
_POSITION = ("x", "y", "z")


class PlaceTarget(NamedTuple):
    """Target of a point: values (N, s) of its components, and R (N, 3, 3) if its orientation is given."""

    values: Array
    rotations: Array | None

    def of(self, which: NDArray[np.int64]) -> PlaceTarget:
        return PlaceTarget(self.values[which], None if self.rotations is None else self.rotations[which])


class Near(NamedTuple):
    """End of a search: θ (s,), poses X, measures w, and the weighted error e (s,), in extents."""

    theta: Array
    X: Array
    w: Array
    error: Array

    @property
    def distance(self) -> float:
        """Distance from the target, in extents."""
        return float(np.linalg.norm(self.error))


def nearest_position(place: PosedPoint, X: Array, w: Array, targets: PlaceTarget) -> Near:
    """Return the position nearest to the target, found from poses X (bodies + 1, 12) with measures w."""
    here = _near(place, X, w, targets)
    unit, reach = place.rest.numbering.theta_scale, 1.0
    start = _start(place, here)
    for _ in range(_ITERATIONS):
        if here.distance <= _REACHED or reach <= _SHORTEST_STEP or start is None or start.margin < _DEAD:
            break
        step = _newton(place, here, start)
        theta = here.theta + reach * step * unit
        X_next, w_next, reached = close_all(place.rest, theta[None], start, _ITERATIONS)
        trial = _near(place, X_next[0], w_next[0], targets)
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


def _start(place: PosedPoint, here: Near) -> Start | None:
    arrays = place.rest.numbering.arrays
    return departure(place.rest, arrays, here.X.copy(), here.w.copy(), count=_ITERATIONS, shortest=_SHORTEST_STEP)


def _near(place: PosedPoint, X: Array, w: Array, targets: PlaceTarget) -> Near:
    theta = w[: len(place.names)].copy()
    return Near(theta, X, w, errors(place, X[None], w[None], targets)[0])


def side(place: PosedPoint, X: Array, w: Array) -> Array:
    """Return (N,) the sign of det ∂y/∂θ, which changes where branches meet; 0 where they do."""
    found = np.zeros(len(X))
    for n in range(len(X)):
        arrays = place.rest.numbering.arrays
        start = departure(place.rest, arrays, X[n].copy(), w[n].copy(), count=len(X))
        found[n] = 0.0 if start is None else np.sign(np.linalg.det(_differentiate_position(place, start)[0]))
    return found


def errors(place: PosedPoint, X: Array, w: Array, targets: PlaceTarget) -> Array:
    """Return e (N, s), the weighted errors of the components, at poses X (N, ...) for N targets or for one."""
    here = Configuration(place.rest, w[:, : len(place.names)], X, w, np.ones(len(X)))
    P = here.mechanism.plane_axes()
    pose = here.frame(place.place)
    x, R = pose.position @ P, P.T @ pose.rotation @ P
    error = np.empty((len(X), len(place.names)))
    for i, axis in enumerate(_axes(place)):
        if axis in _POSITION:
            error[:, i] = targets.values[:, i] - x[:, _POSITION.index(axis)]
        elif axis == "angle":
            error[:, i] = _turn_between(targets.values[:, i], np.arctan2(R[:, 1, 0], R[:, 0, 0]))
        elif axis == "":
            error[:, i] = targets.values[:, i] - here.coordinates[place.names[i]]
    if place.turned is not None:
        target = np.broadcast_to(place.orientation, R.shape) if targets.rotations is None else targets.rotations
        turn = Rotation.from_matrix(target @ np.swapaxes(R, -1, -2)).as_rotvec()
        error[:, place.turned : place.turned + 3] = turn
    return error * _weights(place)


def _newton(place: PosedPoint, here: Near, start: Start) -> Array:
    """Return a step (s,) of θ in its units, at most _STEP long."""
    J, bend = _differentiate_position(place, start)
    weights, unit = _weights(place), place.rest.numbering.theta_scale
    J = J * weights[:, None] * unit
    bend = bend * weights[:, None, None] * unit[:, None] * unit
    H = J.T @ J - np.einsum("c,cij->ij", here.error, bend)
    values, vectors = np.linalg.eigh(0.5 * (H + H.T))
    floor = 1e-12 * np.abs(values).max() + 1e-300
    step = vectors @ ((vectors.T @ (J.T @ here.error)) / np.maximum(np.abs(values), floor))
    return np.asarray(step * min(1.0, _STEP / max(float(np.abs(step).max()), 1e-300)), dtype=np.float64)


def _differentiate_position(place: PosedPoint, start: Start) -> tuple[Array, Array]:
    """Return J (c, s) = ∂y/∂θ, and ∂²x (c, s, s) of the components of the position; zero for all others.

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


def _axes(place: PosedPoint) -> tuple[str, ...]:
    """Return the component of each name, positions in the drawing's axes; empty for a coordinate of θ."""
    letters = place.rest.numbering.mechanism.plane
    known = place.rest.numbering.coordinates
    axes = ("" if name in known else name.rpartition(".")[2] for name in place.names)
    return tuple(
        axis if letters is None or axis not in (*letters,) else _POSITION[letters.index(axis)] for axis in axes
    )


def _weights(place: PosedPoint) -> Array:
    """Return the weights (s,): positions in extents, all others in rad or extents and heavier."""
    extent, angles = float(place.rest.numbering.arrays.extent), _angles(place)
    heavy = np.array([1.0 if axis in _POSITION else _HEAVY for axis in _axes(place)])
    return heavy / np.where(angles, 1.0, extent)


def _angles(place: PosedPoint) -> NDArray[np.bool_]:
    numbering = place.rest.numbering
    unit = dict(zip(numbering.coordinates, numbering.theta_scale == 1.0, strict=True))
    return np.array([axis not in _POSITION if axis else unit[name]
                     for axis, name in zip(_axes(place), place.names, strict=True)])  # fmt: skip


def _turn_between(targets: Array, angle: Array) -> Array:
    return (targets - angle + np.pi) % (2.0 * np.pi) - np.pi


_THERE = 1e-9  # extents; for angles a thousandth, rad: largest error at which a target counts as reached
_SHORT = 1.0 - 1e-9  # largest reported fraction of a segment that was not completed


class PoseResults(NamedTuple):
    """Result for N poses of a point: θ (N, s), and X, w (N, ...) at the end of the segment from rest to θ.

    reached : (N,) fraction of the segment that was followed. Where it is below 1, X and w are those of rest.
    """

    theta: Array
    reached: Array
    X: Array
    w: Array

    def put(self, which: NDArray[np.int64], place: PosedPoint, targets: PlaceTarget) -> None:
        """Store those postures for which the segment from rest to θ brings the point to its target."""
        X, w, along = close_all(place.rest, np.ascontiguousarray(self.theta[which]))
        error = np.abs(errors(place, X, w, targets.of(which))).max(axis=1, initial=0.0)
        there = (along >= 1.0) & (error <= _THERE)
        for mine, new in ((self.X, X), (self.w, w), (self.reached, along)):
            mine[which[there]] = new[there]


def coordinate_values(mechanism: Mechanism, at: At) -> Array:
    """Return θ as numbers: (s,) or (N, s). Omitted coordinates keep their values at rest.

    A point may be given instead of coordinates: {"tool": [x, y, z]} or {"tool.x": x, ...}; omitted components stay too.
    """
    theta, posed = resolve_posture(mechanism, at)
    if posed is not None and not (posed.reached >= 1.0).all():
        raise out_of_reach_error(mechanism, at, posed)
    return theta


def resolve_posture(mechanism: Mechanism, at: At) -> tuple[Array, PoseResults | None]:
    """Return θ, and for the pose of a point also how far each posture was reached."""
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
            posed = _resolve_poses(mechanism, found, values)
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
            f"wrong shape {theta.shape} for the coordinates θ ({', '.join(names) or 'none'})",
            hint=f"give ({len(names)},) values, or (N, {len(names)}) for a batch",
        )
    if not np.isfinite(theta).all():
        raise InputError("θ has values that are not finite", hint="remove them")
    return theta, posed


def in_numbers(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a posture by components, with strings with units converted to SI numbers."""
    known = mechanism.coordinate_names()

    def number(name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        of = coordinate_dimensions(mechanism, name).value if name in known else component_dimension(mechanism, name)
        return quantity(value, of)

    return {name: number(name, value) for name, value in expand_poses(mechanism, given).items()}


def _batch(given: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, Array]]:
    """Return the leading axes, () or (N,), and each value as (N,)."""
    values = {name: real_numbers(name, value, finite=False) for name, value in given.items()}
    for name, value in values.items():
        if value.ndim > 1:
            raise InputError(f'"{name}" has shape {value.shape}', hint="give a number, or (N,) numbers for a batch")
        if not np.isfinite(value).all():
            raise InputError(f'"{name}" has values that are not finite', hint="remove them")
    try:
        lead = np.broadcast_shapes(*(value.shape for value in values.values()))
    except ValueError:
        sizes = ", ".join(f"{name} {value.size}" for name, value in values.items())
        raise InputError(f"batch sizes differ: {sizes}", hint="give one value each, or N values each") from None
    return lead, {name: np.broadcast_to(value, lead).reshape(-1) for name, value in values.items()}


def posed_point_of(mechanism: Mechanism, given: Posture) -> PosedPoint:
    """Return the point with the given components; if they are fewer than the freedoms, the others stay as at rest."""
    s, axes = len(rest(mechanism).numbering.coordinates), axes_of(mechanism)
    positions = axes[: 2 if mechanism.planar else 3]
    led = {axis for axis in axes if axis in given.components}
    for more in ((), positions, axes):
        prescribed = led | set(more)
        if len(prescribed) + len(given.coordinates) == s:
            order = tuple(axis for axis in axes if axis in prescribed)
            return posed_point(mechanism, given.place, order, tuple(given.coordinates))
    listed = ", ".join([*(f"{given.point}.{axis}" for axis in axes if axis in led), *given.coordinates])
    lacking = s - len(led) - len(given.coordinates)
    raise InputError(
        f"{listed} do not determine a posture: {len(led) + len(given.coordinates)} values for a mobility of {s}",
        part=f'mechanism "{mechanism.name}"',
        hint=f"give {-lacking} fewer"
        if lacking < 0
        else f"give {lacking} more of {', '.join(axes)} or of its coordinates",
    )


def _resolve_poses(mechanism: Mechanism, given: Posture, values: dict[str, Array]) -> PoseResults:
    place = posed_point_of(mechanism, given)
    targets = _targets(place, given, values)
    found = place.solve_from_rest(targets.values, targets.rotations)
    count, position = len(targets.values), place.rest
    X, w = np.broadcast_to(position.X, (count, *position.X.shape)).copy(), np.tile(position.w, (count, 1))
    posed = PoseResults(found.theta, np.minimum(found.reached, _SHORT), X, w)
    posed.put(np.flatnonzero(found.reached >= 1.0), place, targets)
    left = np.flatnonzero(posed.reached < 1.0)
    if len(left):
        theta, there = solve_from_spread(place, targets.of(left))
        posed.theta[left[there]] = theta[there]
        posed.put(left[there], place, targets)
    return posed


def _targets(place: PosedPoint, given: Posture, values: dict[str, Array]) -> PlaceTarget:
    """Return the target components in the order of the point's names; omitted ones stay as at rest."""
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


def out_of_reach_error(mechanism: Mechanism, at: At, posed: PoseResults) -> InputError:
    """Return the error for the first posture that was not reached, with the distance of the nearest one found."""
    if isinstance(at, str):
        at = mechanism.configurations[at]
    assert isinstance(at, Mapping)
    given = posture(mechanism, in_numbers(mechanism, at))
    _, values = _batch({**given.coordinates, **given.components})
    place = posed_point_of(mechanism, given)
    n = int(np.flatnonzero(posed.reached < 1.0)[0])
    near = _nearest(place, _targets(place, given, values).of(np.array([n])))
    extent = float(place.rest.numbering.arrays.extent)
    target = {f"{given.point}.{key}" if key in given.components else key: value[n] for key, value in values.items()}
    listed = ", ".join(f"{name}={value:.6g}" for name, value in target.items())
    part = f'mechanism "{mechanism.name}" at {listed}'
    names = place.rest.numbering.coordinates
    theta = ",".join(f"{name}={value:.6g}" for name, value in zip(names, near.theta, strict=True))
    if near.distance <= _THERE:
        return InputError(
            f'point "{given.point}" reaches this pose only beyond a singular configuration, on another branch',
            part=part, hint=f"give the coordinates, {theta}, or set the rest on that branch",
        )  # fmt: skip
    return InputError(
        f'point "{given.point}" cannot reach this position: the nearest one found is {_position(place, near.X)}, '
        f"{near.distance * extent:.6g} m away",
        part=part, hint=f"give a position within reach; the nearest is at {theta}",
    )  # fmt: skip


def _nearest(place: PosedPoint, targets: PlaceTarget) -> Near:
    """Return the nearest position to a target.

    The search starts from the end of its segment, from the nearest of the postures spread over the reach, and from
    rest.
    """
    spread = spread_postures(place)
    other = int(spread.nearest(targets, 1)[0, 0])
    ended = place.solve(targets.values, targets.rotations).X[0]
    arrays, first = place.rest.numbering.arrays, place.rest.numbering.constraints
    rows = range(first, place.rest.numbering.rows)
    w = np.array([row_value(arrays.rows_i, arrays.rows_f, row, ended, place.rest.w) for row in rows])
    starts = [(ended, w), (spread.X[other], spread.w[other]), (place.rest.X, place.rest.w)]
    found = [nearest_position(place, X, w, targets) for X, w in starts]
    away = [near for near in found if near.distance > _THERE]  # the rest is beyond a singularity
    return min(away or found, key=lambda near: near.distance)


def _position(place: PosedPoint, X: Array) -> str:
    mechanism = place.rest.numbering.mechanism
    pose = Configuration(place.rest, place.rest.theta, X, place.rest.w, np.ones(())).frame(place.place)
    x = (pose.position @ mechanism.plane_axes())[: 2 if mechanism.planar else 3]
    return f"[{', '.join(f'{value:.6g}' for value in x + 0.0)}]"


# Postures spread over the reach: starting points for targets that the segment from rest does not reach.
#
# A target behind a bay of the edge is still reached if it lies on the same side of singularities. The solver starts
# from the nearest of the postures spread over the limits that have the same sign of det ∂y/∂θ as rest.


_SPREAD = 300  # postures over the reach
_TRIED = 4  # postures tried for each target, the nearest first
_SHORTEST = 0.02  # fraction of a segment at which closure gives up, since other postures are tried


@dataclass(frozen=True, eq=False)
class SpreadPostures:
    """Poses X (K, bodies + 1, 12) and measures w (K, ...) on the same side of singularities as rest (the first)."""

    place: PosedPoint
    X: Array
    w: Array

    def nearest(self, targets: PlaceTarget, count: int) -> NDArray[np.int64]:
        """Return the numbers (N, count) of the postures nearest to each target, nearest first."""
        found = np.empty((len(targets.values), min(count, len(self.X))), dtype=np.int64)
        for n in range(len(found)):
            away = np.linalg.norm(errors(self.place, self.X, self.w, targets.of(np.array([n]))), axis=1)
            found[n] = np.argsort(away, kind="stable")[: found.shape[1]]
        return found


def spread_postures(place: PosedPoint) -> SpreadPostures:
    """Return postures within limits, or half a turn or half the extent to both sides of rest; computed once."""
    mechanism = place.rest.numbering.mechanism
    return mechanism.compute_once(f"spread {place.place} {place.names}", lambda: _spread(place))


def _spread(place: PosedPoint) -> SpreadPostures:
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


def solve_from_spread(place: PosedPoint, targets: PlaceTarget) -> tuple[Array, NDArray[np.bool_]]:
    """Return θ (N, s) and whether each target was reached, from the nearest of the spread postures."""
    spread, count = spread_postures(place), len(targets.values)
    theta, there = np.tile(place.rest.theta, (count, 1)), np.zeros(count, dtype=bool)
    nearest = spread.nearest(targets, _TRIED)
    for turn in range(nearest.shape[1]):
        for number in np.unique(nearest[~there, turn]):
            which = np.flatnonzero(~there & (nearest[:, turn] == number))
            start = place.from_position(spread.X[number], spread.w[number], max(count, _TRIED), _SHORTEST)
            if start is None:
                continue
            goal = targets.of(which)
            found = place.solve(goal.values, goal.rotations, start)
            arrived = found.reached >= 1.0
            theta[which[arrived]], there[which[arrived]] = found.theta[arrived], True
    return theta, there
