"""Forces and moments applied to bodies, and how they change with the configuration.

A load that follows its body moves like everything else that the body carries and adds nothing to the variation. One
that keeps its direction lags behind the turn z of the body by (docs/theory/recursive.md, eqs. 23-25)

    E z = (z × F, ((r·F) 1 - F rᵀ - m̃) z)

loads_i : (n, 2) axis, follows (1) or keeps its direction (0); loads_f : (n, 9) point on the axis' frame, force, moment
(in that frame if it follows, in the world's otherwise).
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import INTEGERS, PARENT
from supple.formulations.recursive.factor import block_place
from supple.formulations.recursive.memory import LOAD_INTEGERS, LOAD_NUMBERS
from supple.formulations.recursive.node import (
    AXIS,
    CHANGE,
    DEAD_FORCE,
    DEAD_SPREAD,
    DEAD_TURNED,
    FORCE,
    POSITION,
    SLOTS,
    cut,
    lane_count,
)


@kernel
def apply_loads(side, blocks, n, loads_i, loads_f, nodes):
    """Takes the loads from the forces that the bodies need."""
    W = len(side)
    for k in range(n):
        node = cut(nodes, k, SLOTS * W)
        for at in range(DEAD_FORCE * W, (DEAD_SPREAD + 9) * W):
            node[at] = 0.0
    for i in range(len(loads_i) // LOAD_INTEGERS):
        axis, follows = loads_i[i * LOAD_INTEGERS], loads_i[i * LOAD_INTEGERS + 1]
        if axis < n:
            apply_load(side, blocks, follows, cut(loads_f, i, LOAD_NUMBERS), cut(nodes, axis, SLOTS * W))


@kernel
def apply_load(side, blocks, follows, load, node):
    """One load."""
    W, lanes = len(side), lane_count(side, blocks)
    x0, x1, x2 = load[0], load[1], load[2]
    g0, g1, g2, g3, g4, g5 = load[3], load[4], load[5], load[6], load[7], load[8]
    for lane in range(lanes):
        a0, a1, a2 = node[0 * W + lane], node[1 * W + lane], node[2 * W + lane]
        a3, a4, a5 = node[3 * W + lane], node[4 * W + lane], node[5 * W + lane]
        a6, a7, a8 = node[6 * W + lane], node[7 * W + lane], node[8 * W + lane]
        r0 = node[(POSITION + 0) * W + lane] + (a0 * x0 + a1 * x1 + a2 * x2)
        r1 = node[(POSITION + 1) * W + lane] + (a3 * x0 + a4 * x1 + a5 * x2)
        r2 = node[(POSITION + 2) * W + lane] + (a6 * x0 + a7 * x1 + a8 * x2)
        f0, f1, f2, m0, m1, m2 = g0, g1, g2, g3, g4, g5
        if follows == 1:
            f0, f1, f2 = a0 * g0 + a1 * g1 + a2 * g2, a3 * g0 + a4 * g1 + a5 * g2, a6 * g0 + a7 * g1 + a8 * g2
            m0, m1, m2 = a0 * g3 + a1 * g4 + a2 * g5, a3 * g3 + a4 * g4 + a5 * g5, a6 * g3 + a7 * g4 + a8 * g5
        node[(FORCE + 0) * W + lane] -= f0
        node[(FORCE + 1) * W + lane] -= f1
        node[(FORCE + 2) * W + lane] -= f2
        node[(FORCE + 3) * W + lane] -= m0 + (r1 * f2 - r2 * f1)
        node[(FORCE + 4) * W + lane] -= m1 + (r2 * f0 - r0 * f2)
        node[(FORCE + 5) * W + lane] -= m2 + (r0 * f1 - r1 * f0)
        if follows == 0:
            node[(DEAD_FORCE + 0) * W + lane] += f0
            node[(DEAD_FORCE + 1) * W + lane] += f1
            node[(DEAD_FORCE + 2) * W + lane] += f2
            node[(DEAD_SPREAD + 0) * W + lane] += r1 * f1 + r2 * f2
            node[(DEAD_SPREAD + 1) * W + lane] += m2 - f0 * r1
            node[(DEAD_SPREAD + 2) * W + lane] -= m1 + f0 * r2
            node[(DEAD_SPREAD + 3) * W + lane] -= m2 + f1 * r0
            node[(DEAD_SPREAD + 4) * W + lane] += r0 * f0 + r2 * f2
            node[(DEAD_SPREAD + 5) * W + lane] += m0 - f1 * r2
            node[(DEAD_SPREAD + 6) * W + lane] += m1 - f2 * r0
            node[(DEAD_SPREAD + 7) * W + lane] -= m0 + f2 * r1
            node[(DEAD_SPREAD + 8) * W + lane] += r0 * f0 + r1 * f1


@kernel
def vary_loads(side, blocks, n, axes_i, nodes, change):
    """Adds S_kᵀ E_j S_j to ∂τ_k/∂q_j and S_jᵀ E_j S_k to ∂τ_j/∂q_k, E of everything that j carries."""
    W = len(side)
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(nodes, j, SLOTS * W), axes_i[j * INTEGERS + PARENT]
        lagging(side, blocks, node)
        k = j
        while k < n:
            upper, lower = cut(change, block_place(n, j, k), W), cut(change, block_place(n, k, j), W)
            vary_pair(side, blocks, cut(nodes, k, SLOTS * W), node, upper, lower, k != j)
            k = axes_i[k * INTEGERS + PARENT]
        if parent < n:
            base = cut(nodes, parent, SLOTS * W)
            for at in range(DEAD_FORCE * W, (DEAD_SPREAD + 9) * W):
                base[at] += node[at]


@kernel
def lagging(side, blocks, node):
    """CHANGE = E S_j and DEAD_TURNED = E_jᵀ S_j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        s0, s1, s2 = node[(AXIS + 0) * W + lane], node[(AXIS + 1) * W + lane], node[(AXIS + 2) * W + lane]
        z0, z1, z2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        f0, f1 = node[(DEAD_FORCE + 0) * W + lane], node[(DEAD_FORCE + 1) * W + lane]
        f2 = node[(DEAD_FORCE + 2) * W + lane]
        k0, k1 = node[(DEAD_SPREAD + 0) * W + lane], node[(DEAD_SPREAD + 1) * W + lane]
        k2, k3 = node[(DEAD_SPREAD + 2) * W + lane], node[(DEAD_SPREAD + 3) * W + lane]
        k4, k5 = node[(DEAD_SPREAD + 4) * W + lane], node[(DEAD_SPREAD + 5) * W + lane]
        k6, k7 = node[(DEAD_SPREAD + 6) * W + lane], node[(DEAD_SPREAD + 7) * W + lane]
        k8 = node[(DEAD_SPREAD + 8) * W + lane]
        node[(CHANGE + 0) * W + lane] = z1 * f2 - z2 * f1
        node[(CHANGE + 1) * W + lane] = z2 * f0 - z0 * f2
        node[(CHANGE + 2) * W + lane] = z0 * f1 - z1 * f0
        node[(CHANGE + 3) * W + lane] = k0 * z0 + k1 * z1 + k2 * z2
        node[(CHANGE + 4) * W + lane] = k3 * z0 + k4 * z1 + k5 * z2
        node[(CHANGE + 5) * W + lane] = k6 * z0 + k7 * z1 + k8 * z2
        node[(DEAD_TURNED + 0) * W + lane] = (f1 * s2 - f2 * s1) + (k0 * z0 + k3 * z1 + k6 * z2)
        node[(DEAD_TURNED + 1) * W + lane] = (f2 * s0 - f0 * s2) + (k1 * z0 + k4 * z1 + k7 * z2)
        node[(DEAD_TURNED + 2) * W + lane] = (f0 * s1 - f1 * s0) + (k2 * z0 + k5 * z1 + k8 * z2)


@kernel
def vary_pair(side, blocks, base, node, upper, lower, both):
    """∂τ_k/∂q_j (upper) and ∂τ_j/∂q_k (lower); of an axis with itself they are the same number."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        upper[lane] += (
            base[(AXIS + 0) * W + lane] * node[(CHANGE + 0) * W + lane]
            + base[(AXIS + 1) * W + lane] * node[(CHANGE + 1) * W + lane]
            + base[(AXIS + 2) * W + lane] * node[(CHANGE + 2) * W + lane]
            + base[(AXIS + 3) * W + lane] * node[(CHANGE + 3) * W + lane]
            + base[(AXIS + 4) * W + lane] * node[(CHANGE + 4) * W + lane]
            + base[(AXIS + 5) * W + lane] * node[(CHANGE + 5) * W + lane]
        )
    for lane in range(lanes if both else 0):
        lower[lane] += (
            base[(AXIS + 3) * W + lane] * node[(DEAD_TURNED + 0) * W + lane]
            + base[(AXIS + 4) * W + lane] * node[(DEAD_TURNED + 1) * W + lane]
            + base[(AXIS + 5) * W + lane] * node[(DEAD_TURNED + 2) * W + lane]
        )
