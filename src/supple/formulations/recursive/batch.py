"""Recursions for batches of states: coefficients of a tree at rest, dynamics, and their derivatives.

Each kernel processes W states at a time side by side, or one state if `side` has length one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import inline_kernel, kernel
from supple.equations.row import DFORCE_THETA, DM, FORCE, MASS
from supple.formulations.recursive.gather import (
    States,
    bring_accelerations,
    bring_in,
    take,
    take_accelerations,
    take_changes,
    take_forces,
    take_linear,
    take_mass,
)
from supple.formulations.recursive.memory import (
    AT_V,
    AXIS,
    CARRIED_MASS,
    CHANGE,
    COLUMN,
    INTEGERS,
    NUMBERS,
    PUSHED,
    RATE_CHANGE,
    ROTATION,
    SLOTS,
    block_place,
    cut,
    lane_count,
    parent_of,
    parts,
    places,
    tables,
)
from supple.formulations.recursive.recursion import (
    FORWARD_VARIATION,
    INVERSE,
    INVERSE_VARIATION,
    MASS_MATRIX,
    recursion,
)
from supple.formulations.recursive.spatial import (
    both,
    carried_inertia,
    force_cross,
    inertia_times,
    motion_cross,
    power,
    put,
    put_spatial,
    scale_spatial,
    spatial_at,
)

# Coefficients of a tree at rest: M, ∂M/∂q, the forces of loads and gravity with their derivatives, and the axes.
#
# Turning axis m turns everything that it carries. For axes k, j and m on one way from the ground outwards, with I_j the
# inertia of everything that j carries (docs/theory/recursive.md, eqs. 35-36):
#
#     ∂M_kj/∂q_m = S_kᵀ (S_m ×* I_j S_j)                          k before m, m before j or j itself
#     ∂M_kj/∂q_m = S_kᵀ (S_m ×* I_m S_j - I_m (S_m × S_j))        k before j or j itself, j before m
#
# All others are zero. They follow from M_kj = S_kᵀ I_j S_j (eq. 10) [Featherstone 2008; Echeandia and Wensing 2021].


POSE = 18
"""Numbers per axis in `poses`: the rotation and position of its frame, and S."""


class RowsOfTrees(NamedTuple):
    """Results: rows (N width), flat, initially zero; `at` : position of each coefficient in a row.

    number : (n,) the coordinate of θ that each q is; poses : (N axes POSE), flat
    """

    rows: Array
    width: int
    at: NDArray[np.int64]
    number: NDArray[np.int64]
    poses: Array


@kernel(purpose="local models of trees")
def tree_coefficients(side, blocks, packed, work, count, states, results):
    """Write M, ∂M/∂θ, force and ∂force/∂θ of every configuration to its row, and the frames and S of the axes.

    packed : the tree without elements along its coordinates and distances; states : at rest
    """
    tree, memory = tables(packed), parts(side, packed.integers, work)
    W, n, at, number, width = len(side), tree.n, results.at, results.number, results.width
    for start in range(0, count, W):
        lanes = min(W, count - start)
        bring_in(side, blocks, lanes, tree, memory, states, start)
        recursion(side, blocks, INVERSE_VARIATION, packed, work)
        for j in range(n):
            to = number[tree.axes_i[j * INTEGERS + AT_V]]
            bias = cut(memory.bias, j, W)
            for lane in range(W):
                bias[lane] = -bias[lane]
            take(lanes, bias, results.rows, start, width, at[FORCE] + to)
            node = cut(memory.nodes, j, SLOTS * W)
            for c in range(12):
                take(lanes, cut(node, ROTATION + c, W), results.poses, start, n * POSE, j * POSE + c)
            for c in range(6):
                take(lanes, cut(node, AXIS + c, W), results.poses, start, n * POSE, j * POSE + 12 + c)
            k = j
            while k < n:
                by = number[tree.axes_i[k * INTEGERS + AT_V]]
                entry = cut(memory.M, j * n + k, W)
                take(lanes, entry, results.rows, start, width, at[MASS] + to * n + by)
                take(lanes, entry, results.rows, start, width, at[MASS] + by * n + to)
                upper, lower = cut(memory.change, block_place(n, j, k), W), cut(memory.change, block_place(n, k, j), W)
                for lane in range(W):
                    upper[lane] = -upper[lane]
                take(lanes, upper, results.rows, start, width, at[DFORCE_THETA] + by * n + to)
                if k != j:
                    for lane in range(W):
                        lower[lane] = -lower[lane]
                    take(lanes, lower, results.rows, start, width, at[DFORCE_THETA] + to * n + by)
                k = parent_of(tree, k)
        mass_gradient(side, blocks, lanes, tree, memory, start, results)


@kernel
def mass_gradient(side, blocks, lanes, tree, memory, start, results):
    """Write ∂M/∂θ for all triples of axes on one path; the slot of the ground holds intermediate values."""
    W, n = len(side), tree.n
    spare = cut(memory.nodes, n, SLOTS * W)
    entry = cut(spare, CHANGE, W)
    for outer in range(n):
        node, mass = cut(memory.nodes, outer, SLOTS * W), tree.axes_f[outer * NUMBERS + CARRIED_MASS]
        middle = outer
        while middle < n:
            base = cut(memory.nodes, middle, SLOTS * W)
            column_turned(side, blocks, base, node, spare)
            if middle != outer:
                inertia_turned(side, blocks, mass, base, node, spare)
                along(side, blocks, base, spare, RATE_CHANGE, entry)
                put_gradient(lanes, tree, results, entry, start, middle, middle, outer)
            k = parent_of(tree, middle)
            while k < n:
                before = cut(memory.nodes, k, SLOTS * W)
                along(side, blocks, before, spare, PUSHED, entry)
                put_gradient(lanes, tree, results, entry, start, k, outer, middle)
                if middle != outer:
                    along(side, blocks, before, spare, RATE_CHANGE, entry)
                    put_gradient(lanes, tree, results, entry, start, k, middle, outer)
                k = parent_of(tree, k)
            middle = parent_of(tree, middle)


@kernel
def column_turned(side, blocks, base, node, to):
    """Compute PUSHED = S_m ×* I_j S_j for axis m (base) and j (node), eq. 35."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        turned = force_cross(spatial_at(base, AXIS, W, lane), spatial_at(node, COLUMN, W, lane))
        put_spatial(to, PUSHED, W, lane, turned)


