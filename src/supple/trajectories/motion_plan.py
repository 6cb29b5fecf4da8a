"""Plan of a motion of the mechanism file: its duration, and θ at any time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, pi, sqrt

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.motion import Bounded, CoordinateMotion, Motion, ToolMotion
from supple.description.posture import watched_place
from supple.description.sensor import Sensor
from supple.diagnostics import InputError, NumericalError, require_known
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local
from supple.time_functions.function_of_time import (
    CalledFunction,
    FunctionOfTime,
    PiecewisePolynomial,
    side_by_side,
    trim_breaks,
)

# Profiles: motion over a distance from rest to rest within bounds.
#
# With a bound on the jerk the acceleration is a trapezoid up, a pause and a trapezoid down (seven segments of constant
# jerk); without it the speed is a trapezoid; with neither bound the distance follows a polynomial of degree five.


_FASTEST = 1.875  # largest speed of the polynomial, in units of its mean: 30 τ²(1 - τ)² at τ = ½


def profile(
    distance: float, *, velocity: float | None = None, acceleration: float | None = None, jerk: float | None = None
) -> PiecewisePolynomial:
    """Return the fastest motion over a distance (of either sign, not zero) within bounds, from rest at 0 to rest.

    Without bounds it lasts one second, to be stretched.
    """
    length = abs(distance)
    if acceleration is None and jerk is None:
        return _profile_polynomial(distance, _FASTEST * length / velocity if velocity is not None else 1.0)
    times, accelerations, jerks = _segments(length, velocity or inf, acceleration or inf, jerk or inf)
    return _join_segments(distance, times, accelerations, jerks)


def _segments(length: float, v: float, a: float, j: float) -> tuple[list[float], list[float], list[float]]:
    """Return duration, initial acceleration and jerk of each segment.

    In T_j the acceleration builds up, in T_a it is constant, in T_v the speed is. With v_p = a_p (T_j + T_a) the top
    speed,

        length = v_p (2 T_j + T_a + T_v),   a_p = j T_j
    """
    if j == inf:
        build, top = 0.0, a
        hold = min(sqrt(length / a), v / a)
    else:
        build = min((length / (2.0 * j)) ** (1.0 / 3.0), a / j, sqrt(v / j))
        top = j * build
        hold = 0.0
        if build == a / j:  # the acceleration is reached, and is held up to the speed or half the length
            hold = 0.5 * (sqrt(build**2 + 4.0 * length / a) - 3.0 * build)
            hold = max(0.0, min(hold, v / a - build))
    speed = top * (build + hold)
    cruise = max(0.0, length / speed - 2.0 * build - hold)
    if j == inf:
        return [hold, cruise, hold], [top, 0.0, -top], [0.0, 0.0, 0.0]
    return (
        [build, hold, build, cruise, build, hold, build],
        [0.0, top, top, 0.0, 0.0, -top, -top],
        [j, 0.0, -j, 0.0, -j, 0.0, j],
    )


def _join_segments(
    distance: float, times: list[float], accelerations: list[float], jerks: list[float]
) -> PiecewisePolynomial:
    """Join segments of constant jerk, and scale them to the distance against rounding."""
    breaks, coefficients = [0.0], []
    position = speed = 0.0
    for t, a, j in zip(times, accelerations, jerks, strict=True):
        if t <= 0.0 or breaks[-1] + t == breaks[-1]:
            continue
        coefficients.append([position, speed, a / 2.0, j / 6.0])
        position += t * (speed + t * (a / 2.0 + t * j / 6.0))
        speed += t * (a + t * j / 2.0)
        breaks.append(breaks[-1] + t)
    scaled = np.array(coefficients)[..., None] * (distance / position)
    return PiecewisePolynomial(("length",), np.array(breaks), scaled, final=np.array([distance]))


def _profile_polynomial(distance: float, duration: float) -> PiecewisePolynomial:
    """Return distance (10 τ³ - 15 τ⁴ + 6 τ⁵), τ = t/duration: rates and accelerations vanish at both ends."""
    shape = distance * np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]) / duration ** np.arange(6.0)
    return PiecewisePolynomial(("length",), np.array([0.0, duration]), shape[None, :, None], final=np.array([distance]))


# The plan of a motion: durations and profiles, coordinate by coordinate or along the path of a tool.


Path = tuple[str | int, ...]

_ROUNDING = 1e-9  # of a duration
_STILL = 1e-12  # of a coordinate's value


@dataclass(frozen=True)
class Plan:
    """Motion that is ready to be evaluated.

    part         : its name in messages
    function     : θ over time
    ends_at_rest : whether it remains at rest afterwards
    """

    part: str
    function: FunctionOfTime
    ends_at_rest: bool

    @property
    def duration(self) -> float | None:
        """Duration, s; None if it has no end."""
        return self.function.duration if np.isfinite(self.function.duration) else None


def plan(mechanism: Mechanism, motion: Motion, part: str, path: Path = ()) -> Plan:
    """Plan the durations and profiles of a motion; `path` is its location in the file."""
    if motion.tool is not None:
        return _tool_plan(mechanism, motion, motion.tool, part, path)
    return _coordinate_plan(mechanism, motion, motion.coordinates or {}, part, path)


def _coordinate_plan(
    mechanism: Mechanism, motion: Motion, given: dict[str, CoordinateMotion], part: str, path: Path
) -> Plan:
    names, theta = rest(mechanism).numbering.coordinates, rest(mechanism).theta
    for name in given:
        require_known("coordinate", name, names, part=part, path=_inside(path, "coordinates", name))
    starts = dict(zip(names, theta.tolist(), strict=True))
    starts |= {name: one.start for name, one in given.items() if one.start is not None}
    profiles = {
        name: profile(distance, **one.bounds())
        for name, one in given.items()
        if one.to is not None and (distance := _distance(starts[name], one.to))
    }
    bounded = {name: course.duration for name, course in profiles.items() if given[name].bounds()}
    slowest = max(bounded, key=lambda name: bounded[name], default=None)
    least = bounded[slowest] if slowest is not None else 0.0
    if slowest is not None and motion.duration is not None and motion.duration < least * (1.0 - _ROUNDING):
        far = f"{abs(profiles[slowest].at(np.inf)[0, 0]):.6g} {rest(mechanism).numbering.coordinate_units[slowest]}"
        what = f'coordinate "{slowest}" needs at least {least:.6g} s for {far}'
        raise _too_short(what, given[slowest], motion.duration, part, path)
    duration = _duration(motion, least, part, path)
    smooth = side_by_side(
        [_polynomial(name, given.get(name), profiles.get(name), starts[name], duration) for name in names]
    )
    waves = [(names.index(name), one) for name, one in given.items() if one.amplitude is not None]
    at_rest_after = not waves and all(one.rate is None for one in given.values())

    def evaluate(time: Array) -> Array:
        found = smooth.sample(time, closed=True)[:, :3]
        for i, one in waves:
            found[:, :, i] += _wave(one, time)
        return found

    function = CalledFunction(names, evaluate, begin=0.0, end=duration) if waves else smooth
    return Plan(part, function, at_rest_after)


def _polynomial(
    name: str, one: CoordinateMotion | None, course: PiecewisePolynomial | None, start: float, duration: float
) -> PiecewisePolynomial:
    """Return one coordinate along its profile, or in uniform motion; constant if it is not mentioned."""
    if course is None:
        rate = one.rate if one is not None and one.rate is not None else 0.0
        return PiecewisePolynomial((name,), np.array([0.0, duration]), np.array([[[start], [rate]]]))
    timed = course.stretch(duration)
    timed.coefficients[:, 0] += start
    return replace(timed, coordinates=(name,), final=start + course.at(np.inf)[0])


def _distance(start: float, end: float) -> float:
    """Return the distance from start to end, without rounding of values at rest."""
    return end - start if abs(end - start) > _STILL * max(1.0, abs(start), abs(end)) else 0.0


def _wave(one: CoordinateMotion, time: Array) -> Array:
    """Return the displacement from the start with its derivatives, (N, 3)."""
    assert one.amplitude is not None
    assert one.frequency is not None
    w = 2.0 * pi * one.frequency
    sine = one.amplitude * np.sin(w * time)
    return np.stack([sine, one.amplitude * w * np.cos(w * time), -(w**2) * sine], axis=1)


def _tool_plan(mechanism: Mechanism, motion: Motion, tool: ToolMotion, part: str, path: Path) -> Plan:
    points = np.array(tool.path)
    if points.shape[1] != (2 if mechanism.planar else 3):
        components = 2 if mechanism.planar else 3
        raise InputError(
            f"the points of the path have {points.shape[1]} components, not {components}",
            part=part, path=_inside(path, "tool", "path"), hint=f"give {components} numbers each",
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
            f"points {i + 1} and {i + 2} of the path are equal",
            part=part, path=_inside(path, "tool", "path", i + 1), hint="remove one of them",
        )  # fmt: skip
    profiles = [profile(float(length), **tool.bounds()) for length in lengths]
    if tool.bounds():
        least = sum(course.duration for course in profiles)
        if motion.duration is not None and motion.duration < least * (1.0 - _ROUNDING):
            what = f'place "{tool.place}" needs at least {least:.6g} s for {lengths.sum():.6g} m'
            raise _too_short(what, tool, motion.duration, part, path)
        duration = _duration(motion, least, part, path)
        shares = np.array([course.duration for course in profiles]) / least
    else:
        duration = _duration(motion, 0.0, part, path)
        shares = lengths / lengths.sum()
    profiles = [course.stretch(float(share) * duration) for course, share in zip(profiles, shares, strict=True)]
    led, along = Tool(mechanism, place, part), _along(points, profiles, duration)

    def evaluate(time: Array) -> Array:
        y = along.derivatives(time, closed=True)
        return led.solve_motion(points, y[0, :, 0], y[:, :, 1:])

    return Plan(part, CalledFunction(numbering.coordinates, evaluate, begin=0.0, end=duration), True)


def _along(points: Array, profiles: list[PiecewisePolynomial], duration: float) -> PiecewisePolynomial:
    """Return the number of completed straight pieces and the position on a path (P, c) over time: 1 + c functions."""
    marks = np.column_stack([np.arange(len(points)), points])
    breaks, legs = [np.zeros(1)], []
    for course, first, last in zip(profiles, marks[:-1], marks[1:], strict=True):
        leg = course.coefficients * ((last - first) / np.linalg.norm(last[1:] - first[1:]))
        leg[:, 0] += first
        breaks.append(breaks[-1][-1] + course.breaks[1:])
        legs.append(leg)
    times, kept = trim_breaks(np.concatenate(breaks), duration)
    names = ("passed", *(f"y{i}" for i in range(points.shape[1])))
    return PiecewisePolynomial(names, times, np.concatenate(legs)[kept], final=marks[-1])


def _duration(motion: Motion, least: float, part: str, path: Path) -> float:
    duration = motion.duration if motion.duration is not None else least
    if duration <= 0.0:
        raise InputError(
            "the motion ends where it begins, and has no duration",
            part=part, path=path, hint="give another `to`, or a duration",
        )  # fmt: skip
    return duration


def _too_short(what: str, bounds: Bounded, duration: float, part: str, path: Path) -> InputError:
    listed = ", ".join(f"{name} {value:g}" for name, value in bounds.bounds().items())
    return InputError(
        f"{what} ({listed}), but the duration is {duration:g} s",
        part=part, path=_inside(path, "duration"), hint="give a longer duration, or raise the bounds",
    )  # fmt: skip


def _inside(path: Path, *keys: str | int) -> Path:
    """Return a location inside the motion, if the motion is in a file."""
    return (*path, *keys) if path else ()


# Inverse kinematics of a tool along a path.
#
#     y(θ) = y_d(t),   θ̇ = J⁻¹ ẏ_d,   θ̈ = J⁻¹ (ÿ_d - θ̇ᵀ ∂²y θ̇),   J = ∂y/∂θ
#
# Newton's method first follows the geometry of the path from rest, in steps short enough to stay on the branch;
# all times are then solved together, starting from a curve through those points.


_CLOSED = 1e-13  # distance from the path, in extents, at convergence of Newton's method
_GOOD = 1e-10  # largest distance where rounding stops it
_ITERATIONS = 12
_FIRST, _SHORTEST, _LONGEST = 0.1, 1e-5, 0.25  # steps along a straight piece, as fractions of it
_STRAY = 0.3  # a correction larger than this fraction of its step may lead to another branch


@dataclass(frozen=True, eq=False)
class Knots:
    """Points of a straight piece with known coordinates: fractions (K,), theta and its slope (K, s)."""

    fraction: Array
    theta: Array
    slope: Array

    def __call__(self, fraction: Array) -> Array:
        return CubicHermiteSpline(self.fraction, self.theta, self.slope)(fraction)


class Tool:
    """Place of a mechanism as a function of the coordinates."""

    def __init__(self, mechanism: Mechanism, place: str, part: str):
        self.part, self.place = part, place
        self.letters = mechanism.plane or "xyz"
        self.mechanism = mechanism.replace(sensors={"tool": Sensor(position=place)}, motions={}, scenarios={})
        numbering = rest(self.mechanism).numbering
        self.extent = float(numbering.arrays.extent)
        s, self.unit = len(numbering.coordinates), numbering.theta_scale  # of each coordinate
        if s != len(self.letters):
            raise InputError(
                f'place "{place}" moves along {len(self.letters)} axes, but the mechanism has mobility {s}',
                part=part,
                hint=f"give the motion of its coordinates, or use a mechanism whose mobility is {len(self.letters)}",
            )

    def at(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return y (N, c), J (N, c, s), ∂²y (N, c, s, s) at coordinates (N, s)."""
        outputs = local(self.mechanism, theta, rigid=True).outputs
        parts = [outputs[f"tool.{letter}"] for letter in self.letters]
        return (
            np.stack([part.value for part in parts], axis=-1),
            np.stack([part.rigid for part in parts], axis=-2),
            np.stack([part.bend for part in parts], axis=-3),
        )

    def solve_motion(self, path: Array, passed: Array, course: Array) -> Array:
        """Return θ, θ̇, θ̈ (N, 3, s) along a path (P, c); passed : number of completed straight pieces (N,).

        course : y, ẏ, ÿ (3, N, c) at those times
        """
        start = rest(self.mechanism).theta.copy()
        here = self.at(start[None])[0][0]
        if np.linalg.norm(path[0] - here) > _GOOD * self.extent:
            start = self._follow(start, here, path[0], "from rest to the start of its path").theta[-1]
        pieces = np.clip(passed.astype(int), 0, len(path) - 2)
        guess = np.empty_like(course[0])
        for i in range(len(path) - 1):
            knots = self._follow(start, path[i], path[i + 1], f"along piece {i + 1} of its path")
            mine = pieces == i
            guess[mine] = knots(passed[mine] - i)
            start = knots.theta[-1]
        return self._solve_times(guess, course)

    def _solve_times(self, theta: Array, course: Array) -> Array:
        """Solve all times at once by Newton's method."""
        components, wanted_rates, wanted_accelerations = course
        y, J, bend = self.at(theta)
        gap = np.linalg.norm(components - y, axis=1)
        for _ in range(_ITERATIONS):
            if gap.max() <= _CLOSED * self.extent:
                break
            trial = theta + self._over(J, components - y)
            found = self.at(trial)
            residual = np.linalg.norm(components - found[0], axis=1)
            better = residual < gap
            if not better.any():
                break
            gap = np.where(better, residual, gap)
            theta[better] = trial[better]
            for old, new in zip((y, J, bend), found, strict=True):
                old[better] = new[better]
        if gap.max() > _GOOD * self.extent:
            raise NumericalError(
                f'place "{self.place}" misses its path by {gap.max():.2g} m',
                part=self.part,
                hint="keep the path away from singular configurations",
            )
        rates = self._over(J, wanted_rates)
        curved = wanted_accelerations - np.einsum("ncjk,nj,nk->nc", bend, rates, rates)
        return np.stack([theta, rates, self._over(J, curved)], axis=1)

    def _over(self, J: Array, right: Array) -> Array:
        """Return J⁻¹ right at every time."""
        try:
            return np.asarray(np.linalg.solve(J, right[..., None])[..., 0], dtype=float)
        except np.linalg.LinAlgError:
            raise InputError(
                f'place "{self.place}" reaches a singular configuration, where no rates of the coordinates move it on',
                part=self.part,
                hint="keep the path away from singular configurations",
            ) from None

    def _follow(self, theta: Array, start: Array, end: Array, where: str) -> Knots:
        """Follow the straight piece from start (where θ is) to end."""
        offset = end - start
        slope, sign = self._slope(theta, offset)
        found = [(0.0, theta, slope)]
        fraction, step = 0.0, _FIRST
        while fraction < 1.0:
            step = min(step, _LONGEST, 1.0 - fraction)
            arrived = self._correct_theta(theta + step * slope, start + (fraction + step) * offset)
            if arrived is not None:
                moved = np.linalg.norm((arrived - theta) / self.unit)
                stray = np.linalg.norm((arrived - theta - step * slope) / self.unit)
                ahead = self._slope(arrived, offset)
                if stray <= _STRAY * moved and ahead[1] == sign:
                    fraction = 1.0 if fraction + step >= 1.0 - 1e-12 else fraction + step
                    theta, slope = arrived, ahead[0]
                    found.append((fraction, theta, slope))
                    step *= 1.5
                    continue
            step *= 0.5
            if step < _SHORTEST:
                raise self._describe_stop(start + fraction * offset, where)
        fractions, thetas, slopes = zip(*found, strict=True)
        return Knots(np.array(fractions), np.array(thetas), np.array(slopes))

    def _slope(self, theta: Array, offset: Array) -> tuple[Array, float]:
        """Return dθ for the whole piece, and the side of the singularities of J on which θ lies."""
        J = self.at(theta[None])[1][0]
        sign = float(np.sign(np.linalg.det(J)))
        if sign == 0.0:
            return np.zeros_like(theta), sign
        return np.linalg.solve(J, offset), sign

    def _correct_theta(self, theta: Array, target: Array) -> Array | None:
        """Solve one point by Newton's method; return None if it does not converge or the mechanism does not close."""
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

    def _describe_stop(self, at: Array, where: str) -> InputError:
        point = ", ".join(f"{x:.6g}" for x in at + 0.0)
        return InputError(
            f'place "{self.place}" cannot move {where} beyond [{point}]: the mechanism is at the end of its reach or '
            "in a singular configuration",
            part=self.part,
            hint="give points within reach, on one side of the singularities",
        )
