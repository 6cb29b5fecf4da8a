"""From the ground outwards: poses, velocities, accelerations, and what each body needs to move so.

    V_k = V_p + S_k q̇_k,   A_k = A_p + Ψ̇_k q̇_k + S_k q̈_k,   A_ground = -g       (docs/theory/recursive.md, eqs. 6-9)

`nodes` : (axes + 1, SLOTS W), one row an axis (node.py); the last is the ground.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import (
    AT_INPUT,
    BALL,
    BEFORE,
    BODY,
    CARRIES_ORIGIN,
    CENTER,
    FIRST,
    INTEGERS,
    KIND,
    MASS,
    NUMBERS,
    PARENT,
    PLACE_POSITION,
    PLACE_ROTATION,
    SECOND_MOMENT,
    SLIDE,
    TURN,
)
from supple.formulations.recursive.node import (
    ACCELERATION,
    AXIS,
    AXIS_RATE,
    FORCE,
    MOMENT,
    MOMENTUM,
    POSITION,
    ROTATION,
    SECOND,
    SLOTS,
    SPREAD,
    VELOCITY,
    cut,
    lane_count,
)


@kernel
def outward(side, blocks, n, axes_i, axes_f, x, rates, accelerations, nodes):
    """Kinematics of every axis, and moments, momenta and forces of its own body.

    x : (inputs W) the prepared configuration; rates, accelerations : (axes W), in the order of the axes
    """
    W = len(side)
    for k in range(n):
        row, numbers = cut(axes_i, k, INTEGERS), cut(axes_f, k, NUMBERS)
        parent, node = cut(nodes, row[PARENT], SLOTS * W), cut(nodes, k, SLOTS * W)
        given = x[row[AT_INPUT] * W :]
        if row[KIND] == TURN:
            turned(side, blocks, numbers, parent, given, node)
        elif row[KIND] == SLIDE:
            slid(side, blocks, numbers, row[CARRIES_ORIGIN], parent, given, node)
        elif row[FIRST] == k:
            floated(side, blocks, numbers, row[KIND], row[CARRIES_ORIGIN], parent, given, node)
        else:
            fixed_axis(side, blocks, row[KIND], k - row[FIRST], parent, node)
        before = cut(nodes, row[BEFORE], SLOTS * W)
        moved(side, blocks, parent, before, cut(rates, k, W), cut(accelerations, k, W), node)
        if row[BODY] == 1:
            body(side, blocks, numbers, node)
        else:
            for i in range(MOMENT * W, (FORCE + 6) * W):
                node[i] = 0.0


@kernel
def ground(side, gravity, node):
    """The ground as a node: at rest, and accelerated against gravity."""
    W = len(side)
    for i in range(SLOTS * W):
        node[i] = 0.0
    for lane in range(W):
        node[(ROTATION + 0) * W + lane] = 1.0
        node[(ROTATION + 4) * W + lane] = 1.0
        node[(ROTATION + 8) * W + lane] = 1.0
        node[(ACCELERATION + 0) * W + lane] = -gravity[0]
        node[(ACCELERATION + 1) * W + lane] = -gravity[1]
        node[(ACCELERATION + 2) * W + lane] = -gravity[2]


@kernel
def turned(side, blocks, numbers, parent, given, node):
    """R = R_p R_place R_z(q), S = (r × z, z);  given : sine, cosine."""
    W, lanes = len(side), lane_count(side, blocks)
    p = numbers[PLACE_ROTATION:]
    p0, p1, p2, p3, p4, p5, p6, p7, p8 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]
    x0, x1, x2 = numbers[PLACE_POSITION], numbers[PLACE_POSITION + 1], numbers[PLACE_POSITION + 2]
    for lane in range(lanes):
        a0, a1, a2 = parent[0 * W + lane], parent[1 * W + lane], parent[2 * W + lane]
        a3, a4, a5 = parent[3 * W + lane], parent[4 * W + lane], parent[5 * W + lane]
        a6, a7, a8 = parent[6 * W + lane], parent[7 * W + lane], parent[8 * W + lane]
        b0, b1, b2 = a0 * p0 + a1 * p3 + a2 * p6, a0 * p1 + a1 * p4 + a2 * p7, a0 * p2 + a1 * p5 + a2 * p8
        b3, b4, b5 = a3 * p0 + a4 * p3 + a5 * p6, a3 * p1 + a4 * p4 + a5 * p7, a3 * p2 + a4 * p5 + a5 * p8
        b6, b7, b8 = a6 * p0 + a7 * p3 + a8 * p6, a6 * p1 + a7 * p4 + a8 * p7, a6 * p2 + a7 * p5 + a8 * p8
        r0 = parent[(POSITION + 0) * W + lane] + (a0 * x0 + a1 * x1 + a2 * x2)
        r1 = parent[(POSITION + 1) * W + lane] + (a3 * x0 + a4 * x1 + a5 * x2)
        r2 = parent[(POSITION + 2) * W + lane] + (a6 * x0 + a7 * x1 + a8 * x2)
        s, c = given[0 * W + lane], given[1 * W + lane]
        node[0 * W + lane], node[1 * W + lane], node[2 * W + lane] = b0 * c + b1 * s, b1 * c - b0 * s, b2
        node[3 * W + lane], node[4 * W + lane], node[5 * W + lane] = b3 * c + b4 * s, b4 * c - b3 * s, b5
        node[6 * W + lane], node[7 * W + lane], node[8 * W + lane] = b6 * c + b7 * s, b7 * c - b6 * s, b8
        node[(POSITION + 0) * W + lane] = r0
        node[(POSITION + 1) * W + lane] = r1
        node[(POSITION + 2) * W + lane] = r2
        node[(AXIS + 0) * W + lane] = r1 * b8 - r2 * b5
        node[(AXIS + 1) * W + lane] = r2 * b2 - r0 * b8
        node[(AXIS + 2) * W + lane] = r0 * b5 - r1 * b2
        node[(AXIS + 3) * W + lane] = b2
        node[(AXIS + 4) * W + lane] = b5
        node[(AXIS + 5) * W + lane] = b8


@kernel
def slid(side, blocks, numbers, carries_origin, parent, given, node):
    """r = r_p + R_p r_place + z q, S = (z, 0);  given : q. What carries the reference point along adds nothing to r."""
    W, lanes = len(side), lane_count(side, blocks)
    p = numbers[PLACE_ROTATION:]
    p0, p1, p2, p3, p4, p5, p6, p7, p8 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]
    x0, x1, x2 = numbers[PLACE_POSITION], numbers[PLACE_POSITION + 1], numbers[PLACE_POSITION + 2]
    carried = 0.0 if carries_origin == 1 else 1.0
    for lane in range(lanes):
        a0, a1, a2 = parent[0 * W + lane], parent[1 * W + lane], parent[2 * W + lane]
        a3, a4, a5 = parent[3 * W + lane], parent[4 * W + lane], parent[5 * W + lane]
        a6, a7, a8 = parent[6 * W + lane], parent[7 * W + lane], parent[8 * W + lane]
        b0, b1, b2 = a0 * p0 + a1 * p3 + a2 * p6, a0 * p1 + a1 * p4 + a2 * p7, a0 * p2 + a1 * p5 + a2 * p8
        b3, b4, b5 = a3 * p0 + a4 * p3 + a5 * p6, a3 * p1 + a4 * p4 + a5 * p7, a3 * p2 + a4 * p5 + a5 * p8
        b6, b7, b8 = a6 * p0 + a7 * p3 + a8 * p6, a6 * p1 + a7 * p4 + a8 * p7, a6 * p2 + a7 * p5 + a8 * p8
        q = carried * given[0 * W + lane]
        node[0 * W + lane], node[1 * W + lane], node[2 * W + lane] = b0, b1, b2
        node[3 * W + lane], node[4 * W + lane], node[5 * W + lane] = b3, b4, b5
        node[6 * W + lane], node[7 * W + lane], node[8 * W + lane] = b6, b7, b8
        node[(POSITION + 0) * W + lane] = parent[(POSITION + 0) * W + lane] + (a0 * x0 + a1 * x1 + a2 * x2) + b2 * q
        node[(POSITION + 1) * W + lane] = parent[(POSITION + 1) * W + lane] + (a3 * x0 + a4 * x1 + a5 * x2) + b5 * q
        node[(POSITION + 2) * W + lane] = parent[(POSITION + 2) * W + lane] + (a6 * x0 + a7 * x1 + a8 * x2) + b8 * q
        node[(AXIS + 0) * W + lane] = b2
        node[(AXIS + 1) * W + lane] = b5
        node[(AXIS + 2) * W + lane] = b8
        node[(AXIS + 3) * W + lane] = 0.0
        node[(AXIS + 4) * W + lane] = 0.0
        node[(AXIS + 5) * W + lane] = 0.0


@kernel
def floated(side, blocks, numbers, kind, carries_origin, parent, given, node):
    """The first axis of a spherical or free joint: R = R_p R_place R(quaternion), r = ... + R_p R_place x.

    given : quaternion x, y, z, w of length one, then the displacement of a free joint
    """
    W, lanes = len(side), lane_count(side, blocks)
    p = numbers[PLACE_ROTATION:]
    p0, p1, p2, p3, p4, p5, p6, p7, p8 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]
    x0, x1, x2 = numbers[PLACE_POSITION], numbers[PLACE_POSITION + 1], numbers[PLACE_POSITION + 2]
    for lane in range(lanes):
        a0, a1, a2 = parent[0 * W + lane], parent[1 * W + lane], parent[2 * W + lane]
        a3, a4, a5 = parent[3 * W + lane], parent[4 * W + lane], parent[5 * W + lane]
        a6, a7, a8 = parent[6 * W + lane], parent[7 * W + lane], parent[8 * W + lane]
        b0, b1, b2 = a0 * p0 + a1 * p3 + a2 * p6, a0 * p1 + a1 * p4 + a2 * p7, a0 * p2 + a1 * p5 + a2 * p8
        b3, b4, b5 = a3 * p0 + a4 * p3 + a5 * p6, a3 * p1 + a4 * p4 + a5 * p7, a3 * p2 + a4 * p5 + a5 * p8
        b6, b7, b8 = a6 * p0 + a7 * p3 + a8 * p6, a6 * p1 + a7 * p4 + a8 * p7, a6 * p2 + a7 * p5 + a8 * p8
        i, j, k, w = given[0 * W + lane], given[1 * W + lane], given[2 * W + lane], given[3 * W + lane]
        t0, t1, t2 = 1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j - k * w), 2.0 * (i * k + j * w)
        t3, t4, t5 = 2.0 * (i * j + k * w), 1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k - i * w)
        t6, t7, t8 = 2.0 * (i * k - j * w), 2.0 * (j * k + i * w), 1.0 - 2.0 * (i * i + j * j)
        node[0 * W + lane] = b0 * t0 + b1 * t3 + b2 * t6
        node[1 * W + lane] = b0 * t1 + b1 * t4 + b2 * t7
        node[2 * W + lane] = b0 * t2 + b1 * t5 + b2 * t8
        node[3 * W + lane] = b3 * t0 + b4 * t3 + b5 * t6
        node[4 * W + lane] = b3 * t1 + b4 * t4 + b5 * t7
        node[5 * W + lane] = b3 * t2 + b4 * t5 + b5 * t8
        node[6 * W + lane] = b6 * t0 + b7 * t3 + b8 * t6
        node[7 * W + lane] = b6 * t1 + b7 * t4 + b8 * t7
        node[8 * W + lane] = b6 * t2 + b7 * t5 + b8 * t8
        node[(POSITION + 0) * W + lane] = parent[(POSITION + 0) * W + lane] + (a0 * x0 + a1 * x1 + a2 * x2)
        node[(POSITION + 1) * W + lane] = parent[(POSITION + 1) * W + lane] + (a3 * x0 + a4 * x1 + a5 * x2)
        node[(POSITION + 2) * W + lane] = parent[(POSITION + 2) * W + lane] + (a6 * x0 + a7 * x1 + a8 * x2)
        if kind != BALL and carries_origin == 0:
            d0, d1, d2 = given[4 * W + lane], given[5 * W + lane], given[6 * W + lane]
            node[(POSITION + 0) * W + lane] += b0 * d0 + b1 * d1 + b2 * d2
            node[(POSITION + 1) * W + lane] += b3 * d0 + b4 * d1 + b5 * d2
            node[(POSITION + 2) * W + lane] += b6 * d0 + b7 * d1 + b8 * d2
    own_axis(side, blocks, kind, 0, node)


@kernel
def fixed_axis(side, blocks, kind, number, parent, node):
    """A further axis of a spherical or free joint: the frame is that of the first."""
    W, lanes = len(side), lane_count(side, blocks)
    for c in range(12):
        for lane in range(lanes):
            node[c * W + lane] = parent[c * W + lane]
    own_axis(side, blocks, kind, number, node)


@kernel
def own_axis(side, blocks, kind, number, node):
    """S of axis `number` of a joint whose axes are those of its own frame: translations first."""
    W, lanes = len(side), lane_count(side, blocks)
    slides = kind != BALL and number < 3
    column = number % 3
    for lane in range(lanes):
        e0, e1, e2 = node[column * W + lane], node[(3 + column) * W + lane], node[(6 + column) * W + lane]
        r0, r1, r2 = node[(POSITION + 0) * W + lane], node[(POSITION + 1) * W + lane], node[(POSITION + 2) * W + lane]
        node[(AXIS + 0) * W + lane] = e0 if slides else r1 * e2 - r2 * e1
        node[(AXIS + 1) * W + lane] = e1 if slides else r2 * e0 - r0 * e2
        node[(AXIS + 2) * W + lane] = e2 if slides else r0 * e1 - r1 * e0
        node[(AXIS + 3) * W + lane] = 0.0 if slides else e0
        node[(AXIS + 4) * W + lane] = 0.0 if slides else e1
        node[(AXIS + 5) * W + lane] = 0.0 if slides else e2


@kernel
def moved(side, blocks, parent, before, rate, acceleration, node):
    """Ψ̇ = V_before × S, V = V_p + S q̇, A = A_p + Ψ̇ q̇ + S q̈."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        v0, v1, v2 = before[12 * W + lane], before[13 * W + lane], before[14 * W + lane]
        w0, w1, w2 = before[15 * W + lane], before[16 * W + lane], before[17 * W + lane]
        s0, s1, s2 = node[(AXIS + 0) * W + lane], node[(AXIS + 1) * W + lane], node[(AXIS + 2) * W + lane]
        z0, z1, z2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        d0 = w1 * s2 - w2 * s1 + (v1 * z2 - v2 * z1)
        d1 = w2 * s0 - w0 * s2 + (v2 * z0 - v0 * z2)
        d2 = w0 * s1 - w1 * s0 + (v0 * z1 - v1 * z0)
        d3, d4, d5 = w1 * z2 - w2 * z1, w2 * z0 - w0 * z2, w0 * z1 - w1 * z0
        node[(AXIS_RATE + 0) * W + lane], node[(AXIS_RATE + 1) * W + lane] = d0, d1
        node[(AXIS_RATE + 2) * W + lane], node[(AXIS_RATE + 3) * W + lane] = d2, d3
        node[(AXIS_RATE + 4) * W + lane], node[(AXIS_RATE + 5) * W + lane] = d4, d5
        q, a = rate[lane], acceleration[lane]
        node[(VELOCITY + 0) * W + lane] = parent[(VELOCITY + 0) * W + lane] + s0 * q
        node[(VELOCITY + 1) * W + lane] = parent[(VELOCITY + 1) * W + lane] + s1 * q
        node[(VELOCITY + 2) * W + lane] = parent[(VELOCITY + 2) * W + lane] + s2 * q
        node[(VELOCITY + 3) * W + lane] = parent[(VELOCITY + 3) * W + lane] + z0 * q
        node[(VELOCITY + 4) * W + lane] = parent[(VELOCITY + 4) * W + lane] + z1 * q
        node[(VELOCITY + 5) * W + lane] = parent[(VELOCITY + 5) * W + lane] + z2 * q
        node[(ACCELERATION + 0) * W + lane] = parent[(ACCELERATION + 0) * W + lane] + (d0 * q + s0 * a)
        node[(ACCELERATION + 1) * W + lane] = parent[(ACCELERATION + 1) * W + lane] + (d1 * q + s1 * a)
        node[(ACCELERATION + 2) * W + lane] = parent[(ACCELERATION + 2) * W + lane] + (d2 * q + s2 * a)
        node[(ACCELERATION + 3) * W + lane] = parent[(ACCELERATION + 3) * W + lane] + (d3 * q + z0 * a)
        node[(ACCELERATION + 4) * W + lane] = parent[(ACCELERATION + 4) * W + lane] + (d4 * q + z1 * a)
        node[(ACCELERATION + 5) * W + lane] = parent[(ACCELERATION + 5) * W + lane] + (d5 * q + z2 * a)


