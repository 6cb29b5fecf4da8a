"""The recursions combined, for states side by side in the working memory (memory.py).

Forces along the axes: τ = M q̈ + b(q, q̇) is required by the motion, including loads and distances; `applied` are the
forces of actuators, springs, dampers, friction and constant forces along the axes.

Loops over states side by side stay in functions of their own. If they were inlined here, the compiler could no longer
distinguish rows of the memory, and would process one state at a time.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.distances import measure_distances, vary_distances
from supple.formulations.recursive.memory import (
    ARMATURE,
    AXIS,
    CARRIED_MASS,
    CHANGE,
    COLUMN,
    DEAD_FORCE,
    DEAD_SPREAD,
    DEAD_TURNED,
    FORCE,
    LOAD_INTEGERS,
    LOAD_NUMBERS,
    MOMENT,
    NUMBERS,
    POSITION,
    ROTATION,
    SLOTS,
    block_place,
    cut,
    lane_count,
    negative_product,
    parent_of,
    parts,
    tables,
)
from supple.formulations.recursive.outward import outward
from supple.formulations.recursive.spatial import (
    both,
    carried_inertia,
    inertia_times,
    matrix_at,
    number_at,
    power,
    put,
    put_matrix,
    put_spatial,
    put_vector,
    scale_spatial,
    spatial_at,
    turn_product,
    turn_product_transposed,
    vector_at,
)
from supple.formulations.recursive.variation import variation
from supple.geometry.vectors import apply_matrix, cross, dot, matrix_sum, plus

INVERSE, MASS_MATRIX, FORWARD, INVERSE_VARIATION, FORWARD_VARIATION = 0, 1, 2, 3, 4
"""Requests, see `recursion`."""


@kernel
def recursion(side, blocks, wanted, packed, work):
    """Compute the requested quantities in the memory.

    INVERSE           : τ of the motion with the given accelerations
    MASS_MATRIX       : M, and τ of the motion without accelerations
    FORWARD           : q̈ = M⁻¹ (applied - τ); M is overwritten by its factor
    FORWARD_VARIATION : also M⁻¹, and ∂q̈/∂(q, q̇) = -M⁻¹ ∂τ/∂(q, q̇)
    INVERSE_VARIATION : M, and ∂τ/∂(q, q̇) for the given accelerations
    """
    tree, memory = tables(packed), parts(side, packed.integers, work)
    rows = tree.n * len(side)
    for i in range(rows):
        memory.accelerations[i] = memory.given[i] if wanted == INVERSE else 0.0
    outward(side, blocks, tree, memory)
    if len(tree.loads_i) > 0:
        apply_loads(side, blocks, tree, memory)
    if wanted == INVERSE:
        inward_forces(side, blocks, tree, memory)
    else:
        inward(side, blocks, tree, memory)
    if len(tree.distances_i) > 0:
        measure_distances(side, blocks, tree, memory)
    if wanted in (FORWARD, FORWARD_VARIATION):
        for i in range(rows):
            memory.accelerations[i] = memory.applied[i] - memory.bias[i]
        factor(side, blocks, tree, memory.M)
        solve(side, blocks, tree, memory.M, memory.accelerations)
    if wanted == INVERSE_VARIATION:
        for i in range(rows):
            memory.accelerations[i] = memory.given[i]
    if wanted >= INVERSE_VARIATION:
        if len(tree.distances_i) > 0:  # only distances couple axes of which none carries the other
            for i in range(len(memory.change)):
                memory.change[i] = 0.0
        variation(side, blocks, tree, memory)
        if len(tree.loads_i) > 0:
            vary_loads(side, blocks, tree, memory)
        if len(tree.distances_i) > 0:
            vary_distances(side, blocks, tree, memory)
    if wanted == FORWARD_VARIATION:
        invert(side, blocks, tree, memory.M, memory.X, memory.inverse)
        negative_product(side, blocks, tree.n, memory.inverse, memory.change, memory.out)


# Back towards the ground: what each axis carries, the mass matrix, and the forces along the axes.
#
#     M_kj = S_kᵀ I_j S_j for every axis k on the way from the ground to j,   τ_j = S_jᵀ F_j     (eqs. 9, 10)
#
# I, F of an axis are those of everything that it carries. `nodes` as in memory.py; `M` : (axes², W), entry
# (j, k) in row j axes + k.


@kernel
def inward(side, blocks, tree, memory):
    """Sum over the bodies that each axis carries; compute M towards the ground, and τ of the motion."""
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
    """Sum forces only, and compute τ."""
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
    """Compute τ = Sᵀ F."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        put(along, 0, W, lane, power(spatial_at(node, AXIS, W, lane), spatial_at(node, FORCE, W, lane)))


