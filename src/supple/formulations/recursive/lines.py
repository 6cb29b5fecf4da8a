"""Springs, dampers, forces and actuators along the distance of two points, and their variation.

With d = x_b - x_a, ℓ = |d|, n = d/ℓ and D_k = ∂d/∂q_k, the tension T = k (ℓ - ℓ₀) + c n·ḋ - f - u adds T n·D_k to the
forces that the motion needs (docs/theory/recursive.md, eqs. 26-29). A spring that is relaxed at no length is smooth
where its ends meet: its force is k d.

lines_i : (n, 3) axes of both ends, actuator or -1; lines_f : (n, 10) point on the frame of each, k, ℓ₀, c, f.
"""

from __future__ import annotations

from math import sqrt

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import FIRST, INTEGERS, PARENT
from supple.formulations.recursive.factor import block_place
from supple.formulations.recursive.memory import LINE_INTEGERS, LINE_NUMBERS, LINE_SLOTS
from supple.formulations.recursive.node import AXIS, SLOTS, cut, lane_count

STIFF, RELAXED_LENGTH, VISCOUS, PULLED = 6, 7, 8, 9
"""Places in lines_f after the two points."""
END, UNIT, LENGTH, CURVE, SUM, WAY_RATE, PULL = 0, 6, 9, 11, 14, 17, 20
"""Places in the memory of a line: x_a and x_b, n, ℓ, ∂_j D_k, a sum of three, ḋ, T n; all D_k come after LINE_SLOTS."""


