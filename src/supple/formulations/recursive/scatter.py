"""Results out: from the working memory, where states stand side by side, into rows of results.

Results are flat, state after state, in the user's order; `start` is the first state, `lanes` how many there are.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import ARMATURE, AT_V, BALL, FIRST, FLOAT, INTEGERS, KIND, NUMBERS
from supple.formulations.recursive.blocks import block_place
from supple.formulations.recursive.distances import ACTUATOR, UNIT, measure_distance
from supple.formulations.recursive.memory import DISTANCE_INTEGERS, DISTANCE_SLOTS
from supple.formulations.recursive.node import cut
from supple.formulations.recursive.spatial import number_at, vector_at
from supple.geometry.vectors import dot


@kernel
def take(lanes, row, results, start, width, column):
    """A row of the memory into column `column` of rows of `width` numbers, from row `start` on."""
    to = results[start * width + column :]
    for lane in range(lanes):
        to[lane * width] = row[lane]


@kernel(inline=True)
def take_forces(side, lanes, tree, memory, with_rotors, start, tau):
    """τ that the actuators have to give: what the motion needs less what springs, dampers and drives give."""
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
    """q̈ out of the memory."""
    W, n = len(side), tree.n
    for k in range(n):
        take(lanes, cut(memory.accelerations, k, W), a, start, n, tree.axes_i[k * INTEGERS + AT_V])


@kernel(inline=True)
def take_mass(side, lanes, tree, memory, start, M):
    """M (N n n), which comes filled with zeros, before it is factored."""
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
    """∂τ/∂q and ∂τ/∂q̇ (N n n), kept by columns."""
    W, n = len(side), tree.n
    for j in range(n):
        for k in range(n):
            to = tree.axes_i[k * INTEGERS + AT_V] * n + tree.axes_i[j * INTEGERS + AT_V]
            take(lanes, cut(memory.change, block_place(n, j, k), W), by_q, start, n * n, to)
            take(lanes, cut(memory.change, block_place(n, n + j, k), W), by_rate, start, n * n, to)


@kernel(inline=True)
def take_linear(side, blocks, lanes, tree, memory, start, A, B):
    """A (N 2n 2n) and B (N 2n m): what changes from state to state; the rest of A is [[0, 1], [0, 0]] before."""
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
    """The column of B of an actuator along the distance that was measured last: M⁻¹ times n·D_k."""
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
    """d(δq)/dt = δq̇ - ad(q̇) δq where δq is counted in the axes of the body that a joint moves (eq. 32)."""
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
