"""Springs, dampers, forces and actuators along the distance of two points, and their variation.

With d = x_b - x_a, ℓ = |d|, n = d/ℓ and D_k = ∂d/∂q_k, the tension T = k (ℓ - ℓ₀) + c n·ḋ - f - u adds T n·D_k to the
required forces of the motion (docs/theory/recursive.md, eqs. 26-29). A spring with relaxed length zero is smooth at
ℓ = 0: its force is k d.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.memory import (
    AXIS,
    DISTANCE_INTEGERS,
    DISTANCE_NUMBERS,
    DISTANCE_SLOTS,
    FIRST,
    INTEGERS,
    POSITION,
    ROTATION,
    SLOTS,
    VELOCITY,
    block_place,
    cut,
    lane_count,
    parent_of,
)
from supple.formulations.recursive.spatial import (
    matrix_at,
    number_at,
    point_velocity,
    put,
    put_vector,
    spatial_at,
    vector_at,
)
from supple.geometry.vectors import apply_matrix, cross, dot, minus, norm, plus, times

END_AXIS, ACTUATOR = 0, 2
"""Integers: the axes of both ends, an actuator or -1."""
END_POINT, STIFF, RELAXED_LENGTH, VISCOUS, PULLED = 0, 6, 7, 8, 9
"""Numbers: a point on the frame of each end, k, ℓ₀, c, f."""
END, UNIT, LENGTH, CURVE, SUM, WAY_RATE, PULL = 0, 6, 9, 11, 14, 17, 20
"""Slots in the memory of a distance: x_a and x_b, n, ℓ, ∂_j D_k, a sum of three, ḋ, T n; all D_k follow."""


@kernel(inline=True)
def measure_distances(side, blocks, tree, memory):
    """Add T n·D_k of every distance to τ."""
    W, lanes, line = len(side), lane_count(side, blocks), memory.distance
    for i in range(len(tree.distances_i) // DISTANCE_INTEGERS):
        measure_distance(side, blocks, tree, memory, i)
        for k in range(tree.n):
            for lane in range(lanes):
                along = dot(vector_at(line, PULL, W, lane), vector_at(line, DISTANCE_SLOTS + 3 * k, W, lane))
                put(memory.bias, k, W, lane, number_at(memory.bias, k, W, lane) + along)


@kernel(inline=True)
def measure_distance(side, blocks, tree, memory, i):
    """Write the ends, n, ℓ, ḋ, T n and the D_k of one distance to the memory."""
    W, lanes, line = len(side), lane_count(side, blocks), memory.distance
    row, numbers = cut(tree.distances_i, i, DISTANCE_INTEGERS), cut(tree.distances_f, i, DISTANCE_NUMBERS)
    for at in range(DISTANCE_SLOTS * W, (DISTANCE_SLOTS + 3 * tree.n) * W):
        line[at] = 0.0
    for at in range(WAY_RATE * W, (WAY_RATE + 3) * W):
        line[at] = 0.0
    for e in range(2):
        sign = -1.0 if e == 0 else 1.0
        node, point = cut(memory.nodes, row[END_AXIS + e], SLOTS * W), vector_at(numbers, END_POINT + 3 * e, 1, 0)
        for lane in range(lanes):
            R = matrix_at(node, ROTATION, W, lane)
            x = plus(vector_at(node, POSITION, W, lane), apply_matrix(R, point))
            velocity = times(sign, point_velocity(spatial_at(node, VELOCITY, W, lane), x))
            put_vector(line, END + 3 * e, W, lane, x)
            put_vector(line, WAY_RATE, W, lane, plus(vector_at(line, WAY_RATE, W, lane), velocity))
        k = row[END_AXIS + e]
        while k < tree.n:
            add_way(side, blocks, memory, k, e)
            k = parent_of(tree, k)
    smooth = without_length(row, numbers)
    stiffness, relaxed, viscous, pulled = numbers[STIFF], numbers[RELAXED_LENGTH], numbers[VISCOUS], numbers[PULLED]
    for lane in range(lanes):
        d = minus(vector_at(line, END + 3, W, lane), vector_at(line, END, W, lane))
        length = norm(d)
        put(line, LENGTH, W, lane, length)
        if smooth:
            put_vector(line, PULL, W, lane, times(stiffness, d))
        else:
            unit = times(1.0 / length, d)
            tension = stiffness * (length - relaxed) + viscous * dot(unit, vector_at(line, WAY_RATE, W, lane)) - pulled
            if row[ACTUATOR] >= 0:
                tension -= number_at(memory.inputs, row[ACTUATOR], W, lane)
            put_vector(line, UNIT, W, lane, unit)
            put_vector(line, PULL, W, lane, times(tension, unit))


@kernel
def without_length(row, numbers):
    """Return whether the element is only a spring with relaxed length zero."""
    return numbers[RELAXED_LENGTH] == 0.0 and numbers[VISCOUS] == 0.0 and numbers[PULLED] == 0.0 and row[ACTUATOR] < 0


@kernel(inline=True)
def add_way(side, blocks, memory, k, e):
    """Set D_k to the velocity of end e for a unit rate of axis k, eq. 26."""
    W, lanes, line = len(side), lane_count(side, blocks), memory.distance
    node, way = cut(memory.nodes, k, SLOTS * W), DISTANCE_SLOTS + 3 * k
    sign = -1.0 if e == 0 else 1.0
    for lane in range(lanes):
        velocity = point_velocity(spatial_at(node, AXIS, W, lane), vector_at(line, END + 3 * e, W, lane))
        put_vector(line, way, W, lane, plus(vector_at(line, way, W, lane), times(sign, velocity)))


@kernel(inline=True)
def carries(tree, k, axis):
    """Return whether axis k is on the path from the ground to `axis`, or is `axis`."""
    while k < axis < tree.n:
        axis = parent_of(tree, axis)
    return axis == k


@kernel(inline=True)
def curve(side, blocks, tree, memory, row, j, k):
    """Compute ∂_j D_k = z_j × (s_k + z_k × x) for j before k, since axis j rotates all bodies it carries (eq. 28)."""
    W, lanes, line = len(side), lane_count(side, blocks), memory.distance
    for at in range(CURVE * W, (CURVE + 3) * W):
        line[at] = 0.0
    first = j <= k or tree.axes_i[j * INTEGERS + FIRST] == tree.axes_i[k * INTEGERS + FIRST]
    turning = cut(memory.nodes, j if first else k, SLOTS * W)
    moving = cut(memory.nodes, k if first else j, SLOTS * W)
    for e in range(2):
        if carries(tree, j, row[END_AXIS + e]) and carries(tree, k, row[END_AXIS + e]):
            sign = -1.0 if e == 0 else 1.0
            for lane in range(lanes):
                velocity = point_velocity(spatial_at(moving, AXIS, W, lane), vector_at(line, END + 3 * e, W, lane))
                change = times(sign, cross(vector_at(turning, AXIS + 3, W, lane), velocity))
                put_vector(line, CURVE, W, lane, plus(vector_at(line, CURVE, W, lane), change))


@kernel(inline=True)
def vary_distances(side, blocks, tree, memory):
    """Add the derivatives of T n·D_k to `change`: by q_j in column j, by q̇_j in axes + j."""
    W, n = len(side), tree.n
    for i in range(len(tree.distances_i) // DISTANCE_INTEGERS):
        row, numbers = cut(tree.distances_i, i, DISTANCE_INTEGERS), cut(tree.distances_f, i, DISTANCE_NUMBERS)
        measure_distance(side, blocks, tree, memory, i)
        for j in range(n):
            if not (carries(tree, j, row[END_AXIS]) or carries(tree, j, row[END_AXIS + 1])):
                continue
            for at in range(SUM * W, (SUM + 3) * W):
                memory.distance[at] = 0.0
            if numbers[VISCOUS] != 0.0:
                for k in range(n):
                    curve(side, blocks, tree, memory, row, j, k)
                    add_rate_change(side, blocks, memory, k)
            pull_change(side, blocks, row, numbers, memory.distance, j)
            for k in range(n):
                curve(side, blocks, tree, memory, row, j, k)
                pull_along(side, blocks, numbers[VISCOUS], n, memory, j, k)


@kernel(inline=True)
def add_rate_change(side, blocks, memory, k):
    """Compute SUM += ∂_j D_k q̇_k, a part of ∂_j ḋ."""
    W, lanes, line = len(side), lane_count(side, blocks), memory.distance
    for lane in range(lanes):
        more = times(number_at(memory.rates, k, W, lane), vector_at(line, CURVE, W, lane))
        put_vector(line, SUM, W, lane, plus(vector_at(line, SUM, W, lane), more))


@kernel
def pull_change(side, blocks, row, numbers, line, j):
    """Compute ∂_j (T n) = ∂_j T n + T ∂_j n in SUM, which contains ∂_j ḋ (eq. 29)."""
    W, lanes = len(side), lane_count(side, blocks)
    stiffness, viscous, smooth = numbers[STIFF], numbers[VISCOUS], without_length(row, numbers)
    for lane in range(lanes):
        D = vector_at(line, DISTANCE_SLOTS + 3 * j, W, lane)
        if smooth:
            put_vector(line, SUM, W, lane, times(stiffness, D))
        else:
            unit, pull = vector_at(line, UNIT, W, lane), vector_at(line, PULL, W, lane)
            longer = dot(unit, D)
            turn = times(1.0 / number_at(line, LENGTH, W, lane), minus(D, times(longer, unit)))
            growth = dot(turn, vector_at(line, WAY_RATE, W, lane)) + dot(unit, vector_at(line, SUM, W, lane))
            more = times(stiffness * longer + viscous * growth, unit)
            put_vector(line, SUM, W, lane, plus(more, times(dot(unit, pull), turn)))


@kernel(inline=True)
def pull_along(side, blocks, viscous, n, memory, j, k):
    """Return ∂_j (T n)·D_k + T n·∂_j D_k by q_j, and c (n·D_j) (n·D_k) by q̇_j."""
    W, lanes, line, change = len(side), lane_count(side, blocks), memory.distance, memory.change
    by_q, by_rate = block_place(n, j, k), block_place(n, n + j, k)
    for lane in range(lanes):
        D = vector_at(line, DISTANCE_SLOTS + 3 * k, W, lane)
        bent = dot(vector_at(line, PULL, W, lane), vector_at(line, CURVE, W, lane))
        more = dot(vector_at(line, SUM, W, lane), D) + bent
        put(change, by_q, W, lane, number_at(change, by_q, W, lane) + more)
        if viscous != 0.0:
            unit = vector_at(line, UNIT, W, lane)
            along = dot(unit, vector_at(line, DISTANCE_SLOTS + 3 * j, W, lane))
            put(change, by_rate, W, lane, number_at(change, by_rate, W, lane) + viscous * along * dot(unit, D))
