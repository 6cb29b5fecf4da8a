"""θ of a posture as a caller names it: by coordinates, or by the pose of a place.

Of a place the posture is the one that its straight segment from rest leads to. Where that meets the edge of the reach,
the nearest reachable position is searched for from there, and from postures spread over the reach: a target behind a
bay of the edge is still reached if it lies on the same side of singularities; any other is told with its distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.description.mechanism import Mechanism
from supple.description.posture import TURNS, Posture, axes_of, component_dimension, posture, spelled
from supple.description.quantities.coordinate_dimensions import coordinate_dimensions
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError, nearest
from supple.kinematics.closing import close_all
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.led_place import LedPlace, led_place
from supple.kinematics.nearest_reach import Near, Wanted, nearest_moved, nearest_of, nearest_reach, side
from supple.kinematics.rest import rest

Array = NDArray[np.float64]

_THERE = 1e-11  # extents or rad: the place is where it is wanted
_TOGETHER = 1e-7  # extents: both segments, of the place and of θ, lead to the same position


class Posed(NamedTuple):
    """θ (N, s) of a place's poses; where not `reached` (N,), how far along its way it came, at the nearest θ found."""

    theta: Array
    reached: Array


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
        found = posture(mechanism, _numbers(mechanism, at))
        if found.components:
            lead, values = _batch({**found.coordinates, **found.components})
            posed = _posed(mechanism, found, values)
            theta = posed.theta.reshape(*lead, len(names))
        else:
            lead, values = _batch(found.coordinates)
            theta = np.broadcast_to(position.theta, (*lead, len(names))).copy()
            for name, value in values.items():
                theta[..., names.index(name)] = value.reshape(lead)
    else:
        theta = np.array(at, float)
    if theta.ndim not in (1, 2) or theta.shape[-1] != len(names):
        raise InputError(
            f"θ has {len(names)} coordinates ({', '.join(names) or 'none'}), not shape {theta.shape}",
            hint="give (s,) values, or (N, s) for a batch",
        )
    if not np.isfinite(theta).all():
        raise InputError("θ holds values that are not finite", hint="leave them out")
    return theta, posed


def _numbers(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Any]:
    """By components, texts with units in SI."""
    known = mechanism.coordinate_names()

    def number(name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        of = coordinate_dimensions(mechanism, name).value if name in known else component_dimension(mechanism, name)
        return quantity(value, of)

    return {name: number(name, value) for name, value in spelled(mechanism, given).items()}


def _batch(given: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, Array]]:
    """The leading axes, () or (N,), and each value as (N,)."""
    values = {name: np.asarray(value, float) for name, value in given.items()}
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
    X, theta, reached = place.solved(wanted.values, wanted.rotations)
    closed, _, along = close_all(place.rest, np.ascontiguousarray(theta))
    extent = float(place.rest.numbering.arrays.extent)
    same = (along >= 1.0) & (np.abs(closed - X).max(axis=(1, 2)) <= _TOGETHER * max(extent, 1.0))
    left = np.flatnonzero((reached < 1.0) | ~same)
    if len(left):
        start = np.where((along[left] >= 1.0)[:, None], theta[left], place.rest.theta)
        theta[left], there = _searched(place, start, wanted.of(left))
        reached[left] = np.where(there, 1.0, np.minimum(reached[left], 1.0 - 1e-9))
    return Posed(theta, reached)


def _searched(place: LedPlace, start: Array, wanted: Wanted) -> tuple[Array, NDArray[np.bool_]]:
    """The nearest θ found from where the segments ended, and from postures spread over the reach; which are there."""
    near = nearest_reach(place, start, wanted)
    there = _arrived(place, near)
    for begin in (nearest_of(place, wanted), np.broadcast_to(place.rest.theta, start.shape)):
        left = np.flatnonzero(~there)
        if len(left) == 0:
            break
        other = nearest_reach(place, begin[left], wanted.of(left))
        arrived = _arrived(place, other)
        before, after = (np.linalg.norm(error, axis=1) for error in (near.error[left], other.error))
        near.put(left, other, arrived | (after < before))
        there[left] = arrived
    return near.theta, there


def _arrived(place: LedPlace, near: Near) -> NDArray[np.bool_]:
    """Which are where they are wanted, on the side of singularities where the rest is."""
    there = np.abs(near.error).max(axis=1) <= _THERE
    if there.any():
        there[there] = side(place, near.X[there], near.w[there]) == side(place, place.rest.X[None], place.rest.w[None])
    return there


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
    given = posture(mechanism, _numbers(mechanism, at))
    _, values = _batch({**given.coordinates, **given.components})
    place = led_of(mechanism, given)
    n = int(np.flatnonzero(posed.reached < 1.0)[0])
    wanted = _wanted(place, given, values).of(np.array([n]))
    near = nearest_reach(place, posed.theta[[n]], wanted)
    if np.linalg.norm(near.error) > _THERE:
        moved = nearest_moved(place, place.solved(wanted.values, wanted.rotations)[0][0], wanted)
        before, after = (float(np.linalg.norm(one.error)) for one in (near, moved))
        near = moved if _THERE < after < before else near  # there itself it stands beyond a dead point of θ
    extent = float(place.rest.numbering.arrays.extent)
    said = {f"{given.said}.{key}" if key in given.components else key: value[n] for key, value in values.items()}
    asked = ", ".join(f"{name}={value:.6g}" for name, value in said.items())
    gap = float(np.linalg.norm(near.error[0])) * extent
    part = f'mechanism "{mechanism.name}" at {asked}'
    names = place.rest.numbering.coordinates
    theta = ",".join(f"{name}={value:.6g}" for name, value in zip(names, near.theta[0], strict=True))
    if gap <= _THERE * extent:
        return InputError(
            f'place "{given.said}" gets there only beyond a singular configuration, on another branch',
            part=part, hint=f"give the coordinates, {theta}, or draw the rest on that branch",
        )  # fmt: skip
    point = _position(place, near.X[0])
    return InputError(
        f'place "{given.said}" does not reach it: the nearest point found is {point}, {gap:.6g} m away',
        part=part, hint=f"ask for a point within reach; the nearest is at {theta}",
    )  # fmt: skip


def _position(place: LedPlace, X: Array) -> str:
    mechanism = place.rest.numbering.mechanism
    pose = Configuration(place.rest, place.rest.theta, X, place.rest.w, np.ones(())).frame(place.place)
    x = (pose.position @ mechanism.plane_axes())[: 2 if mechanism.planar else 3]
    return f"[{', '.join(f'{value:.6g}' for value in x + 0.0)}]"
