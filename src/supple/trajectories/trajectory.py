"""Trajectories: θ and its derivatives at instants, from a motion however it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly, PPoly, make_interp_spline

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.motion import Motion
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_within
from supple.formats.motion_file import SampledMotion, read_motion, sampled
from supple.formats.source import located
from supple.formulations.measured_units import units_of
from supple.kinematics.rest import rest
from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.signals import Signals, gathered, span
from supple.results.table import Table
from supple.results.units import UNKNOWN, Units
from supple.trajectories.motion_plan import Plan, plan
from supple.trajectories.profile import Course
from supple.trajectories.tool_poses import posed_course

INSTANTS = 1000  # steps over a motion if nothing else is asked
_ROUNDING = 1e-9  # of the duration


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Result):
    """Coordinates over time: time (N,) in s; theta, rates, accelerations (N, s) in rad or m, as units say."""

    coordinates: tuple[str, ...]
    time: Array
    theta: Array
    rates: Array
    accelerations: Array
    units: Units = UNKNOWN

    def summary(self) -> str:
        return f"of {listed(self.coordinates)}, {span(self.time)}"

    def table(self) -> Table:
        """Coordinates, `NAME.rate` and `NAME.acceleration` over time."""
        value, rate, acceleration = self.signals()
        return gathered(self.time, value, rate=rate, acceleration=acceleration)

    def signals(self) -> tuple[Signals, Signals, Signals]:
        """θ, θ̇ and θ̈ by name."""
        kinds = (self.units.coordinates, self.units.rates, self.units.accelerations)
        columns = [
            dict(zip(self.coordinates, part.T, strict=True)) for part in (self.theta, self.rates, self.accelerations)
        ]
        first, second, third = (Signals(self.time, x, dict(units)) for x, units in zip(columns, kinds, strict=True))
        return first, second, third

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw value, rate and acceleration of all or some coordinates over time (matplotlib); returns the panels."""
        chosen = [
            Signals(item.time, {name: item[name] for name in names or item}, item.units) for item in self.signals()
        ]
        return picture("view.time_plot.time_plot")(
            dict(zip(("value", "rate", "acceleration"), chosen, strict=True)), (), axes
        )


Called = Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]
Prescribed = Motion | Trajectory | SampledMotion | Mapping[str, ArrayLike] | str | Path | Called
"""A motion's name in the mechanism file, a CSV file, a Motion, a Trajectory, t -> (θ, θ̇, θ̈), or columns like those of a
CSV file: {"time": (N,), "tool.x": (N,), ...}, of coordinates or of a place's pose."""


