"""Batches of states: W at a time side by side through the recursions, or one if `side` has one place."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.exchange import (
    bring_accelerations,
    bring_in,
    take_accelerations,
    take_changes,
    take_forces,
    take_linear,
    take_mass,
)
from supple.formulations.recursive.memory import places
from supple.formulations.recursive.recursion import (
    FORWARD_VARIATION,
    INVERSE,
    INVERSE_VARIATION,
    MASS_MATRIX,
    recursion,
)


@kernel
def memory_size(tree_i, width):
    """Numbers of working memory for `width` states side by side; it comes filled with zeros."""
    return places(tree_i)[13] * width


@kernel(purpose="dynamics of trees, many states")
def batch(side, blocks, wanted, tree_i, tree_f, work, count, q, v, a, u, first, second, third):
    """What is wanted of every state, into first, second and third (flat; filled with zeros before).

    tree_i, tree_f : the tree; work : memory; blocks : 1; q (N nq), v (N n), a (N n), u (N m)
    INVERSE           : first τ (N n); a given
    MASS_MATRIX       : first M (N n n), second τ (N n) without accelerations
    FORWARD           : a is the result (N n)
    INVERSE_VARIATION : first M, second ∂τ/∂q, third ∂τ/∂q̇ (N n n); a given
    FORWARD_VARIATION : first A (N 2n 2n), with [[0, 1], [0, 0]] before, second B (N 2n m); a is a result too
    """
    for start in range(0, count, len(side)):
        lanes = min(len(side), count - start)
        bring_in(side, blocks, lanes, tree_i, tree_f, q, v, u, start, work)
        if wanted == INVERSE:
            bring_accelerations(side, lanes, tree_i, tree_f, a, start, work)
        task = MASS_MATRIX if wanted == INVERSE_VARIATION else wanted
        recursion(side, blocks, task, tree_i, tree_f, work)
        if wanted == INVERSE:
            take_forces(side, lanes, tree_i, tree_f, work, True, start, first)
        elif wanted == MASS_MATRIX:
            take_mass(side, lanes, tree_i, tree_f, work, start, first)
            take_forces(side, lanes, tree_i, tree_f, work, False, start, second)
        elif wanted == INVERSE_VARIATION:
            take_mass(side, lanes, tree_i, tree_f, work, start, first)
            bring_accelerations(side, lanes, tree_i, tree_f, a, start, work)
            recursion(side, blocks, INVERSE_VARIATION, tree_i, tree_f, work)
            take_changes(side, lanes, tree_i, tree_f, work, start, second, third)
        else:
            take_accelerations(side, lanes, tree_i, tree_f, work, start, a)
        if wanted == FORWARD_VARIATION:
            take_linear(side, blocks, lanes, tree_i, tree_f, work, start, first, second)


@kernel(purpose="linear models of trees, single calls")
def one_state(side, tree_i, tree_f, work, q, v, u, A, B):
    """A (2n 2n) and B (2n m) of one state, with as few arguments as may be: each costs time at every call.

    side : (0,); A : [[0, 1], [0, 0]] before the first call, B : zeros; q̈ stays in the memory
    """
    bring_in(side, 1, 1, tree_i, tree_f, q, v, u, 0, work)
    recursion(side, 1, FORWARD_VARIATION, tree_i, tree_f, work)
    take_linear(side, 1, 1, tree_i, tree_f, work, 0, A, B)
