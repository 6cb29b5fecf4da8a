"""Newton's method along the straight segment from rest to θ, for batches of θ.

The first step starts from the rigid modes at rest, to second order. At each step the target moves on by a piece of the
segment and Newton's method closes the loops anew. A step is accepted only if its corrections shrink fast (by
CONTRACTION each, which keeps the iteration on the branch it started on) and no body moves further than REACH at once.
So that no dead point is jumped over, the determinant of the rows must keep its sign. That alone does not show two
singular values vanishing together. The step must therefore also be short against the margin of the rows, the last over
the first diagonal entry of R: across a dead point the margins at both ends add up to no more than their slope times
the step. Otherwise the step is halved. When it falls below `shortest`, the mechanism is at a dead point.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import copy_row, copy_table
from supple.geometry.vectors import cross
from supple.kinematics.elimination import factor, last_over_first, solve, workspace
from supple.kinematics.primitives import ANGLE, KIND, NONE, SCALE, THEN, TURNS, continue_turns, row_value, value
from supple.kinematics.row_arrays import row_sizes

CONTRACTION = 0.3
REACH = 0.7  # rad for rotations, in extents for displacements
SLOPE = 0.7  # the margin changes more slowly than this with the displacement of the bodies
SHORTEST = 1e-7  # of the segment, or of a radian
CLOSED = 1e-9  # corrections below this need not shrink further
ROUNDING = 1e-15  # predicted size of the next correction at which closure ends
KEEP = 1e-3  # correction below which the factorisation is kept for the next
ITERATIONS = 12


class Start(NamedTuple):
    """Start of closure: a position with its rigid modes, the sign of its determinant and its margin.

    X         : (bodies + 1, 12) poses
    w         : (measures,)
    Psi, dPsi : as computed by `rigid_modes`
    shortest  : step, of the segment or of a radian, at which a dead point is not approached any further
    """

    X: Array
    w: Array
    Psi: Array
    dPsi: Array
    sign: float
    margin: float
    shortest: float


class Correction(NamedTuple):
    """One correction of Newton's method: right side (rows, 1), scaled velocities (bodies + 1, d, 1), workspace."""

    rho: Array
    x: Array
    g: Array


@kernel
def move_body(X, b, v0, v1, v2, w0, w1, w2):
    """Move body b by the twist (v, w) in its own axes: x += R v, R = R exp(w̃)."""
    R00, R01, R02 = X[b, 3], X[b, 4], X[b, 5]
    R10, R11, R12 = X[b, 6], X[b, 7], X[b, 8]
    R20, R21, R22 = X[b, 9], X[b, 10], X[b, 11]
    X[b, 0] += R00 * v0 + R01 * v1 + R02 * v2
    X[b, 1] += R10 * v0 + R11 * v1 + R12 * v2
    X[b, 2] += R20 * v0 + R21 * v1 + R22 * v2
    square = w0 * w0 + w1 * w1 + w2 * w2
    angle = sqrt(square)
    if angle < 1e-4:  # series to rounding
        p = 1.0 - square / 6.0
        q = 0.5 - square / 24.0
    else:
        p = sin(angle) / angle
        q = (1.0 - cos(angle)) / square
    E00, E11, E22 = 1.0 - q * (w1 * w1 + w2 * w2), 1.0 - q * (w0 * w0 + w2 * w2), 1.0 - q * (w0 * w0 + w1 * w1)
    E01, E10 = q * w0 * w1 - p * w2, q * w0 * w1 + p * w2
    E02, E20 = q * w0 * w2 + p * w1, q * w0 * w2 - p * w1
    E12, E21 = q * w1 * w2 - p * w0, q * w1 * w2 + p * w0
    X[b, 3], X[b, 4], X[b, 5] = (
        R00 * E00 + R01 * E10 + R02 * E20,
        R00 * E01 + R01 * E11 + R02 * E21,
        R00 * E02 + R01 * E12 + R02 * E22,
    )
    X[b, 6], X[b, 7], X[b, 8] = (
        R10 * E00 + R11 * E10 + R12 * E20,
        R10 * E01 + R11 * E11 + R12 * E21,
        R10 * E02 + R11 * E12 + R12 * E22,
    )
    X[b, 9], X[b, 10], X[b, 11] = (
        R20 * E00 + R21 * E10 + R22 * E20,
        R20 * E01 + R21 * E11 + R22 * E21,
        R20 * E02 + R21 * E12 + R22 * E22,
    )


