"""Prescribed coordinates in the form of a march: cubics between breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import value_text
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.statics.equilibrium import equilibrium
from supple.time_functions.function_of_time import PiecewisePolynomial
from supple.trajectories.trajectory import trajectory

_SAME = 1e-12  # rad or m: rounding of a coordinate


class Prescribed(NamedTuple):
    """Course of prescribed coordinates.

    driven : numbers of the coordinates; targets : cubics on B - 1 pieces; accelerations : (B, k) at their breaks
    """

    driven: tuple[int, ...]
    targets: PiecewisePolynomial
    accelerations: Array


def prescribe_motion(here: Configuration, motion: Any, begin: float, end: float, step: float) -> Prescribed:
    """Return the course of a motion from `begin` to `end` (s), with breaks a step apart.

    motion : {coordinate: callable of time}, or an argument of `trajectory`, of all coordinates; None for none
    """
    names = here.rest.numbering.coordinates
    if motion is None:
        return no_prescribed_motion(begin, end)
    times = np.linspace(begin, end, max(5, round((end - begin) / step)) + 1)
    if isinstance(motion, Mapping):
        for name in motion:
            require_known("coordinate", name, names, part="motion")
            if not callable(motion[name]):
                raise InputError(
                    f"not a function of time: {value_text(motion[name])}",
                    part=f'motion of "{name}"',
                    hint="give a callable of time",
                )
        chosen = tuple(names.index(name) for name in motion)
        theta = np.array([[course(float(t)) for course in motion.values()] for t in times])
        if not np.isfinite(theta).all():
            raise InputError("values are not finite", part="motion", hint="check its callables")
        spline = make_interp_spline(times, theta, k=5)
        rates, accelerations = spline(times, 1), spline(times, 2)
    else:
        course = trajectory(here.mechanism, motion, times=times)
        chosen = tuple(range(len(names)))
        theta, rates, accelerations = course.theta, course.rates, course.accelerations
    h = np.diff(times)[:, None]
    rise = np.diff(theta, axis=0) / h
    cubic = (rates[:-1] + rates[1:] - 2.0 * rise) / h**2
    square = (3.0 * rise - 2.0 * rates[:-1] - rates[1:]) / h
    targets = np.stack([theta[:-1], rates[:-1], square, cubic], axis=1)
    return Prescribed(chosen, PiecewisePolynomial(tuple(names[i] for i in chosen), times, targets), accelerations)


def no_prescribed_motion(begin: float, end: float) -> Prescribed:
    """Return a course without prescribed coordinates from `begin` to `end`, s."""
    return Prescribed((), PiecewisePolynomial((), np.array([begin, end]), np.zeros((1, 4, 0))), np.zeros((2, 0)))


def on_course(here: Configuration, course: Prescribed, inputs: Array) -> Configuration:
    """Return the start with prescribed coordinates on their course; a deformed one rests under the inputs."""
    theta, driven = here.theta.copy(), list(course.driven)
    theta[driven] = course.targets.coefficients[0, 0]
    if here.deformed is None:
        return assemble(here.mechanism, theta)
    if np.allclose(theta, here.theta, rtol=0.0, atol=_SAME):
        return here
    names = here.rest.numbering.coordinates
    return equilibrium(here.mechanism, theta, inputs=inputs, held=[names[i] for i in driven])
