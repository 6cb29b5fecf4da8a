"""One time step: generalized-α with index-3 constraints.

The unknowns of a step are the displacement δq of the bodies and the multipliers. With β' = (1 - α_m)/(h²β(1 - α_f)) and
γ' = γ/(hβ) a correction δq changes velocities by γ' δq and accelerations by β' δq. The iteration matrix is factored
once per step, LDLᵀ without pivoting, and again only if the iteration is slow. In elastic mechanisms the factor is kept
while the step length is constant and corrections decrease quickly.

Constraints are met in positions. Velocities violate them by c h², smoothly while h is constant. If the step changes to
h', this part is multiplied by (h'/h)² and a is moved to its new instant, since oscillations would start otherwise.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import copy_row, copy_table
from supple.formulations.absolute.iteration import (
    SOFT,
    iteration_matrix,
    residual,
    row_of,
    solve_right_side,
    turn_right_side,
)
from supple.formulations.absolute.residual import rate
from supple.formulations.absolute.step_work import KEPT_AGE, KEPT_LIFE, KEPT_STEADY, KEPT_STEP
from supple.integration.ldl import factorise, multiply, substitute
from supple.kinematics.closure_kernel import move_body
from supple.kinematics.row_arrays import row_sizes

ITERATIONS = 12
ROUNDING = 2e-15  # of a displacement (rad, or extents)
NO_STEP = 1e-30  # 1/β' of a step of hardly any length
MAGNIFIED = 0.5 * ROUNDING / sqrt(SOFT)  # the same close to singular positions: at most 1/(2√ε) times as much
FARTHEST = 1e3  # rad, or extents: no correction of a step that converges is as large
SLOW = 0.1  # how corrections fall with a factor that is made anew
LONGER = 1.25  # the steps that a factor may serve, against those that the one before it served
SAME = 1e-9  # of a step: one as long


class Method(NamedTuple):
    """Parameters of the method.

    m, f, beta, gamma : of the generalized-α method
    longest   : s, longest step
    adaptive  : largest error of a step (rad, or extents; for longer displacements relative to their length); 0 keeps
                the step fixed, except for the last one before a result time
    tolerance : of the Newton iteration, relative to the accelerations
    rounding  : of a displacement (rad, or extents)
    lasting   : whether the factor of the iteration matrix is used for several steps
    """

    m: float
    f: float
    beta: float
    gamma: float
    longest: float
    adaptive: float
    tolerance: float
    rounding: float
    lasting: bool


class State(NamedTuple):
    """Poses X, velocities V, accelerations v̇, the auxiliary a, multipliers λ, and measures w with continued angles."""

    X: Array
    V: Array
    acceleration: Array
    algorithmic: Array
    multipliers: Array
    w: Array


@kernel
def displace_poses(column, X, step, Y, twist):
    """Compute Y = X displaced by step (bodies, d): in world axes for positions, in body axes for rotations."""
    copy_table(X, Y)
    for b in range(step.shape[0]):
        twist[:] = 0.0
        for c in range(step.shape[1]):
            twist[column[c]] = step[b, c]
        Y[b, 0] += twist[0]
        Y[b, 1] += twist[1]
        Y[b, 2] += twist[2]
        move_body(Y, b, 0.0, 0.0, 0.0, twist[3], twist[4], twist[5])


@kernel(inline=True)
def unit_of(rows, k):
    """Return the unit of component k of (v, ω): extents, or radians."""
    return rows.extent if k < 3 else 1.0


@kernel(inline=True)
def largest_of(rows, values):
    """Return the largest of values (bodies, d), in extents or radians."""
    column = rows.column
    largest = 0.0
    for b in range(values.shape[0]):
        for c in range(values.shape[1]):
            largest = max(largest, abs(values[b, c]) / unit_of(rows, column[c]))
    return largest


@kernel(inline=True)
def predict(method, h, start, new, work):
    """Predict the end of the step with constant λ.

    The prediction keeps v̇ or, if v̇ oscillates too fast for the step, the displacement of the step before.
    """
    beta, gamma, m, f, move = method.beta, method.gamma, method.m, method.f, work.move
    steady = not method.lasting or work.kept[KEPT_STEADY] > 0.0
    first, last = work.kept[KEPT_STEADY] == 0.0, work.last
    V, acceleration, algorithmic = start.V, start.acceleration, start.algorithmic
    V1, acceleration1, algorithmic1 = new.V, new.acceleration, new.algorithmic
    nb, d = move.shape
    for b in range(nb):
        for c in range(d):
            a0, v0 = algorithmic[b, c], V[b, c]
            if steady:
                acceleration1[b, c] = acceleration[b, c]
                a1 = (acceleration[b, c] - m * a0) / (1.0 - m)
            else:
                way = v0 if first else last[b, c]
                a1 = (way - v0) / (h * beta) + (1.0 - 0.5 / beta) * a0
                acceleration1[b, c] = ((1.0 - m) * a1 + m * a0 - f * acceleration[b, c]) / (1.0 - f)
            algorithmic1[b, c] = a1
            move[b, c] = h * (v0 + h * ((0.5 - beta) * a0 + beta * a1))
            V1[b, c] = v0 + h * ((1.0 - gamma) * a0 + gamma * a1)
    copy_row(start.multipliers, new.multipliers)
    copy_row(start.w, new.w)


@kernel(inline=True)
def steadiness(rows, method, h, start, new, work):
    """Return how much better the prediction by v̇ was than that by displacement, in rad or extents; positive if better.

    The displacement of this step is stored for the next.
    """
    move, last = work.move, work.last
    with_it, without, first = 0.0, 0.0, work.kept[KEPT_STEADY] == 0.0
    factor = h * h * method.beta * (1.0 - method.f) / (1.0 - method.m)
    before, after, V = start.acceleration, new.acceleration, start.V
    for b in range(move.shape[0]):
        for c in range(move.shape[1]):
            unit = unit_of(rows, rows.column[c])
            with_it = max(with_it, factor * abs(after[b, c] - before[b, c]) / unit)
            without = max(without, abs(move[b, c] - h * (V[b, c] if first else last[b, c])) / unit)
            last[b, c] = move[b, c] / h
    return without - with_it if without != with_it else -1e-300


@kernel(inline=True)
def slopes_of(method, h):
    """Return γ', β', the changes of velocities and accelerations per displacement."""
    return method.gamma / (h * method.beta), (1.0 - method.m) / (h * h * method.beta * (1.0 - method.f))


@kernel(inline=True)
def correct(system, method, h, new, work):
    """Apply the correction in the right side; return its size (rad, or extents)."""
    first, second = slopes_of(method, h)
    rows, column = system.rows, system.rows.column
    move, right_side, multipliers = work.move, work.right_side, new.multipliers
    V, acceleration, algorithmic = new.V, new.acceleration, new.algorithmic
    nb, d = move.shape
    size = 0.0
    for b in range(nb):
        for c in range(d):
            step = right_side[b * d + c]
            scaled = abs(step) / unit_of(rows, column[c])
            if scaled > size or scaled != scaled:  # what is not a number stays
                size = scaled
            move[b, c] += step
            V[b, c] += first * step
            acceleration[b, c] += second * step
            algorithmic[b, c] += step / (h * h * method.beta)
    for i in range(multipliers.shape[0]):
        multipliers[i] -= second * right_side[nb * d + i]
    return size


@kernel
def factorise_step(problem, method, h, state, work):
    """Factor the iteration matrix of a step of length h from `work`; return whether this succeeded."""
    first, second = slopes_of(method, h)
    if method.lasting and method.adaptive > 0.0:
        iteration_matrix(problem.system, problem.iteration, state, (0.0, NO_STEP), work)
        copy_row(work.matrix, work.mass)
    iteration_matrix(problem.system, problem.iteration, state, (first / second, 1.0 / second), work)
    fine = factorise(problem.pattern, work.matrix, work.L, work.D, work.solving, work.filled)
    work.kept[KEPT_STEP], work.kept[KEPT_AGE] = h if fine else 0.0, 0.0
    return fine


@kernel(inline=True)
def local_error(problem, method, h, start, new, work):
    """Return the error of the displacement of a step, relative to long displacements.

    For a diverging motion no step keeps more than some digits. Oscillations that are too fast for the step are not
    counted, since M̂⁻¹M removes them.
    """
    rows, column, before, after = problem.system.rows, problem.system.rows.column, start.acceleration, new.acceleration
    right_side, filtered = work.right_side, work.filtered
    nb, d = after.shape
    error, far, factor = 0.0, max(1.0, largest_of(rows, work.move)), h * h * abs(method.beta - 1.0 / 6.0)
    if method.lasting:
        right_side[nb * d :] = 0.0
        for b in range(nb):
            for c in range(d):
                right_side[b * d + c] = factor * (after[b, c] - before[b, c])
        turn_right_side(column, new.X, right_side, False)
        multiply(problem.pattern, work.mass, right_side, filtered)
        filtered[nb * d :] = 0.0
        substitute(problem.pattern, work.L, work.D, filtered, work.solving)
        for b in range(nb):
            for c in range(d):
                error = max(error, abs(filtered[b * d + c]) / unit_of(rows, column[c]))
        return error / far
    for b in range(nb):
        for c in range(d):
            error = max(error, factor * abs(after[b, c] - before[b, c]) / unit_of(rows, column[c]))
    return error / far


@kernel(inline=True)
def scale_right_side(system, method, h, work):
    """Scale -(r_q, r_c) to the right side of (δq, -δλ/β'): r_q / β', and rows of damped joints as in the matrix."""
    first, second = slopes_of(method, h)
    right_side, lag = work.right_side, system.lag
    n = work.move.size
    for k in range(n):
        right_side[k] /= second
    for i in range(lag.shape[0]):
        if lag[i] > 0.0:
            right_side[n + i] /= 1.0 + first * lag[i]


@kernel
def take_step(problem, method, h, start, u, aim, work, new):
    """Compute one step of length h from `start` to `new`, with inputs u and prescribed values aim at its end.

    Returns (converged, iterations, potential, local error).
    """
    system, kept = problem.system, work.kept
    before, potential = 0.0, 0.0
    predict(method, h, start, new, work)
    column, move = system.rows.column, work.move
    displace_poses(column, start.X, move, new.X, work.twist)
    renew = not method.lasting or abs(kept[KEPT_STEP] - h) > SAME * h
    if not renew and kept[KEPT_AGE] >= kept[KEPT_LIFE]:  # before it grows slow; the next may last longer
        renew, kept[KEPT_LIFE] = True, LONGER * kept[KEPT_LIFE]
    for n in range(2 * ITERATIONS if method.lasting else ITERATIONS):
        potential = residual(system, new, u, aim, work)
        if renew:
            if not factorise_step(problem, method, h, new, work):
                return False, n, potential, 0.0
            renew = False
        scale_right_side(system, method, h, work)
        solve_right_side(problem, new.X, work)
        size = correct(system, method, h, new, work)
        if not size < FARTHEST:
            kept[KEPT_STEP] = 0.0
            return False, n + 1, potential, 0.0
        displace_poses(column, start.X, move, new.X, work.twist)
        # Displacements of a step come from accelerations times h²: that is what they must be small against.
        enough = method.rounding + method.tolerance * h * h * largest_of(system.rows, new.acceleration)
        # Near a singular position rounding keeps corrections from falling; smaller steps would only feel it more.
        stalled = n > 1 and size >= 0.5 * before and size <= MAGNIFIED
        if size <= enough or (n > 0 and size * size <= enough * before) or stalled:
            kept[KEPT_AGE] += 1.0
            if method.lasting:
                kept[KEPT_STEADY] = steadiness(system.rows, method, h, start, new, work)
            error = local_error(problem, method, h, start, new, work) if method.adaptive > 0.0 else 0.0
            return True, n + 1, potential, error
        renew = (n > 0 and size > SLOW * before) if method.lasting else n == 3
        if renew and kept[KEPT_AGE] > 0.0:
            kept[KEPT_LIFE] = kept[KEPT_AGE]
        before = size
    kept[KEPT_STEP] = 0.0
    return False, n + 1, potential, 0.0


@kernel
def breach(problem, X, V, aim_rates, work, drift):
    """Return the least change of the velocities, in the metric of M̂, with which they meet the constraints."""
    rows_i, driven, joints = (
        problem.system.rows.rows_i,
        problem.system.driven,
        row_sizes(problem.system.rows).joint_rows,
    )
    right_side, J = work.right_side, work.gradients
    nb, d = drift.shape
    right_side[: nb * d] = 0.0
    compliance = problem.system.compliance
    for i in range(work.values.shape[0]):
        held = i >= joints or compliance[i] == 0.0  # elastic joints keep nothing
        right_side[nb * d + i] = rate(rows_i, row_of(joints, driven, i), J, V) if held else 0.0
    for n in range(aim_rates.shape[0]):
        right_side[nb * d + joints + n] -= aim_rates[n]
    solve_right_side(problem, X, work)
    for b in range(nb):
        for c in range(d):
            drift[b, c] = right_side[b * d + c]


@kernel(inline=True)
def begin_step(state, h, last, drift, ready):
    """Prepare the state `ready` for a step of length h after one of length `last`."""
    V, acceleration, algorithmic = state.V, state.acceleration, state.algorithmic
    V1, algorithmic1 = ready.V, ready.algorithmic
    for b in range(drift.shape[0]):
        for c in range(drift.shape[1]):
            V1[b, c] = V[b, c] - (1.0 - (h / last) ** 2) * drift[b, c]
            # a stands for the instant (α_m - α_f) h after that of v̇.
            a = acceleration[b, c]
            algorithmic1[b, c] = a + h / last * (algorithmic[b, c] - a)
