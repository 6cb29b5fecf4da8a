"""States in and results out: between rows of states and the working memory, where they stand side by side.

States are flat: q (N nq), q̇ (N n), u (N m) in the user's order; `start` is the first state taken, `lanes` how many
there are. Places in the memory beyond these repeat the last state, so that nothing there is ever not a number.
"""

from __future__ import annotations

from math import sqrt

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import (
    ARMATURE,
    AT_INPUT,
    AT_Q,
    AT_V,
    BALL,
    DAMPING,
    DRIVE,
    DRY,
    FIRST,
    FLOAT,
    INTEGERS,
    KIND,
    NUMBERS,
    OFFSET,
    RELAXED,
    STIFFNESS,
    TURN,
)
from supple.formulations.recursive.factor import block_place
from supple.formulations.recursive.lines import UNIT, measure_line
from supple.formulations.recursive.memory import (
    ACTUATORS,
    AXES,
    CONFIGURATION,
    INPUT_ENTRIES,
    LINE_INTEGERS,
    LINE_NUMBERS,
    LINES,
    places,
    tables,
)
from supple.formulations.recursive.node import cut, lane_count
from supple.formulations.recursive.trigonometry import replace_angles


@kernel
def bring(side, lanes, given, start, width, column, to):
    """Column `column` of rows of `width` numbers, from row `start` on."""
    for lane in range(lanes):
        to[lane] = given[(start + lane) * width + column]
    for lane in range(lanes, len(side)):
        to[lane] = to[lanes - 1]


@kernel
def bring_in(side, blocks, lanes, tree_i, tree_f, q, v, u, start, work):
    """Prepared configuration, rates, forces of the actuators and all forces along the axes."""
    W = len(side)
    at = places(tree_i)
    axes_i, axes_f, _, actuators, _, _, _, _, _, _, _ = tables(tree_i, tree_f)
    n, nq, m = tree_i[AXES], tree_i[CONFIGURATION], tree_i[ACTUATORS]
    x, rates, applied = work[at[0] * W : at[1] * W], work[at[1] * W : at[2] * W], work[at[3] * W : at[4] * W]
    for k in range(n):
        row, numbers = cut(axes_i, k, INTEGERS), cut(axes_f, k, NUMBERS)
        here, along = x[row[AT_INPUT] * W :], cut(rates, k, W)
        bring(side, lanes, v, start, n, row[AT_V], along)
        if row[KIND] >= BALL:
            if row[FIRST] == k:
                first = row[AT_Q] + (3 if row[KIND] == FLOAT else 0)
                for c in range(4):
                    bring(side, lanes, q, start, nq, first + c, cut(here, c, W))
                for c in range(3 if row[KIND] == FLOAT else 0):
                    bring(side, lanes, q, start, nq, row[AT_Q] + c, cut(here, 4 + c, W))
                of_length_one(side, blocks, here)
            passive(side, blocks, numbers, along, along, cut(applied, k, W))
        else:
            bring(side, lanes, q, start, nq, row[AT_Q], here)
            passive(side, blocks, numbers, here, along, cut(applied, k, W))
            for lane in range(W):
                here[lane] -= numbers[OFFSET]
            if row[KIND] == TURN:
                replace_angles(side, blocks, here)
    for i in range(m):
        force = cut(work, at[12] + i, W)
        bring(side, lanes, u, start, m, i, force)
        if actuators[i] < n:
            to = cut(applied, actuators[i], W)
            for lane in range(W):
                to[lane] += force[lane]


