"""Transfer of states into the working memory of the recursions, where they are side by side, and of results out of it.

States and results are flat, state after state, in the user's order: q (N nq), q̇ and q̈ (N n), u (N m). `start` is the
first state of a transfer, `lanes` the number of states.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

from supple.array_types import Array
from supple.compilation import kernel
from supple.equations.forces import dry_friction
from supple.formulations.recursive.distances import ACTUATOR, UNIT, measure_distance
from supple.formulations.recursive.memory import (
    ARMATURE,
    AT_INPUT,
    AT_Q,
    AT_V,
    BALL,
    DAMPING,
    DISTANCE_INTEGERS,
    DISTANCE_SLOTS,
    DRIVE,
    DRY,
    FIRST,
    FLOAT,
    FRICTION_SPEED,
    INTEGERS,
    KIND,
    NUMBERS,
    OFFSET,
    RELAXED,
    SCREW,
    SLIDE,
    STIFFNESS,
    block_place,
    cut,
    lane_count,
)
from supple.formulations.recursive.spatial import number_at, vector_at
from supple.geometry.vectors import dot

# Sine and cosine of angles side by side are taken without a branch, several in one instruction.
#
# The angle is reduced to y = x - k π/2, |y| <= π/4, with π/2 in three parts of which the first two multiply k exactly;
# then sin y = y + y³ s(y²) and cos y = 1 - y²/2 + y⁴ c(y²), with polynomials s and c that interpolate at Chebyshev
# points (errors below 3e-17). Both are within one unit in the last place or so of the exact value up to `LARGEST`.


LARGEST = 1.0e5
"""Limit in rad; beyond it the products with k are no longer exact, and the library functions are used."""
_ROUND = 6755399441055744.0  # 1.5 2⁵²: adding and taking it away rounds to the nearest integer
_PER_QUARTER = 0.6366197723675814  # 2/π
_QUARTER_1, _QUARTER_2, _QUARTER_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21


@kernel
def sine_and_cosine(x):
    """Return sine and cosine for |x| <= LARGEST."""
    k = (x * _PER_QUARTER + _ROUND) - _ROUND
    y = ((x - k * _QUARTER_1) - k * _QUARTER_2) - k * _QUARTER_3
    z = y * y
    s = y + (y * z) * (
        -0.16666666666666666
        + z
        * (
            0.008333333333330936
            + z
            * (
                -0.00019841269836740527
                + z * (2.7557316093196066e-06 + z * (-2.5051129895962803e-08 + z * 1.5917988944318488e-10))
            )
        )
    )
    c = (1.0 - 0.5 * z) + (z * z) * (
        0.041666666666666664
        + z
        * (
            -0.0013888888888887389
            + z
            * (
                2.48015872987544e-05
                + z * (-2.7557317265876615e-07 + z * (2.087614504910828e-09 + z * -1.1382544623404147e-11))
            )
        )
    )
    turn = k - 4.0 * ((k * 0.25 + _ROUND) - _ROUND)  # quarter turns: -2, -1, 0, 1 or 2
    odd = turn * turn == 1.0
    first, second = (c if odd else s), (s if odd else c)
    sine = -first if turn < 0.0 or turn > 1.5 else first
    cosine = -second if turn > 0.0 or turn < -1.5 else second
    return sine, cosine


@kernel
def replace_angles(side, blocks, x):
    """Replace the angle in x by its sine and cosine; x has a second, free slot."""
    W, lanes = len(side), lane_count(side, blocks)
    largest = 0.0
    for lane in range(lanes):
        size = abs(x[lane])
        largest = largest if size <= largest else size
    if largest <= LARGEST:
        for lane in range(lanes):
            s, c = sine_and_cosine(x[lane])
            x[lane] = s
            x[W + lane] = c
    else:
        for lane in range(lanes):
            angle = x[lane]
            x[lane] = sin(angle)
            x[W + lane] = cos(angle)


# States in. Places in the memory beyond `lanes` repeat the last state, so that nothing there is ever not a number.


class States(NamedTuple):
    """States, flat; q̈ is an argument or a result."""

    q: Array
    rates: Array
    accelerations: Array
    u: Array


@kernel
def bring(side, lanes, given, start, width, column, to):
    """Copy column `column` of rows of `width` numbers to the memory, from row `start` on."""
    for lane in range(lanes):
        to[lane] = given[(start + lane) * width + column]
    for lane in range(lanes, len(side)):
        to[lane] = to[lanes - 1]


@kernel
def bring_in(side, blocks, lanes, tree, memory, states, start):
    """Copy the prepared configuration, rates, actuator forces and all forces along the axes to the memory."""
    W, n, nq, m = len(side), tree.n, tree.nq, len(tree.actuators)
    for k in range(n):
        row, numbers = cut(tree.axes_i, k, INTEGERS), cut(tree.axes_f, k, NUMBERS)
        here, rate = memory.configuration[row[AT_INPUT] * W :], cut(memory.rates, k, W)
        applied, resistance = cut(memory.applied, k, W), cut(memory.resistance, k, W)
        bring(side, lanes, states.rates, start, n, row[AT_V], rate)
        if row[KIND] >= BALL:
            if row[FIRST] == k:
                first = row[AT_Q] + (3 if row[KIND] == FLOAT else 0)
                for c in range(4):
                    bring(side, lanes, states.q, start, nq, first + c, cut(here, c, W))
                for c in range(3 if row[KIND] == FLOAT else 0):
                    bring(side, lanes, states.q, start, nq, row[AT_Q] + c, cut(here, 4 + c, W))
                of_length_one(side, blocks, here)
            passive(side, blocks, numbers, rate, rate, applied, resistance)
        else:
            bring(side, lanes, states.q, start, nq, row[AT_Q], here)
            passive(side, blocks, numbers, here, rate, applied, resistance)
            for lane in range(W):
                here[lane] -= numbers[OFFSET]
            if row[KIND] == SCREW:
                for lane in range(W):
                    here[2 * W + lane] = here[lane]
            if row[KIND] != SLIDE:
                replace_angles(side, blocks, here)
    for i in range(m):
        force = cut(memory.inputs, i, W)
        bring(side, lanes, states.u, start, m, i, force)
        if tree.actuators[i] < n:
            to = cut(memory.applied, tree.actuators[i], W)
            for lane in range(W):
                to[lane] += force[lane]


@kernel
def of_length_one(side, blocks, here):
    """Normalize a quaternion."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        i, j, k, w = here[lane], here[W + lane], here[2 * W + lane], here[3 * W + lane]
        size = 1.0 / sqrt(i * i + j * j + k * k + w * w)
        here[lane], here[W + lane], here[2 * W + lane], here[3 * W + lane] = i * size, j * size, k * size, w * size


