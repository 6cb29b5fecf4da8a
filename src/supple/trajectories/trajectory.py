"""Trajectories: θ and its derivatives at given times, from any description of a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import factorial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation, RotationSpline

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.motion import Motion
from supple.diagnostics import InputError, NumericalError, describe_unknown, unknown_name
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_within
from supple.formats.source import locate_error
from supple.formats.time_table import SampledMotion, motion_of_columns, read_motion
from supple.formulations.coefficients import units_of
from supple.kinematics.closure import assemble
from supple.kinematics.motion import motion
from supple.kinematics.rest import rest
from supple.modal_analysis.ports import place_directions
from supple.time_functions.function_of_time import INSTANTS, CalledFunction, PiecewisePolynomial, Trajectory
from supple.trajectories.motion_plan import Plan, plan

_ROUNDING = 1e-9  # of the duration


Called = Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]
Prescribed = Motion | Trajectory | SampledMotion | Mapping[str, ArrayLike] | str | Path | Called
"""Motion: a name in the mechanism file, a CSV file, a Motion, a Trajectory, t -> (θ, θ̇, θ̈), or columns.

Columns are those of a CSV file, {"time": (N,), "tool.x": (N,), ...}, of coordinates or of the pose of a place.
"""


def trajectory(
    mechanism: Mechanism, motion: Prescribed, *, times: ArrayLike | None = None, step: float | None = None
) -> Trajectory:
    """Sample a motion: coordinates, rates and accelerations at given times.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism whose coordinates move.
    motion : str, path, Motion, Trajectory, callable or mapping
        Motion: a name in the mechanism file, a CSV file, a function t -> (θ, θ̇, θ̈), or columns of a table.

        Columns are {"time": (N,), "tool.x": (N,), ...}, of coordinates or of the pose of a place. Tables are
        interpolated by splines of degree five, so that accelerations are smooth.
    times : array_like of shape (N,), optional
        Times, s. Default: every `step` over the motion.
    step : float, optional
        Time step, s. Default: a thousandth of the duration.

    Returns
    -------
    Trajectory
        θ, θ̇ and θ̈ at the times. A motion that ends at rest remains there afterwards.

    Raises
    ------
    InputError
        If the motion is unknown, has no duration, or does not fit the mechanism, or a place leaves its reach.

    See Also
    --------
    inverse : Forces of the actuators along a motion.
    simulate : Simulation with a prescribed motion.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("two-link")
    >>> path = supple.trajectory(arm, lambda t: ([t, 2.0 * t], [1.0, 2.0], [0.0, 0.0]), times=[0.0, 0.5])
    >>> path.theta.tolist()
    [[0.0, 0.0], [0.5, 1.0]]
    """
    require_arguments(trajectory, locals())
    names = rest(mechanism).numbering.coordinates
    if (
        isinstance(motion, Trajectory)
        and motion.coordinates == names
        and ((times is None and step is None) or np.array_equal(motion.time, np.asarray(times)))
    ):
        return motion
    if not names:
        raise InputError(
            f"there are no coordinates to move: {len(mechanism.actuators)} actuators do not match the mobility",
            part=f'mechanism "{mechanism.name}"',
            path=("coordinates",),
            hint="list as many coordinates: as the mobility that `supple check` reports",
        )
    try:
        planned = planned_motion(mechanism, motion)
        instants, function = _instants(planned, times, step), planned.function
        inside = instants if planned.ends_at_rest else np.clip(instants, function.begin, function.end)
        theta, rates, accelerations = found = function.derivatives(inside, closed=True)
        if planned.ends_at_rest:
            rates[instants >= function.end] = 0.0  # without rounding
    except InputError as error:
        raise locate_error(error, mechanism) from None
    if not np.isfinite(found).all():
        raise InputError("the motion has values that are not finite", part=planned.part, hint="check its numbers")
    return Trajectory(names, instants, theta, rates, accelerations, units_of(rest(mechanism)))


def planned_motion(mechanism: Mechanism, motion: Prescribed) -> Plan:
    """Return a motion as a plan, ready to be evaluated."""
    if isinstance(motion, Motion):
        return plan(mechanism, motion, "motion")
    if isinstance(motion, Trajectory):
        return _interpolate_samples(mechanism, motion)
    if isinstance(motion, SampledMotion):
        return _interpolate_table(mechanism, motion)
    if isinstance(motion, Mapping):
        return _interpolate_table(mechanism, motion_of_columns(motion))
    if callable(motion):
        return _wrap_callable(mechanism, motion)
    if isinstance(motion, str) and motion in mechanism.motions:
        return plan(mechanism, mechanism.motions[motion], f'motion "{motion}"', ("motions", motion))
    if isinstance(motion, Path) or str(motion).lower().endswith(".csv"):
        return _interpolate_table(mechanism, read_motion(motion))
    message, hint = describe_unknown("motion", motion, mechanism.motions)
    raise InputError(message, part=f'mechanism "{mechanism.name}"', hint=f"{hint} (or name a .csv file)")


def _instants(planned: Plan, times: ArrayLike | None, step: float | None) -> Array:
    if times is not None:
        return _check_times(planned, np.array(times, dtype=float))
    if planned.duration is None:
        raise InputError("the motion has no duration", part=planned.part, hint="give times=")
    duration = planned.duration
    width = duration / INSTANTS if step is None else float(step)
    if not width > 0.0:
        raise InputError(f"step must be positive (got {width:g} s)", part=planned.part)
    require_within("results", duration / width, part=planned.part, hint=f"give a longer step than {width:g} s")
    whole = int(np.floor(duration / width * (1.0 + _ROUNDING)))
    begin, end = planned.function.begin, planned.function.end
    instants: Array = begin + width * np.arange(whole + 1, dtype=float)
    if duration - whole * width > _ROUNDING * duration:  # the end belongs to the motion
        return np.append(instants, end)
    instants[-1] = end
    return instants


def _check_times(planned: Plan, times: Array) -> Array:
    if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
        raise InputError("not rising finite numbers", part="times", hint="give (N,) rising times in s")
    if planned.duration is None:
        return times
    slack = _ROUNDING * planned.duration
    first, last = planned.function.begin, planned.function.end
    if times[0] < first - slack or (times[-1] > last + slack and not planned.ends_at_rest):
        raise InputError(
            f"times from {times[0]:g} s to {times[-1]:g} s exceed the motion from {first:g} s to {last:g} s",
            part=planned.part, hint="give times within it",
        )  # fmt: skip
    return times


def _interpolate_table(mechanism: Mechanism, table: SampledMotion) -> Plan:
    """Return a spline of degree five through values of coordinates or of the pose of a place."""
    names = rest(mechanism).numbering.coordinates
    first, last = table.time[0], table.time[-1]
    others = [name for name in table.values if name not in names]
    if others and len(others) == len(table.values) and all("." in name for name in others):
        function = CalledFunction(names, posed_course(mechanism, table), begin=float(first), end=float(last))
        return Plan(table.file, function, False)
    for name in others:
        raise unknown_name(f'coordinate of "{mechanism.name}"', name, names, file=table.file, line=1)
    values = np.tile(rest(mechanism).theta, (len(table.time), 1))
    for name, column in table.values.items():
        values[:, names.index(name)] = column
    spline = make_interp_spline(table.time, values, k=5)
    knots = np.unique(spline.t)  # the ends are multiple knots
    powers = [spline(knots[:-1], k) / factorial(k) for k in range(6)]
    return Plan(table.file, PiecewisePolynomial(names, knots, np.stack(powers, axis=1)), False)


def _interpolate_samples(mechanism: Mechanism, given: Trajectory) -> Plan:
    """Return polynomials of degree five between the samples, with values, rates and accelerations of both ends."""
    names = rest(mechanism).numbering.coordinates
    if given.coordinates != names:
        raise InputError(
            f"the trajectory is of {', '.join(given.coordinates)}, but the coordinates are {', '.join(names)}",
            part="trajectory", hint="create it for this mechanism",
        )  # fmt: skip
    if len(given.time) == 1:
        only, instant = np.stack(given.parts, axis=1), float(given.time[0])
        return Plan("trajectory", CalledFunction(names, lambda time: only, begin=instant, end=instant), False)
    return Plan("trajectory", given.function, False)


def _wrap_callable(mechanism: Mechanism, motion: Called) -> Plan:
    names = rest(mechanism).numbering.coordinates
    s = len(names)

    def evaluate(time: Array) -> Array:
        found = [motion(float(t)) for t in time]
        try:
            parts = [np.array([one[k] for one in found], dtype=float).reshape(len(time), s) for k in range(3)]
        except (ValueError, TypeError, IndexError):
            raise InputError(
                f"the callable must return (θ, θ̇, θ̈) of {s} coordinates each (got {found[0]!r})",
                part="motion", hint="return three sequences in the order of the coordinates",
            ) from None  # fmt: skip
        return np.stack(parts, axis=1)

    return Plan("motion", CalledFunction(names, evaluate), True)


# Inverse kinematics of a place along poses sampled over time, with its orientation if given.
#
#     e(θ) = (x_d - x, log(R_d Rᵀ)) = 0,   J θ̇ = (ẋ_d, ω_d),   J θ̈ = (ẍ_d, ω̇_d) - J̇ θ̇
#
# of the given components, as many as the mobility of the mechanism. Newton's method goes from rest to the first
# pose and from there along the table, in steps short enough to stay on the branch; all times are then solved
# together.


_CLOSED = 1e-13  # extents or rad: residual of Newton's method at convergence
_GOOD = 1e-10  # largest residual where rounding stops it
_ITERATIONS = 15
_KNOTS = 200  # along the table, solved before all times together
_FAR = 0.3  # rad, or extents: a longer step of a coordinate may lead to another branch
_SHORTEST = 1e-5  # of the distance between two knots


class Poses(NamedTuple):
    """Pose of a place: x (N, 3) and R (N, 3, 3) in the world, with velocity, acceleration, ω, ω̇ (N, 3)."""

    position: Array
    rotation: Array
    velocity: Array
    acceleration: Array
    turning: Array
    turning_rate: Array


class PosedTool:
    """Place of a mechanism that follows poses, and the components that are prescribed."""

    def __init__(self, mechanism: Mechanism, place: str, axes: tuple[str, ...], part: str):
        self.mechanism, self.place, self.part = mechanism, place, part
        numbering = rest(mechanism).numbering
        P, self.extent = mechanism.plane_axes(), float(numbering.arrays.extent)
        known = place_directions(numbering)
        rows = np.zeros((len(axes), 6))
        for i, axis in enumerate(axes):
            component = known[axis]
            rows[i, 3 * (component // 3) : 3 * (component // 3) + 3] = P[:, component % 3]
        self.rows = rows
        s, self.unit = len(numbering.coordinates), numbering.theta_scale
        self.scale = np.where(rows[:, 3:].any(axis=1), 1.0, self.extent)
        if s != len(axes):
            raise InputError(
                f'{len(axes)} components of place "{place}" are given ({", ".join(axes)}), but the mechanism has '
                f"mobility {s}",
                part=part, hint=f"give {s} of {', '.join(known)}, or the motion of its coordinates",
            )  # fmt: skip

    def at(self, theta: Array, target: Poses) -> tuple[Array, Array]:
        """Return e (N, c) and J (N, c, s) at coordinates (N, s)."""
        here = assemble(self.mechanism, theta)
        pose = here.frame(self.place)
        turn = Rotation.from_matrix(target.rotation @ np.swapaxes(pose.rotation, -1, -2)).as_rotvec()
        gap = np.concatenate([target.position - pose.position, turn], axis=-1)
        columns = []
        for unit in np.eye(theta.shape[1]):
            moved = motion(here, np.broadcast_to(unit, theta.shape)).frame(self.place)
            columns.append(np.concatenate([moved.velocity, moved.angular_velocity], axis=-1))
        return gap @ self.rows.T, self.rows @ np.stack(columns, axis=-1)

    def solve_motion(self, given: Callable[[Array], Poses], knots: Array, times: Array) -> Array:
        """Return θ, θ̇, θ̈ (N, 3, s) at times; knots (K,) are times at which θ is solved one after another."""
        theta = self._approach(rest(self.mechanism).theta.copy(), given(knots[:1]))
        found = [theta]
        for before, after in pairwise(knots.tolist()):
            theta = self._follow(theta, _between(given, before, after), after)
            found.append(theta)
        table = np.array(found)
        guess = np.stack([np.interp(times, knots, column) for column in table.T], axis=1)
        return self._solve_times(guess, given(times))

    def _approach(self, theta: Array, first: Poses) -> Array:
        """Return θ at the first pose, along a straight line with a rotation about one axis from rest."""
        pose = assemble(self.mechanism, theta).frame(self.place)
        turn = Rotation.from_matrix(first.rotation[0] @ pose.rotation.T).as_rotvec()
        still = np.zeros((1, 3))

        def between(fraction: float) -> Poses:
            x = pose.position + fraction * (first.position[0] - pose.position)
            R = Rotation.from_rotvec(fraction * turn).as_matrix() @ pose.rotation
            return Poses(x[None], R[None], still, still, still, still)

        return self._follow(theta, between, None)

    def _follow(self, theta: Array, course: Callable[[float], Poses], time: float | None) -> Array:
        """Return θ at the end of a course, along it in steps that stay on the branch."""
        fraction, step = 0.0, 1.0
        side = self._side(theta, course(0.0))
        while fraction < 1.0:
            step = min(step, 1.0 - fraction)
            arrived = self._correct_theta(theta, course(fraction + step))
            near = arrived is not None and np.abs((arrived - theta) / self.unit).max() <= _FAR
            if arrived is not None and near and self._side(arrived, course(fraction + step)) == side:
                fraction = 1.0 if fraction + step >= 1.0 - 1e-12 else fraction + step
                theta, step = arrived, 2.0 * step
                continue
            step *= 0.5
            if step < _SHORTEST:
                where = "between rest and its first pose" if time is None else f"before {time:.6g} s"
                x = ", ".join(f"{value:.6g}" for value in course(fraction).position[0] + 0.0)
                raise InputError(
                    f'place "{self.place}" cannot follow its poses {where}, at [{x}]: the mechanism is at the end of '
                    "its reach or in a singular configuration",
                    part=self.part, hint="give poses within reach, on one side of the singularities",
                )  # fmt: skip
        return theta

    def _side(self, theta: Array, target: Poses) -> float:
        return float(np.sign(np.linalg.det(self.at(theta[None], target)[1][0] / self.scale[:, None])))

    def _correct_theta(self, theta: Array, target: Poses) -> Array | None:
        """Solve one pose by Newton's method; return None if it does not converge or the mechanism does not close."""
        last = np.inf
        for _ in range(_ITERATIONS):
            try:
                gap, J = self.at(theta[None], target)
                step = np.linalg.solve(J[0], gap[0])
            except (InputError, NumericalError, np.linalg.LinAlgError):
                return None
            residual = float(np.abs(gap[0] / self.scale).max())
            if residual <= _CLOSED or (residual <= _GOOD and residual >= 0.5 * last):
                return theta
            if residual > 10.0 * last:
                return None
            last, theta = residual, theta + step
        return None

    def _solve_times(self, theta: Array, target: Poses) -> Array:
        """Solve all times at once by Newton's method, then rates and accelerations."""
        last = np.inf
        for _ in range(_ITERATIONS):
            gap, J = self.at(theta, target)
            residual = float(np.abs(gap / self.scale).max())
            if residual <= _CLOSED or (residual <= _GOOD and residual >= 0.5 * last):
                break
            last = residual
            theta = theta + np.linalg.solve(J, gap[..., None])[..., 0]
        if residual > _GOOD:
            raise NumericalError(
                f'place "{self.place}" misses its poses by {residual * self.extent:.2g} m or {residual:.2g} rad',
                part=self.part, hint="keep the poses away from singular configurations",
            )  # fmt: skip
        twist = np.concatenate([target.velocity, target.turning], axis=1) @ self.rows.T
        rates = np.linalg.solve(J, twist[..., None])[..., 0]
        moving = motion(assemble(self.mechanism, theta), rates).frame(self.place)
        bias = np.concatenate([moving.acceleration, moving.angular_acceleration], axis=1)
        change = np.concatenate([target.acceleration, target.turning_rate], axis=1) - bias
        accelerations = np.linalg.solve(J, (change @ self.rows.T)[..., None])[..., 0]
        return np.stack([theta, rates, accelerations], axis=1)


