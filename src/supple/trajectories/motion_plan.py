"""What a motion of the mechanism file prescribes: how long it lasts, and θ at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline, PPoly

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.motion import Bounded, CoordinateMotion, Motion, ToolMotion
from supple.description.posture import watched_place
from supple.description.sensor import Sensor
from supple.diagnostics import InputError, NumericalError, nearest
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local
from supple.trajectories.piecewise_polynomials import together
from supple.trajectories.profile import Course, Profile, profile

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


# The coordinates that lead a tool along a path.
#
#     y(θ) = y_d(t),   θ̇ = J⁻¹ ẏ_d,   θ̈ = J⁻¹ (ÿ_d - θ̇ᵀ ∂²y θ̇),   J = ∂y/∂θ
#
# Newton's method is led along the geometry of the path first, from rest, in steps short enough to stay on the branch;
# all instants then start from a curve through those points and are solved together.


_CLOSED = 1e-13  # distance from the path, in extents, at which Newton's method has nothing left to do
_GOOD = 1e-10  # and what is still good enough where rounding stops it
_ITERATIONS = 12
_FIRST, _SHORTEST, _LONGEST = 0.1, 1e-5, 0.25  # steps along a straight piece, as fractions of it
_STRAY = 0.3  # a correction larger than this fraction of its step may lead to another branch


@dataclass(frozen=True, eq=False)
class Knots:
    """Points of a straight piece where the coordinates are known: fractions (K,), theta and its slope (K, s)."""

    fraction: Array
    theta: Array
    slope: Array

    def __call__(self, fraction: Array) -> Array:
        return CubicHermiteSpline(self.fraction, self.theta, self.slope)(fraction)


class Tool:
    """A place of a mechanism, as a function of the coordinates."""

    def __init__(self, mechanism: Mechanism, place: str, part: str):
        self.part, self.place = part, place
        self.letters = mechanism.plane or "xyz"
        self.mechanism = mechanism.replace(sensors={"tool": Sensor(position=place)}, motions={}, scenarios={})
        numbering = rest(self.mechanism).numbering
        self.extent = float(numbering.arrays.extent)
        s = len(numbering.coordinates)
        angles = numbering.angles()[numbering.constraints : numbering.constraints + s]
        self.unit = np.where(angles, 1.0, self.extent)  # of each coordinate
        if s != len(self.letters):
            raise InputError(
                f'place "{place}" moves along {len(self.letters)} axes, and the mechanism has mobility {s}',
                part=part,
                hint="give the motion of its coordinates, or lead a place in a mechanism whose mobility is "
                f"{len(self.letters)}",
            )

    def at(self, theta: Array) -> tuple[Array, Array, Array]:
        """y (N, c), J (N, c, s), ∂²y (N, c, s, s) at coordinates (N, s)."""
        outputs = local(self.mechanism, theta, rigid=True).outputs
        parts = [outputs[f"tool.{letter}"] for letter in self.letters]
        return (
            np.stack([part.value for part in parts], axis=-1),
            np.stack([part.rigid for part in parts], axis=-2),
            np.stack([part.bend for part in parts], axis=-3),
        )

    def led(self, path: Array, pieces: NDArray[np.int64], fractions: Array, course: Course) -> Course:
        """θ and its derivatives (N, s) along a path (P, c), at fractions of its straight pieces.

        course : y, ẏ, ÿ (N, c) at those instants
        """
        start = rest(self.mechanism).theta.copy()
        here = self.at(start[None])[0][0]
        if np.linalg.norm(path[0] - here) > _GOOD * self.extent:
            start = self._follow(start, here, path[0], "from rest to the start of its path").theta[-1]
        guess = np.empty_like(course.value)
        for i in range(len(path) - 1):
            knots = self._follow(start, path[i], path[i + 1], f"along piece {i + 1} of its path")
            mine = pieces == i
            guess[mine] = knots(fractions[mine])
            start = knots.theta[-1]
        return self._solved(guess, course)

    def _solved(self, theta: Array, course: Course) -> Course:
        """Newton's method on all instants at once."""
        y, J, bend = self.at(theta)
        gap = np.linalg.norm(course.value - y, axis=1)
        for _ in range(_ITERATIONS):
            if gap.max() <= _CLOSED * self.extent:
                break
            trial = theta + self._over(J, course.value - y)
            found = self.at(trial)
            left = np.linalg.norm(course.value - found[0], axis=1)
            better = left < gap
            if not better.any():
                break
            gap = np.where(better, left, gap)
            theta[better] = trial[better]
            for old, new in zip((y, J, bend), found, strict=True):
                old[better] = new[better]
        if gap.max() > _GOOD * self.extent:
            raise NumericalError(
                f'place "{self.place}" was brought only to {gap.max():.2g} m from its path',
                part=self.part,
                hint="keep the path away from singular configurations",
            )
        rates = self._over(J, course.rate)
        curved = course.acceleration - np.einsum("ncjk,nj,nk->nc", bend, rates, rates)
        return Course(theta, rates, self._over(J, curved))

    def _over(self, J: Array, right: Array) -> Array:
        """J⁻¹ right at every instant."""
        try:
            return np.asarray(np.linalg.solve(J, right[..., None])[..., 0], dtype=float)
        except np.linalg.LinAlgError:
            raise InputError(
                f'place "{self.place}" meets a singular configuration, where no rates of the coordinates lead it on',
                part=self.part,
                hint="keep the path away from singular configurations",
            ) from None

    def _follow(self, theta: Array, start: Array, end: Array, where: str) -> Knots:
        """Along the straight piece from start (where θ is) to end."""
        way = end - start
        slope, sign = self._slope(theta, way)
        found = [(0.0, theta, slope)]
        fraction, step = 0.0, _FIRST
        while fraction < 1.0:
            step = min(step, _LONGEST, 1.0 - fraction)
            arrived = self._corrected(theta + step * slope, start + (fraction + step) * way)
            if arrived is not None:
                moved = np.linalg.norm((arrived - theta) / self.unit)
                stray = np.linalg.norm((arrived - theta - step * slope) / self.unit)
                ahead = self._slope(arrived, way)
                if stray <= _STRAY * moved and ahead[1] == sign:
                    fraction = 1.0 if fraction + step >= 1.0 - 1e-12 else fraction + step
                    theta, slope = arrived, ahead[0]
                    found.append((fraction, theta, slope))
                    step *= 1.5
                    continue
            step *= 0.5
            if step < _SHORTEST:
                raise self._stopped(start + fraction * way, where)
        fractions, thetas, slopes = zip(*found, strict=True)
        return Knots(np.array(fractions), np.array(thetas), np.array(slopes))

    def _slope(self, theta: Array, way: Array) -> tuple[Array, float]:
        """dθ for the whole way, and the side of the singularities of J on which θ lies."""
        J = self.at(theta[None])[1][0]
        sign = float(np.sign(np.linalg.det(J)))
        if sign == 0.0:
            return np.zeros_like(theta), sign
        return np.linalg.solve(J, way), sign

    def _corrected(self, theta: Array, target: Array) -> Array | None:
        """Newton's method for one point; None where it does not converge or the mechanism does not close."""
        last = np.inf
        for _ in range(_ITERATIONS):
            try:
                y, J, _ = self.at(theta[None])
                step = np.linalg.solve(J[0], target - y[0])
            except (InputError, NumericalError, np.linalg.LinAlgError):
                return None
            gap = float(np.linalg.norm(target - y[0])) / self.extent
            if gap <= _CLOSED or (gap <= _GOOD and gap >= 0.5 * last):
                return theta
            if gap > 10.0 * last:
                return None
            last = gap
            theta = theta + step
        return None

    def _stopped(self, at: Array, where: str) -> InputError:
        point = ", ".join(f"{x:.6g}" for x in at + 0.0)
        return InputError(
            f'place "{self.place}" cannot go on {where} at [{point}]: the mechanism is at the end of its reach or in a '
            "singular configuration",
            part=self.part,
            hint="lead it through points within reach, on one side of the singularities",
        )
