"""The recursions put together, on states side by side in the working memory (memory.py).

Forces along the axes: τ = M q̈ + b(q, q̇) is what the motion needs, after loads and distances; `applied` is what
actuators, springs, dampers, friction and constant forces along the axes give.

What goes over the states side by side stays a function of its own: written out in here, the compiler could no longer
tell one row of the memory from another, and would take one state at a time.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.blocks import negative_product
from supple.formulations.recursive.distances import measure_distances, vary_distances
from supple.formulations.recursive.factor import factor, invert, solve
from supple.formulations.recursive.inward import inward, inward_forces
from supple.formulations.recursive.loads import apply_loads, vary_loads
from supple.formulations.recursive.memory import parts, tables
from supple.formulations.recursive.outward import outward
from supple.formulations.recursive.variation import variation

INVERSE, MASS_MATRIX, FORWARD, INVERSE_VARIATION, FORWARD_VARIATION = 0, 1, 2, 3, 4
"""What is wanted, see `recursion`."""


@kernel
def recursion(side, blocks, wanted, packed, work):
    """What is wanted, from what stands in the memory into it.

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
