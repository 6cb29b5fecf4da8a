"""First variation of the motion and its forces: derivatives of inverse dynamics.

The accelerations q̈ of the axes are added to the motion of `outward` (computed with q̈ = 0). For an axis k on the path
from the ground to j, or j itself (docs/theory/recursive.md, eqs. 17-21):

    ∂τ_k/∂q_j = S_kᵀ (2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* F_j),   ∂τ_j/∂q_k = (2 B_jᵀ S_j)ᵀ Ψ̇_k + (I_j S_j)ᵀ Ψ̈_k
    ∂τ_k/∂q̇_j = S_kᵀ (2 B_j S_j + I_j (Ψ̇_j + Ṡ_j)),        ∂τ_j/∂q̇_k = (2 B_jᵀ S_j)ᵀ S_k + (I_j S_j)ᵀ (Ψ̇_k + Ṡ_k)

B of all carried bodies depends only on their momentum p and W = ∫ ṙ rᵀ dm: 2 B (s, z) = 2 (z × p, (tr W) z - W z).
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.memory import (
    ACCELERATION,
    AXIS,
    AXIS_BEND,
    AXIS_RATE,
    AXIS_TURN,
    BEFORE,
    CARRIED_MASS,
    CHANGE,
    COLUMN,
    FIRST,
    FORCE,
    INTEGERS,
    NUMBERS,
    PUSHED,
    RATE_CHANGE,
    SLOTS,
    STIFFNESS,
    TURNED,
    VELOCITY,
    block_place,
    cut,
    lane_count,
    parent_of,
    spare_place,
)
from supple.formulations.recursive.spatial import (
    both,
    carried_inertia,
    carried_momentum,
    force_cross,
    inertia_times,
    motion_cross,
    number_at,
    power,
    put,
    put_spatial,
    put_vector,
    scale_spatial,
    spatial_at,
    turn_product,
    turn_product_transposed,
    vector_at,
)
from supple.geometry.vectors import dot, times


@kernel
def forces(side, blocks, m, acceleration, node, parent):
    """Compute F_j = F_j(q̈ = 0) + I_j ΔA_j + the required forces of the outer axes beyond moving with j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        mc, J = carried_inertia(node, W, lane)
        F, pushed = spatial_at(node, FORCE, W, lane), spatial_at(node, PUSHED, W, lane)
        moved_along = inertia_times(m, mc, J, spatial_at(node, CHANGE, W, lane))
        put_spatial(node, FORCE, W, lane, both(both(F, pushed), moved_along))
        own = scale_spatial(number_at(acceleration, 0, W, lane), spatial_at(node, COLUMN, W, lane))
        put_spatial(parent, PUSHED, W, lane, both(spatial_at(parent, PUSHED, W, lane), both(pushed, own)))


@kernel
def changes(side, blocks, m, node):
    """Compute the three vectors of axis j that are multiplied with every axis before it, eqs. 19-21."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        mc, J = carried_inertia(node, W, lane)
        p, K = carried_momentum(node, W, lane)
        S, F = spatial_at(node, AXIS, W, lane), spatial_at(node, FORCE, W, lane)
        rate, bend = spatial_at(node, AXIS_RATE, W, lane), spatial_at(node, AXIS_BEND, W, lane)
        turn = spatial_at(node, AXIS_TURN, W, lane)
        coriolis = scale_spatial(2.0, turn_product(p, K, rate))
        put_spatial(node, CHANGE, W, lane, both(both(coriolis, inertia_times(m, mc, J, bend)), force_cross(S, F)))
        coriolis_of_rate = scale_spatial(2.0, turn_product(p, K, S))
        put_spatial(node, RATE_CHANGE, W, lane, both(coriolis_of_rate, inertia_times(m, mc, J, turn)))
        put_vector(node, TURNED, W, lane, times(2.0, turn_product_transposed(p, K, S)))


@kernel
def pair_by_q(side, blocks, base, node, change, upper, lower):
    """Compute ∂τ_k/∂q_j = S_k·CHANGE_j and ∂τ_j/∂q_k = TURNED_j·Ψ̇_k + (I_j S_j)·Ψ̈_k for axis k (base) and j (node).

    upper, lower : their rows in `change` (eq. 17)
    """
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        S, outer = spatial_at(base, AXIS, W, lane), spatial_at(node, CHANGE, W, lane)
        put(change, upper, W, lane, power(S, outer))
        turned = dot(vector_at(node, TURNED, W, lane), vector_at(base, AXIS_RATE + 3, W, lane))
        bend = power(spatial_at(base, AXIS_BEND, W, lane), spatial_at(node, COLUMN, W, lane))
        put(change, lower, W, lane, turned + bend)


@kernel
def pair_by_rate(side, blocks, base, node, change, upper, lower):
    """Compute ∂τ_k/∂q̇_j = S_k·RATE_CHANGE_j and ∂τ_j/∂q̇_k = TURNED_j·S_k + (I_j S_j)·(Ψ̇_k + Ṡ_k), eq. 18."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        S, outer = spatial_at(base, AXIS, W, lane), spatial_at(node, RATE_CHANGE, W, lane)
        put(change, upper, W, lane, power(S, outer))
        turned = dot(vector_at(node, TURNED, W, lane), vector_at(base, AXIS + 3, W, lane))
        turn = power(spatial_at(base, AXIS_TURN, W, lane), spatial_at(node, COLUMN, W, lane))
        put(change, lower, W, lane, turned + turn)