def _between(given: Callable[[Array], Poses], before: float, after: float) -> Callable[[float], Poses]:
    return lambda fraction: given(np.array([before + fraction * (after - before)]))


def posed_course(mechanism: Mechanism, table: SampledMotion) -> Callable[[Array], Array]:
    """Return θ, θ̇, θ̈ (N, 3, s) as a function of times, from a table of `place.x`, ... and its orientation if given.

    Orientation: in the plane `place.angle`; in space `place.rx`, `.ry`, `.rz`, the rotation vector (axis times angle)
    from the axes of the drawing to those of the place.
    """
    place, axes = _columns(mechanism, table)
    tool = PosedTool(mechanism, _place(mechanism, place), axes, table.file)
    given = _poses(mechanism, place, axes, table)
    knots = table.time[np.unique(np.linspace(0, len(table.time) - 1, min(len(table.time), _KNOTS)).astype(int))]
    return lambda times: tool.solve_motion(given, knots, times)


def _columns(mechanism: Mechanism, table: SampledMotion) -> tuple[str, tuple[str, ...]]:
    """Return the place and its axes, as the head of the table names them."""
    numbering = rest(mechanism).numbering
    known = place_directions(numbering)
    places: dict[str, list[str]] = {}
    for name in table.values:
        place, _, axis = name.rpartition(".")
        if not place or axis not in known:
            names = (*numbering.coordinates, *(f"{key}.{axis}" for key in mechanism.sensors for axis in known))
            raise unknown_name("coordinate or place direction", name, names, file=table.file, line=1)
        places.setdefault(place, []).append(axis)
    if len(places) > 1:
        raise InputError(
            f"the table prescribes {' and '.join(places)}",
            file=table.file,
            line=1,
            hint="prescribe one place, or the coordinates",
        )
    ((place, axes),) = places.items()
    turns = [axis for axis in axes if axis in ("rx", "ry", "rz")]
    if turns and len(turns) < 3:
        raise InputError(
            f'only {", ".join(turns)} of the rotation of "{place}" is given',
            file=table.file, line=1, hint="give rx, ry and rz, the rotation vector, or none",
        )  # fmt: skip
    return place, tuple(sorted(axes, key=list(known).index))


