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
    PUSHED,
    RATE_CHANGE,
    TURNED,
    lane_count,
)
from supple.formulations.recursive.spatial import (
    both,
    carried_inertia,
    carried_momentum,
    force_cross,
    inertia_times,
    number_at,
    power,
    put,
    put_spatial,
    put_vector,
    scaled,
    spatial_at,
    turn_product,
    turn_product_transposed,
    vector_at,
)
from supple.geometry.vectors import dot, times


@kernel
def forces(side, blocks, m, acceleration, node, parent):
    """F_j = F_j(q̈ = 0) + I_j ΔA_j + what the axes further out need beyond moving along with j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        mc, J = carried_inertia(node, W, lane)
        F, pushed = spatial_at(node, FORCE, W, lane), spatial_at(node, PUSHED, W, lane)
        moved_along = inertia_times(m, mc, J, spatial_at(node, CHANGE, W, lane))
        put_spatial(node, FORCE, W, lane, both(both(F, pushed), moved_along))
        own = scaled(number_at(acceleration, 0, W, lane), spatial_at(node, COLUMN, W, lane))
        put_spatial(parent, PUSHED, W, lane, both(spatial_at(parent, PUSHED, W, lane), both(pushed, own)))


@kernel
def changes(side, blocks, m, node):
    """The three vectors of axis j that meet every axis before it, eqs. 19-21."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        mc, J = carried_inertia(node, W, lane)
        p, K = carried_momentum(node, W, lane)
        S, F = spatial_at(node, AXIS, W, lane), spatial_at(node, FORCE, W, lane)
        rate, bend = spatial_at(node, AXIS_RATE, W, lane), spatial_at(node, AXIS_BEND, W, lane)
        turn = spatial_at(node, AXIS_TURN, W, lane)
        coriolis = scaled(2.0, turn_product(p, K, rate))
        put_spatial(node, CHANGE, W, lane, both(both(coriolis, inertia_times(m, mc, J, bend)), force_cross(S, F)))
        coriolis_of_rate = scaled(2.0, turn_product(p, K, S))
        put_spatial(node, RATE_CHANGE, W, lane, both(coriolis_of_rate, inertia_times(m, mc, J, turn)))
        put_vector(node, TURNED, W, lane, times(2.0, turn_product_transposed(p, K, S)))


@kernel
def pair_by_q(side, blocks, base, node, change, upper, lower):
    """∂τ_k/∂q_j = S_k·CHANGE_j and ∂τ_j/∂q_k = TURNED_j·Ψ̇_k + (I_j S_j)·Ψ̈_k of axis k (base) and j (node).

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
    """∂τ_k/∂q̇_j = S_k·RATE_CHANGE_j and ∂τ_j/∂q̇_k = TURNED_j·S_k + (I_j S_j)·(Ψ̇_k + Ṡ_k), eq. 18."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        S, outer = spatial_at(base, AXIS, W, lane), spatial_at(node, RATE_CHANGE, W, lane)
        put(change, upper, W, lane, power(S, outer))
        turned = dot(vector_at(node, TURNED, W, lane), vector_at(base, AXIS + 3, W, lane))
        turn = power(spatial_at(base, AXIS_TURN, W, lane), spatial_at(node, COLUMN, W, lane))
        put(change, lower, W, lane, turned + turn)


@kernel
def same_joint(side, blocks, base, node, to):
    """Axis k turns with j where both are fixed in the same body: S_kᵀ (S_j ×* F) is not in ∂τ_k/∂q_j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        along = force_cross(spatial_at(node, AXIS, W, lane), spatial_at(node, FORCE, W, lane))
        put(to, 0, W, lane, number_at(to, 0, W, lane) - power(spatial_at(base, AXIS, W, lane), along))
