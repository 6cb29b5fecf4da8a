"""Profiles: how a distance is covered from rest to rest within bounds.

With a bound on the jerk the acceleration is a trapezoid up, a pause and a trapezoid down (seven segments of constant
jerk); without it the speed is a trapezoid; with neither bound the distance follows a polynomial of degree five.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from supple.time_functions.function_of_time import PiecewisePolynomial

_FASTEST = 1.875  # largest speed of the polynomial, in units of its mean: 30 τ²(1 - τ)² at τ = ½


def profile(
    distance: float, *, velocity: float | None = None, acceleration: float | None = None, jerk: float | None = None
) -> PiecewisePolynomial:
    """The fastest way over a distance (of either sign, not zero) within bounds, from rest at 0 to rest.

    Without any bound it lasts a second, to be stretched.
    """
    way = abs(distance)
    if acceleration is None and jerk is None:
        return _polynomial(distance, _FASTEST * way / velocity if velocity is not None else 1.0)
    times, accelerations, jerks = _segments(way, velocity or inf, acceleration or inf, jerk or inf)
    return _integrated(distance, times, accelerations, jerks)


def _segments(way: float, v: float, a: float, j: float) -> tuple[list[float], list[float], list[float]]:
    """Duration, acceleration at the start and jerk of each segment.

    T_j builds the acceleration up, T_a holds it, T_v cruises. With v_p = a_p (T_j + T_a) the speed reached,

        way = v_p (2 T_j + T_a + T_v),   a_p = j T_j
    """
    if j == inf:
        build, top = 0.0, a
        hold = min(sqrt(way / a), v / a)
    else:
        build = min((way / (2.0 * j)) ** (1.0 / 3.0), a / j, sqrt(v / j))
        top = j * build
        hold = 0.0
        if build == a / j:  # the acceleration is reached, and may be held until the speed is, or half the way is done
            hold = 0.5 * (sqrt(build**2 + 4.0 * way / a) - 3.0 * build)
            hold = max(0.0, min(hold, v / a - build))
    speed = top * (build + hold)
    cruise = max(0.0, way / speed - 2.0 * build - hold)
    if j == inf:
        return [hold, cruise, hold], [top, 0.0, -top], [0.0, 0.0, 0.0]
    return (
        [build, hold, build, cruise, build, hold, build],
        [0.0, top, top, 0.0, 0.0, -top, -top],
        [j, 0.0, -j, 0.0, -j, 0.0, j],
    )


def _integrated(
    distance: float, times: list[float], accelerations: list[float], jerks: list[float]
) -> PiecewisePolynomial:
    """Segments of constant jerk joined to a way; the last rounding is taken out by scaling it to the distance."""
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
    return PiecewisePolynomial(("way",), np.array(breaks), scaled, final=np.array([distance]))


def _polynomial(distance: float, duration: float) -> PiecewisePolynomial:
    """distance (10 τ³ - 15 τ⁴ + 6 τ⁵), τ = t/duration: rates and accelerations vanish at both ends."""
    shape = distance * np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]) / duration ** np.arange(6.0)
    return PiecewisePolynomial(("way",), np.array([0.0, duration]), shape[None, :, None], final=np.array([distance]))