@kernel
def of_length_one(side, blocks, here):
    """A quaternion brought to length one."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        i, j, k, w = here[lane], here[W + lane], here[2 * W + lane], here[3 * W + lane]
        size = 1.0 / sqrt(i * i + j * j + k * k + w * w)
        here[lane], here[W + lane], here[2 * W + lane], here[3 * W + lane] = i * size, j * size, k * size, w * size


@kernel
def passive(side, blocks, numbers, coordinate, rate, to):
    """What spring, damper, constant force and dry friction give along an axis; a ball has no coordinate, and k = 0."""
    lanes = lane_count(side, blocks)
    stiffness, relaxed, damping = numbers[STIFFNESS], numbers[RELAXED], numbers[DAMPING]
    drive, dry = numbers[DRIVE], numbers[DRY]
    for lane in range(lanes):
        v = rate[lane]
        sign = (1.0 if v > 0.0 else 0.0) - (1.0 if v < 0.0 else 0.0)
        to[lane] = drive - stiffness * (coordinate[lane] - relaxed) - damping * v - dry * sign


@kernel
def bring_accelerations(side, lanes, tree_i, tree_f, a, start, work):
    """q̈ into the memory."""
    W, n = len(side), tree_i[AXES]
    at, axes_i = places(tree_i), tables(tree_i, tree_f)[0]
    for k in range(n):
        bring(side, lanes, a, start, n, axes_i[k * INTEGERS + AT_V], cut(work, at[2] + k, W))


@kernel
def take(lanes, found, given, start, width, column):
    """A row of the memory into column `column` of rows of `width` numbers, from row `start` on."""
    to = given[start * width + column :]
    for lane in range(lanes):
        to[lane * width] = found[lane]


@kernel
def take_forces(side, lanes, tree_i, tree_f, work, with_rotors, start, tau):
    """τ that the actuators have to give: what the motion needs less what springs, dampers and drives give."""
    W, n = len(side), tree_i[AXES]
    at = places(tree_i)
    axes_i, axes_f, _, _, _, _, _, _, _, _, _ = tables(tree_i, tree_f)
    for k in range(n):
        needed, given, acceleration = cut(work, at[4] + k, W), cut(work, at[3] + k, W), cut(work, at[2] + k, W)
        rotor = axes_f[k * NUMBERS + ARMATURE] if with_rotors else 0.0
        for lane in range(lanes):
            needed[lane] += rotor * acceleration[lane] - given[lane]
        take(lanes, needed, tau, start, n, axes_i[k * INTEGERS + AT_V])


@kernel
def take_accelerations(side, lanes, tree_i, tree_f, work, start, a):
    """q̈ out of the memory."""
    W, n = len(side), tree_i[AXES]
    at, axes_i = places(tree_i), tables(tree_i, tree_f)[0]
    for k in range(n):
        take(lanes, cut(work, at[2] + k, W), a, start, n, axes_i[k * INTEGERS + AT_V])


@kernel
def take_mass(side, lanes, tree_i, tree_f, work, start, M):
    """M (N n n), which comes filled with zeros, before it is factored."""
    W, n = len(side), tree_i[AXES]
    at = places(tree_i)
    axes_i, _, meet, _, _, _, _, _, _, _, _ = tables(tree_i, tree_f)
    for j in range(n):
        for k in range(j + 1):
            if meet[j * n + k] == k:
                found = cut(work, at[9] + j * n + k, W)
                row, column = axes_i[j * INTEGERS + AT_V], axes_i[k * INTEGERS + AT_V]
                take(lanes, found, M, start, n * n, row * n + column)
                take(lanes, found, M, start, n * n, column * n + row)


@kernel
def take_changes(side, lanes, tree_i, tree_f, work, start, by_q, by_rate):
    """∂τ/∂q and ∂τ/∂q̇ (N n n), kept by columns."""
    W, n = len(side), tree_i[AXES]
    at, axes_i = places(tree_i), tables(tree_i, tree_f)[0]
    for j in range(n):
        for k in range(n):
            to = axes_i[k * INTEGERS + AT_V] * n + axes_i[j * INTEGERS + AT_V]
            take(lanes, cut(work, at[6] + block_place(n, j, k), W), by_q, start, n * n, to)
            take(lanes, cut(work, at[6] + block_place(n, n + j, k), W), by_rate, start, n * n, to)


@kernel
def take_linear(side, blocks, lanes, tree_i, tree_f, work, start, A, B):
    """A (N 2n 2n) and B (N 2n m): what changes from state to state; the rest of A is [[0, 1], [0, 0]] before."""
    W, n, m = len(side), tree_i[AXES], tree_i[ACTUATORS]
    at, all_tables = places(tree_i), tables(tree_i, tree_f)
    axes_i, of_A, of_B = all_tables[0], all_tables[9], all_tables[10]
    out, inverse = work[at[7] * W : at[8] * W], work[at[5] * W : at[6] * W]
    for i in range(2 * n * n):
        found, to = of_A[2 * i] * W, start * 4 * n * n + of_A[2 * i + 1]
        for lane in range(lanes):
            A[to + lane * 4 * n * n] = out[found + lane]
    for i in range(tree_i[INPUT_ENTRIES]):
        found, to = of_B[2 * i] * W, start * 2 * n * m + of_B[2 * i + 1]
        for lane in range(lanes):
            B[to + lane * 2 * n * m] = inverse[found + lane]
    take_frames(side, lanes, n, axes_i, work[at[1] * W : at[2] * W], start, A)
    if tree_i[LINES] > 0:
        take_line_inputs(side, blocks, lanes, tree_i, tree_f, work, start, B)


@kernel
def take_line_inputs(side, blocks, lanes, tree_i, tree_f, work, start, B):
    """Columns of B of the actuators along lines: M⁻¹ times n·D_k."""
    W, n, m = len(side), tree_i[AXES], tree_i[ACTUATORS]
    at = places(tree_i)
    axes_i, _, _, _, _, _, lines_i, lines_f, _, _, _ = tables(tree_i, tree_f)
    nodes, memory = work[at[8] * W : at[9] * W], work[at[11] * W : at[12] * W]
    for i in range(tree_i[LINES]):
        line_i, line_f = cut(lines_i, i, LINE_INTEGERS), cut(lines_f, i, LINE_NUMBERS)
        if line_i[2] < 0:
            continue
        ways = measure_line(side, blocks, n, axes_i, line_i, line_f, nodes, work[at[12] * W :], memory)
        for k in range(n):
            row = (n + axes_i[k * INTEGERS + AT_V]) * m + line_i[2]
            for lane in range(lanes):
                total = 0.0
                for j in range(n):
                    along = 0.0
                    for c in range(3):
                        along += ways[(3 * j + c) * W + lane] * memory[(UNIT + c) * W + lane]
                    total += work[(at[5] + block_place(n, k, j)) * W + lane] * along
                B[(start + lane) * 2 * n * m + row] = total


@kernel
def take_frames(side, lanes, n, axes_i, rates, start, A):
    """d(δq)/dt = δq̇ - ad(q̇) δq where δq is counted in the axes of the body that a joint moves (eq. 32)."""
    W = len(side)
    for k in range(n):
        kind = axes_i[k * INTEGERS + KIND]
        if kind < BALL or axes_i[k * INTEGERS + FIRST] != k:
            continue
        slide = axes_i[k * INTEGERS + AT_V]
        turn = slide if kind == BALL else slide + 3
        first = k if kind == BALL else k + 3
        for lane in range(lanes):
            to = (start + lane) * 4 * n * n
            for c in range(3):
                d, e = (c + 1) % 3, (c + 2) % 3
                w = rates[(first + c) * W + lane]
                A[to + (turn + d) * 2 * n + turn + e] = w
                A[to + (turn + e) * 2 * n + turn + d] = -w
                if kind == FLOAT:
                    A[to + (slide + d) * 2 * n + slide + e] = w
                    A[to + (slide + e) * 2 * n + slide + d] = -w
                    v = rates[(k + c) * W + lane]
                    A[to + (slide + d) * 2 * n + turn + e] = v
                    A[to + (slide + e) * 2 * n + turn + d] = -v