def trajectory(
    mechanism: Mechanism, motion: Prescribed, *, times: ArrayLike | None = None, step: float | None = None
) -> Trajectory:
    """θ, θ̇ and θ̈ of a motion at instants.

    times : (N,) s, from 0 on; left out, every `step` seconds, and a thousandth of the duration without that.
    A motion that ends at rest stands still afterwards. A table is interpolated by a spline of degree five, so that
    accelerations are smooth.
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
            f"it has no coordinates to move: {len(mechanism.actuators)} actuators do not match its mobility",
            part=f'mechanism "{mechanism.name}"',
            path=("coordinates",),
            hint="list as many coordinates: as the mobility that `supple check` prints",
        )
    try:
        planned = planned_motion(mechanism, motion)
        instants = _instants(planned, times, step)
        course = planned.course(instants)
    except InputError as error:
        raise located(error, mechanism) from None
    arrays = [np.ascontiguousarray(part, dtype=float) for part in course]
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError("it gives values that are not finite", part=planned.part, hint="check its numbers")
    theta, rates, accelerations = arrays
    return Trajectory(names, instants, theta, rates, accelerations, units_of(rest(mechanism)))


def planned_motion(mechanism: Mechanism, motion: Prescribed) -> Plan:
    """A motion, however it is given, ready to be evaluated."""
    if isinstance(motion, Motion):
        return plan(mechanism, motion, "motion")
    if isinstance(motion, Trajectory):
        return _resampled(mechanism, motion)
    if isinstance(motion, SampledMotion):
        return _interpolated(mechanism, motion)
    if isinstance(motion, Mapping):
        return _interpolated(mechanism, sampled(motion))
    if callable(motion):
        return _called(mechanism, motion)
    if isinstance(motion, str) and motion in mechanism.motions:
        return plan(mechanism, mechanism.motions[motion], f'motion "{motion}"', ("motions", motion))
    if isinstance(motion, Path) or str(motion).lower().endswith(".csv"):
        return _interpolated(mechanism, read_motion(motion))
    raise InputError(
        f'there is no motion "{motion}"',
        part=f'mechanism "{mechanism.name}"',
        hint=f"{nearest(str(motion), mechanism.motions)} (or name a .csv file)",
    )


def _instants(planned: Plan, times: ArrayLike | None, step: float | None) -> Array:
    if times is not None:
        return _checked(planned, np.array(times, dtype=float))
    if planned.duration is None:
        raise InputError("nothing says how long it lasts", part=planned.part, hint="give times")
    duration = planned.duration
    width = duration / INSTANTS if step is None else float(step)
    if not width > 0.0:
        raise InputError(f"the step is {width:g} s", part=planned.part, hint="give a step above 0")
    require_within("results", duration / width, part=planned.part, hint=f"give a longer step than {width:g} s")
    whole = int(np.floor(duration / width * (1.0 + _ROUNDING)))
    instants: Array = planned.start + width * np.arange(whole + 1, dtype=float)
    if duration - whole * width > _ROUNDING * duration:  # the end belongs to the motion
        return np.concatenate([instants, [planned.start + duration]])
    instants[-1] = planned.start + duration
    return instants


def _checked(planned: Plan, times: Array) -> Array:
    if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
        raise InputError("times are not rising numbers", part="times", hint="give (N,) rising times in s")
    if planned.duration is None:
        return times
    slack = _ROUNDING * planned.duration
    first, last = planned.start, planned.start + planned.duration
    if times[0] < first - slack or (times[-1] > last + slack and not planned.ends_at_rest):
        raise InputError(
            f"times from {times[0]:g} s to {times[-1]:g} s are asked, and it lasts from {first:g} s to {last:g} s",
            part=planned.part, hint="ask for times within it",
        )  # fmt: skip
    return times


def _interpolated(mechanism: Mechanism, table: SampledMotion) -> Plan:
    """A spline of degree five through the values, of coordinates or of a place's pose: accelerations are smooth."""
    names = rest(mechanism).numbering.coordinates
    first, last = table.time[0], table.time[-1]
    strange = [name for name in table.values if name not in names]
    if strange and len(strange) == len(table.values) and all("." in name for name in strange):
        return Plan(table.file, float(last - first), posed_course(mechanism, table), False, float(first))
    for name in strange:
        raise InputError(
            f'"{name}" is not a coordinate of "{mechanism.name}"',
            file=table.file, line=1, hint=nearest(name, names),
        )  # fmt: skip
    values = np.tile(rest(mechanism).theta, (len(table.time), 1))
    for name, column in table.values.items():
        values[:, names.index(name)] = column
    spline = make_interp_spline(table.time, values, k=5)

    def course(time: Array) -> Course:
        inside = np.clip(time, first, last)
        return Course(*(np.asarray(spline(inside, order)) for order in (0, 1, 2)))

    knots = np.unique(spline.t)  # its ends are several knots
    powers = [spline(knots[:-1], k) / factorial(k) for k in range(5, -1, -1)]
    pieces = PPoly(np.stack(powers), knots)
    return Plan(table.file, float(last - first), course, False, float(first), pieces)


def _resampled(mechanism: Mechanism, given: Trajectory) -> Plan:
    """Between instants the polynomial of degree five that has both ends' values, rates and accelerations."""
    names = rest(mechanism).numbering.coordinates
    if given.coordinates != names:
        raise InputError(
            f"it moves {', '.join(given.coordinates)}, and the coordinates are {', '.join(names)}",
            part="trajectory", hint="make it for this mechanism",
        )  # fmt: skip
    if len(given.time) == 1:
        return Plan("trajectory", 0.0, lambda time: Course(given.theta, given.rates, given.accelerations), False,
                    float(given.time[0]))  # fmt: skip
    ends = np.stack([given.theta, given.rates, given.accelerations], axis=1)
    pieces = BPoly.from_derivatives(given.time, ends)

    def course(time: Array) -> Course:
        inside = np.clip(time, given.time[0], given.time[-1])
        return Course(*(np.asarray(pieces(inside, order)) for order in (0, 1, 2)))

    return Plan("trajectory", float(np.ptp(given.time)), course, False, float(given.time[0]))


def _called(mechanism: Mechanism, motion: Called) -> Plan:
    s = len(rest(mechanism).numbering.coordinates)

    def course(time: Array) -> Course:
        found = [motion(float(t)) for t in time]
        try:
            parts = [np.array([one[k] for one in found], dtype=float).reshape(len(time), s) for k in range(3)]
        except (ValueError, TypeError, IndexError):
            raise InputError(
                f"a callable motion gives (θ, θ̇, θ̈) of {s} coordinates each, not {found[0]!r}",
                part="motion", hint="return three sequences in the order of the coordinates",
            ) from None  # fmt: skip
        return Course(*parts)

    return Plan("motion", None, course, True)