@kernel
def passive(side, blocks, numbers, coordinate, rate, applied, resistance):
    """Return the force of spring, damper, constant force and dry friction along an axis.

    A spherical joint has no coordinate, and k = 0. resistance : -∂/∂q̇ of the force
    """
    lanes = lane_count(side, blocks)
    stiffness, relaxed, damping, drive = numbers[STIFFNESS], numbers[RELAXED], numbers[DAMPING], numbers[DRIVE]
    for lane in range(lanes):
        applied[lane] = drive - stiffness * (coordinate[lane] - relaxed) - damping * rate[lane]
        resistance[lane] = damping
    if numbers[DRY] != 0.0:
        for lane in range(lanes):
            drag, slope = dry_friction(numbers[DRY], rate[lane], numbers[FRICTION_SPEED])
            applied[lane] -= drag
            resistance[lane] += slope


@kernel(inline=True)
def bring_accelerations(side, lanes, tree, memory, states, start):
    """Copy the given q̈ to the memory."""
    W, n = len(side), tree.n
    for k in range(n):
        bring(
            side,
            lanes,
            states.accelerations,
            start,
            n,
            tree.axes_i[k * INTEGERS + AT_V],
            cut(memory.given, k, W),
        )


# Results out: from the working memory into rows of results.


@kernel
def take(lanes, row, results, start, width, column):
    """Copy a row of the memory to column `column` of rows of `width` numbers, from row `start` on."""
    to = results[start * width + column :]
    for lane in range(lanes):
        to[lane * width] = row[lane]


@kernel(inline=True)
def take_forces(side, lanes, tree, memory, with_rotors, start, tau):
    """Write the actuator forces τ: those of the motion minus those of springs, dampers and drives."""
    W, n = len(side), tree.n
    for k in range(n):
        needed, given, acceleration = (
            cut(memory.bias, k, W), cut(memory.applied, k, W), cut(memory.accelerations, k, W),
        )  # fmt: skip
        rotor = tree.axes_f[k * NUMBERS + ARMATURE] if with_rotors else 0.0
        for lane in range(lanes):
            needed[lane] += rotor * acceleration[lane] - given[lane]
        take(lanes, needed, tau, start, n, tree.axes_i[k * INTEGERS + AT_V])


@kernel(inline=True)
def take_accelerations(side, lanes, tree, memory, start, a):
    """Copy q̈ from the memory."""
    W, n = len(side), tree.n
    for k in range(n):
        take(lanes, cut(memory.accelerations, k, W), a, start, n, tree.axes_i[k * INTEGERS + AT_V])