@kernel
def measure_lines(side, blocks, n, axes_i, lines_i, lines_f, nodes, u, memory, tau):
    """Adds T n·D_k of every line to τ (axes, W). u : (actuators, W)."""
    W, lanes = len(side), lane_count(side, blocks)
    for i in range(len(lines_i) // LINE_INTEGERS):
        line_i, line_f = cut(lines_i, i, LINE_INTEGERS), cut(lines_f, i, LINE_NUMBERS)
        ways = measure_line(side, blocks, n, axes_i, line_i, line_f, nodes, u, memory)
        for k in range(n):
            way, along = cut(ways, k, 3 * W), cut(tau, k, W)
            for lane in range(lanes):
                along[lane] += (
                    memory[(PULL + 0) * W + lane] * way[lane]
                    + memory[(PULL + 1) * W + lane] * way[W + lane]
                    + memory[(PULL + 2) * W + lane] * way[2 * W + lane]
                )


@kernel
def measure_line(side, blocks, n, axes_i, line_i, line_f, nodes, u, memory):
    """Ends, n, ℓ, ḋ and T n of one line into the memory; returns the D_k, (axes, 3, W)."""
    W, lanes = len(side), lane_count(side, blocks)
    ways = memory[LINE_SLOTS * W : (LINE_SLOTS + 3 * n) * W]
    for at in range(3 * n * W):
        ways[at] = 0.0
    for at in range(WAY_RATE * W, (WAY_RATE + 3) * W):
        memory[at] = 0.0
    for e in range(2):
        sign = -1.0 if e == 0 else 1.0
        node = cut(nodes, line_i[e], SLOTS * W)
        x0, x1, x2 = line_f[3 * e], line_f[3 * e + 1], line_f[3 * e + 2]
        end = memory[(END + 3 * e) * W :]
        for lane in range(lanes):
            r0 = node[9 * W + lane] + (node[lane] * x0 + node[W + lane] * x1 + node[2 * W + lane] * x2)
            r1 = node[10 * W + lane] + (node[3 * W + lane] * x0 + node[4 * W + lane] * x1 + node[5 * W + lane] * x2)
            r2 = node[11 * W + lane] + (node[6 * W + lane] * x0 + node[7 * W + lane] * x1 + node[8 * W + lane] * x2)
            v0, v1, v2 = node[12 * W + lane], node[13 * W + lane], node[14 * W + lane]
            w0, w1, w2 = node[15 * W + lane], node[16 * W + lane], node[17 * W + lane]
            end[lane], end[W + lane], end[2 * W + lane] = r0, r1, r2
            memory[(WAY_RATE + 0) * W + lane] += sign * (v0 + (w1 * r2 - w2 * r1))
            memory[(WAY_RATE + 1) * W + lane] += sign * (v1 + (w2 * r0 - w0 * r2))
            memory[(WAY_RATE + 2) * W + lane] += sign * (v2 + (w0 * r1 - w1 * r0))
        k = line_i[e]
        while k < n:
            add_velocity(side, blocks, cut(nodes, k, SLOTS * W), end, sign, cut(ways, k, 3 * W))
            k = axes_i[k * INTEGERS + PARENT]
    stiffness, relaxed, viscous, pulled = line_f[STIFF], line_f[RELAXED_LENGTH], line_f[VISCOUS], line_f[PULLED]
    for lane in range(lanes):
        d0 = memory[3 * W + lane] - memory[lane]
        d1 = memory[4 * W + lane] - memory[W + lane]
        d2 = memory[5 * W + lane] - memory[2 * W + lane]
        length = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        memory[LENGTH * W + lane] = length
        if without_length(line_i, line_f):
            memory[(PULL + 0) * W + lane] = stiffness * d0
            memory[(PULL + 1) * W + lane] = stiffness * d1
            memory[(PULL + 2) * W + lane] = stiffness * d2
        else:
            n0, n1, n2 = d0 / length, d1 / length, d2 / length
            growth = (
                n0 * memory[(WAY_RATE + 0) * W + lane]
                + n1 * memory[(WAY_RATE + 1) * W + lane]
                + n2 * memory[(WAY_RATE + 2) * W + lane]
            )
            tension = stiffness * (length - relaxed) + viscous * growth - pulled
            if line_i[2] >= 0:
                tension -= u[line_i[2] * W + lane]
            memory[(UNIT + 0) * W + lane], memory[(UNIT + 1) * W + lane] = n0, n1
            memory[(UNIT + 2) * W + lane] = n2
            memory[(PULL + 0) * W + lane] = tension * n0
            memory[(PULL + 1) * W + lane] = tension * n1
            memory[(PULL + 2) * W + lane] = tension * n2
    return ways


@kernel
def without_length(line_i, line_f):
    """A spring that is relaxed where its ends meet, and nothing else."""
    return line_f[RELAXED_LENGTH] == 0.0 and line_f[VISCOUS] == 0.0 and line_f[PULLED] == 0.0 and line_i[2] < 0


@kernel
def add_velocity(side, blocks, node, point, factor, to):
    """Adds the velocity s + z × x of a point, for a unit rate of an axis."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        z0, z1, z2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        x0, x1, x2 = point[lane], point[W + lane], point[2 * W + lane]
        to[lane] += factor * (node[(AXIS + 0) * W + lane] + (z1 * x2 - z2 * x1))
        to[W + lane] += factor * (node[(AXIS + 1) * W + lane] + (z2 * x0 - z0 * x2))
        to[2 * W + lane] += factor * (node[(AXIS + 2) * W + lane] + (z0 * x1 - z1 * x0))


@kernel
def carries(n, axes_i, k, axis):
    """Whether axis k is on the way from the ground to `axis`, or it itself."""
    while k < axis < n:
        axis = axes_i[axis * INTEGERS + PARENT]
    return axis == k


@kernel
def curve(side, blocks, n, axes_i, line_i, nodes, j, k, memory):
    """∂_j D_k: what j carries turns with it, so that it is z_j × (s_k + z_k × x) for j before k (eq. 28)."""
    W, lanes = len(side), lane_count(side, blocks)
    for at in range(CURVE * W, (CURVE + 3) * W):
        memory[at] = 0.0
    for e in range(2):
        if carries(n, axes_i, j, line_i[e]) and carries(n, axes_i, k, line_i[e]):
            sign = -1.0 if e == 0 else 1.0
            end = memory[(END + 3 * e) * W :]
            first = j <= k or axes_i[j * INTEGERS + FIRST] == axes_i[k * INTEGERS + FIRST]
            turning = cut(nodes, j if first else k, SLOTS * W)
            moving = cut(nodes, k if first else j, SLOTS * W)
            for lane in range(lanes):
                x0, x1, x2 = end[lane], end[W + lane], end[2 * W + lane]
                y0, y1 = moving[(AXIS + 3) * W + lane], moving[(AXIS + 4) * W + lane]
                y2 = moving[(AXIS + 5) * W + lane]
                v0 = moving[(AXIS + 0) * W + lane] + (y1 * x2 - y2 * x1)
                v1 = moving[(AXIS + 1) * W + lane] + (y2 * x0 - y0 * x2)
                v2 = moving[(AXIS + 2) * W + lane] + (y0 * x1 - y1 * x0)
                z0, z1 = turning[(AXIS + 3) * W + lane], turning[(AXIS + 4) * W + lane]
                z2 = turning[(AXIS + 5) * W + lane]
                memory[(CURVE + 0) * W + lane] += sign * (z1 * v2 - z2 * v1)
                memory[(CURVE + 1) * W + lane] += sign * (z2 * v0 - z0 * v2)
                memory[(CURVE + 2) * W + lane] += sign * (z0 * v1 - z1 * v0)


@kernel
def vary_lines(side, blocks, n, axes_i, lines_i, lines_f, nodes, rates, u, memory, change):
    """Adds the derivatives of T n·D_k to `change` (factor.py): by q_j in column j, by q̇_j in axes + j."""
    W = len(side)
    for i in range(len(lines_i) // LINE_INTEGERS):
        line_i, line_f = cut(lines_i, i, LINE_INTEGERS), cut(lines_f, i, LINE_NUMBERS)
        ways = measure_line(side, blocks, n, axes_i, line_i, line_f, nodes, u, memory)
        for j in range(n):
            if not (carries(n, axes_i, j, line_i[0]) or carries(n, axes_i, j, line_i[1])):
                continue
            for at in range(SUM * W, (SUM + 3) * W):
                memory[at] = 0.0
            if line_f[VISCOUS] != 0.0:
                for k in range(n):
                    curve(side, blocks, n, axes_i, line_i, nodes, j, k, memory)
                    add_scaled(side, blocks, cut(rates, k, W), memory)
            pull_change(side, blocks, line_i, line_f, cut(ways, j, 3 * W), memory)
            for k in range(n):
                curve(side, blocks, n, axes_i, line_i, nodes, j, k, memory)
                way, other = cut(ways, k, 3 * W), cut(ways, j, 3 * W)
                by_q, by_rate = cut(change, block_place(n, j, k), W), cut(change, block_place(n, n + j, k), W)
                pull_along(side, blocks, line_f[VISCOUS], way, other, memory, by_q, by_rate)


@kernel
def add_scaled(side, blocks, rate, memory):
    """SUM += ∂_j D_k q̇_k."""
    W, lanes = len(side), lane_count(side, blocks)
    for c in range(3):
        for lane in range(lanes):
            memory[(SUM + c) * W + lane] += memory[(CURVE + c) * W + lane] * rate[lane]


@kernel
def pull_change(side, blocks, line_i, line_f, way, memory):
    """∂_j (T n) into SUM, which holds ∂_j ḋ."""
    W, lanes = len(side), lane_count(side, blocks)
    stiffness, viscous = line_f[STIFF], line_f[VISCOUS]
    for lane in range(lanes):
        d0, d1, d2 = way[lane], way[W + lane], way[2 * W + lane]
        if without_length(line_i, line_f):
            memory[(SUM + 0) * W + lane] = stiffness * d0
            memory[(SUM + 1) * W + lane] = stiffness * d1
            memory[(SUM + 2) * W + lane] = stiffness * d2
        else:
            n0, n1 = memory[(UNIT + 0) * W + lane], memory[(UNIT + 1) * W + lane]
            n2 = memory[(UNIT + 2) * W + lane]
            longer = n0 * d0 + n1 * d1 + n2 * d2
            size = 1.0 / memory[LENGTH * W + lane]
            t0, t1, t2 = size * (d0 - longer * n0), size * (d1 - longer * n1), size * (d2 - longer * n2)
            tension = (
                n0 * memory[(PULL + 0) * W + lane]
                + n1 * memory[(PULL + 1) * W + lane]
                + n2 * memory[(PULL + 2) * W + lane]
            )
            growth = (
                t0 * memory[(WAY_RATE + 0) * W + lane]
                + t1 * memory[(WAY_RATE + 1) * W + lane]
                + t2 * memory[(WAY_RATE + 2) * W + lane]
                + n0 * memory[(SUM + 0) * W + lane]
                + n1 * memory[(SUM + 1) * W + lane]
                + n2 * memory[(SUM + 2) * W + lane]
            )
            more = stiffness * longer + viscous * growth
            memory[(SUM + 0) * W + lane] = more * n0 + tension * t0
            memory[(SUM + 1) * W + lane] = more * n1 + tension * t1
            memory[(SUM + 2) * W + lane] = more * n2 + tension * t2


@kernel
def pull_along(side, blocks, viscous, way, other, memory, by_q, by_rate):
    """∂_j (T n)·D_k + T n·∂_j D_k, and c (n·D_j) (n·D_k)."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        d0, d1, d2 = way[lane], way[W + lane], way[2 * W + lane]
        by_q[lane] += (
            memory[(SUM + 0) * W + lane] * d0
            + memory[(SUM + 1) * W + lane] * d1
            + memory[(SUM + 2) * W + lane] * d2
            + memory[(PULL + 0) * W + lane] * memory[(CURVE + 0) * W + lane]
            + memory[(PULL + 1) * W + lane] * memory[(CURVE + 1) * W + lane]
            + memory[(PULL + 2) * W + lane] * memory[(CURVE + 2) * W + lane]
        )
        if viscous != 0.0:
            n0, n1 = memory[(UNIT + 0) * W + lane], memory[(UNIT + 1) * W + lane]
            n2 = memory[(UNIT + 2) * W + lane]
            along = n0 * other[lane] + n1 * other[W + lane] + n2 * other[2 * W + lane]
            by_rate[lane] += viscous * along * (n0 * d0 + n1 * d1 + n2 * d2)
