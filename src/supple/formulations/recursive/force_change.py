"""The changes of forces that an axis makes, and their products with the axes before it.

See docs/theory/recursive.md, eqs. 16-21.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.node import (
    AXIS,
    AXIS_BEND,
    AXIS_RATE,
    AXIS_TURN,
    CHANGE,
    COLUMN,
    FORCE,
    MOMENT,
    MOMENTUM,
    PUSHED,
    RATE_CHANGE,
    SECOND,
    SPREAD,
    TURNED,
    lane_count,
)


@kernel
def forces(side, blocks, m, acceleration, node, parent):
    """F with the accelerations of the axes."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        n0, n1, n2 = node[(MOMENT + 0) * W + lane], node[(MOMENT + 1) * W + lane], node[(MOMENT + 2) * W + lane]
        xx, xy, xz = node[(SECOND + 0) * W + lane], node[(SECOND + 1) * W + lane], node[(SECOND + 2) * W + lane]
        yy, yz, zz = node[(SECOND + 3) * W + lane], node[(SECOND + 4) * W + lane], node[(SECOND + 5) * W + lane]
        jx, jy, jz = yy + zz, xx + zz, xx + yy
        # F_j = F_j(q̈ = 0) + I_j ΔA_j + what the axes further out need beyond moving along with j.
        e0, e1, e2 = node[(CHANGE + 0) * W + lane], node[(CHANGE + 1) * W + lane], node[(CHANGE + 2) * W + lane]
        h0, h1, h2 = node[(CHANGE + 3) * W + lane], node[(CHANGE + 4) * W + lane], node[(CHANGE + 5) * W + lane]
        g0, g1, g2 = node[(PUSHED + 0) * W + lane], node[(PUSHED + 1) * W + lane], node[(PUSHED + 2) * W + lane]
        g3, g4, g5 = node[(PUSHED + 3) * W + lane], node[(PUSHED + 4) * W + lane], node[(PUSHED + 5) * W + lane]
        f0 = node[(FORCE + 0) * W + lane] + g0 + m * e0 + (h1 * n2 - h2 * n1)
        f1 = node[(FORCE + 1) * W + lane] + g1 + m * e1 + (h2 * n0 - h0 * n2)
        f2 = node[(FORCE + 2) * W + lane] + g2 + m * e2 + (h0 * n1 - h1 * n0)
        f3 = node[(FORCE + 3) * W + lane] + g3 + (n1 * e2 - n2 * e1) + (jx * h0 - xy * h1 - xz * h2)
        f4 = node[(FORCE + 4) * W + lane] + g4 + (n2 * e0 - n0 * e2) + (jy * h1 - xy * h0 - yz * h2)
        f5 = node[(FORCE + 5) * W + lane] + g5 + (n0 * e1 - n1 * e0) + (jz * h2 - xz * h0 - yz * h1)
        node[(FORCE + 0) * W + lane], node[(FORCE + 1) * W + lane], node[(FORCE + 2) * W + lane] = f0, f1, f2
        node[(FORCE + 3) * W + lane], node[(FORCE + 4) * W + lane], node[(FORCE + 5) * W + lane] = f3, f4, f5
        a = acceleration[lane]
        parent[(PUSHED + 0) * W + lane] += g0 + a * node[(COLUMN + 0) * W + lane]
        parent[(PUSHED + 1) * W + lane] += g1 + a * node[(COLUMN + 1) * W + lane]
        parent[(PUSHED + 2) * W + lane] += g2 + a * node[(COLUMN + 2) * W + lane]
        parent[(PUSHED + 3) * W + lane] += g3 + a * node[(COLUMN + 3) * W + lane]
        parent[(PUSHED + 4) * W + lane] += g4 + a * node[(COLUMN + 4) * W + lane]
        parent[(PUSHED + 5) * W + lane] += g5 + a * node[(COLUMN + 5) * W + lane]


