"""Flat arrays of the tree kernels, by parts and names: a packed tree, and the working memory.

All vectors are spatial: in world axes, relative to one reference point, translation before rotation
(docs/theory/recursive.md, eqs. 1-5).
"""

from __future__ import annotations

from typing import NamedTuple

from supple.array_types import Array, Integers
from supple.compilation import kernel, mark_borrowed

# The rows in which an axis of a tree stands: one of integers, one of numbers.


TURN, SLIDE, SCREW, BALL, FLOAT = 0, 1, 2, 3, 4
"""Kinds of axes.

An axis rotates about z, slides along z of its frame, or does both (SCREW). BALL and FLOAT are one of the three
rotations or six motions that are fixed in the moved body.
"""

# Integers.
KIND = 0
PARENT = 1
"""Axis before it; the number of axes for the ground."""
BEFORE = 2
"""Axis before its joint for BALL and FLOAT; otherwise its parent."""
AT_Q = 3
"""First position in q."""
AT_V = 4
"""Position in q̇."""
FIRST = 5
"""First axis of its BALL or FLOAT joint; otherwise itself."""
BODY = 6
"""1 if a body with mass is on it."""
CARRIES_ORIGIN = 7
"""1 for displacements from the ground, which move the reference point."""
AT_INPUT = 8
"""First position in the prepared configuration."""
INTEGERS = 9

# Numbers.
PLACE_ROTATION = 0
PLACE_POSITION = 9
"""Position of its frame in the frame of the axis before it, at q = 0."""
MASS = 12
CENTER = 13
SECOND_MOMENT = 16
"""Second moment Σ about the centre: xx, xy, xz, yy, yz, zz."""
CARRIED_MASS = 22
"""Mass of this body and all bodies that it carries."""
ARMATURE = 23
DAMPING = 24
STIFFNESS = 25
RELAXED = 26
"""Coordinate at which the spring is relaxed."""
OFFSET = 27
"""Coordinate at which the frame is as placed."""
DRIVE = 28
"""Constant force along the coordinate."""
DRY = 29
FRICTION_SPEED = 30
"""Speed over which dry friction changes its sign."""
PITCH = 31
"""Pitch of a SCREW, m/rad."""
NUMBERS = 32


# Where the quantities of an axis stand in the working memory of the recursions.
#
# A quantity of `W` states side by side takes `W` places in a row, so that quantity c of state `lane` is at c W + lane.
# W is the length of the tuple `side`: the compiler then knows it, and all distances between quantities with it, which
# is what lets it take several states in one instruction.


ROTATION = 0
"""Slots (9): R_wb of the frame after the axis, row by row."""
POSITION = 9
"""Slots (3): its origin, from the reference point."""
VELOCITY = 12
"""Slots (6): V = (v, ω), velocity of the point at the reference point, angular velocity."""
ACCELERATION = 18
"""Slots (6): dV/dt minus gravity."""
AXIS = 24
"""Slots (6): S, the motion for a unit rate of the axis."""
AXIS_RATE = 30
"""Slots (6): Ψ̇ = V_p × S, eq. 11."""
AXIS_BEND = 36
"""Slots (6): Ψ̈ = A_p × S + V_p × Ψ̇, eq. 12."""
AXIS_TURN = 42
"""Slots (6): Ψ̇ + Ṡ, eq. 15."""
MOMENT = 48
"""Slots (3): m c of all bodies that the axis carries, as in all following slots down to FORCE."""
SECOND = 51
"""Slots (6): Σ = ∫ r rᵀ dm: xx, xy, xz, yy, yz, zz."""
MOMENTUM = 57
"""Slots (3): ∫ ṙ dm."""
SPREAD = 60
"""Slots (9): W = ∫ ṙ rᵀ dm, row by row."""
FORCE = 69
"""Slots (6): required force and moment."""
COLUMN = 75
"""Slots (6): I S of all carried bodies."""
CHANGE = 81
"""Slots (6): first the change of ACCELERATION by the accelerations of the axes, then eq. 19."""
RATE_CHANGE = 87
"""Slots (6): eq. 20."""
TURNED = 93
"""Slots (3): 2 Bᵀ S, eq. 21."""
PUSHED = 96
"""Slots (6): force of the accelerations of the outer axes."""
DEAD_FORCE = 102
"""Slots (3): loads that keep their direction."""
DEAD_SPREAD = 105
"""Slots (9): F rᵀ of these loads, minus the matrix of their moments."""
DEAD_TURNED = 114
"""Slots (3): Eᵀ S, eq. 25."""
SLOTS = 117


@kernel
def lane_count(side, blocks):
    """Return the number of states side by side: W times `blocks`, which is one.

    The compiler must not know that `blocks` is one, since it would unroll the loops over the states before it
    vectorizes them. It may know that W divides the count, so that no remainder loop is needed.
    """
    return 1 if len(side) == 1 else len(side) * blocks