@kernel
def same_joint(side, blocks, base, node, to):
    """Remove S_kᵀ (S_j ×* F) from ∂τ_k/∂q_j, since axis k rotates with j if both are fixed in the same body."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        along = force_cross(spatial_at(node, AXIS, W, lane), spatial_at(node, FORCE, W, lane))
        put(to, 0, W, lane, number_at(to, 0, W, lane) - power(spatial_at(base, AXIS, W, lane), along))


@kernel
def variation(side, blocks, tree, memory):
    """Compute ∂τ/∂q and ∂τ/∂q̇ of every pair of axes of which one carries the other.

    change : (2 axes, axes) in blocks (blocks.py), column j by q_j, column axes + j by q̇_j
    """
    W, n, nodes, change = len(side), tree.n, memory.nodes, memory.change
    vary_motion(side, blocks, tree, memory)
    for i in range(n):
        j = n - 1 - i
        node, m = cut(nodes, j, SLOTS * W), tree.axes_f[j * NUMBERS + CARRIED_MASS]
        parent = cut(nodes, parent_of(tree, j), SLOTS * W)
        forces(side, blocks, m, cut(memory.accelerations, j, W), node, parent)
        changes(side, blocks, m, node)
        k = j
        while k < n:
            base = cut(nodes, k, SLOTS * W)
            # Of an axis with itself both are the same; two results in one place are not taken side by side.
            lower = spare_place(n) if k == j else block_place(n, k, j)
            lower_rate = spare_place(n) if k == j else block_place(n, n + k, j)
            pair_by_q(side, blocks, base, node, change, block_place(n, j, k), lower)
            pair_by_rate(side, blocks, base, node, change, block_place(n, n + j, k), lower_rate)
            if k != j and first_of_joint(tree, k) == first_of_joint(tree, j):
                same_joint(side, blocks, base, node, cut(change, block_place(n, j, k), W))
            k = parent_of(tree, k)
        own, own_rate = cut(change, block_place(n, j, j), W), cut(change, block_place(n, n + j, j), W)
        stiffness, resistance = tree.axes_f[j * NUMBERS + STIFFNESS], cut(memory.resistance, j, W)
        for at in range(W):
            own[at] += stiffness
            own_rate[at] += resistance[at]


@kernel(inline=True)
def first_of_joint(tree, k):
    """Return the first axis of the spherical or free joint of axis k; otherwise k."""
    return tree.axes_i[k * INTEGERS + FIRST]


@kernel
def vary_motion(side, blocks, tree, memory):
    """Compute, outwards, accelerations with those of the axes, Ψ̈ and Ψ̇ + Ṡ."""
    W, n, nodes = len(side), tree.n, memory.nodes
    ground = cut(nodes, n, SLOTS * W)
    for at in range(CHANGE * W, (CHANGE + 6) * W):
        ground[at] = 0.0
    for k in range(n):
        node, parent = cut(nodes, k, SLOTS * W), cut(nodes, parent_of(tree, k), SLOTS * W)
        accelerate_axis(side, blocks, parent, cut(memory.accelerations, k, W), node)
        bend_axis(side, blocks, cut(nodes, tree.axes_i[k * INTEGERS + BEFORE], SLOTS * W), node)
    for k in range(n):
        node, last = cut(nodes, k, SLOTS * W), k
        while last + 1 < n and first_of_joint(tree, last + 1) == first_of_joint(tree, k):
            last += 1
        if first_of_joint(tree, k) == last:
            for at in range(6 * W):
                node[AXIS_TURN * W + at] = 2.0 * node[AXIS_RATE * W + at]
        else:
            turn_axis(side, blocks, cut(nodes, last, SLOTS * W), node)


@kernel
def accelerate_axis(side, blocks, parent, acceleration, node):
    """Add the accelerations of the axes: CHANGE = CHANGE_p + S q̈."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        own = scale_spatial(number_at(acceleration, 0, W, lane), spatial_at(node, AXIS, W, lane))
        change = both(spatial_at(parent, CHANGE, W, lane), own)
        put_spatial(node, CHANGE, W, lane, change)
        put_spatial(node, ACCELERATION, W, lane, both(spatial_at(node, ACCELERATION, W, lane), change))
    for at in range(PUSHED * W, (PUSHED + 6) * W):
        node[at] = 0.0


@kernel
def bend_axis(side, blocks, before, node):
    """Compute Ψ̈ = A_before × S + V_before × Ψ̇."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        V, A = spatial_at(before, VELOCITY, W, lane), spatial_at(before, ACCELERATION, W, lane)
        S, rate = spatial_at(node, AXIS, W, lane), spatial_at(node, AXIS_RATE, W, lane)
        put_spatial(node, AXIS_BEND, W, lane, both(motion_cross(A, S), motion_cross(V, rate)))


@kernel
def turn_axis(side, blocks, last, node):
    """Compute Ψ̇ + Ṡ for S fixed in the body that the joint moves: Ṡ = V × S, with V after all its axes."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        V, S = spatial_at(last, VELOCITY, W, lane), spatial_at(node, AXIS, W, lane)
        put_spatial(node, AXIS_TURN, W, lane, both(spatial_at(node, AXIS_RATE, W, lane), motion_cross(V, S)))
