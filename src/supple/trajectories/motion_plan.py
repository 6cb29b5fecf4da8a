"""What a motion of the mechanism file prescribes: how long it lasts, and θ at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PPoly

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.motion import Bounded, CoordinateMotion, Motion, ToolMotion
from supple.description.posture import watched_place
from supple.diagnostics import InputError, nearest
from supple.kinematics.rest import rest
from supple.trajectories.piecewise_polynomials import together
from supple.trajectories.profile import Course, Profile, profile
from supple.trajectories.tool_path import Tool

Path = tuple[str | int, ...]

_ROUNDING = 1e-9  # of a duration
_STILL = 1e-12  # of a coordinate's value


@dataclass(frozen=True)
class Plan:
    """A motion ready to be evaluated.

    part : as the user calls it; duration : s, None if it has no end; course : θ, θ̇, θ̈ (N, s) at times (N,)
    ends_at_rest : whether it stands still afterwards; start : when it begins, s
    pieces : the same as polynomials, c (d + 1, P, s); None where it is something else, as a sine or a tool's path
    """

    part: str
    duration: float | None
    course: Callable[[Array], Course]
    ends_at_rest: bool
    start: float = 0.0
    pieces: PPoly | None = None


def plan(mechanism: Mechanism, motion: Motion, part: str, path: Path = ()) -> Plan:
    """Durations and profiles of a motion; `path` is where it stands in the file."""
    if motion.tool is not None:
        return _tool_plan(mechanism, motion, motion.tool, part, path)
    return _coordinate_plan(mechanism, motion, motion.coordinates or {}, part, path)


def _coordinate_plan(
    mechanism: Mechanism, motion: Motion, given: dict[str, CoordinateMotion], part: str, path: Path
) -> Plan:
    names, theta = rest(mechanism).numbering.coordinates, rest(mechanism).theta
    for name in given:
        if name not in names:
            raise InputError(
                f'"{name}" is not one of the coordinates',
                part=part, path=_inside(path, "coordinates", name), hint=nearest(name, names),
            )  # fmt: skip
    at_rest = dict(zip(names, theta.tolist(), strict=True))
    starts = {name: at_rest[name] if one.start is None else one.start for name, one in given.items()}
    ways = {
        name: profile(_distance(starts[name], one.to), **one.bounds())
        for name, one in given.items()
        if one.to is not None
    }
    bounded = {name: way.natural for name, way in ways.items() if given[name].bounds()}
    slowest = max(bounded, key=lambda name: bounded[name], default=None)
    least = bounded[slowest] if slowest is not None else 0.0
    if slowest is not None and motion.duration is not None and motion.duration < least * (1.0 - _ROUNDING):
        far = f"{abs(ways[slowest].distance):.6g} {_unit(mechanism, slowest)}"
        what = f'coordinate "{slowest}" needs at least {least:.6g} s for {far}'
        raise _too_short(what, given[slowest], motion.duration, part, path)
    duration = _duration(motion, least, part, path)
    ways = {name: way.stretched(duration) for name, way in ways.items()}

    def course(time: Array) -> Course:
        shape = (len(time), len(names))
        found = Course(np.tile(theta, (len(time), 1)), np.zeros(shape), np.zeros(shape))
        for name, one in given.items():
            i = names.index(name)
            value, rate, acceleration = _course(one, ways.get(name), time)
            found.value[:, i] = starts[name] + value
            found.rate[:, i] = rate
            found.acceleration[:, i] = acceleration
        return found

    at_rest_after = all(one.rate is None and one.amplitude is None for one in given.values())
    pieces = None
    if all(one.amplitude is None for one in given.values()):
        each = [
            _polynomial(given.get(name), ways.get(name), starts.get(name, at_rest[name]), duration) for name in names
        ]
        pieces = together(each)
    return Plan(part, duration, course, at_rest_after, pieces=pieces)


def _polynomial(one: CoordinateMotion | None, way: Profile | None, start: float, duration: float) -> PPoly:
    """The course of one coordinate, c (d + 1, P); one that is not mentioned stands."""
    timed = None if way is None else way.timed()
    if timed is None:
        rate = one.rate if one is not None and one.rate is not None else 0.0
        return PPoly(np.array([[rate], [start]]), np.array([0.0, duration]))
    timed.c[-1] += start
    return timed


def _distance(start: float, end: float) -> float:
    """From start to end; rounding, as closure leaves it in values at rest, is no distance."""
    return end - start if abs(end - start) > _STILL * max(1.0, abs(start), abs(end)) else 0.0


def _course(one: CoordinateMotion, way: Profile | None, time: Array) -> Course:
    """Displacement from the start, and its derivatives."""
    still = np.zeros_like(time)
    if way is not None:
        return way(time)
    if one.rate is not None:
        return Course(one.rate * time, still + one.rate, still)
    if one.amplitude is not None and one.frequency is not None:
        w = 2.0 * pi * one.frequency
        sine = one.amplitude * np.sin(w * time)
        return Course(sine, one.amplitude * w * np.cos(w * time), -(w**2) * sine)
    return Course(still, still, still)


def _tool_plan(mechanism: Mechanism, motion: Motion, tool: ToolMotion, part: str, path: Path) -> Plan:
    points = np.array(tool.path)
    if points.shape[1] != (2 if mechanism.planar else 3):
        wanted = 2 if mechanism.planar else 3
        raise InputError(
            f"the points of its path have {points.shape[1]} components, not {wanted}",
            part=part, path=_inside(path, "tool", "path"), hint=f"write {wanted} numbers each",
        )  # fmt: skip
    numbering = rest(mechanism).numbering
    place = watched_place(numbering.drawing, tool.place)
    try:
        numbering.place(place)
    except InputError as error:
        where = _inside(path, "tool", "place")
        raise InputError(error.message, part=part, path=where, hint=error.hint) from None
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not lengths.all():
        i = int(np.flatnonzero(lengths == 0.0)[0])
        raise InputError(
            f"points {i + 1} and {i + 2} of its path are the same",
            part=part, path=_inside(path, "tool", "path", i + 1), hint="leave one of them out",
        )  # fmt: skip
    ways = [profile(float(length), **tool.bounds()) for length in lengths]
    if tool.bounds():
        least = sum(way.natural for way in ways)
        if motion.duration is not None and motion.duration < least * (1.0 - _ROUNDING):
            what = f'place "{tool.place}" needs at least {least:.6g} s for {lengths.sum():.6g} m'
            raise _too_short(what, tool, motion.duration, part, path)
        duration = _duration(motion, least, part, path)
        shares = np.array([way.natural for way in ways]) / least
    else:
        duration = _duration(motion, 0.0, part, path)
        shares = lengths / lengths.sum()
    ways = [way.stretched(float(share) * duration) for way, share in zip(ways, shares, strict=True)]
    led = Tool(mechanism, place, part)

    def course(time: Array) -> Course:
        return led.led(points, *_along(points, lengths, ways, time))

    return Plan(part, duration, course, True)


def _along(points: Array, lengths: Array, ways: list[Profile], time: Array) -> tuple[NDArray[np.int64], Array, Course]:
    """Which piece, what fraction of it, and y, ẏ, ÿ at each time."""
    begins = np.concatenate([[0.0], np.cumsum([way.duration for way in ways])])
    pieces = np.clip(np.searchsorted(begins, time, side="right") - 1, 0, len(ways) - 1)
    fractions = np.empty_like(time)
    found = Course(*(np.empty((len(time), points.shape[1])) for _ in range(3)))
    for i, way in enumerate(ways):
        mine = pieces == i
        along = way(time[mine] - begins[i])
        unit = (points[i + 1] - points[i]) / lengths[i]
        fractions[mine] = along.value / lengths[i]
        found.value[mine] = points[i] + along.value[:, None] * unit
        found.rate[mine] = along.rate[:, None] * unit
        found.acceleration[mine] = along.acceleration[:, None] * unit
    return pieces, fractions, found


def _duration(motion: Motion, least: float, part: str, path: Path) -> float:
    duration = motion.duration if motion.duration is not None else least
    if duration <= 0.0:
        raise InputError(
            "it ends where it begins, and nothing says how long it stands",
            part=part, path=path, hint="give another `to`, or a duration",
        )  # fmt: skip
    return duration


def _too_short(what: str, bounds: Bounded, duration: float, part: str, path: Path) -> InputError:
    listed = ", ".join(f"{name} {value:g}" for name, value in bounds.bounds().items())
    return InputError(
        f"{what} ({listed}), and the duration is {duration:g} s",
        part=part, path=_inside(path, "duration"), hint="give a longer duration, or raise the bounds",
    )  # fmt: skip


def _inside(path: Path, *keys: str | int) -> Path:
    """A place inside the motion, if it stands in a file at all."""
    return (*path, *keys) if path else ()


def _unit(mechanism: Mechanism, coordinate: str) -> str:
    numbering = rest(mechanism).numbering
    return "rad" if numbering.angles()[numbering.constraints + numbering.coordinates.index(coordinate)] else "m"
