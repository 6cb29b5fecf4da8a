"""Where the quantities of an axis stand in the working memory of the recursions.

All vectors are spatial: in world axes, reduced to one reference point, translation before rotation
(docs/theory/recursive.md, eqs. 1-5). A quantity of `W` states side by side takes `W` places in a row, so that
quantity c of state `lane` is at c W + lane. W is the length of the tuple `side`: the compiler then knows it, and
all distances between quantities with it, which is what lets it take several states in one instruction.
"""

from __future__ import annotations

from supple.compilation import kernel

ROTATION = 0
"""(9) R_wb of the frame after the axis, row by row."""
POSITION = 9
"""(3) of its origin, from the reference point."""
VELOCITY = 12
"""(6) V = (v, ω): velocity of the point that passes the reference point, angular velocity."""
ACCELERATION = 18
"""(6) dV/dt, less gravity."""
AXIS = 24
"""(6) S, the motion that a unit rate of the axis makes."""
AXIS_RATE = 30
"""(6) Ψ̇ = V_p × S, eq. 11."""
AXIS_BEND = 36
"""(6) Ψ̈ = A_p × S + V_p × Ψ̇, eq. 12."""
AXIS_TURN = 42
"""(6) Ψ̇ + Ṡ, eq. 15."""
MOMENT = 48
"""(3) m c of everything that the axis carries; likewise all that follow, down to FORCE."""
SECOND = 51
"""(6) Σ = ∫ r rᵀ dm: xx, xy, xz, yy, yz, zz."""
MOMENTUM = 57
"""(3) ∫ ṙ dm."""
SPREAD = 60
"""(9) W = ∫ ṙ rᵀ dm, row by row."""
FORCE = 69
"""(6) force and moment that the motion needs."""
COLUMN = 75
"""(6) I S, of everything carried."""
CHANGE = 81
"""(6) first the change of ACCELERATION by the accelerations of the axes, then eq. 19."""
RATE_CHANGE = 87
"""(6) eq. 20."""
TURNED = 93
"""(3) 2 Bᵀ S, eq. 21."""
PUSHED = 96
"""(6) force of the accelerations of the axes further out."""
DEAD_FORCE = 102
"""(3) loads that keep their direction."""
DEAD_SPREAD = 105
"""(9) F rᵀ of these, less the matrix of their moments."""
DEAD_TURNED = 114
"""(3) Eᵀ S, eq. 25."""
SLOTS = 117


@kernel
def lane_count(side, blocks):
    """How many states are side by side: W times `blocks`, which is one.

    The compiler must not know that it is one: it would unroll the loops over the states before it could take several
    states in one instruction. It may know that W divides the count, which spares it a loop for what is left over.
    """
    return 1 if len(side) == 1 else len(side) * blocks


@kernel
def cut(array, index, width):
    """Row `index` of rows of `width` numbers in a flat array."""
    return array[index * width : (index + 1) * width]
