"""Iteration matrix and right side of a time step.

    [M̂    Φ_qᵀ] [  δq  ]     [ r_q / β' ]
    [Φ_q   -ε ] [-δλ/β'] = - [    r_c   ],    M̂ = M + Σ (m + c γ'/β' - f'/β') ∇ℓ ∇ℓᵀ

M includes frames and elements, with D and K of elements as for force models. The matrix is in frame axes, positions
included, so that it changes only with relative rotations; right sides and corrections are rotated. A row of an elastic
joint, Φ + λ/k + c/k Φ̇, has 1/(k/β' + c γ'/β') in addition to ε. ε acts only on the increment of the multipliers, so
that redundant constraints and singular positions are allowed and constraints are still met to rounding. A force model
with negative stiffness (f' > 0) is omitted from M̂, which stays definite; the right side is complete.

For mass-proportional damping, Pᵀ M_α P (`mass_damping`), M̂ has (1 + α γ'/β') M and the diagonal of ΨᵀM_αΨ along θ.
The omitted terms let corrections decrease by at least √(α h).
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.elements import element_forces, element_tangents
from supple.formulations.absolute.residual import (
    arm_forces,
    arm_tangents,
    body_forces,
    measure_forces,
    push,
    rate,
    rotate,
    row_gradients,
)
from supple.formulations.absolute.step_work import LOST, STRAIN
from supple.formulations.absolute.system import MEASURE, OTHER_SIDE, OTHER_TERM, SIDE, TERM
from supple.formulations.absolute.time_damping import damp_by_mass, resist_along_coordinates
from supple.integration.ldl import substitute
from supple.kinematics.primitives import NONE, THEN, A, in_body
from supple.kinematics.row_arrays import row_sizes

SOFT = 1e-9  # ε of a row, against its entry in Φ_q M⁻¹ Φ_qᵀ


@kernel(inline=True)
def row_of(joint_rows, driven, i):
    """Return the row of multiplier i."""
    return i if i < joint_rows else driven[i - joint_rows]


@kernel(inline=True)
def rows_at(system, X, w, targets, work):
    """Compute gradients and values of joint rows and prescribed rows, relative to their targets."""
    joints, driven = row_sizes(system.rows).joint_rows, system.driven
    rows_i, rows_f, column = system.rows.rows_i, system.rows.rows_f, system.rows.column
    g, J, values = work.term, work.gradients, work.values
    for i in range(values.shape[0]):
        row = row_of(joints, driven, i)
        values[i] = row_gradients(rows_i, rows_f, column, row, X, w, g, J)
        if 0 <= i - joints < targets.shape[0]:  # those behind hold superelements together
            values[i] -= targets[i - joints]


@kernel(inline=True)
def yield_rows(system, V, multipliers, work):
    """Apply compliance of elastic joints, Φ + λ/k + c/k Φ̇ = 0.

    Returns the potential ½ k Φ², which is added to the account together with c Φ̇².
    """
    compliance, lag, values = system.compliance, system.lag, work.values
    rows_i, J, account = system.rows.rows_i, work.gradients, work.account
    potential = 0.0
    for i in range(compliance.shape[0]):
        if compliance[i] > 0.0:
            speed, away = rate(rows_i, i, J, V), values[i]
            potential += 0.5 * away * away / compliance[i]
            account[LOST] -= lag[i] / compliance[i] * speed * speed
            values[i] = away + compliance[i] * multipliers[i] + lag[i] * speed
    account[STRAIN] += potential
    return potential


@kernel
def iteration_matrix(system, iteration, state, factors, work):
    """Fill the values of the iteration matrix from the gradients and force models in `work`.

    factors : γ'/β' and 1/β', of damping and stiffness relative to the mass
    """
    damping_factor, stiffness_factor = factors
    slowed = 1.0 + system.alpha * damping_factor
    damping, stiffness = damping_factor / slowed, stiffness_factor / slowed
    rows_i, column, driven = system.rows.rows_i, system.rows.column, system.driven
    J, A_, at_body, at_multiplier = work.gradients, work.matrix, iteration.at_body, iteration.at_multiplier
    mass, inertia, links, at_link = iteration.solid_mass, iteration.solid_inertia, iteration.links, iteration.at_link
    at_term, joints, scale = iteration.at_term, row_sizes(system.rows).joint_rows, work.scale
    compliance, lag, turned = system.compliance, system.lag, iteration.turned
    own = work.own if turned else J
    nb, d = mass.shape[0], column.shape[0]
    A_[:] = 0.0
    resist_along_coordinates(system.mass_damping, system, state.X, work)
    for b in range(nb):
        for c in range(d):
            if column[c] < 3:
                A_[at_body[b, c, c]] = mass[b]
            else:
                for e in range(c, d):
                    A_[at_body[b, c, e]] = inertia[b, column[c] - 3, column[e] - 3]
    arm_tangents(system, at_body, A_)
    for n in range(links.shape[0]):
        measure = links[n, MEASURE]
        factor = work.inertia[measure] + damping * work.damping[measure]
        factor += stiffness * max(work.stiffness[measure], 0.0)
        if factor != 0.0:
            if turned:
                own_axes(rows_i, column, joints + measure, state.X, J, own)
            add_link(rows_i, links, n, factor, own, at_link, A_)
    element_tangents(system, state.X, (damping, stiffness), work)
    A_[:] *= slowed
    fill_scale(column, iteration, A_, scale)
    for i in range(at_multiplier.shape[0]):
        softness = 0.0
        term = row_of(joints, driven, i)
        if turned:
            own_axes(rows_i, column, term, state.X, J, own)
        while term != NONE:
            for side in range(2):
                b = rows_i[term, A + side]
                if b < nb:
                    softness += fill_side(scale[b], own[term, side], at_term[term, side], A_)
            term = rows_i[term, THEN]
        A_[at_multiplier[i]] = -SOFT * softness
        if i < joints and compliance[i] > 0.0:
            A_[at_multiplier[i]] -= compliance[i] / (stiffness_factor + damping_factor * lag[i])


@kernel(inline=True)
def own_axes(rows_i, column, i, X, J, own):
    """Compute gradients of the terms of row i, displacements in frame axes, from those in world axes."""
    d = column.shape[0]
    term = i
    while term != NONE:
        for side in range(2):
            b = rows_i[term, A + side]
            z = J[term, side, 2] if d == 6 else 0.0
            v = in_body(X, b, (J[term, side, 0], J[term, side, 1], z))
            for c in range(d):
                own[term, side, c] = v[column[c]] if column[c] < 3 else J[term, side, c]
        term = rows_i[term, THEN]


@kernel
def solve_right_side(problem, X, work):
    """Solve with the factor for the right side in place, with forces and displacements in world axes."""
    column, right_side, turned = problem.system.rows.column, work.right_side, problem.iteration.turned
    if turned:
        turn_right_side(column, X, right_side, False)
    substitute(problem.pattern, work.L, work.D, right_side, work.solving)
    if turned:
        turn_right_side(column, X, right_side, True)


@kernel(inline=True)
def turn_right_side(column, X, right_side, outward):
    """Rotate the vectors of a right side from world axes to frame axes, or back."""
    d = column.shape[0]
    for b in range(X.shape[0] - 1):
        x, y = right_side[b * d], right_side[b * d + 1]
        z = right_side[b * d + 2] if d == 6 else 0.0
        v = rotate(X, b, (x, y, z)) if outward else in_body(X, b, (x, y, z))
        right_side[b * d], right_side[b * d + 1] = v[0], v[1]
        if d == 6:
            right_side[b * d + 2] = v[2]


@kernel(inline=True)
def fill_scale(column, iteration, A_, scale):
    """Fill the scale of each direction of a frame in M̂: for rigid ones the mass, and the least moment of inertia."""
    mass, inertia, of_elements, at_body = (
        iteration.solid_mass,
        iteration.solid_inertia,
        iteration.of_elements,
        iteration.at_body,
    )
    nb, d = scale.shape
    for b in range(nb):
        J = inertia[b]
        least = min(J[0, 0], J[1, 1], J[2, 2]) if d == 6 else J[2, 2]
        for c in range(d):
            if of_elements[b]:
                scale[b, c] = A_[at_body[b, c, c]]
            else:
                scale[b, c] = mass[b] if column[c] < 3 else least


@kernel(inline=True)
def add_link(rows_i, links, n, factor, J, at_link, A_):
    """Add factor ∇ℓ ∇ℓᵀ of two ends of a measure; only one triangle of a body's own block is filled."""
    p, q = links[n, TERM], links[n, OTHER_TERM]
    side, other = links[n, SIDE], links[n, OTHER_SIDE]
    one_end = p == q and side == other
    one_body = rows_i[p, A + side] == rows_i[q, A + other]
    d = J.shape[2]
    for c in range(d):
        for e in range(c if one_body else 0, d):
            product = J[p, side, c] * J[q, other, e]
            if one_body and not one_end:
                product += J[q, other, c] * J[p, side, e]
            A_[at_link[n, c, e]] += factor * product


