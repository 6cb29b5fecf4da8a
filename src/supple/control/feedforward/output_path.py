"""Paths of outputs: what the tip shall do, from a motion of the coordinates or given as it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline

from supple.array_types import Array
from supple.control.feedforward.led_outputs import Course, LedOutputs
from supple.control.feedforward.reference import Reference, reference, through
from supple.diagnostics import InputError
from supple.reduced.time.led_motion import quasi_static
from supple.trajectories.trajectory import Trajectory

_STEP = 1e-3  # s: pieces of a path
_FEW = 200  # breaks that are kept as instants; more are those of samples, not of a profile
_KNOTS = 200  # along a path, where θ is sought one after the other


def output_path(led: LedOutputs, path: Any, compensate_sag: bool) -> tuple[Reference, Reference]:
    """y_d(t) of the outputs, and a motion of θ close to what leads them."""
    model = led.model
    if isinstance(path, Reference) and path.coordinates == led.names:
        return path, _led_along(led, path)
    nominal = reference(path, model)
    if not isinstance(nominal, Reference):
        raise InputError("a callable motion has no end", part="path", hint="give reference(motion, model, until=...)")
    times = instants(nominal, nominal.begin, nominal.end, _STEP)
    theta = Course(*nominal.sampled(times).transpose(1, 0, 2)[:3])
    theta = _up_to_the_end(nominal, times, theta)
    none = np.zeros((len(times), model.layout.size - model.layout.theta))
    delta = Course(none, none, none)
    if not compensate_sag:
        still = np.zeros_like(theta.value)
        sag = quasi_static(model, theta.value, still, still)
        delta = Course(*(make_interp_spline(times, sag, k=5)(times, order) for order in range(3)))
    y = led.along(theta, delta)
    return through(Trajectory(led.names, times, *y)), nominal


def instants(course: Reference, begin: float, end: float, step: float) -> Array:
    """Times at most a step apart, with the breaks of a course among them, if these are few."""
    times = np.linspace(begin, end, max(2, round((end - begin) / step)) + 1)
    if len(course.breaks) > _FEW:
        return times
    inside = course.breaks[(course.breaks > begin) & (course.breaks < end)]
    clear = np.abs(times[:, None] - inside[None]).min(axis=1, initial=np.inf) > 0.2 * step
    clear[[0, -1]] = True
    return np.unique(np.concatenate([times[clear], inside]))


def _up_to_the_end(nominal: Reference, times: Array, theta: Course) -> Course:
    """The last instant as the end of the motion, not as the standstill behind it."""
    last = nominal.pieces(times[-1:], 2)
    return Course(theta.value, theta.rate, np.vstack([theta.second[:-1], last]))


def _led_along(led: LedOutputs, path: Reference) -> Reference:
    """θ of the undeformed model along a path of its outputs, from a configuration in the middle of its region on."""
    model = led.model
    s, m = model.layout.theta, model.layout.size - model.layout.theta
    times = np.linspace(path.begin, path.end, _KNOTS + 1)
    known = {} if model.repertoire is None else model.repertoire.configurations
    names = model.layout.coordinates[:s]
    if "rest" in known:
        theta = np.array([known["rest"][name] for name in names])
    else:
        boxes = [(box.lower, box.upper) for box in model.fitted.leaves]
        theta = 0.5 * (np.min([box[0] for box in boxes], axis=0) + np.max([box[1] for box in boxes], axis=0))
    still, bent = np.zeros((1, s)), Course(*(np.zeros((1, m)) for _ in range(3)))
    found = []
    for y in path.sampled(times):
        aim = Course(y[:1], y[1:2], y[2:3])
        found.append(led.leading(aim, bent, Course(theta[None], still, still)))
        theta = found[-1].value[0]
    value, rate, second = (np.concatenate([one[k] for one in found]) for k in range(3))
    return through(Trajectory(names, times, value, rate, second, model.units))
