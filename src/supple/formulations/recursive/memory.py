"""The working memory of the recursions: one flat array, and where its parts begin.

Header of the integers of a tree: axes n, length of q, prepared inputs, actuators, loads, lines, entries of B.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import INTEGERS, NUMBERS
from supple.formulations.recursive.factor import quarters, spare_place
from supple.formulations.recursive.node import SLOTS

AXES, CONFIGURATION, PREPARED, ACTUATORS, LOADS, LINES, INPUT_ENTRIES = 0, 1, 2, 3, 4, 5, 6
HEADER = 7
LOAD_INTEGERS, LOAD_NUMBERS = 2, 9
LINE_INTEGERS, LINE_NUMBERS = 3, 10
LINE_SLOTS = 24


@kernel
def places(tree_i):
    """Where each part of the memory begins, in numbers of W: the last is its whole size.

    prepared configuration, q̇, q̈, applied forces τ, forces of the motion, M⁻¹, derivatives of inverse dynamics by
    columns, derivatives of forward dynamics, nodes, M, X, lines, forces of the actuators
    """
    n, half = tree_i[AXES], (tree_i[AXES] + 1) // 2
    x = 0
    rates = x + tree_i[PREPARED]
    accelerations = rates + n
    applied = accelerations + n
    bias = applied + n
    inverse = bias + n
    change = inverse + half * quarters(n) * 8
    out = change + spare_place(n) + 8
    nodes = out + half * n * 4
    M = nodes + (n + 1) * SLOTS
    X = M + n * n
    line = X + n * n
    inputs = line + (LINE_SLOTS + 3 * n if tree_i[LINES] > 0 else 0)
    end = inputs + tree_i[ACTUATORS]
    return (x, rates, accelerations, applied, bias, inverse, change, out, nodes, M, X, line, inputs, end)


@kernel
def tables(tree_i, tree_f):
    """The tables of a tree: axes (integers, numbers), meet, actuators, loads and lines (both likewise), gravity.

    At last, where the entries of A (rows n to 2n) and of B are in the products and in M⁻¹: pairs (from, to).
    """
    n, actuators, loads, lines = tree_i[AXES], tree_i[ACTUATORS], tree_i[LOADS], tree_i[LINES]
    i0 = HEADER
    i1 = i0 + n * INTEGERS
    i2 = i1 + n * n
    i3 = i2 + actuators
    i4 = i3 + loads * LOAD_INTEGERS
    i5 = i4 + lines * LINE_INTEGERS
    i6 = i5 + 4 * n * n
    i7 = i6 + 2 * tree_i[INPUT_ENTRIES]
    f0 = 3
    f1 = f0 + n * NUMBERS
    f2 = f1 + loads * LOAD_NUMBERS
    f3 = f2 + lines * LINE_NUMBERS
    return (
        tree_i[i0:i1],
        tree_f[f0:f1],
        tree_i[i1:i2],
        tree_i[i2:i3],
        tree_i[i3:i4],
        tree_f[f1:f2],
        tree_i[i4:i5],
        tree_f[f2:f3],
        tree_f[0:3],
        tree_i[i5:i6],
        tree_i[i6:i7],
    )