@kernel
def update(rows, X, x):
    """Move every body by its scaled velocities x (bodies + 1, d, 1). Returns the largest of them."""
    sizes, column, extent = row_sizes(rows), rows.column, rows.extent
    largest = 0.0
    twist = np.zeros(6)
    for b in range(sizes.bodies):
        for c in range(sizes.width):
            size = x[b, c, 0]
            if not abs(size) <= largest:  # also true for nan
                largest = abs(size)
            twist[column[c]] = size * extent if column[c] < 3 else size
        move_body(X, b, twist[0], twist[1], twist[2], twist[3], twist[4], twist[5])
    return largest


@kernel
def unwrap_angle(angle, near):
    """Return the same angle with full turns added, closest to `near`."""
    return near + (angle - near) - 2.0 * pi * np.rint((angle - near) / (2.0 * pi))


@kernel
def predict(rows, start, change, X):
    """Move X by a change of θ to second order, from the rigid modes there. Returns the largest scaled velocity.

    Along the path V(t) = Ψ Δθ + t ∂Ψ[Δθ, Δθ] in body axes; a displacement is ∫ R v dt = v + ½ (v' + ω × v),
    a rotation ω + ½ ω'.
    """
    sizes, column, extent, Psi, dPsi = row_sizes(rows), rows.column, rows.extent, start.Psi, start.dPsi
    s = sizes.coordinates
    largest = 0.0
    V = np.zeros(6)
    dV = np.zeros(6)
    for b in range(sizes.bodies):
        for c in range(sizes.width):
            first, second = 0.0, 0.0
            for j in range(s):
                first += Psi[b, c, j] * change[j]
                for k in range(s):
                    second += dPsi[b, c, j * s + k] * change[j] * change[k]
            V[column[c]], dV[column[c]] = first, second
        turned = cross((V[3], V[4], V[5]), (V[0], V[1], V[2]))
        for k in range(3):
            V[k] += 0.5 * (dV[k] + turned[k])
            V[3 + k] += 0.5 * dV[3 + k]
            largest = max(largest, abs(V[3 + k]), abs(V[k]) / extent)
        move_body(X, b, V[0], V[1], V[2], V[3], V[4], V[5])
    return largest


@kernel
def row_of_terms(rows_i, rows_f, i, values, w):
    """Return the value of row i from those of its terms, full turns counted by the followed measures w."""
    total = 0.0
    term = i
    while term != NONE:
        total += continue_turns(rows_i, rows_f, term, values[term], w)
        term = rows_i[term, THEN]
    return total


