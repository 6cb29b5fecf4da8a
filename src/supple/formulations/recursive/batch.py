"""Batches of states: W at a time side by side through the recursions, or one if `side` has one place."""

from __future__ import annotations

from typing import NamedTuple

from supple.array_types import Array
from supple.compilation import inlined, kernel
from supple.formulations.recursive.gather import States, bring_accelerations, bring_in
from supple.formulations.recursive.memory import parts, places, tables
from supple.formulations.recursive.recursion import (
    FORWARD_VARIATION,
    INVERSE,
    INVERSE_VARIATION,
    MASS_MATRIX,
    recursion,
)
from supple.formulations.recursive.scatter import (
    take_accelerations,
    take_changes,
    take_forces,
    take_linear,
    take_mass,
)

# States side by side are faster in functions of their own, a single state without the calls.
bring_one, recur_once = inlined(bring_in), inlined(recursion)


class Results(NamedTuple):
    """Flat, filled with zeros before; which is which says `batch`."""

    first: Array
    second: Array
    third: Array


class LinearizationResults(NamedTuple):
    """Flat; A : (2n 2n) with [[0, 1], [0, 0]] before the first call, B : (2n m) zeros, of each state."""

    A: Array
    B: Array


@kernel
def memory_size(header, width):
    """Numbers of working memory for `width` states side by side; it comes filled with zeros."""
    return places(header).end * width


@kernel(purpose="dynamics of trees, many states")
def batch(side, blocks, wanted, packed, work, count, states, results):
    """What is wanted of every state.

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
    """A and B of one state, with as few arguments as may be: each costs time at every call.

    side : (0,); q̈ stays in the memory
    """
    tree, memory = tables(packed), parts(side, packed.integers, work)
    bring_one(side, 1, 1, tree, memory, States(q, rates, memory.accelerations, u), 0)
    recur_once(side, 1, FORWARD_VARIATION, packed, work)
    take_linear(side, 1, 1, tree, memory, 0, model.A, model.B)