@kernel
def changes(side, blocks, m, node):
    """The three vectors of axis j that meet every axis before it, eqs. 19-21."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        n0, n1, n2 = node[(MOMENT + 0) * W + lane], node[(MOMENT + 1) * W + lane], node[(MOMENT + 2) * W + lane]
        xx, xy, xz = node[(SECOND + 0) * W + lane], node[(SECOND + 1) * W + lane], node[(SECOND + 2) * W + lane]
        yy, yz, zz = node[(SECOND + 3) * W + lane], node[(SECOND + 4) * W + lane], node[(SECOND + 5) * W + lane]
        jx, jy, jz = yy + zz, xx + zz, xx + yy
        f0, f1, f2 = node[(FORCE + 0) * W + lane], node[(FORCE + 1) * W + lane], node[(FORCE + 2) * W + lane]
        f3, f4, f5 = node[(FORCE + 3) * W + lane], node[(FORCE + 4) * W + lane], node[(FORCE + 5) * W + lane]
        s0, s1, s2 = node[(AXIS + 0) * W + lane], node[(AXIS + 1) * W + lane], node[(AXIS + 2) * W + lane]
        z0, z1, z2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        p0 = 2.0 * node[(MOMENTUM + 0) * W + lane]
        p1 = 2.0 * node[(MOMENTUM + 1) * W + lane]
        p2 = 2.0 * node[(MOMENTUM + 2) * W + lane]
        # 2 ((tr W) 1 - W)
        u0, u4, u8 = node[(SPREAD + 0) * W + lane], node[(SPREAD + 4) * W + lane], node[(SPREAD + 8) * W + lane]
        k0, k4, k8 = 2.0 * (u4 + u8), 2.0 * (u0 + u8), 2.0 * (u0 + u4)
        k1, k2 = -2.0 * node[(SPREAD + 1) * W + lane], -2.0 * node[(SPREAD + 2) * W + lane]
        k3, k5 = -2.0 * node[(SPREAD + 3) * W + lane], -2.0 * node[(SPREAD + 5) * W + lane]
        k6, k7 = -2.0 * node[(SPREAD + 6) * W + lane], -2.0 * node[(SPREAD + 7) * W + lane]
        d3, d4 = node[(AXIS_RATE + 3) * W + lane], node[(AXIS_RATE + 4) * W + lane]
        d5 = node[(AXIS_RATE + 5) * W + lane]
        b0, b1, b2 = (
            node[(AXIS_BEND + 0) * W + lane],
            node[(AXIS_BEND + 1) * W + lane],
            node[(AXIS_BEND + 2) * W + lane],
        )
        b3, b4, b5 = (
            node[(AXIS_BEND + 3) * W + lane],
            node[(AXIS_BEND + 4) * W + lane],
            node[(AXIS_BEND + 5) * W + lane],
        )
        node[(CHANGE + 0) * W + lane] = (d4 * p2 - d5 * p1) + (m * b0 + (b4 * n2 - b5 * n1)) + (z1 * f2 - z2 * f1)
        node[(CHANGE + 1) * W + lane] = (d5 * p0 - d3 * p2) + (m * b1 + (b5 * n0 - b3 * n2)) + (z2 * f0 - z0 * f2)
        node[(CHANGE + 2) * W + lane] = (d3 * p1 - d4 * p0) + (m * b2 + (b3 * n1 - b4 * n0)) + (z0 * f1 - z1 * f0)
        node[(CHANGE + 3) * W + lane] = (
            (k0 * d3 + k1 * d4 + k2 * d5)
            + ((n1 * b2 - n2 * b1) + (jx * b3 - xy * b4 - xz * b5))
            + ((z1 * f5 - z2 * f4) + (s1 * f2 - s2 * f1))
        )
        node[(CHANGE + 4) * W + lane] = (
            (k3 * d3 + k4 * d4 + k5 * d5)
            + ((n2 * b0 - n0 * b2) + (jy * b4 - xy * b3 - yz * b5))
            + ((z2 * f3 - z0 * f5) + (s2 * f0 - s0 * f2))
        )
        node[(CHANGE + 5) * W + lane] = (
            (k6 * d3 + k7 * d4 + k8 * d5)
            + ((n0 * b1 - n1 * b0) + (jz * b5 - xz * b3 - yz * b4))
            + ((z0 * f4 - z1 * f3) + (s0 * f1 - s1 * f0))
        )
        t0, t1, t2 = (
            node[(AXIS_TURN + 0) * W + lane],
            node[(AXIS_TURN + 1) * W + lane],
            node[(AXIS_TURN + 2) * W + lane],
        )
        t3, t4, t5 = (
            node[(AXIS_TURN + 3) * W + lane],
            node[(AXIS_TURN + 4) * W + lane],
            node[(AXIS_TURN + 5) * W + lane],
        )
        node[(RATE_CHANGE + 0) * W + lane] = (z1 * p2 - z2 * p1) + (m * t0 + (t4 * n2 - t5 * n1))
        node[(RATE_CHANGE + 1) * W + lane] = (z2 * p0 - z0 * p2) + (m * t1 + (t5 * n0 - t3 * n2))
        node[(RATE_CHANGE + 2) * W + lane] = (z0 * p1 - z1 * p0) + (m * t2 + (t3 * n1 - t4 * n0))
        node[(RATE_CHANGE + 3) * W + lane] = (k0 * z0 + k1 * z1 + k2 * z2) + (
            (n1 * t2 - n2 * t1) + (jx * t3 - xy * t4 - xz * t5)
        )
        node[(RATE_CHANGE + 4) * W + lane] = (k3 * z0 + k4 * z1 + k5 * z2) + (
            (n2 * t0 - n0 * t2) + (jy * t4 - xy * t3 - yz * t5)
        )
        node[(RATE_CHANGE + 5) * W + lane] = (k6 * z0 + k7 * z1 + k8 * z2) + (
            (n0 * t1 - n1 * t0) + (jz * t5 - xz * t3 - yz * t4)
        )
        node[(TURNED + 0) * W + lane] = (p1 * s2 - p2 * s1) + (k0 * z0 + k3 * z1 + k6 * z2)
        node[(TURNED + 1) * W + lane] = (p2 * s0 - p0 * s2) + (k1 * z0 + k4 * z1 + k7 * z2)
        node[(TURNED + 2) * W + lane] = (p0 * s1 - p1 * s0) + (k2 * z0 + k5 * z1 + k8 * z2)


@kernel
def upper_by_q(W, lane, base, node):
    """∂τ_k/∂q_j = S_k·CHANGE_j of axis k (base) and axis j (node) that it carries."""
    return (
        base[(AXIS + 0) * W + lane] * node[(CHANGE + 0) * W + lane]
        + base[(AXIS + 1) * W + lane] * node[(CHANGE + 1) * W + lane]
        + base[(AXIS + 2) * W + lane] * node[(CHANGE + 2) * W + lane]
        + base[(AXIS + 3) * W + lane] * node[(CHANGE + 3) * W + lane]
        + base[(AXIS + 4) * W + lane] * node[(CHANGE + 4) * W + lane]
        + base[(AXIS + 5) * W + lane] * node[(CHANGE + 5) * W + lane]
    )


@kernel
def lower_by_q(W, lane, base, node):
    """∂τ_j/∂q_k = (2 B_jᵀ S_j)·Ψ̇_k + (I_j S_j)·Ψ̈_k."""
    return (
        node[(TURNED + 0) * W + lane] * base[(AXIS_RATE + 3) * W + lane]
        + node[(TURNED + 1) * W + lane] * base[(AXIS_RATE + 4) * W + lane]
        + node[(TURNED + 2) * W + lane] * base[(AXIS_RATE + 5) * W + lane]
        + node[(COLUMN + 0) * W + lane] * base[(AXIS_BEND + 0) * W + lane]
        + node[(COLUMN + 1) * W + lane] * base[(AXIS_BEND + 1) * W + lane]
        + node[(COLUMN + 2) * W + lane] * base[(AXIS_BEND + 2) * W + lane]
        + node[(COLUMN + 3) * W + lane] * base[(AXIS_BEND + 3) * W + lane]
        + node[(COLUMN + 4) * W + lane] * base[(AXIS_BEND + 4) * W + lane]
        + node[(COLUMN + 5) * W + lane] * base[(AXIS_BEND + 5) * W + lane]
    )


@kernel
def upper_by_rate(W, lane, base, node):
    """∂τ_k/∂q̇_j = S_k·RATE_CHANGE_j."""
    return (
        base[(AXIS + 0) * W + lane] * node[(RATE_CHANGE + 0) * W + lane]
        + base[(AXIS + 1) * W + lane] * node[(RATE_CHANGE + 1) * W + lane]
        + base[(AXIS + 2) * W + lane] * node[(RATE_CHANGE + 2) * W + lane]
        + base[(AXIS + 3) * W + lane] * node[(RATE_CHANGE + 3) * W + lane]
        + base[(AXIS + 4) * W + lane] * node[(RATE_CHANGE + 4) * W + lane]
        + base[(AXIS + 5) * W + lane] * node[(RATE_CHANGE + 5) * W + lane]
    )


@kernel
def lower_by_rate(W, lane, base, node):
    """∂τ_j/∂q̇_k = (2 B_jᵀ S_j)·S_k + (I_j S_j)·(Ψ̇_k + Ṡ_k)."""
    return (
        node[(TURNED + 0) * W + lane] * base[(AXIS + 3) * W + lane]
        + node[(TURNED + 1) * W + lane] * base[(AXIS + 4) * W + lane]
        + node[(TURNED + 2) * W + lane] * base[(AXIS + 5) * W + lane]
        + node[(COLUMN + 0) * W + lane] * base[(AXIS_TURN + 0) * W + lane]
        + node[(COLUMN + 1) * W + lane] * base[(AXIS_TURN + 1) * W + lane]
        + node[(COLUMN + 2) * W + lane] * base[(AXIS_TURN + 2) * W + lane]
        + node[(COLUMN + 3) * W + lane] * base[(AXIS_TURN + 3) * W + lane]
        + node[(COLUMN + 4) * W + lane] * base[(AXIS_TURN + 4) * W + lane]
        + node[(COLUMN + 5) * W + lane] * base[(AXIS_TURN + 5) * W + lane]
    )


@kernel
def pair_by_q(side, blocks, base, node, upper, lower):
    """Both derivatives of a pair of axes, for all states."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        upper[lane] = upper_by_q(W, lane, base, node)
        lower[lane] = lower_by_q(W, lane, base, node)