@kernel
def close_step(rows, selected, target, w, start_sign, X, work, correction):
    """Move X by Newton's method to the coordinates `target`; start_sign is the sign of the determinant to keep.

    Returns (closed, sign of the determinant, margin, first correction).
    """
    sizes, rows_i, rows_f, values = row_sizes(rows), rows.rows_i, rows.rows_f, work.values
    mc, s, rho = sizes.joint_rows, sizes.coordinates, correction.rho
    redundant = mc + s - sizes.tree_rows > sizes.free
    before, first, sign, margin = 0.0, 0.0, 0.0, 0.0
    reuse = False
    for iteration in range(ITERATIONS):
        if reuse:
            for i in range(mc + s):
                term = i
                while term != NONE:
                    values[term] = value(rows_i, rows_f, term, X)
                    term = rows_i[term, THEN]
        else:
            regular, sign = factor(rows, selected, X, work)
            if not regular:
                return False, sign, 0.0, first
            margin = last_over_first(work.G, sizes.free)
        for i in range(mc + s):
            wanted = target[i - mc] if i >= mc else 0.0
            rho[i, 0] = (wanted - row_of_terms(rows_i, rows_f, i, values, w)) / rows_f[i, SCALE]
        solve(rows, work, rho, 1, correction.x, correction.g)
        size = update(rows, X, correction.x)
        if not size <= REACH:
            return False, sign, margin, size
        if iteration == 0:
            first = size
        elif size > CONTRACTION * before and size > CLOSED:
            return False, sign, margin, first
        # With a kept factorisation, corrections shrink by a constant ratio.
        shrinking = size / before if iteration > 0 else 1.0
        # Near a dead point rounding is larger: full Newton steps that no longer shrink consist of it.
        rounding = iteration > 0 and not reuse and CONTRACTION * before < size <= CLOSED
        if rounding or size * (shrinking if reuse else max(size, shrinking * shrinking)) <= ROUNDING:
            # Only some of the redundant rows are selected; these may lose rank alone, far from a dead point.
            crossed = sign != start_sign and not (redundant and margin > 10.0 * first)
            return not crossed, sign, margin, first
        reuse = size < KEEP and shrinking < CONTRACTION
        before = size
    return False, start_sign, margin, first


@kernel(purpose="closing loops")
def close_batch(rows, selected, start, thetas, X_out, w_out, reached):
    """Compute poses (N, bodies + 1, 12) and measures (N, rows after the joints) at each θ (N, s).

    rows    : the mechanism's RowArrays; start : Start
    reached : (N,) fraction of the segment from rest that the mechanism could follow; 1 where it is assembled.
    """
    sizes, rows_i, rows_f = row_sizes(rows), rows.rows_i, rows.rows_f
    nb, mc, s, measures = sizes.bodies, sizes.joint_rows, sizes.coordinates, sizes.rows - sizes.joint_rows
    work = workspace(rows)
    correction = Correction(np.empty((mc + s, 1)), np.empty((nb + 1, sizes.width, 1)), np.empty((mc + s, 1)))
    target = np.empty(s)
    change = np.empty(s)
    trial = np.empty((nb + 1, 12))
    w = np.empty(measures)
    rest_X, rest_w = start.X, start.w
    for n in range(thetas.shape[0]):
        X = X_out[n]
        copy_table(rest_X, X)
        copy_row(rest_w, w)
        done, step = 0.0, 1.0
        sign, margin = start.sign, start.margin
        shortest = start.shortest
        for i in range(s):  # no angle turns further than REACH in one step
            if rows_i[mc + i, KIND] == ANGLE:
                turn = abs(thetas[n, i] - rest_w[i])
                shortest = min(shortest, start.shortest / max(turn, 1.0))
                while turn * step > REACH:
                    step *= 0.5
        while done < 1.0:
            new = min(1.0, done + step)
            for i in range(s):
                change[i] = new * (thetas[n, i] - rest_w[i])
                target[i] = rest_w[i] + change[i]
            copy_table(X, trial)
            predicted = 0.0
            if done == 0.0:
                predicted = predict(rows, start, change, trial)
            closed, new_sign, new_margin, first = False, sign, margin, predicted
            if predicted <= REACH:
                closed, new_sign, new_margin, first = close_step(
                    rows, selected, target, w, sign, trial, work, correction
                )
            size = max(first, predicted)
            if done == 0.0 and first > CONTRACTION * max(predicted, 0.1):
                closed = False
            if margin + new_margin < SLOPE * size and size > CLOSED:
                closed = False
            if closed:
                done = new
                sign, margin = new_sign, new_margin
                copy_table(trial, X)
                for i in range(measures):
                    if rows_i[mc + i, TURNS] == i:
                        w[i] = continue_turns(rows_i, rows_f, mc + i, value(rows_i, rows_f, mc + i, X), w)
                if size < 0.5 * REACH:
                    step *= 2.0
            else:
                step *= 0.5
                if step < shortest:
                    break
        reached[n] = done
        for i in range(measures):
            w_out[n, i] = row_value(rows_i, rows_f, mc + i, X, w)
