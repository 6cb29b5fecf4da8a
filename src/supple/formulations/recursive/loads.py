"""Forces and moments applied to bodies, and how they change with the configuration.

A load that follows its body moves like everything else that the body carries and adds nothing to the variation. One
that keeps its direction lags behind the turn z of the body by (docs/theory/recursive.md, eqs. 23-25)

    E z = (z × F, ((r·F) 1 - F rᵀ - m̃) z)
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.blocks import block_place
from supple.formulations.recursive.memory import LOAD_INTEGERS, LOAD_NUMBERS, parent_of
from supple.formulations.recursive.node import (
    AXIS,
    CHANGE,
    DEAD_FORCE,
    DEAD_SPREAD,
    DEAD_TURNED,
    FORCE,
    POSITION,
    ROTATION,
    SLOTS,
    cut,
    lane_count,
)
from supple.formulations.recursive.spatial import (
    both,
    matrix_at,
    number_at,
    power,
    put,
    put_matrix,
    put_spatial,
    put_vector,
    scaled,
    spatial_at,
    turn_product,
    turn_product_transposed,
    vector_at,
)
from supple.geometry.matrices import applied, matrix_sum
from supple.geometry.vectors import cross, dot, plus

ON_AXIS, FOLLOWS = 0, 1
"""Integers: the axis that carries it, whether it follows (1) or keeps its direction (0)."""
POINT, WRENCH = 0, 3
"""Numbers: the point on the axis' frame; force and moment, in that frame if it follows, in the world's otherwise."""


@kernel
def apply_loads(side, blocks, tree, memory):
    """Takes the loads from the forces that the bodies need."""
    W = len(side)
    for k in range(tree.n):
        node = cut(memory.nodes, k, SLOTS * W)
        for at in range(DEAD_FORCE * W, (DEAD_SPREAD + 9) * W):
            node[at] = 0.0
    for i in range(len(tree.loads_i) // LOAD_INTEGERS):
        axis, follows = tree.loads_i[i * LOAD_INTEGERS + ON_AXIS], tree.loads_i[i * LOAD_INTEGERS + FOLLOWS]
        if axis < tree.n:
            apply_load(side, blocks, follows, cut(tree.loads_f, i, LOAD_NUMBERS), cut(memory.nodes, axis, SLOTS * W))


@kernel
def apply_load(side, blocks, follows, load, node):
    """One load, eq. 23; what lags behind of one that keeps its direction."""
    W, lanes = len(side), lane_count(side, blocks)
    point, wrench = vector_at(load, POINT, 1, 0), spatial_at(load, WRENCH, 1, 0)
    for lane in range(lanes):
        R = matrix_at(node, ROTATION, W, lane)
        r = plus(vector_at(node, POSITION, W, lane), applied(R, point))
        F, m = (applied(R, wrench[0]), applied(R, wrench[1])) if follows == 1 else wrench
        needed = scaled(-1.0, (F, plus(m, cross(r, F))))
        put_spatial(node, FORCE, W, lane, both(spatial_at(node, FORCE, W, lane), needed))
        if follows == 0:
            put_vector(node, DEAD_FORCE, W, lane, plus(vector_at(node, DEAD_FORCE, W, lane), F))
            E = matrix_sum(matrix_at(node, DEAD_SPREAD, W, lane), lagging_moment(r, F, m))
            put_matrix(node, DEAD_SPREAD, W, lane, E)


@kernel(inline=True)
def lagging_moment(r, F, m):
    """(r·F) 1 - F rᵀ - m̃"""
    size = dot(r, F)
    return (
        (size - F[0] * r[0], m[2] - F[0] * r[1], -m[1] - F[0] * r[2]),
        (-m[2] - F[1] * r[0], size - F[1] * r[1], m[0] - F[1] * r[2]),
        (m[1] - F[2] * r[0], -m[0] - F[2] * r[1], size - F[2] * r[2]),
    )


@kernel
def vary_loads(side, blocks, tree, memory):
    """Adds S_kᵀ E_j S_j to ∂τ_k/∂q_j and S_jᵀ E_j S_k to ∂τ_j/∂q_k, E of everything that j carries (eq. 25)."""
    W, n = len(side), tree.n
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(memory.nodes, j, SLOTS * W), parent_of(tree, j)
        lagging(side, blocks, node)
        k = j
        while k < n:
            base = cut(memory.nodes, k, SLOTS * W)
            add_upper(side, blocks, base, node, cut(memory.change, block_place(n, j, k), W))
            if k != j:  # of an axis with itself both are the same number
                add_lower(side, blocks, base, node, cut(memory.change, block_place(n, k, j), W))
            k = parent_of(tree, k)
        if parent < n:
            base = cut(memory.nodes, parent, SLOTS * W)
            for at in range(DEAD_FORCE * W, (DEAD_SPREAD + 9) * W):
                base[at] += node[at]


@kernel
def lagging(side, blocks, node):
    """CHANGE = E S_j and DEAD_TURNED = E_jᵀ S_j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        S = spatial_at(node, AXIS, W, lane)
        F, E = vector_at(node, DEAD_FORCE, W, lane), matrix_at(node, DEAD_SPREAD, W, lane)
        put_spatial(node, CHANGE, W, lane, turn_product(F, E, S))
        put_vector(node, DEAD_TURNED, W, lane, turn_product_transposed(F, E, S))


@kernel
def add_upper(side, blocks, base, node, to):
    """∂τ_k/∂q_j"""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        along = power(spatial_at(base, AXIS, W, lane), spatial_at(node, CHANGE, W, lane))
        put(to, 0, W, lane, number_at(to, 0, W, lane) + along)


@kernel
def add_lower(side, blocks, base, node, to):
    """∂τ_j/∂q_k"""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        along = dot(vector_at(base, AXIS + 3, W, lane), vector_at(node, DEAD_TURNED, W, lane))
        put(to, 0, W, lane, number_at(to, 0, W, lane) + along)