@kernel
def column(side, blocks, m, node):
    """Compute I S of all carried bodies."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        mc, J = carried_inertia(node, W, lane)
        put_spatial(node, COLUMN, W, lane, inertia_times(m, mc, J, spatial_at(node, AXIS, W, lane)))


@kernel
def entry(side, blocks, base, node, more, to):
    """Compute S_kᵀ I_j S_j for axis k (base) and axis j (node)."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        put(to, 0, W, lane, more + power(spatial_at(base, AXIS, W, lane), spatial_at(node, COLUMN, W, lane)))


# The mass matrix of a tree factored without fill: M = Lᵀ D L, and its inverse.
#
# M_jk is zero unless one axis carries the other, and eliminating from the leaves keeps it so [Featherstone, ch. 6]:
# L_jk ≠ 0 only for k on the way from the ground to j. Then with X = L⁻¹ (of the same pattern) M⁻¹ = X D⁻¹ Xᵀ, a sum
# over the axes that carry both. `M`, `X` : (axes², W), entry (j, k) in row j axes + k; parents have the lower numbers.


@kernel
def factor(side, blocks, tree, M):
    """Factor M in place: L below the diagonal, 1/D on it; M_ij -= M_ki M_kj / D_k, L_ki = M_ki / D_k."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    for count in range(n):
        k = n - 1 - count
        pivot = k * n + k
        for lane in range(lanes):
            put(M, pivot, W, lane, 1.0 / number_at(M, pivot, W, lane))
        i = parent_of(tree, k)
        while i < n:
            below, j = k * n + i, i
            while j < n:
                beside, to = k * n + j, i * n + j
                for lane in range(lanes):
                    L = number_at(M, below, W, lane) * number_at(M, pivot, W, lane)
                    put(M, to, W, lane, number_at(M, to, W, lane) - L * number_at(M, beside, W, lane))
                j = parent_of(tree, j)
            for lane in range(lanes):
                put(M, below, W, lane, number_at(M, below, W, lane) * number_at(M, pivot, W, lane))
            i = parent_of(tree, i)


@kernel
def solve(side, blocks, tree, M, b):
    """Solve M x = b in place with the factor: Lᵀ y = b, L x = D⁻¹ y; b : (axes, W)."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    for count in range(n):
        k = n - 1 - count
        i = parent_of(tree, k)
        while i < n:
            for lane in range(lanes):
                known = number_at(M, k * n + i, W, lane) * number_at(b, k, W, lane)
                put(b, i, W, lane, number_at(b, i, W, lane) - known)
            i = parent_of(tree, i)
    for k in range(n):
        for lane in range(lanes):
            put(b, k, W, lane, number_at(b, k, W, lane) * number_at(M, k * n + k, W, lane))
        i = parent_of(tree, k)
        while i < n:
            for lane in range(lanes):
                known = number_at(M, k * n + i, W, lane) * number_at(b, i, W, lane)
                put(b, k, W, lane, number_at(b, k, W, lane) - known)
            i = parent_of(tree, i)


@kernel
def invert(side, blocks, tree, M, X, inverse):
    """Write M⁻¹ in blocks from the factor; M is overwritten."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    for j in range(n):  # X_jk = -L_jk - Σ L_ji X_ik over the axes i between
        k = parent_of(tree, j)
        while k < n:
            to = j * n + k
            for lane in range(lanes):
                put(X, to, W, lane, -number_at(M, to, W, lane))
            i = parent_of(tree, j)
            while i != k:
                for lane in range(lanes):
                    known = number_at(M, j * n + i, W, lane) * number_at(X, i * n + k, W, lane)
                    put(X, to, W, lane, number_at(X, to, W, lane) - known)
                i = parent_of(tree, i)
            k = parent_of(tree, k)
    for j in range(n):  # X_jk / D_k in the place of L_jk
        k = parent_of(tree, j)
        while k < n:
            for lane in range(lanes):
                put(M, j * n + k, W, lane, number_at(X, j * n + k, W, lane) * number_at(M, k * n + k, W, lane))
            k = parent_of(tree, k)
        for lane in range(lanes):
            put(X, j * n + j, W, lane, 1.0)
        for i in range(j + 1):
            inverse_entry(side, blocks, tree, M, X, inverse, j, i)


@kernel(inline=True)
def inverse_entry(side, blocks, tree, M, X, inverse, j, i):
    """Compute (M⁻¹)_ji = Σ_k X_jk X_ik / D_k over the axes that carry both (eq. 22)."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    to, mirror, k = block_place(n, j, i), block_place(n, i, j), tree.meet[j * n + i]
    for lane in range(lanes):
        put(inverse, to, W, lane, 0.0)
    while k < n:
        for lane in range(lanes):
            term = number_at(M, j * n + k, W, lane) * number_at(X, i * n + k, W, lane)
            put(inverse, to, W, lane, number_at(inverse, to, W, lane) + term)
        k = parent_of(tree, k)
    for lane in range(lanes):
        put(inverse, mirror, W, lane, number_at(inverse, to, W, lane))


