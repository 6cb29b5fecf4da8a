"""The recursions put together, on states side by side in the working memory (memory.py).

Forces along the axes: τ = M q̈ + b(q, q̇) is what the motion needs, after loads and lines; `applied` is what actuators,
springs, dampers and constant forces along the axes give.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.factor import factor, invert, negative_product, solve
from supple.formulations.recursive.factor_single import factor_single, invert_single, solve_single
from supple.formulations.recursive.inward import inward, inward_forces
from supple.formulations.recursive.lines import measure_lines, vary_lines
from supple.formulations.recursive.loads import apply_loads, vary_loads
from supple.formulations.recursive.memory import AXES, LINES, LOADS, places, tables
from supple.formulations.recursive.node import SLOTS, cut
from supple.formulations.recursive.outward import ground, outward
from supple.formulations.recursive.variation import variation

INVERSE, MASS_MATRIX, FORWARD, INVERSE_VARIATION, FORWARD_VARIATION = 0, 1, 2, 3, 4
"""What is wanted, see `recursion`."""


@kernel
def recursion(side, blocks, wanted, tree_i, tree_f, work):
    """What is wanted, from what stands in the memory into it.

    INVERSE           : τ of the motion, from the accelerations in memory
    MASS_MATRIX       : M, and τ of the motion without accelerations
    FORWARD           : q̈ = M⁻¹ (applied - τ); M is overwritten by its factor
    FORWARD_VARIATION : also M⁻¹, and ∂q̈/∂(q, q̇) = -M⁻¹ ∂τ/∂(q, q̇)
    INVERSE_VARIATION : after MASS_MATRIX, ∂τ/∂(q, q̇) for the accelerations in memory
    """
    W, n = len(side), tree_i[AXES]
    at = places(tree_i)
    axes_i, axes_f, meet, _, loads_i, loads_f, lines_i, lines_f, gravity, _, _ = tables(tree_i, tree_f)
    x, rates = work[at[0] * W : at[1] * W], work[at[1] * W : at[2] * W]
    accelerations, bias = work[at[2] * W : at[3] * W], work[at[4] * W : at[5] * W]
    change, nodes = work[at[6] * W : at[7] * W], work[at[8] * W : at[9] * W]
    M, X = work[at[9] * W : at[10] * W], work[at[10] * W : at[11] * W]
    line, inputs = work[at[11] * W : at[12] * W], work[at[12] * W : at[13] * W]
    if wanted != INVERSE_VARIATION:
        if wanted != INVERSE:
            for i in range(n * W):
                accelerations[i] = 0.0
        ground(side, gravity, cut(nodes, n, SLOTS * W))
        outward(side, blocks, n, axes_i, axes_f, x, rates, accelerations, nodes)
        if tree_i[LOADS] > 0:
            apply_loads(side, blocks, n, loads_i, loads_f, nodes)
        if wanted == INVERSE:
            inward_forces(side, blocks, n, axes_i, nodes, bias)
        else:
            inward(side, blocks, n, axes_i, axes_f, nodes, M, bias)
        if tree_i[LINES] > 0:
            measure_lines(side, blocks, n, axes_i, lines_i, lines_f, nodes, inputs, line, bias)
    if wanted in (FORWARD, FORWARD_VARIATION):
        applied = work[at[3] * W : at[4] * W]
        for i in range(n * W):
            accelerations[i] = applied[i] - bias[i]
        if W == 1:
            factor_single(n, axes_i, M)
            solve_single(n, axes_i, M, accelerations)
        else:
            factor(side, blocks, n, axes_i, M)
            solve(side, blocks, n, axes_i, M, accelerations)
    if wanted >= INVERSE_VARIATION:
        if tree_i[LINES] > 0:  # only lines couple axes of which none carries the other
            for i in range(len(change)):
                change[i] = 0.0
        variation(side, blocks, n, axes_i, axes_f, accelerations, nodes, change)
        if tree_i[LOADS] > 0:
            vary_loads(side, blocks, n, axes_i, nodes, change)
        if tree_i[LINES] > 0:
            vary_lines(side, blocks, n, axes_i, lines_i, lines_f, nodes, rates, inputs, line, change)
    if wanted == FORWARD_VARIATION:
        inverse, out = work[at[5] * W : at[6] * W], work[at[7] * W : at[8] * W]
        if W == 1:
            invert_single(n, axes_i, meet, M, X, inverse)
        else:
            invert(side, blocks, n, axes_i, meet, M, X, inverse)
        negative_product(side, blocks, n, inverse, change, out)