@kernel
def cut(array, index, width):
    """Return row `index` of rows of `width` numbers in a flat array."""
    return array[index * width : (index + 1) * width]


# Matrices in blocks of two rows and four columns, filled up with zeros, and their products in blocks of two by two.
#
# So a product takes one block of each factor at a time, and several states in one instruction.


@kernel
def quarters(n):
    """Return the number of blocks in a row of n entries."""
    return (n + 3) // 4


@kernel
def block_place(n, row, column):
    """Return the position of entry (row, column) of a matrix with rows of n entries."""
    return ((row // 2) * quarters(n) + column // 4) * 8 + (row % 2) * 4 + column % 4


@kernel
def spare_place(n):
    """Return the position after the entries of a matrix of 2n rows of n entries, for values that are not needed."""
    return n * quarters(n) * 8


@kernel
def product_place(columns, row, column):
    """Return the position of entry (row, column) of the product, in blocks of two by two; two divides `columns`."""
    return ((row // 2) * (columns // 2) + column // 2) * 4 + (row % 2) * 2 + column % 2


@kernel
def negative_product(side, blocks, n, left, right, out):
    """Compute out = -left rightᵀ, n by 2n, for left (n, n) and right (2n, n) in blocks of two by four."""
    W, lanes, quads = len(side), lane_count(side, blocks), quarters(n)
    for i in range((n + 1) // 2):
        for c in range(n):
            to = cut(out, i * n + c, 4 * W)
            for at in range(4 * W):
                to[at] = 0.0
            for r in range(quads):
                a, b = cut(left, i * quads + r, 8 * W), cut(right, c * quads + r, 8 * W)
                for lane in range(lanes):
                    a0, a1, a2, a3 = a[lane], a[W + lane], a[2 * W + lane], a[3 * W + lane]
                    a4, a5, a6, a7 = a[4 * W + lane], a[5 * W + lane], a[6 * W + lane], a[7 * W + lane]
                    b0, b1, b2, b3 = b[lane], b[W + lane], b[2 * W + lane], b[3 * W + lane]
                    to[lane] -= a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
                    to[2 * W + lane] -= a4 * b0 + a5 * b1 + a6 * b2 + a7 * b3
                    b0, b1, b2, b3 = b[4 * W + lane], b[5 * W + lane], b[6 * W + lane], b[7 * W + lane]
                    to[W + lane] -= a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
                    to[3 * W + lane] -= a4 * b0 + a5 * b1 + a6 * b2 + a7 * b3


# The packed tree and the working memory, taken apart.


AXES, CONFIGURATION, PREPARED, ACTUATORS, LOADS, DISTANCES, INPUT_ENTRIES = 0, 1, 2, 3, 4, 5, 6
"""Header of the integers: axes n, length of q, prepared numbers, actuators, loads, distances, entries of B."""
HEADER = 7
LOAD_INTEGERS, LOAD_NUMBERS = 2, 9
DISTANCE_INTEGERS, DISTANCE_NUMBERS = 3, 10
DISTANCE_SLOTS = 24


class PackedTree(NamedTuple):
    """A tree as two flat arrays, which `tables` splits."""

    integers: Integers
    numbers: Array


class Tree(NamedTuple):
    """Tables of a tree, flat: axes, meet, elements and gravity.

    axes has a row of INTEGERS and one of NUMBERS per axis; meet (axes²,) is the last axis that carries both. The last
    tables are the entries of A (rows n to 2n) and B in the products and in M⁻¹: pairs (from, to).
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
    """Parts of the working memory, (rows, W) each, flat.

    configuration : prepared for the kernels; rates, accelerations : q̇, q̈ by axes; given : q̈ of the caller
    applied, resistance : forces of springs, dampers, friction and actuators along the axes, and -∂/∂q̇ of these
    bias    : τ, the required forces;  M, X : (axes²) mass matrix, then its factor, and L⁻¹;  inverse : M⁻¹ in blocks
    change  : ∂τ/∂(q, q̇) by columns in blocks;  out : ∂q̈/∂(q, q̇)
    nodes   : (axes + 1, SLOTS), the last is the ground;  distance : for one at a time;  inputs : of the actuators
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
    """Position of each part of the memory, in units of W, and its total size."""

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
    """Return the positions for a tree from its integers."""
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
    """Split the working memory."""
    W, at, work = len(side), places(header), mark_borrowed(work)
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
    """Split a packed tree."""
    i, f = mark_borrowed(packed.integers), mark_borrowed(packed.numbers)
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
    """Return the axis before axis k; the number of axes for the ground."""
    return tree.axes_i[k * INTEGERS + PARENT]