# Forces and moments applied to bodies, and how they change with the configuration.
#
# A load that follows its body moves like everything else that the body carries and adds nothing to the variation. One
# that keeps its direction lags behind the turn z of the body by (docs/theory/recursive.md, eqs. 23-25)
#
#     E z = (z × F, ((r·F) 1 - F rᵀ - m̃) z)


ON_AXIS, FOLLOWS = 0, 1
"""Integers: the axis that carries the load, whether it follows (1) or keeps its direction (0)."""
POINT, WRENCH = 0, 3
"""Numbers: the point in the axis frame; force and moment, in that frame if the load follows, else in world axes."""


@kernel
def apply_loads(side, blocks, tree, memory):
    """Subtract the loads from the required forces of the bodies."""
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
    """Apply one load, eq. 23, with the additional terms of a load that keeps its direction."""
    W, lanes = len(side), lane_count(side, blocks)
    point, wrench = vector_at(load, POINT, 1, 0), spatial_at(load, WRENCH, 1, 0)
    for lane in range(lanes):
        R = matrix_at(node, ROTATION, W, lane)
        r = plus(vector_at(node, POSITION, W, lane), apply_matrix(R, point))
        F, m = (apply_matrix(R, wrench[0]), apply_matrix(R, wrench[1])) if follows == 1 else wrench
        needed = scale_spatial(-1.0, (F, plus(m, cross(r, F))))
        put_spatial(node, FORCE, W, lane, both(spatial_at(node, FORCE, W, lane), needed))
        if follows == 0:
            put_vector(node, DEAD_FORCE, W, lane, plus(vector_at(node, DEAD_FORCE, W, lane), F))
            E = matrix_sum(matrix_at(node, DEAD_SPREAD, W, lane), lagging_moment(r, F, m))
            put_matrix(node, DEAD_SPREAD, W, lane, E)


@kernel(inline=True)
def lagging_moment(r, F, m):
    """Return (r·F) 1 - F rᵀ - m̃."""
    size = dot(r, F)
    return (
        (size - F[0] * r[0], m[2] - F[0] * r[1], -m[1] - F[0] * r[2]),
        (-m[2] - F[1] * r[0], size - F[1] * r[1], m[0] - F[1] * r[2]),
        (m[1] - F[2] * r[0], -m[0] - F[2] * r[1], size - F[2] * r[2]),
    )


@kernel
def vary_loads(side, blocks, tree, memory):
    """Add S_kᵀ E_j S_j to ∂τ_k/∂q_j and S_jᵀ E_j S_k to ∂τ_j/∂q_k, with E of all bodies that j carries (eq. 25)."""
    W, n = len(side), tree.n
    for i in range(n):
        j = n - 1 - i
        node, parent = cut(memory.nodes, j, SLOTS * W), parent_of(tree, j)
        turn_dead_force(side, blocks, node)
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
def turn_dead_force(side, blocks, node):
    """Compute CHANGE = E S_j and DEAD_TURNED = E_jᵀ S_j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        S = spatial_at(node, AXIS, W, lane)
        F, E = vector_at(node, DEAD_FORCE, W, lane), matrix_at(node, DEAD_SPREAD, W, lane)
        put_spatial(node, CHANGE, W, lane, turn_product(F, E, S))
        put_vector(node, DEAD_TURNED, W, lane, turn_product_transposed(F, E, S))


@kernel
def add_upper(side, blocks, base, node, to):
    """Add to ∂τ_k/∂q_j."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        along = power(spatial_at(base, AXIS, W, lane), spatial_at(node, CHANGE, W, lane))
        put(to, 0, W, lane, number_at(to, 0, W, lane) + along)


@kernel
def add_lower(side, blocks, base, node, to):
    """Add to ∂τ_j/∂q_k."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        along = dot(vector_at(base, AXIS + 3, W, lane), vector_at(node, DEAD_TURNED, W, lane))
        put(to, 0, W, lane, number_at(to, 0, W, lane) + along)
