"""What the kernels take: a tree packed into two flat arrays, and the working memory, one flat array; parts by name."""

from __future__ import annotations

from typing import NamedTuple

from supple.array_types import Array, Integers
from supple.compilation import borrowed, kernel
from supple.formulations.recursive.axis_rows import INTEGERS, NUMBERS, PARENT
from supple.formulations.recursive.blocks import quarters, spare_place
from supple.formulations.recursive.node import SLOTS

AXES, CONFIGURATION, PREPARED, ACTUATORS, LOADS, DISTANCES, INPUT_ENTRIES = 0, 1, 2, 3, 4, 5, 6
"""Header of the integers: axes n, length of q, prepared numbers, actuators, loads, distances, entries of B."""
HEADER = 7
LOAD_INTEGERS, LOAD_NUMBERS = 2, 9
DISTANCE_INTEGERS, DISTANCE_NUMBERS = 3, 10
DISTANCE_SLOTS = 24


class PackedTree(NamedTuple):
    """A tree as two flat arrays, as `tables` takes them apart."""

    integers: Integers
    numbers: Array


class Tree(NamedTuple):
    """Its tables, flat: axes (axis_rows.py), meet (axes²,) the last axis that carries both, what acts, gravity.

    At last, where the entries of A (rows n to 2n) and of B are in the products and in M⁻¹: pairs (from, to).
    """

    n: int
    nq: int
    axes_i: Integers
    axes_f: Array
    meet: Integers
    actuators: Integers
    loads_i: Integers
    loads_f: Array
    distances_i: Integers
    distances_f: Array
    gravity: Array
    of_A: Integers
    of_B: Integers


class Memory(NamedTuple):
    """The working memory by parts, (rows, W) each, flat.

    configuration : prepared for the kernels; rates, accelerations : q̇, q̈ by axes; given : q̈ that the user gave
    applied, resistance : forces that springs, dampers, friction and actuators give along the axes, and -∂/∂q̇ of these
    bias    : τ, what the motion needs;  M, X : (axes²) mass matrix, then its factor, and L⁻¹;  inverse : M⁻¹ in blocks
    change  : ∂τ/∂(q, q̇) by columns in blocks;  out : ∂q̈/∂(q, q̇)
    nodes   : (axes + 1, SLOTS), the last is the ground;  distance : of one at a time;  inputs : of the actuators
    """

    configuration: Array
    rates: Array
    accelerations: Array
    given: Array
    applied: Array
    resistance: Array
    bias: Array
    inverse: Array
    change: Array
    out: Array
    nodes: Array
    M: Array
    X: Array
    distance: Array
    inputs: Array


class Places(NamedTuple):
    """Where each part of the memory begins, in numbers of W; its whole size at last."""

    configuration: int
    rates: int
    accelerations: int
    given: int
    applied: int
    resistance: int
    bias: int
    inverse: int
    change: int
    out: int
    nodes: int
    M: int
    X: int
    distance: int
    inputs: int
    end: int


@kernel
def places(header):
    """Of a tree, from its integers."""
    n, half = header[AXES], (header[AXES] + 1) // 2
    rates = header[PREPARED]
    accelerations = rates + n
    given = accelerations + n
    applied = given + n
    resistance = applied + n
    bias = resistance + n
    inverse = bias + n
    change = inverse + half * quarters(n) * 8
    out = change + spare_place(n) + 8
    nodes = out + half * n * 4
    M = nodes + (n + 1) * SLOTS
    X = M + n * n
    distance = X + n * n
    inputs = distance + (DISTANCE_SLOTS + 3 * n if header[DISTANCES] > 0 else 0)
    end = inputs + header[ACTUATORS]
    return Places(
        0,
        rates,
        accelerations,
        given,
        applied,
        resistance,
        bias,
        inverse,
        change,
        out,
        nodes,
        M,
        X,
        distance,
        inputs,
        end,
    )


@kernel(inline=True)
def parts(side, header, work):
    """The working memory taken apart."""
    W, at, work = len(side), places(header), borrowed(work)
    return Memory(
        work[at.configuration * W : at.rates * W],
        work[at.rates * W : at.accelerations * W],
        work[at.accelerations * W : at.given * W],
        work[at.given * W : at.applied * W],
        work[at.applied * W : at.resistance * W],
        work[at.resistance * W : at.bias * W],
        work[at.bias * W : at.inverse * W],
        work[at.inverse * W : at.change * W],
        work[at.change * W : at.out * W],
        work[at.out * W : at.nodes * W],
        work[at.nodes * W : at.M * W],
        work[at.M * W : at.X * W],
        work[at.X * W : at.distance * W],
        work[at.distance * W : at.inputs * W],
        work[at.inputs * W : at.end * W],
    )


@kernel(inline=True)
def tables(packed):
    """A packed tree taken apart."""
    i, f = borrowed(packed.integers), borrowed(packed.numbers)
    n, loads, distances = i[AXES], i[LOADS], i[DISTANCES]
    meet = HEADER + n * INTEGERS
    actuators = meet + n * n
    load = actuators + i[ACTUATORS]
    distance = load + loads * LOAD_INTEGERS
    of_A = distance + distances * DISTANCE_INTEGERS
    of_B = of_A + 4 * n * n
    axes_f = 3
    load_f = axes_f + n * NUMBERS
    distance_f = load_f + loads * LOAD_NUMBERS
    return Tree(
        n,
        i[CONFIGURATION],
        i[HEADER:meet],
        f[axes_f:load_f],
        i[meet:actuators],
        i[actuators:load],
        i[load:distance],
        f[load_f:distance_f],
        i[distance:of_A],
        f[distance_f : distance_f + distances * DISTANCE_NUMBERS],
        f[:axes_f],
        i[of_A:of_B],
        i[of_B : of_B + 2 * i[INPUT_ENTRIES]],
    )


@kernel(inline=True)
def parent_of(tree, k):
    """The axis before axis k; the number of axes for the ground."""
    return tree.axes_i[k * INTEGERS + PARENT]
