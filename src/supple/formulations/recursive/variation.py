"""The first variation of the motion and of its forces: derivatives of inverse dynamics.

With the accelerations q̈ of the axes added to the motion of `outward` (which was made with q̈ = 0), for an axis k on the
way from the ground to j, or j itself (docs/theory/recursive.md, eqs. 17-21):

    ∂τ_k/∂q_j = S_kᵀ (2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* F_j),   ∂τ_j/∂q_k = (2 B_jᵀ S_j)ᵀ Ψ̇_k + (I_j S_j)ᵀ Ψ̈_k
    ∂τ_k/∂q̇_j = S_kᵀ (2 B_j S_j + I_j (Ψ̇_j + Ṡ_j)),        ∂τ_j/∂q̇_k = (2 B_jᵀ S_j)ᵀ S_k + (I_j S_j)ᵀ (Ψ̇_k + Ṡ_k)

B of everything carried is made of its momentum p and W = ∫ ṙ rᵀ dm alone: 2 B (s, z) = 2 (z × p, (tr W) z - W z).
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import (
    BEFORE,
    CARRIED_MASS,
    DAMPING,
    FIRST,
    INTEGERS,
    NUMBERS,
    PARENT,
    STIFFNESS,
)
from supple.formulations.recursive.factor import block_place
from supple.formulations.recursive.force_change import (
    changes,
    forces,
    lower_by_q,
    lower_by_rate,
    pair_by_q,
    pair_by_rate,
    same_joint,
    upper_by_q,
    upper_by_rate,
)
from supple.formulations.recursive.node import (
    ACCELERATION,
    AXIS,
    AXIS_BEND,
    AXIS_RATE,
    AXIS_TURN,
    CHANGE,
    COLUMN,
    PUSHED,
    SLOTS,
    cut,
    lane_count,
)


@kernel
def variation(side, blocks, n, axes_i, axes_f, accelerations, nodes, change):
    """∂τ/∂q and ∂τ/∂q̇ of every pair of axes of which one carries the other.

    accelerations : (axes, W); change : (2 axes, axes) in blocks (factor.py), column j by q_j, column axes + j by q̇_j
    """
    W = len(side)
    vary_motion(side, blocks, n, axes_i, accelerations, nodes)
    spare = cut(nodes, n, SLOTS * W)[COLUMN * W :]
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(nodes, j, SLOTS * W), axes_i[j * INTEGERS + PARENT]
        base = cut(nodes, parent, SLOTS * W)
        forces(side, blocks, axes_f[j * NUMBERS + CARRIED_MASS], cut(accelerations, j, W), node, base)
        changes(side, blocks, axes_f[j * NUMBERS + CARRIED_MASS], node)
        k = j
        while k < n:
            base = cut(nodes, k, SLOTS * W)
            first, second = block_place(n, j, k), block_place(n, k, j)
            third, fourth = block_place(n, n + j, k), block_place(n, n + k, j)
            if W == 1:  # for one state, cutting rows out of the memory would take longer than this
                change[second] = lower_by_q(1, 0, base, node)
                change[first] = upper_by_q(1, 0, base, node)
                change[fourth] = lower_by_rate(1, 0, base, node)
                change[third] = upper_by_rate(1, 0, base, node)
            else:
                # Of an axis with itself both are the same; two results in one place are not taken side by side.
                pair_by_q(side, blocks, base, node, cut(change, first, W), spare if k == j else cut(change, second, W))
                pair_by_rate(
                    side, blocks, base, node, cut(change, third, W), spare if k == j else cut(change, fourth, W)
                )
            if k != j and axes_i[k * INTEGERS + FIRST] == axes_i[j * INTEGERS + FIRST]:
                same_joint(side, blocks, base, node, cut(change, first, W))
            k = axes_i[k * INTEGERS + PARENT]
        own, own_rate = cut(change, block_place(n, j, j), W), cut(change, block_place(n, n + j, j), W)
        stiffness, damping = axes_f[j * NUMBERS + STIFFNESS], axes_f[j * NUMBERS + DAMPING]
        for at in range(W):
            own[at] += stiffness
            own_rate[at] += damping


@kernel
def vary_motion(side, blocks, n, axes_i, accelerations, nodes):
    """Outwards: accelerations with those of the axes, Ψ̈ and Ψ̇ + Ṡ."""
    W = len(side)
    ground = cut(nodes, n, SLOTS * W)
    for at in range(CHANGE * W, (CHANGE + 6) * W):
        ground[at] = 0.0
    for k in range(n):
        row = cut(axes_i, k, INTEGERS)
        parent, before = cut(nodes, row[PARENT], SLOTS * W), cut(nodes, row[BEFORE], SLOTS * W)
        node = cut(nodes, k, SLOTS * W)
        accelerated(side, blocks, parent, cut(accelerations, k, W), node)
        bent(side, blocks, before, node)
    for k in range(n):
        node, first = cut(nodes, k, SLOTS * W), axes_i[k * INTEGERS + FIRST]
        last = k
        while last + 1 < n and axes_i[(last + 1) * INTEGERS + FIRST] == first:
            last += 1
        if first == last:
            for at in range(6 * W):
                node[AXIS_TURN * W + at] = 2.0 * node[AXIS_RATE * W + at]
        else:
            turned_with_its_body(side, blocks, cut(nodes, last, SLOTS * W), node)


@kernel
def accelerated(side, blocks, parent, acceleration, node):
    """Adds the accelerations of the axes: CHANGE = CHANGE_p + S q̈."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        a = acceleration[lane]
        e0 = parent[(CHANGE + 0) * W + lane] + node[(AXIS + 0) * W + lane] * a
        e1 = parent[(CHANGE + 1) * W + lane] + node[(AXIS + 1) * W + lane] * a
        e2 = parent[(CHANGE + 2) * W + lane] + node[(AXIS + 2) * W + lane] * a
        e3 = parent[(CHANGE + 3) * W + lane] + node[(AXIS + 3) * W + lane] * a
        e4 = parent[(CHANGE + 4) * W + lane] + node[(AXIS + 4) * W + lane] * a
        e5 = parent[(CHANGE + 5) * W + lane] + node[(AXIS + 5) * W + lane] * a
        node[(CHANGE + 0) * W + lane], node[(CHANGE + 1) * W + lane] = e0, e1
        node[(CHANGE + 2) * W + lane], node[(CHANGE + 3) * W + lane] = e2, e3
        node[(CHANGE + 4) * W + lane], node[(CHANGE + 5) * W + lane] = e4, e5
        node[(ACCELERATION + 0) * W + lane] += e0
        node[(ACCELERATION + 1) * W + lane] += e1
        node[(ACCELERATION + 2) * W + lane] += e2
        node[(ACCELERATION + 3) * W + lane] += e3
        node[(ACCELERATION + 4) * W + lane] += e4
        node[(ACCELERATION + 5) * W + lane] += e5
    for at in range(PUSHED * W, (PUSHED + 6) * W):
        node[at] = 0.0