@kernel(inline=True)
def fill_side(scale, J, places, A_):
    """Write Φ_q of a term on one frame to the matrix; return its entry in Φ_q M̂⁻¹ Φ_qᵀ with diagonal M̂."""
    softness = 0.0
    for c in range(scale.shape[0]):
        A_[places[c]] += J[c]
        softness += J[c] * J[c] / scale[c]
    return softness


@kernel
def residual(system, state, u, targets, work):
    """Compute the right side -(r_q, r_c), with gradients, force models and account in `work`; return the potential.

    state : X, V, v̇, λ of the end of the step; w of its beginning
    """
    column, mass, inertia, driven = system.rows.column, system.mass, system.inertia, system.driven
    Q, J, right_side, multipliers = work.forces, work.gradients, work.right_side, state.multipliers
    rows_i, joints, acceleration = system.rows.rows_i, row_sizes(system.rows).joint_rows, state.acceleration
    nb, d = Q.shape
    rows_at(system, state.X, state.w, targets, work)
    potential = body_forces(system, state.X, state.V, work)
    potential += measure_forces(system, state.X, state.V, acceleration, state.w, u, work)
    potential += element_forces(system, state.X, state.V, acceleration, work)
    potential += yield_rows(system, state.V, multipliers, work)
    arm_forces(system, state.X, state.V, acceleration, work)
    damp_by_mass(system.mass_damping, system, state, work)
    for i in range(multipliers.shape[0]):
        push(rows_i, row_of(joints, driven, i), J, multipliers[i], Q)
    for b in range(nb):
        for c in range(d):
            k = column[c]
            total = 0.0
            if k < 3:
                total = mass[b] * acceleration[b, c]
            else:
                for e in range(d):
                    if column[e] >= 3:
                        total += inertia[b, k - 3, column[e] - 3] * acceleration[b, e]
            right_side[b * d + c] = Q[b, c] - total
    for i in range(multipliers.shape[0]):
        right_side[nb * d + i] = -work.values[i]
    return potential