@kernel(inline=True)
def take_mass(side, lanes, tree, memory, start, M):
    """Copy M (N n n), initially zero, before it is factored."""
    W, n = len(side), tree.n
    for j in range(n):
        for k in range(j + 1):
            if tree.meet[j * n + k] == k:
                entry = cut(memory.M, j * n + k, W)
                row, column = tree.axes_i[j * INTEGERS + AT_V], tree.axes_i[k * INTEGERS + AT_V]
                take(lanes, entry, M, start, n * n, row * n + column)
                take(lanes, entry, M, start, n * n, column * n + row)


@kernel(inline=True)
def take_changes(side, lanes, tree, memory, start, by_q, by_rate):
    """Copy ∂τ/∂q and ∂τ/∂q̇ (N n n), stored by columns."""
    W, n = len(side), tree.n
    for j in range(n):
        for k in range(n):
            to = tree.axes_i[k * INTEGERS + AT_V] * n + tree.axes_i[j * INTEGERS + AT_V]
            take(lanes, cut(memory.change, block_place(n, j, k), W), by_q, start, n * n, to)
            take(lanes, cut(memory.change, block_place(n, n + j, k), W), by_rate, start, n * n, to)


@kernel(inline=True)
def take_linear(side, blocks, lanes, tree, memory, start, A, B):
    """Copy the entries of A (N 2n 2n) and B (N 2n m) that depend on the state; A contains [[0, 1], [0, 0]] already."""
    W, n, m = len(side), tree.n, len(tree.actuators)
    for i in range(2 * n * n):
        place, to = tree.of_A[2 * i] * W, start * 4 * n * n + tree.of_A[2 * i + 1]
        for lane in range(lanes):
            A[to + lane * 4 * n * n] = memory.out[place + lane]
    for i in range(len(tree.of_B) // 2):
        place, to = tree.of_B[2 * i] * W, start * 2 * n * m + tree.of_B[2 * i + 1]
        for lane in range(lanes):
            B[to + lane * 2 * n * m] = memory.inverse[place + lane]
    take_frames(side, lanes, tree, memory, start, A)
    for i in range(len(tree.distances_i) // DISTANCE_INTEGERS):
        if tree.distances_i[i * DISTANCE_INTEGERS + ACTUATOR] >= 0:
            measure_distance(side, blocks, tree, memory, i)
            take_distance_input(side, lanes, tree, memory, tree.distances_i[i * DISTANCE_INTEGERS + ACTUATOR], start, B)


@kernel(inline=True)
def take_distance_input(side, lanes, tree, memory, actuator, start, B):
    """Write the column of B of an actuator along the last measured distance: M⁻¹ times n·D_k."""
    W, n, m = len(side), tree.n, len(tree.actuators)
    for k in range(n):
        row = (n + tree.axes_i[k * INTEGERS + AT_V]) * m + actuator
        for lane in range(lanes):
            unit, total = vector_at(memory.distance, UNIT, W, lane), 0.0
            for j in range(n):
                along = dot(vector_at(memory.distance, DISTANCE_SLOTS + 3 * j, W, lane), unit)
                total += number_at(memory.inverse, block_place(n, k, j), W, lane) * along
            B[(start + lane) * 2 * n * m + row] = total


@kernel(inline=True)
def take_frames(side, lanes, tree, memory, start, A):
    """Apply d(δq)/dt = δq̇ - ad(q̇) δq where δq is measured in the axes of the body that a joint moves (eq. 32)."""
    W, n = len(side), tree.n
    for k in range(n):
        kind = tree.axes_i[k * INTEGERS + KIND]
        if kind < BALL or tree.axes_i[k * INTEGERS + FIRST] != k:
            continue
        slide = tree.axes_i[k * INTEGERS + AT_V]
        turn = slide if kind == BALL else slide + 3
        first = k if kind == BALL else k + 3
        for lane in range(lanes):
            to = (start + lane) * 4 * n * n
            for c in range(3):
                d, e = (c + 1) % 3, (c + 2) % 3
                w = memory.rates[(first + c) * W + lane]
                A[to + (turn + d) * 2 * n + turn + e] = w
                A[to + (turn + e) * 2 * n + turn + d] = -w
                if kind == FLOAT:
                    A[to + (slide + d) * 2 * n + slide + e] = w
                    A[to + (slide + e) * 2 * n + slide + d] = -w
                    v = memory.rates[(k + c) * W + lane]
                    A[to + (slide + d) * 2 * n + turn + e] = v
                    A[to + (slide + e) * 2 * n + turn + d] = -v