def _place(mechanism: Mechanism, name: str) -> str:
    """Return a place, or that of a sensor."""
    sensor = mechanism.sensors.get(name)
    found = name if sensor is None or sensor.place is None else sensor.place
    rest(mechanism).numbering.place(found)  # raises an error for an unknown place
    return found


def _poses(mechanism: Mechanism, place: str, axes: tuple[str, ...], table: SampledMotion) -> Callable[[Array], Poses]:
    """Return the poses as splines: of degree five for positions and planar angles; rotations with continuous ω̇."""
    P = mechanism.plane_axes()
    known = list(place_directions(rest(mechanism).numbering))
    values = np.zeros((len(table.time), 3))
    for axis in axes:
        if axis in known[: 2 if mechanism.planar else 3]:
            values[:, known.index(axis)] = table.values[f"{place}.{axis}"]
    line = make_interp_spline(table.time, values @ P.T, k=5)
    angle = rotation = None
    if "angle" in axes:
        angle = make_interp_spline(table.time, table.values[f"{place}.angle"], k=5)
    elif "rx" in axes:
        vectors = np.stack([table.values[f"{place}.{axis}"] for axis in ("rx", "ry", "rz")], axis=1)
        rotation = RotationSpline(table.time, Rotation.from_rotvec(vectors))

    def evaluate_poses(t: Array) -> Poses:
        still = np.zeros((len(t), 3))
        R, w, dw = np.broadcast_to(np.eye(3), (len(t), 3, 3)), still, still
        if angle is not None:
            about = P[:, 2]
            R = Rotation.from_rotvec(angle(t)[:, None] * about).as_matrix()
            w, dw = (angle(t, order)[:, None] * about for order in (1, 2))
        elif rotation is not None:
            R = rotation(t).as_matrix()
            w, dw = (np.einsum("nij,nj->ni", R, rotation(t, order)) for order in (1, 2))  # scipy's are in body axes
        return Poses(line(t), R, line(t, 1), line(t, 2), w, dw)

    return evaluate_poses