@kernel
def bent(side, blocks, before, node):
    """Ψ̈ = A_before × S + V_before × Ψ̇."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        v0, v1, v2 = before[12 * W + lane], before[13 * W + lane], before[14 * W + lane]
        w0, w1, w2 = before[15 * W + lane], before[16 * W + lane], before[17 * W + lane]
        a0, a1, a2 = before[18 * W + lane], before[19 * W + lane], before[20 * W + lane]
        h0, h1, h2 = before[21 * W + lane], before[22 * W + lane], before[23 * W + lane]
        s0, s1, s2 = node[(AXIS + 0) * W + lane], node[(AXIS + 1) * W + lane], node[(AXIS + 2) * W + lane]
        z0, z1, z2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        d0, d1 = node[(AXIS_RATE + 0) * W + lane], node[(AXIS_RATE + 1) * W + lane]
        d2, d3 = node[(AXIS_RATE + 2) * W + lane], node[(AXIS_RATE + 3) * W + lane]
        d4, d5 = node[(AXIS_RATE + 4) * W + lane], node[(AXIS_RATE + 5) * W + lane]
        node[(AXIS_BEND + 0) * W + lane] = (
            (h1 * s2 - h2 * s1) + (a1 * z2 - a2 * z1) + (w1 * d2 - w2 * d1) + (v1 * d5 - v2 * d4)
        )
        node[(AXIS_BEND + 1) * W + lane] = (
            (h2 * s0 - h0 * s2) + (a2 * z0 - a0 * z2) + (w2 * d0 - w0 * d2) + (v2 * d3 - v0 * d5)
        )
        node[(AXIS_BEND + 2) * W + lane] = (
            (h0 * s1 - h1 * s0) + (a0 * z1 - a1 * z0) + (w0 * d1 - w1 * d0) + (v0 * d4 - v1 * d3)
        )
        node[(AXIS_BEND + 3) * W + lane] = (h1 * z2 - h2 * z1) + (w1 * d5 - w2 * d4)
        node[(AXIS_BEND + 4) * W + lane] = (h2 * z0 - h0 * z2) + (w2 * d3 - w0 * d5)
        node[(AXIS_BEND + 5) * W + lane] = (h0 * z1 - h1 * z0) + (w0 * d4 - w1 * d3)


@kernel
def turned_with_its_body(side, blocks, last, node):
    """Ψ̇ + Ṡ where S is fixed in the body that the joint moves: Ṡ = V × S, with V after all its axes."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        v0, v1, v2 = last[12 * W + lane], last[13 * W + lane], last[14 * W + lane]
        w0, w1, w2 = last[15 * W + lane], last[16 * W + lane], last[17 * W + lane]
        s0, s1, s2 = node[(AXIS + 0) * W + lane], node[(AXIS + 1) * W + lane], node[(AXIS + 2) * W + lane]
        z0, z1, z2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        d0, d1 = node[(AXIS_RATE + 0) * W + lane], node[(AXIS_RATE + 1) * W + lane]
        d2, d3 = node[(AXIS_RATE + 2) * W + lane], node[(AXIS_RATE + 3) * W + lane]
        d4, d5 = node[(AXIS_RATE + 4) * W + lane], node[(AXIS_RATE + 5) * W + lane]
        node[(AXIS_TURN + 0) * W + lane] = d0 + (w1 * s2 - w2 * s1) + (v1 * z2 - v2 * z1)
        node[(AXIS_TURN + 1) * W + lane] = d1 + (w2 * s0 - w0 * s2) + (v2 * z0 - v0 * z2)
        node[(AXIS_TURN + 2) * W + lane] = d2 + (w0 * s1 - w1 * s0) + (v0 * z1 - v1 * z0)
        node[(AXIS_TURN + 3) * W + lane] = d3 + (w1 * z2 - w2 * z1)
        node[(AXIS_TURN + 4) * W + lane] = d4 + (w2 * z0 - w0 * z2)
        node[(AXIS_TURN + 5) * W + lane] = d5 + (w0 * z1 - w1 * z0)
