"""The iteration matrix and the right side of a step in time.

    [M̂    Φ_qᵀ] [  δq  ]     [ r_q / β' ]
    [Φ_q   -ε ] [-δλ/β'] = - [    r_c   ],    M̂ = M + Σ (m + c γ'/β' - f'/β') ∇ℓ ∇ℓᵀ

ε acts on the increment of the multipliers alone, so that redundant constraints and singular positions pass and
constraints are still met to rounding. A law that pulls where it should push back (f' > 0) is left out of M̂, which stays
definite; the right side leaves out nothing.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.residual import body_forces, measure_forces, push, row_gradients
from supple.formulations.absolute.system import MEASURE, OTHER_SIDE, OTHER_TERM, SIDE, TERM
from supple.kinematics.primitives import NONE, THEN, A
from supple.kinematics.row_arrays import row_sizes

SOFT = 1e-9  # ε of a row, against its entry in Φ_q M⁻¹ Φ_qᵀ


@kernel
def row_of(system, i):
    """Which row multiplier i belongs to."""
    joints = row_sizes(system.rows).joint_rows
    return i if i < joints else system.driven[i - joints]


@kernel
def rows_at(system, X, w, targets, work):
    """Joint rows and prescribed rows: gradients and values (what they should be taken off)."""
    joints = row_sizes(system.rows).joint_rows
    for i in range(joints):
        work.values[i] = row_gradients(system.rows, i, X, w, work)
    for n in range(system.driven.shape[0]):
        work.values[joints + n] = row_gradients(system.rows, system.driven[n], X, w, work) - targets[n]


@kernel
def iteration_matrix(system, iteration, damping_factor, stiffness_factor, work):
    """Fill the values of the iteration matrix from the gradients and laws in `work`."""
    column, at_body, A_ = system.rows.column, iteration.at_body, work.matrix
    nb, d = work.forces.shape
    A_[:] = 0.0
    for b in range(nb):
        for c in range(d):
            if column[c] < 3:
                A_[at_body[b, c, c]] = iteration.solid_mass[b]
            else:
                for e in range(c, d):
                    A_[at_body[b, c, e]] = iteration.solid_inertia[b, column[c] - 3, column[e] - 3]
    for n in range(iteration.links.shape[0]):
        measure = iteration.links[n, MEASURE]
        factor = work.inertia[measure] + damping_factor * work.damping[measure]
        factor += stiffness_factor * max(work.stiffness[measure], 0.0)
        if factor != 0.0:
            add_link(system, iteration, n, factor, work)
    for i in range(iteration.at_multiplier.shape[0]):
        A_[iteration.at_multiplier[i]] = -SOFT * fill_row(system, iteration, row_of(system, i), work)


@kernel
def add_link(system, iteration, n, factor, work):
    """Adds factor ∇ℓ ∇ℓᵀ of two ends of a measure; of a body's own block one triangle is filled."""
    links, J, to = iteration.links, work.gradients, iteration.at_link[n]
    p, q = links[n, TERM], links[n, OTHER_TERM]
    side, other = links[n, SIDE], links[n, OTHER_SIDE]
    one_end = p == q and side == other
    one_body = system.rows.rows_i[p, A + side] == system.rows.rows_i[q, A + other]
    d = work.forces.shape[1]
    for c in range(d):
        for e in range(c if one_body else 0, d):
            product = J[p, side, c] * J[q, other, e]
            if one_body and not one_end:
                product += J[q, other, c] * J[p, side, e]
            work.matrix[to[c, e]] += factor * product


@kernel
def fill_row(system, iteration, row, work):
    """Φ_q of one row into the matrix. Returns its entry in Φ_q M⁻¹ Φ_qᵀ, its terms each by itself."""
    rows, J = system.rows, work.gradients
    nb, d = work.forces.shape
    compliance = 0.0
    term = row
    while term != NONE:
        for side in range(2):
            b = rows.rows_i[term, A + side]
            if b == nb:
                continue
            inertia = iteration.solid_inertia[b]
            least = min(inertia[0, 0], inertia[1, 1], inertia[2, 2]) if d == 6 else inertia[2, 2]
            for c in range(d):
                entry = J[term, side, c]
                work.matrix[iteration.at_term[term, side, c]] += entry
                compliance += entry * entry / (iteration.solid_mass[b] if rows.column[c] < 3 else least)
        term = rows.rows_i[term, THEN]
    return compliance


@kernel
def residual(system, state, u, targets, work):
    """Right side -(r_q, r_c); gradients, laws and account are left in `work`. Returns the potential.

    state : X, V, v̇, λ of the end of the step; w of its beginning
    """
    column, mass, inertia = system.rows.column, system.mass, system.inertia
    Q, right_side, multipliers = work.forces, work.right_side, state.multipliers
    nb, d = Q.shape
    rows_at(system, state.X, state.w, targets, work)
    potential = body_forces(system, state.X, state.V, work)
    potential += measure_forces(system, state.X, state.V, state.acceleration, state.w, u, work)
    for i in range(multipliers.shape[0]):
        push(system.rows, row_of(system, i), work.gradients, multipliers[i], Q)
    for b in range(nb):
        for c in range(d):
            k = column[c]
            total = 0.0
            if k < 3:
                total = mass[b] * state.acceleration[b, c]
            else:
                for e in range(d):
                    if column[e] >= 3:
                        total += inertia[b, k - 3, column[e] - 3] * state.acceleration[b, e]
            right_side[b * d + c] = Q[b, c] - total
    for i in range(multipliers.shape[0]):
        right_side[nb * d + i] = -work.values[i]
    return potential
