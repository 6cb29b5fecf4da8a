"""Back towards the ground: what each axis carries, the mass matrix, and the forces along the axes.

    M_kj = S_kᵀ I_j S_j for every axis k on the way from the ground to j,   τ_j = S_jᵀ F_j     (eqs. 9, 10)

I, F of an axis are those of everything that it carries. `nodes` as in node.py; `M` : (axes², W), entry
(j, k) in row j axes + k.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import ARMATURE, CARRIED_MASS, INTEGERS, NUMBERS, PARENT
from supple.formulations.recursive.node import AXIS, COLUMN, FORCE, MOMENT, SECOND, SLOTS, cut, lane_count


@kernel
def inward(side, blocks, n, axes_i, axes_f, nodes, M, tau):
    """Adds up what each axis carries; M on the way to the ground, and τ (axes, W) of the motion."""
    W = len(side)
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(nodes, j, SLOTS * W), axes_i[j * INTEGERS + PARENT]
        column(side, blocks, axes_f[j * NUMBERS + CARRIED_MASS], node, cut(tau, j, W))
        more, k = axes_f[j * NUMBERS + ARMATURE], j
        while k < n:
            entry(side, blocks, cut(nodes, k, SLOTS * W), node, more, cut(M, j * n + k, W))
            more, k = 0.0, axes_i[k * INTEGERS + PARENT]
        if parent < n:
            base = cut(nodes, parent, SLOTS * W)
            for at in range(MOMENT * W, (FORCE + 6) * W):  # all of them are sums over what is carried
                base[at] += node[at]


@kernel
def inward_forces(side, blocks, n, axes_i, nodes, tau):
    """Adds up forces alone, and τ."""
    W = len(side)
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(nodes, j, SLOTS * W), axes_i[j * INTEGERS + PARENT]
        force_along(side, blocks, node, cut(tau, j, W))
        if parent < n:
            base = cut(nodes, parent, SLOTS * W)
            for at in range(FORCE * W, (FORCE + 6) * W):
                base[at] += node[at]


@kernel
def force_along(side, blocks, node, along):
    """τ = Sᵀ F."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        along[lane] = (
            node[(AXIS + 0) * W + lane] * node[(FORCE + 0) * W + lane]
            + node[(AXIS + 1) * W + lane] * node[(FORCE + 1) * W + lane]
            + node[(AXIS + 2) * W + lane] * node[(FORCE + 2) * W + lane]
            + node[(AXIS + 3) * W + lane] * node[(FORCE + 3) * W + lane]
            + node[(AXIS + 4) * W + lane] * node[(FORCE + 4) * W + lane]
            + node[(AXIS + 5) * W + lane] * node[(FORCE + 5) * W + lane]
        )


@kernel
def column(side, blocks, m, node, along):
    """I S = (m s + z × m c, m c × s + (tr Σ - Σ) z) with S = (s, z), and τ = Sᵀ F."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        s0, s1, s2 = node[(AXIS + 0) * W + lane], node[(AXIS + 1) * W + lane], node[(AXIS + 2) * W + lane]
        z0, z1, z2 = node[(AXIS + 3) * W + lane], node[(AXIS + 4) * W + lane], node[(AXIS + 5) * W + lane]
        n0, n1, n2 = node[(MOMENT + 0) * W + lane], node[(MOMENT + 1) * W + lane], node[(MOMENT + 2) * W + lane]
        xx, xy, xz = node[(SECOND + 0) * W + lane], node[(SECOND + 1) * W + lane], node[(SECOND + 2) * W + lane]
        yy, yz, zz = node[(SECOND + 3) * W + lane], node[(SECOND + 4) * W + lane], node[(SECOND + 5) * W + lane]
        node[(COLUMN + 0) * W + lane] = m * s0 + (z1 * n2 - z2 * n1)
        node[(COLUMN + 1) * W + lane] = m * s1 + (z2 * n0 - z0 * n2)
        node[(COLUMN + 2) * W + lane] = m * s2 + (z0 * n1 - z1 * n0)
        node[(COLUMN + 3) * W + lane] = (n1 * s2 - n2 * s1) + ((yy + zz) * z0 - xy * z1 - xz * z2)
        node[(COLUMN + 4) * W + lane] = (n2 * s0 - n0 * s2) + ((xx + zz) * z1 - xy * z0 - yz * z2)
        node[(COLUMN + 5) * W + lane] = (n0 * s1 - n1 * s0) + ((xx + yy) * z2 - xz * z0 - yz * z1)
        along[lane] = (
            s0 * node[(FORCE + 0) * W + lane]
            + s1 * node[(FORCE + 1) * W + lane]
            + s2 * node[(FORCE + 2) * W + lane]
            + z0 * node[(FORCE + 3) * W + lane]
            + z1 * node[(FORCE + 4) * W + lane]
            + z2 * node[(FORCE + 5) * W + lane]
        )


@kernel
def entry(side, blocks, base, node, more, to):
    """S_kᵀ I_j S_j of axis k (base) and axis j (node)."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        to[lane] = more + (
            base[(AXIS + 0) * W + lane] * node[(COLUMN + 0) * W + lane]
            + base[(AXIS + 1) * W + lane] * node[(COLUMN + 1) * W + lane]
            + base[(AXIS + 2) * W + lane] * node[(COLUMN + 2) * W + lane]
            + base[(AXIS + 3) * W + lane] * node[(COLUMN + 3) * W + lane]
            + base[(AXIS + 4) * W + lane] * node[(COLUMN + 4) * W + lane]
            + base[(AXIS + 5) * W + lane] * node[(COLUMN + 5) * W + lane]
        )
