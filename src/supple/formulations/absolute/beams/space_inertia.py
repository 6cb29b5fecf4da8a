"""Inertia of the beam element in space: Lagrange's equations of T = ½ wᵀ M w.

Rotations of the ends are slopes of the element's shapes in bending. Where the chord is s = l/L times as long as at
rest, the same rotation is s times the slope, so that a stretched element turns with the inertia of its length: in M the
components of ω across the axis count s times.   (docs/theory/flexible-motion.md, eqs. 8, 9, 16)
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.element_work import (
    ARM,
    END_WIDTH,
    ENDS,
    MOMENTUM,
    RATES,
    E,
    S,
    W,
    add_at,
    in_rows,
    put_at,
    vector_at,
)
from supple.formulations.absolute.beams.space_frame import ANGULAR, TWIST
from supple.geometry.vectors import cross, minus, plus, times


@kernel
def space_product(coupled, M, work, source, target):
    """M x, M (12, 4) as `BeamArrays.coupled` has it: from one place of `work` to another."""
    for r in range(2 * TWIST):
        total = M[r, 0] * work[source + coupled[r, 0]] + M[r, 1] * work[source + coupled[r, 1]]
        work[target + r] = total + M[r, 2] * work[source + coupled[r, 2]] + M[r, 3] * work[source + coupled[r, 3]]


@kernel
def space_momentum(coupled, M, longer, work):
    """P = ∂T/∂w. Returns L ∂T/∂l."""
    for k in range(2 * TWIST):
        work[RATES + k] = work[W + k] * (longer if k % TWIST > ANGULAR else 1.0)
    space_product(coupled, M, work, RATES, MOMENTUM)
    swing = 0.0 * longer
    for k in range(2 * TWIST):
        if k % TWIST > ANGULAR:
            swing += work[MOMENTUM + k] * work[W + k]
            work[MOMENTUM + k] *= longer
    return swing


@kernel
def space_momentum_rate(coupled, M, longer, lengthening, work):
    """Ṗ in element axes into the ends, from the rates of w; lengthening : ṡ."""
    for k in range(2 * TWIST):
        if k % TWIST > ANGULAR:
            work[RATES + k] = longer * work[RATES + k] + lengthening * work[W + k]
    space_product(coupled, M, work, RATES, ENDS)
    for k in range(2 * TWIST):
        if k % TWIST > ANGULAR:
            work[ENDS + k] = longer * work[ENDS + k] + lengthening / longer * work[MOMENTUM + k]


@kernel
def space_rates(acceleration, i, j, spin, work):
    """Rates of w: ẇ = Eᵀ p̈ - ω_E × w, rotations alike."""
    for end in range(2):
        b, skip, at = (i, 0, TWIST * end) if end == 0 else (j, END_WIDTH, TWIST * end)
        arm, own = vector_at(work, ARM + skip), vector_at(work, W + at + ANGULAR)
        turning = in_rows(work, S + skip, (acceleration[b, 3], acceleration[b, 4], acceleration[b, 5]))
        rate = in_rows(work, E, (acceleration[b, 0], acceleration[b, 1], acceleration[b, 2]))
        rate = plus(rate, plus(cross(turning, arm), cross(own, cross(own, arm))))
        put_at(work, RATES + at, minus(rate, cross(spin, vector_at(work, W + at))))
        put_at(work, RATES + at + ANGULAR, minus(turning, cross(spin, own)))


@kernel
def space_inertia(spin, work):
    """Adds what inertia needs besides Ṗ to the ends. Returns Σ w × P.

    f = Ṗ + ω_E × P, of rotations less ω × P; the turning of the axes takes Σ w × P
    """
    torque = times(0.0, spin)
    for at in range(0, 2 * TWIST, 3):
        momentum, own = vector_at(work, MOMENTUM + at), vector_at(work, W + at)
        turned = cross(own, momentum)
        torque = plus(torque, turned)
        add_at(work, ENDS + at, cross(spin, momentum))
        if at % TWIST == ANGULAR:
            add_at(work, ENDS + at, times(-1.0, turned))
    return torque
