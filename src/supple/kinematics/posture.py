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
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import real_numbers
from supple.kinematics.closing import close_all, start_of
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.led_place import LedPlace, led_place
from supple.kinematics.nearest_reach import Near, Wanted, errors, nearest_moved, side, units
from supple.kinematics.primitives import row_value
from supple.kinematics.rest import rest

_THERE = 1e-9  # extents, or rad and a thousandth of it: the place is where it is wanted
_SHORT = 1.0 - 1e-9  # of a way that is not gone to its end


class Posed(NamedTuple):
    """θ (N, s) of a place's poses, and X, w (N, ...) to which its own segment leads; where not `reached` (N,), how far
    along its way it came, and the rest."""

    theta: Array
    reached: Array
    X: Array
    w: Array

    def put(self, which: NDArray[np.int64], place: LedPlace, wanted: Wanted) -> None:
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
        if at not in mechanism.configurations:
            raise InputError(f'there is no configuration "{at}"', hint=nearest(at, mechanism.configurations))
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


def _wanted(place: LedPlace, given: Posture, values: dict[str, Array]) -> Wanted:
    """Components in the order of the place's; those that are not given stay as at rest."""
    count = len(next(iter(values.values())))
    found = np.broadcast_to(place.home, (count, len(place.names))).copy()
    for i, name in enumerate(place.names):
        key = name if name in given.coordinates else name.rpartition(".")[2]
        if key in values and key not in TURNS:
            found[:, i] = values[key]
    if "rx" not in values:
        return Wanted(found, None)
    vectors = np.stack([values[axis] for axis in TURNS], axis=1)
    return Wanted(found, Rotation.from_rotvec(vectors).as_matrix())


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


def _nearest(place: LedPlace, wanted: Wanted) -> Near:
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
# over
# the limits those nearest to it, which have det ∂y/∂θ with the sign it has at rest, are led to it by the same solver.


_SPREAD = 300  # postures over the reach
_TRIED = 4  # of them for each target, the nearest first
_SHORTEST = 0.02  # of a segment: closure gives up, for there are others


@dataclass(frozen=True, eq=False)
class SpreadPostures:
    """Poses X (K, bodies + 1, 12) and measures w (K, ...) on the side of the rest, which is the first."""

    place: LedPlace
    X: Array
    w: Array

    def nearest(self, wanted: Wanted, count: int) -> NDArray[np.int64]:
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
    turning = units(place) == 1.0
    half = np.where(turning, np.pi, 0.5 * units(place))
    low, high = home - half, home + half
    for i, name in enumerate(place.rest.numbering.coordinates):
        limits = mechanism.actuators[name].limits if name in mechanism.actuators else None
        if limits is not None:
            low[i], high[i] = limits
    theta = np.vstack([home, low + Halton(len(home), scramble=False).random(_SPREAD) * (high - low)])
    X, w, reached = close_all(place.rest, theta, start_of(place.rest)._replace(shortest=_SHORTEST))
    X, w = X[reached >= 1.0], w[reached >= 1.0]
    sides = side(place, X, w)
    return SpreadPostures(place, X[sides == sides[0]], w[sides == sides[0]])


def led_from_others(place: LedPlace, wanted: Wanted) -> tuple[Array, NDArray[np.bool_]]:
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