@kernel
def body(side, blocks, numbers, node):
    """Moments m c, Σ, momentum, W = v (m c)ᵀ + ω̃ Σ and force of the body on this axis (eqs. 3-5, 9)."""
    W, lanes = len(side), lane_count(side, blocks)
    m, x0, x1, x2 = numbers[MASS], numbers[CENTER], numbers[CENTER + 1], numbers[CENTER + 2]
    i0, i1, i2 = numbers[SECOND_MOMENT], numbers[SECOND_MOMENT + 1], numbers[SECOND_MOMENT + 2]
    i3, i4, i5 = numbers[SECOND_MOMENT + 3], numbers[SECOND_MOMENT + 4], numbers[SECOND_MOMENT + 5]
    for lane in range(lanes):
        a0, a1, a2 = node[0 * W + lane], node[1 * W + lane], node[2 * W + lane]
        a3, a4, a5 = node[3 * W + lane], node[4 * W + lane], node[5 * W + lane]
        a6, a7, a8 = node[6 * W + lane], node[7 * W + lane], node[8 * W + lane]
        c0 = node[(POSITION + 0) * W + lane] + (a0 * x0 + a1 * x1 + a2 * x2)
        c1 = node[(POSITION + 1) * W + lane] + (a3 * x0 + a4 * x1 + a5 * x2)
        c2 = node[(POSITION + 2) * W + lane] + (a6 * x0 + a7 * x1 + a8 * x2)
        b0, b1, b2 = a0 * i0 + a1 * i1 + a2 * i2, a0 * i1 + a1 * i3 + a2 * i4, a0 * i2 + a1 * i4 + a2 * i5
        b3, b4, b5 = a3 * i0 + a4 * i1 + a5 * i2, a3 * i1 + a4 * i3 + a5 * i4, a3 * i2 + a4 * i4 + a5 * i5
        b6, b7, b8 = a6 * i0 + a7 * i1 + a8 * i2, a6 * i1 + a7 * i3 + a8 * i4, a6 * i2 + a7 * i4 + a8 * i5
        n0, n1, n2 = m * c0, m * c1, m * c2
        xx, xy = b0 * a0 + b1 * a1 + b2 * a2 + n0 * c0, b0 * a3 + b1 * a4 + b2 * a5 + n0 * c1
        xz, yy = b0 * a6 + b1 * a7 + b2 * a8 + n0 * c2, b3 * a3 + b4 * a4 + b5 * a5 + n1 * c1
        yz, zz = b3 * a6 + b4 * a7 + b5 * a8 + n1 * c2, b6 * a6 + b7 * a7 + b8 * a8 + n2 * c2
        v0, v1, v2 = node[12 * W + lane], node[13 * W + lane], node[14 * W + lane]
        w0, w1, w2 = node[15 * W + lane], node[16 * W + lane], node[17 * W + lane]
        p0, p1, p2 = m * v0 + (w1 * n2 - w2 * n1), m * v1 + (w2 * n0 - w0 * n2), m * v2 + (w0 * n1 - w1 * n0)
        u0, u1, u2 = v0 * n0 + (w1 * xz - w2 * xy), v0 * n1 + (w1 * yz - w2 * yy), v0 * n2 + (w1 * zz - w2 * yz)
        u3, u4, u5 = v1 * n0 + (w2 * xx - w0 * xz), v1 * n1 + (w2 * xy - w0 * yz), v1 * n2 + (w2 * xz - w0 * zz)
        u6, u7, u8 = v2 * n0 + (w0 * xy - w1 * xx), v2 * n1 + (w0 * yy - w1 * xy), v2 * n2 + (w0 * yz - w1 * xz)
        l0, l1, l2 = u7 - u5, u2 - u6, u3 - u1  # ∫ r × ṙ dm
        e0, e1, e2 = node[18 * W + lane], node[19 * W + lane], node[20 * W + lane]
        h0, h1, h2 = node[21 * W + lane], node[22 * W + lane], node[23 * W + lane]
        node[(MOMENT + 0) * W + lane], node[(MOMENT + 1) * W + lane], node[(MOMENT + 2) * W + lane] = n0, n1, n2
        node[(SECOND + 0) * W + lane], node[(SECOND + 1) * W + lane], node[(SECOND + 2) * W + lane] = xx, xy, xz
        node[(SECOND + 3) * W + lane], node[(SECOND + 4) * W + lane], node[(SECOND + 5) * W + lane] = yy, yz, zz
        node[(MOMENTUM + 0) * W + lane], node[(MOMENTUM + 1) * W + lane], node[(MOMENTUM + 2) * W + lane] = p0, p1, p2
        node[(SPREAD + 0) * W + lane], node[(SPREAD + 1) * W + lane], node[(SPREAD + 2) * W + lane] = u0, u1, u2
        node[(SPREAD + 3) * W + lane], node[(SPREAD + 4) * W + lane], node[(SPREAD + 5) * W + lane] = u3, u4, u5
        node[(SPREAD + 6) * W + lane], node[(SPREAD + 7) * W + lane], node[(SPREAD + 8) * W + lane] = u6, u7, u8
        node[(FORCE + 0) * W + lane] = m * e0 + (h1 * n2 - h2 * n1) + (w1 * p2 - w2 * p1)
        node[(FORCE + 1) * W + lane] = m * e1 + (h2 * n0 - h0 * n2) + (w2 * p0 - w0 * p2)
        node[(FORCE + 2) * W + lane] = m * e2 + (h0 * n1 - h1 * n0) + (w0 * p1 - w1 * p0)
        node[(FORCE + 3) * W + lane] = (
            ((yy + zz) * h0 - xy * h1 - xz * h2) + (n1 * e2 - n2 * e1) + (w1 * l2 - w2 * l1) + (v1 * p2 - v2 * p1)
        )
        node[(FORCE + 4) * W + lane] = (
            ((xx + zz) * h1 - xy * h0 - yz * h2) + (n2 * e0 - n0 * e2) + (w2 * l0 - w0 * l2) + (v2 * p0 - v0 * p2)
        )
        node[(FORCE + 5) * W + lane] = (
            ((xx + yy) * h2 - xz * h0 - yz * h1) + (n0 * e1 - n1 * e0) + (w0 * l1 - w1 * l0) + (v0 * p1 - v1 * p0)
        )