@kernel
def inertia_turned(side, blocks, m, base, node, to):
    """Compute RATE_CHANGE = S_m ×* I_m S_j - I_m (S_m × S_j) for axis j (base) and m (node), eq. 36."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        mc, J = carried_inertia(node, W, lane)
        S, turn = spatial_at(base, AXIS, W, lane), spatial_at(node, AXIS, W, lane)
        turned = force_cross(turn, inertia_times(m, mc, J, S))
        lag = inertia_times(m, mc, J, motion_cross(turn, S))
        put_spatial(to, RATE_CHANGE, W, lane, both(turned, scale_spatial(-1.0, lag)))


@kernel
def along(side, blocks, base, vectors, slot, entry):
    """Multiply S_k by the vector in `slot`."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        put(entry, 0, W, lane, power(spatial_at(base, AXIS, W, lane), spatial_at(vectors, slot, W, lane)))


@kernel
def put_gradient(lanes, tree, results, entry, start, k, j, m):
    """Write ∂M_kj/∂θ_m and ∂M_jk/∂θ_m from the memory."""
    n, number, first = tree.n, results.number, results.at[DM]
    row = number[tree.axes_i[k * INTEGERS + AT_V]]
    column = number[tree.axes_i[j * INTEGERS + AT_V]]
    turned = number[tree.axes_i[m * INTEGERS + AT_V]]
    take(lanes, entry, results.rows, start, results.width, first + (row * n + column) * n + turned)
    if k != j:
        take(lanes, entry, results.rows, start, results.width, first + (column * n + row) * n + turned)


# Dynamics and its derivatives, at many states or at one.


# States side by side are faster in functions of their own, a single state without the calls.
bring_one, recur_once = inline_kernel(bring_in), inline_kernel(recursion)


class Results(NamedTuple):
    """Result arrays, flat and initially zero; `batch` defines their content."""

    first: Array
    second: Array
    third: Array


class LinearizationResults(NamedTuple):
    """Result arrays of a linearization, flat.

    For each state, A is (2n 2n) and contains [[0, 1], [0, 0]] before the first call; B is (2n m) and zero.
    """

    A: Array
    B: Array


@kernel
def memory_size(header, width):
    """Return the size of the working memory for `width` states side by side; it is initially zero."""
    return places(header).end * width


@kernel(purpose="dynamics of trees, many states")
def batch(side, blocks, wanted, packed, work, count, states, results):
    """Compute the requested quantities for every state.

    packed : the tree; work : memory; blocks : 1; states : q (N nq), q̇ (N n), q̈ (N n), u (N m)
    INVERSE           : first τ (N n); q̈ given
    MASS_MATRIX       : first M (N n n), second τ (N n) without accelerations
    FORWARD           : q̈ is the result (N n)
    INVERSE_VARIATION : first M, second ∂τ/∂q, third ∂τ/∂q̇ (N n n); q̈ given
    FORWARD_VARIATION : first A (N 2n 2n), with [[0, 1], [0, 0]] before, second B (N 2n m); q̈ is a result too
    """
    tree, memory = tables(packed), parts(side, packed.integers, work)
    for start in range(0, count, len(side)):
        lanes = min(len(side), count - start)
        bring_in(side, blocks, lanes, tree, memory, states, start)
        if wanted in (INVERSE, INVERSE_VARIATION):
            bring_accelerations(side, lanes, tree, memory, states, start)
        recursion(side, blocks, wanted, packed, work)
        if wanted == INVERSE:
            take_forces(side, lanes, tree, memory, True, start, results.first)
        elif wanted == MASS_MATRIX:
            take_mass(side, lanes, tree, memory, start, results.first)
            take_forces(side, lanes, tree, memory, False, start, results.second)
        elif wanted == INVERSE_VARIATION:
            take_mass(side, lanes, tree, memory, start, results.first)
            take_changes(side, lanes, tree, memory, start, results.second, results.third)
        else:
            take_accelerations(side, lanes, tree, memory, start, states.accelerations)
        if wanted == FORWARD_VARIATION:
            take_linear(side, blocks, lanes, tree, memory, start, results.first, results.second)


@kernel(purpose="linear models of trees, single calls")
def one_state(side, packed, work, q, rates, u, model):
    """Compute A and B of one state with few arguments, since each argument adds time to every call.

    side : (0,); q̈ stays in the memory
    """
    tree, memory = tables(packed), parts(side, packed.integers, work)
    bring_one(side, 1, 1, tree, memory, States(q, rates, memory.accelerations, u), 0)
    recur_once(side, 1, FORWARD_VARIATION, packed, work)
    take_linear(side, 1, 1, tree, memory, 0, model.A, model.B)
