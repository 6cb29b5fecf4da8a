"""Motion of a reduced model over one interval of its drives, by explicit pairs of Runge-Kutta methods.

Any of the coordinates η may be prescribed. The rows of the others are solved, and those of the prescribed ones give the
forces that drive them:

    M_ff η̈_f = f_f - M_fl η̈_l,     Q_l = (M η̈ - f)_l,     f = f(η, η̇, u) - k η - c η̇

k and c are those of compliant drives. In a piece prescribed coordinates are cubics, and so are the forces; steps end
where a piece does. The step control is that of `explicit_march`, and so is the pair if some θ moves freely. If all of θ
is prescribed, coefficients are functions of time, and evaluating them is most of the work. Then the classical method of
order four is used, whose stages lie at three instants only, one of them shared with the step before. Its last stage, of
order three, is replaced by the slope at the end of the step:  e = h/6 (k₄ - k₅).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.packing import NOWHERE
from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.equations.deformation import deform
from supple.equations.forces import energies, forces, lost_power, push
from supple.equations.row import MASS
from supple.reduced.arrays import coefficient_row, friction_of, row_width
from supple.reduced.dynamics_kernel import INDEFINITE
from supple.reduced.kernels import INSIDE, OUTSIDE, row_at, single_scratch
from supple.reduced.observing_kernel import observe_moving
from supple.reduced.time.explicit_march import SMALLEST, STUCK, tableau

WANTED, STEPS = 0, 1  # places in `carried`: the next step, and the number of steps


class Pair(NamedTuple):
    """Pair of Runge-Kutta methods: stages A (q, q - 1), their times (q,), and weights of the error (q,).

    The last stage is the slope at the end of the step.

    power     : exponent of the step size control
    tolerance : default tolerance of the error
    """

    A: Array
    nodes: Array
    errors: Array
    power: float
    tolerance: float


CLASSICAL = Pair(
    np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0], [1 / 6, 1 / 3, 1 / 3, 1 / 6]]),
    np.array([0.0, 0.5, 0.5, 1.0, 1.0]),
    np.array([0.0, 0.0, 0.0, 1 / 6, -1 / 6]),
    1 / 4,
    1e-6,  # of a step of order three; the one that is taken, of order four, is off by ωh/5 of that
)
_STAGES, _NODES, _ERRORS = tableau()
FIFTH = Pair(_STAGES, _NODES, _ERRORS, 1 / 5, 1e-9)


class Driven(NamedTuple):
    """Indices of the prescribed coordinates (k,) and of the others (n - k,), and compliant drives.

    stiffness, damping : (n,) of compliant drives, along the coordinates
    """

    led: Integers
    free: Integers
    stiffness: Array
    damping: Array


class DrivenOptions(NamedTuple):
    """Longest step (s), error of a step relative to 1 + |state| (0: fixed steps), friction speed, and the pair."""

    largest: float
    tolerance: float
    speed: float
    pair: Pair


class Moving(NamedTuple):
    """State η, η̇, η̈ (n,) and inputs u (a,)."""

    eta: Array
    v: Array
    a: Array
    u: Array


@kernel
def drive_motion(pieces, piece, x, driven, moving):
    """Evaluate inputs, and η, η̇, η̈ of prescribed coordinates, at a time x after the beginning of a piece."""
    inputs, courses, led = pieces.forces, pieces.led, driven.led
    for i in range(moving.u.shape[0]):
        c = inputs[piece, :, i]
        moving.u[i] = ((c[3] * x + c[2]) * x + c[1]) * x + c[0]
    for i in range(led.shape[0]):
        c = courses[piece, :, i]
        moving.eta[led[i]] = ((c[3] * x + c[2]) * x + c[1]) * x + c[0]
        moving.v[led[i]] = (3.0 * c[3] * x + 2.0 * c[2]) * x + c[1]
        moving.a[led[i]] = 6.0 * c[3] * x + 2.0 * c[2]


@kernel
def accelerate(c, friction, driven, moving, f, L):
    """Compute η̈ of the free coordinates into moving.a, and Q of the prescribed ones into f (n,).

    Return False where M_ff is not positive definite. L (n, n) is workspace. f of the free coordinates includes the
    force of compliant drives.
    """
    n, M, row, led, free = c.n, c.at[MASS], c.values, driven.led, driven.free
    forces(c, friction, moving.eta, moving.v, moving.u, f)
    for i in range(n):
        f[i] -= driven.stiffness[i] * moving.eta[i] + driven.damping[i] * moving.v[i]
    a = moving.a
    for p in range(free.shape[0]):
        i = free[p]
        total = f[i]
        for q in range(led.shape[0]):
            total -= row[M + i * n + led[q]] * a[led[q]]
        for q in range(p + 1):
            entry = row[M + i * n + free[q]]
            for k in range(q):
                entry -= L[p, k] * L[q, k]
            if q < p:
                L[p, q] = entry / L[q, q]
                total -= L[p, q] * a[free[q]]
            elif entry > 0.0:
                L[p, p] = np.sqrt(entry)
            else:
                return False
        a[i] = total / L[p, p]
    for p in range(free.shape[0] - 1, -1, -1):
        total = a[free[p]]
        for q in range(p + 1, free.shape[0]):
            total -= L[q, p] * a[free[q]]
        a[free[p]] = total / L[p, p]
    for p in range(led.shape[0]):
        i = led[p]
        total = -f[i]
        for j in range(n):
            total += row[M + i * n + j] * a[j]
        f[i] = total
    return True


@kernel
def driven_power(c, driven, moving, f, pushed):
    """Return the power of the drives, W: inputs, compliant drives, and Q of the prescribed coordinates in f.

    pushed (n,) is workspace.
    """
    push(c, moving.u, pushed)
    eta, v = moving.eta, moving.v
    power = 0.0
    for i in range(c.n):
        power += (pushed[i] - driven.stiffness[i] * eta[i] - driven.damping[i] * v[i]) * v[i]
    for p in range(driven.led.shape[0]):
        power += f[driven.led[p]] * v[driven.led[p]]
    return power


@kernel(inline=True)
def coefficients_at(model, moving, kept, c):
    """Fill c with the row at η; return False outside the region.

    kept : leaf, θ and undeformed row of the previous call, then workspace
    """
    s, width, eta = c.s, c.values.shape[0], moving.eta
    first = 1 + s
    known = kept[0] != NOWHERE
    for i in range(s):
        known = known and kept[1 + i] == eta[i]
    if not known:
        for i in range(s):
            kept[1 + i] = eta[i]
        leaf = row_at(
            model.integers, model.numbers, eta, kept, first + width, kept[first : first + width], np.int64(kept[0])
        )
        kept[0] = leaf
        if leaf == NOWHERE:
            return False
    for i in range(width):
        c.values[i] = kept[first + i]
    deform(c, eta)
    return True


@kernel(inline=True)
def kept_size(Z):
    """Return the size of `kept` of `coefficients_at`."""
    c = coefficient_row(Z, np.empty(0))
    return 1 + c.s + row_width(Z) + single_scratch(Z)


@kernel
def error_of(state, trial, h, errors, k):
    """Return the error of a step relative to 1 + |state|; nan if the step is invalid."""
    error = 0.0
    for i in range(state.shape[0]):
        total = 0.0
        for j in range(errors.shape[0]):
            total += errors[j] * k[j, i]
        own = abs(h * total) / (1.0 + abs(state[i]))
        if not own <= error or not np.isfinite(trial[i]):
            error = own if np.isfinite(trial[i]) else np.nan
            if error != error:
                return error
    return error


@kernel(purpose="reduced models between two samples")
def driven_march(model, options, driven, pieces, observed, state, kept, found):
    """Integrate the state (2n + 4,) = (η, η̇, works, carried) through all pieces.

    Works are those of `explicit_march`; carried is the next step to try and the number of steps. Return the status, and
    the time reached after the beginning of the first piece.

    kept  : memory of `coefficients_at`
    found : (2n + outputs + 2,) η̈, Q (of prescribed coordinates), outputs, kinetic and potential energy at the end,
            before any jump there
    """
    largest, tolerance = options.largest, options.tolerance
    Z, F = model.integers, model.numbers
    c, friction = coefficient_row(Z, np.empty(row_width(Z))), friction_of(Z, F, options.speed)
    n, free, width = c.n, driven.free, 2 * c.n + 2
    carried = state[width:]
    A, nodes, errors, power = options.pair.A, options.pair.nodes, options.pair.errors, options.pair.power
    stages = nodes.shape[0]
    k, L = np.zeros((stages, width)), np.empty((n, n))
    moving = Moving(state[:n].copy(), state[n : 2 * n].copy(), np.zeros(n), np.zeros(c.inputs))
    f, trial, pushed = np.empty(n), np.empty(width), np.empty(n)
    last = pieces.times.shape[0] - 2
    for piece in range(last + 1):
        time, end, first = 0.0, pieces.times[piece + 1] - pieces.times[piece], True
        while time < end:
            span = end - time
            h = span / max(1.0, np.ceil(span / min(carried[WANTED], largest) - 1e-9))
            status, error = INSIDE, 0.0
            for stage in range(0 if first else 1, stages):
                for i in range(width):
                    total = 0.0
                    for j in range(stage):
                        total += A[stage, j] * k[j, i]
                    trial[i] = state[i] + h * total
                for i in range(n):
                    moving.eta[i], moving.v[i] = trial[i], trial[n + i]
                drive_motion(pieces, piece, time + nodes[stage] * h, driven, moving)
                if not coefficients_at(model, moving, kept, c):
                    status = OUTSIDE
                    break
                if not accelerate(c, friction, driven, moving, f, L):
                    status = INDEFINITE
                    break
                k[stage, 2 * n] = driven_power(c, driven, moving, f, pushed)
                k[stage, 2 * n + 1] = lost_power(c, friction, moving.v)
                for p in range(free.shape[0]):
                    i = free[p]
                    k[stage, i], k[stage, n + i] = moving.v[i], moving.a[i]
            if status == INSIDE:
                error = error_of(state[: 2 * n], trial, h, errors, k)
                status = STUCK if error != error else INSIDE
            if status != INSIDE or (tolerance > 0.0 and not error <= tolerance):
                first = False if status == INSIDE else first
                carried[WANTED] = h * (0.5 if status != INSIDE else max(0.2, 0.9 * (tolerance / error) ** power))
                if carried[WANTED] < SMALLEST * largest:
                    return (status if status != INSIDE else STUCK), pieces.times[piece] + time
                continue
            carried[STEPS] += 1.0
            time = end if time + h >= end - 1e-9 * h else time + h
            for i in range(n):
                state[i], state[n + i] = moving.eta[i], moving.v[i]
            state[2 * n], state[2 * n + 1] = trial[2 * n], trial[2 * n + 1]
            for i in range(width):
                k[0, i] = k[stages - 1, i]
            first = False
            carried[WANTED] = largest
            if tolerance > 0.0:
                carried[WANTED] = min(largest, h * min(5.0, 0.9 * (tolerance / max(error, 1e-30)) ** power))
    if last < 0 and not coefficients_at(model, moving, kept, c):
        return OUTSIDE, 0.0
    for p in range(driven.led.shape[0]):
        moving.a[driven.led[p]] = pieces.accelerations[last, 1, p] if last >= 0 else 0.0
    if not accelerate(c, friction, driven, moving, f, L):
        return INDEFINITE, pieces.times[last + 1]
    for i in range(n):
        found[i], found[n + i] = moving.a[i], f[i]
    last_but_energies = found.shape[0] - 2
    found[last_but_energies], found[last_but_energies + 1] = energies(c, moving.eta, moving.v)
    observe_moving(model, np.int64(kept[0]), friction, observed, moving, c, found[2 * n : last_but_energies])
    return INSIDE, pieces.times[last + 1]
