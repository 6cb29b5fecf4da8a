"""Back towards the ground: what each axis carries, the mass matrix, and the forces along the axes.

    M_kj = S_kᵀ I_j S_j for every axis k on the way from the ground to j,   τ_j = S_jᵀ F_j     (eqs. 9, 10)

I, F of an axis are those of everything that it carries. `nodes` as in node.py; `M` : (axes², W), entry
(j, k) in row j axes + k.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import ARMATURE, CARRIED_MASS, NUMBERS
from supple.formulations.recursive.memory import parent_of
from supple.formulations.recursive.node import AXIS, COLUMN, FORCE, MOMENT, SLOTS, cut, lane_count
from supple.formulations.recursive.spatial import carried_inertia, inertia_times, power, put, put_spatial, spatial_at


@kernel
def inward(side, blocks, tree, memory):
    """Adds up what each axis carries; M on the way to the ground, and τ of the motion."""
    W, n, nodes = len(side), tree.n, memory.nodes
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(nodes, j, SLOTS * W), parent_of(tree, j)
        column(side, blocks, tree.axes_f[j * NUMBERS + CARRIED_MASS], node)
        force_along(side, blocks, node, cut(memory.bias, j, W))
        more, k = tree.axes_f[j * NUMBERS + ARMATURE], j
        while k < n:
            entry(side, blocks, cut(nodes, k, SLOTS * W), node, more, cut(memory.M, j * n + k, W))
            more, k = 0.0, parent_of(tree, k)
        if parent < n:
            base = cut(nodes, parent, SLOTS * W)
            for at in range(MOMENT * W, (FORCE + 6) * W):  # all of them are sums over what is carried
                base[at] += node[at]


@kernel
def inward_forces(side, blocks, tree, memory):
    """Adds up forces alone, and τ."""
    W, n, nodes = len(side), tree.n, memory.nodes
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(nodes, j, SLOTS * W), parent_of(tree, j)
        force_along(side, blocks, node, cut(memory.bias, j, W))
        if parent < n:
            base = cut(nodes, parent, SLOTS * W)
            for at in range(FORCE * W, (FORCE + 6) * W):
                base[at] += node[at]


@kernel
def force_along(side, blocks, node, along):
    """τ = Sᵀ F."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        put(along, 0, W, lane, power(spatial_at(node, AXIS, W, lane), spatial_at(node, FORCE, W, lane)))


@kernel
def column(side, blocks, m, node):
    """I S of everything carried."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        mc, J = carried_inertia(node, W, lane)
        put_spatial(node, COLUMN, W, lane, inertia_times(m, mc, J, spatial_at(node, AXIS, W, lane)))


@kernel
def entry(side, blocks, base, node, more, to):
    """S_kᵀ I_j S_j of axis k (base) and axis j (node)."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        put(to, 0, W, lane, more + power(spatial_at(base, AXIS, W, lane), spatial_at(node, COLUMN, W, lane)))
