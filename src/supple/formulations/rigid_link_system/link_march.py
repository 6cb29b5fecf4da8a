"""Time steps by the generalized-α method on (θ, u), with ideal rows as position constraints.

See docs/theory/rigid-link-system.md, 26-27.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.sparse.linalg import SuperLU, splu

from supple.array_types import Array, Integers
from supple.compilation.threads import single_blas_thread
from supple.formulations.rigid_link_system.link_equations import (
    LinkEquations,
    LinkMotion,
    LinkResidual,
    link_iteration_matrix,
    link_residual,
)
from supple.formulations.rigid_link_system.link_point import LinkPoint
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem
from supple.integration.time_steps import Alpha

_ITERATIONS = 10
_SLOW = 0.1  # a correction beside the one before: more, and the matrix is made anew
_CONVERGED = 1e-7  # of the size of u, and 1e-12 of the mechanism's extent beside it
_ROUNDING = 1e-12
_FAR = 0.5  # rad, or extents: a correction after which nothing is near
_EASY = 20  # steps whose error is small enough for twice the length, before it is taken
_GROWING = 2.5  # of accelerations at the start, from a step to half of it: those of what has no mass, by four
_SHORTEST = 1e-9  # of the longest step


class LedLinks(NamedTuple):
    """Prescribed coordinates: their numbers, and positions, rates and accelerations (3, k) at a time."""

    numbers: Integers
    course: Callable[[float], Array]


class Marched(NamedTuple):
    """States at times (K,), with motions and forces along prescribed coordinates; reason : of an early end, or ""."""

    time: Array
    motions: list[LinkMotion]
    driving: Array
    steps: int
    iterations: int
    reason: str


def independent_ideal_rows(system: RigidLinkSystem, point: LinkPoint) -> Integers:
    """Return the independent ideal rows."""
    rows = system.holding.ideal
    C = point.C[rows]
    if not len(C):
        return rows
    unit = np.where(system.kept % 6 < 3, 1.0, 1.0 / system.numbering.arrays.extent)
    scaled = C * unit
    length = np.linalg.norm(scaled, axis=1)
    _, R, order = qr(scaled.T / np.where(length > 0.0, length, 1.0), mode="economic", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int(np.count_nonzero(pivots > 1e-10 * pivots.max(initial=0.0)))
    return np.sort(rows[order[:rank]])


class Solver:
    """The factored matrix for a step length, updated when the iteration no longer converges."""

    def __init__(self, equations: LinkEquations, alpha: Alpha, led: LedLinks):
        self.equations, self.alpha = equations, alpha
        self.free = np.setdiff1d(np.arange(equations.s + len(equations.system.kept)), led.numbers)
        self.h = 0.0
        self.lu: SuperLU | None = None
        self.scale = 1.0

    def prepare(self, point: LinkPoint, gradient: Array, h: float) -> None:
        m, f, beta, gamma = self.alpha
        S = link_iteration_matrix(self.equations, point, (1.0 - m) / ((1.0 - f) * beta * h * h), gamma / (beta * h))
        S = S[self.free][:, self.free]
        self.scale = float(np.abs(S.diagonal()).mean())
        G = sp.csr_array(self.scale * gradient[:, self.free])
        self.lu = splu(sp.csc_array(sp.block_array([[S, G.T], [G, None]])) if G.shape[0] else sp.csc_array(S))
        self.h = h

    def correction(self, found: LinkResidual) -> tuple[Array, Array]:
        """Return the correction of x (free) and of the multipliers."""
        assert self.lu is not None
        solved = self.lu.solve(-np.concatenate([found.force[self.free], self.scale * found.rows]))
        return solved[: len(self.free)], self.scale * solved[len(self.free) :]


def first_motion(solver: Solver, x: Array, v: Array, led: LedLinks, time: float, inputs: Array, h: float) -> LinkMotion:
    """Return the accelerations and multipliers with which steps of length h begin.

    They are those of one such step. Parts that are too stiff for the step, such as the motor side without inertia,
    begin without their own acceleration.
    """
    motion, found = _at_start(solver, x, v, led, time, inputs)
    return _set_accelerations(solver, motion, _of_a_step(solver, found, h))


def motion_at_start(
    solver: Solver, x: Array, v: Array, led: LedLinks, time: float, inputs: Array, h: float
) -> LinkMotion:
    """Return the accelerations and multipliers at the start, those of M a = F [eq. 28].

    A step of length h gives (M + c h² K) a = F. Steps h/4, h/8 and h/16 are extrapolated to zero (Richardson), to the
    order h⁶. If a part without mass is not in equilibrium, they diverge, and the values of `first_motion` are used.
    """
    motion, found = _at_start(solver, x, v, led, time, inputs)
    one, two, three = (_of_a_step(solver, found, h / n) for n in (4.0, 8.0, 16.0))
    count = len(solver.free)
    if np.abs(three[:count]).max(initial=0.0) > _GROWING * np.abs(two[:count]).max(initial=0.0):
        return _set_accelerations(solver, motion, _of_a_step(solver, found, h))
    coarse, fine = (4.0 * two - one) / 3.0, (4.0 * three - two) / 3.0
    return _set_accelerations(solver, motion, (16.0 * fine - coarse) / 15.0)


def _at_start(
    solver: Solver, x: Array, v: Array, led: LedLinks, time: float, inputs: Array
) -> tuple[LinkMotion, LinkResidual]:
    """Return the start without accelerations except prescribed ones, and its residual."""
    a = np.zeros(len(x))
    a[led.numbers] = led.course(time)[2]
    motion = LinkMotion(x, v, a, np.zeros(len(solver.equations.ideal)))
    found = link_residual(solver.equations, motion, inputs)
    return motion, found._replace(rows=np.zeros(len(found.rows)))


def _of_a_step(solver: Solver, found: LinkResidual, h: float) -> Array:
    """Return the accelerations of free coordinates, and the multipliers, for a step of length h."""
    m, f, beta, _ = solver.alpha
    solver.prepare(found.point, found.gradient, h)
    dx, multipliers = solver.correction(found)
    return np.concatenate([(1.0 - m) / ((1.0 - f) * beta * h * h) * dx, multipliers])


def _set_accelerations(solver: Solver, motion: LinkMotion, found: Array) -> LinkMotion:
    a, count = motion.a.copy(), len(solver.free)
    a[solver.free] = found[:count]
    return motion._replace(a=a, multipliers=found[count:])


@single_blas_thread()
def link_march(
    solver: Solver,
    start: LinkMotion,
    led: LedLinks,
    inputs: Callable[[float], Array],
    span: tuple[float, float],
    longest: float,
    tolerance: float | None,
) -> Marched:
    """Integrate from one time to another, with a fixed step or, with a tolerance, with adaptive steps."""
    now, end = span
    motion, auxiliary = start, start.a
    equations, alpha = solver.equations, solver.alpha
    first = link_residual(equations, start, inputs(now))
    times, motions, driving = [now], [start], [first.force[led.numbers]]
    h, easy, steps, iterations, reason = longest, 0, 0, 0, ""
    while now < end - 1e-9 * longest:
        length = min(h, end - now) if end - now < (1.0 + 1e-9) * h else h
        taken = _step(solver, motion, auxiliary, led, inputs, now, length)
        if taken is not None:
            moved, after, count, force = taken
            iterations += count
            error = _error(equations, alpha, length, auxiliary, after)
        if taken is None or (tolerance is not None and error > tolerance):
            h, easy = 0.5 * length, 0
            if h < _SHORTEST * longest or (taken is None and tolerance is None):
                reason = f"the equations found no solution for a step of {length:.3g} s at {now:.6g} s"
                break
            continue
        motion, auxiliary, now, steps = moved, after, now + length, steps + 1
        times.append(now)
        motions.append(motion)
        driving.append(force)
        if tolerance is not None:
            easy = easy + 1 if error < tolerance / 12.0 else 0
            if easy >= _EASY and h < longest:
                h, easy = min(2.0 * h, longest), 0
    return Marched(np.array(times), motions, np.array(driving), steps, iterations, reason)


def _error(equations: LinkEquations, alpha: Alpha, h: float, before: Array, after: Array) -> float:
    """Return the error of a step, rad or extents: h² (β - 1/6) (a' - a), the first omitted term of the method."""
    extent = equations.system.numbering.arrays.extent
    change = np.abs(h * h * (alpha.beta - 1.0 / 6.0) * (after - before))
    lengths = equations.system.kept % 6 < 3
    angles = equations.system.numbering.angles()[np.array(equations.system.theta_rows, dtype=np.int64)]
    units = np.concatenate([np.where(angles, 1.0, extent), np.where(lengths, extent, 1.0)])
    return float((change / units).max())


def _step(
    solver: Solver, motion: LinkMotion, auxiliary: Array, led: LedLinks, inputs: Callable[[float], Array], now: float,
    h: float,
) -> tuple[LinkMotion, Array, int, Array] | None:  # fmt: skip
    """Compute one step: the next motion, the auxiliary acceleration, iterations, prescribed forces; or None."""
    equations, (m, f, beta, gamma) = solver.equations, solver.alpha
    x0, v0, a0, multipliers = motion
    # Begun with the acceleration it had; corrections Δx move v by γ/(βh) Δx, v̇ by (1 - α_m)/((1 - α_f)βh²) Δx.
    a, auxiliary_new = a0.copy(), (f * a0 - m * auxiliary + (1.0 - f) * a0) / (1.0 - m)
    x = x0 + h * v0 + h * h * ((0.5 - beta) * auxiliary + beta * auxiliary_new)
    v = v0 + h * ((1.0 - gamma) * auxiliary + gamma * auxiliary_new)
    led_x, led_v, led_a = led.course(now + h)
    x[led.numbers], v[led.numbers], a[led.numbers] = led_x, led_v, led_a
    extent, force, last, fresh = equations.system.numbering.arrays.extent, inputs(now + h), np.inf, False
    for count in range(1, _ITERATIONS + 1):
        found = link_residual(equations, LinkMotion(x, v, a, multipliers), force)
        if solver.h != h or solver.lu is None:
            solver.prepare(found.point, found.gradient, h)
            fresh = True
        dx, dl = solver.correction(found)
        size = float(np.abs(dx).max(initial=0.0))
        if not size < _FAR * max(1.0, extent):  # also where it is no number
            return None
        if size > _SLOW * last and not fresh and size > 1e3 * _ROUNDING * extent:
            solver.prepare(found.point, found.gradient, h)
            fresh, last = True, np.inf
            dx, dl = solver.correction(found)
            size = float(np.abs(dx).max(initial=0.0))
        free = solver.free
        x[free] += dx
        v[free] += gamma / (beta * h) * dx
        a[free] += (1.0 - m) / ((1.0 - f) * beta * h * h) * dx
        auxiliary_new[free] += dx / (beta * h * h)
        multipliers = multipliers + dl
        if size <= _CONVERGED * float(np.abs(x[equations.s :]).max(initial=0.0)) + _ROUNDING * extent:
            auxiliary_new[led.numbers] = led_a
            return LinkMotion(x, v, a, multipliers), auxiliary_new, count, found.force[led.numbers]
        last = size
    return None