@kernel
def pair_by_rate(side, blocks, base, node, upper, lower):
    """Both derivatives of a pair of axes, for all states."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        upper[lane] = upper_by_rate(W, lane, base, node)
        lower[lane] = lower_by_rate(W, lane, base, node)


@kernel
def same_joint(side, blocks, base, node, to):
    """Axis k turns with j where both are fixed in the same body: S_kᵀ (S_j ×* F) is not in ∂τ_k/∂q_j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        s0, s1, s2 = base[(AXIS + 0) * W + lane], base[(AXIS + 1) * W + lane], base[(AXIS + 2) * W + lane]
        z0, z1, z2 = base[(AXIS + 3) * W + lane], base[(AXIS + 4) * W + lane], base[(AXIS + 5) * W + lane]
        a0, a1, a2 = node[(AXIS + 0) * W + lane], node[(AXIS + 1) * W + lane], node[(AXIS + 2) * W + lane]
        y0, y1, y2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        f0, f1, f2 = node[(FORCE + 0) * W + lane], node[(FORCE + 1) * W + lane], node[(FORCE + 2) * W + lane]
        f3, f4, f5 = node[(FORCE + 3) * W + lane], node[(FORCE + 4) * W + lane], node[(FORCE + 5) * W + lane]
        to[lane] -= (
            s0 * (y1 * f2 - y2 * f1)
            + s1 * (y2 * f0 - y0 * f2)
            + s2 * (y0 * f1 - y1 * f0)
            + z0 * ((y1 * f5 - y2 * f4) + (a1 * f2 - a2 * f1))
            + z1 * ((y2 * f3 - y0 * f5) + (a2 * f0 - a0 * f2))
            + z2 * ((y0 * f4 - y1 * f3) + (a0 * f1 - a1 * f0))
        )
