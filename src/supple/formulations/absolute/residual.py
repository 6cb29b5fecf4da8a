"""Forces on the bodies in absolute coordinates, and the gradients of rows.

    M v̇ - Q(q, v, t) - Φ_qᵀ λ = 0,   Φ(q, t) = 0                              [Brüls 2004, eq. 5]

The coordinates of a body are the position of its centre of mass in world axes and its rotation. Its velocities are ẋ in
world axes and the angular velocity in body axes, so that M is constant: m and J_c. Rows and loads are those of
kinematics and of the local model, with points relative to the centres of mass.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.equations.forces import dry_friction
from supple.formulations.absolute.step_work import ACTUATED, BENT, FOLLOWING, LOST, ROTORS, STRAIN
from supple.formulations.coefficients import (
    ACTUATOR,
    AT_POINT,
    BODY,
    DRY,
    DRY_FORCE,
    FOLLOWS,
    LAW,
    NUMBER,
    OF_FORCE,
    OF_MOMENT,
    ROLE,
)
from supple.formulations.force_models import law
from supple.geometry.vectors import cross, dot, plus
from supple.kinematics.primitives import NONE, THEN, A, continue_turns, curvature, gradient, in_body, rotate_to_world
from supple.kinematics.row_arrays import row_sizes

OF_TWIST = (1, 7)
"""Positions of the gradients of a term with respect to the twists of its two bodies, after its value."""


@kernel(inline=True)
def row_gradients(rows_i, rows_f, column, i, X, w, g, J):
    """Write gradients of the terms of row i with respect to (ẋ in world axes, ω in body axes) to J (terms, 2, d).

    Returns its value; w : the measures a step ago, to continue angles beyond a full turn; g : (13,) workspace.
    """
    total = 0.0
    term = i
    while term != NONE:
        gradient(rows_i, rows_f, term, X, g)
        total += continue_turns(rows_i, rows_f, term, g[0], w)
        for side in range(2):
            b, f = rows_i[term, A + side], OF_TWIST[side]
            for c in range(column.shape[0]):
                k = column[c]
                if k < 3:
                    J[term, side, c] = X[b, 3 + 3 * k] * g[f] + X[b, 4 + 3 * k] * g[f + 1] + X[b, 5 + 3 * k] * g[f + 2]
                else:
                    J[term, side, c] = g[f + k]
        term = rows_i[term, THEN]
    return total


@kernel(inline=True)
def rate(rows_i, i, J, V):
    """Return the rate of row i: its gradients times the velocities (bodies, d), or accelerations."""
    total = 0.0
    term = i
    while term != NONE:
        for side in range(2):
            b = rows_i[term, A + side]
            if b < V.shape[0]:
                for c in range(V.shape[1]):
                    total += J[term, side, c] * V[b, c]
        term = rows_i[term, THEN]
    return total


@kernel(inline=True)
def push(rows_i, i, J, force, Q):
    """Add a force along row i to the forces Q (bodies, d)."""
    term = i
    while term != NONE:
        for side in range(2):
            b = rows_i[term, A + side]
            if b < Q.shape[0]:
                for c in range(Q.shape[1]):
                    Q[b, c] += force * J[term, side, c]
        term = rows_i[term, THEN]


@kernel(inline=True)
def add_gradient(rows_i, i, J, out):
    """Add the gradient of row i with respect to the velocities of all bodies to out (n,)."""
    d = J.shape[2]
    term = i
    while term != NONE:
        for side in range(2):
            b = rows_i[term, A + side]
            if b * d < out.shape[0]:
                for c in range(d):
                    out[b * d + c] += J[term, side, c]
        term = rows_i[term, THEN]


@kernel(inline=True)
def bias(rows, i, X, V, work):
    """Return the second rate of row i at zero accelerations (ẍ, ω̇)."""
    rows_i, rows_f, column = rows.rows_i, rows.rows_f, rows.column
    J, twists, scratch, second = work.gradients, work.twists, work.scratch, work.second
    total = 0.0
    term = i
    while term != NONE:
        for side in range(2):
            body = rows_i[term, A + side]
            if body < V.shape[0]:
                v, w = linear(V, body), rotate(X, body, angular(V, body))
                for k in range(3):
                    twists[body, 0, k], twists[body, 0, 3 + k] = v[k], w[k]
        curvature(rows_i, rows_f, term, X, twists, 1, scratch, second)
        total += second[0, 0]
        # With constant components in body axes ẍ would be ω × ẋ: take that part out again.
        for side in range(2):
            body = rows_i[term, A + side]
            if body < V.shape[0]:
                turn = cross(rotate(X, body, angular(V, body)), linear(V, body))
                for c in range(column.shape[0]):
                    if column[c] < 3:
                        total -= J[term, side, c] * turn[column[c]]
        term = rows_i[term, THEN]
    return total


@kernel(inline=True)
def linear(V, b):
    """Return the velocity of body b in world axes."""
    return (V[b, 0], V[b, 1], V[b, 2] if V.shape[1] == 6 else 0.0)


@kernel(inline=True)
def angular(V, b):
    """Return the angular velocity of body b in its axes."""
    if V.shape[1] == 6:
        return (V[b, 3], V[b, 4], V[b, 5])
    return (0.0, 0.0, V[b, 2])


@kernel(inline=True)
def rotate(X, b, v):
    """Return R_b v."""
    return (
        X[b, 3] * v[0] + X[b, 4] * v[1] + X[b, 5] * v[2],
        X[b, 6] * v[0] + X[b, 7] * v[1] + X[b, 8] * v[2],
        X[b, 9] * v[0] + X[b, 10] * v[1] + X[b, 11] * v[2],
    )


@kernel(inline=True)
def body_forces(system, X, V, work):
    """Compute loads and gyroscopic moments of all bodies in work.forces; return the potential of the loads.

    The power of loads without a potential, moments and follower loads, is added to the account.
    """
    column, inertia, loads_i, loads_f = system.rows.column, system.inertia, system.loads_i, system.loads_f
    Q, account = work.forces, work.account
    nb, d = Q.shape
    potential = 0.0
    account[FOLLOWING] = 0.0
    for b in range(nb):
        for c in range(d):
            Q[b, c] = 0.0
    if d == 6:
        for b in range(nb):
            w, J = angular(V, b), inertia[b]
            h = (
                J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2],
                J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2],
                J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2],
            )
            moment = cross(h, w)
            for k in range(3):
                Q[b, 3 + k] += moment[k]
    for n in range(loads_i.shape[0]):
        b, follows = loads_i[n, BODY], loads_i[n, FOLLOWS]
        if b == nb:
            continue
        r = (loads_f[n, AT_POINT], loads_f[n, AT_POINT + 1], loads_f[n, AT_POINT + 2])
        F = (loads_f[n, OF_FORCE], loads_f[n, OF_FORCE + 1], loads_f[n, OF_FORCE + 2])
        moment = (loads_f[n, OF_MOMENT], loads_f[n, OF_MOMENT + 1], loads_f[n, OF_MOMENT + 2])
        if follows == 1:
            in_world, F_body, moment_body = rotate(X, b, F), F, moment
        else:
            in_world, F_body, moment_body = F, in_body(X, b, F), in_body(X, b, moment)
            potential -= dot(F, plus((X[b, 0], X[b, 1], X[b, 2]), rotate_to_world(X, b, loads_f, n, AT_POINT)))
        arm, w = cross(r, F_body), angular(V, b)
        account[FOLLOWING] += dot(moment_body, w)
        if follows == 1:
            account[FOLLOWING] += dot(in_world, linear(V, b)) + dot(arm, w)
        for c in range(d):
            k = column[c]
            Q[b, c] += in_world[k] if k < 3 else arm[k - 3] + moment_body[k - 3]
    return potential


@kernel(inline=True)
def measure_forces(system, X, V, acceleration, w, u, work):
    """Add forces of force models, actuators and dry friction along measures to work.forces; return the potential.

    f = f(ℓ) - c ℓ̇ - m ℓ̈ + u - dry friction. `work` keeps -f', c and m of each measure, and its account the power of the
    actuators, the dissipated power, and the kinetic energy of inertia along measures.
    """
    rows_i, rows_f, column = system.rows.rows_i, system.rows.rows_f, system.rows.column
    uses_start, uses_i, uses_f, speed_0 = system.uses_start, system.uses_i, system.uses_f, system.friction_speed
    J, Q, account, g = work.gradients, work.forces, work.account, work.term
    stiffnesses, dampings, inertias = work.stiffness, work.damping, work.inertia
    sizes = row_sizes(system.rows)
    potential = 0.0
    account[ACTUATED], account[LOST], account[ROTORS], account[STRAIN], account[BENT] = 0.0, 0.0, 0.0, 0.0, 0.0
    for row in range(sizes.joint_rows, sizes.rows):
        measure = row - sizes.joint_rows
        begin, end = uses_start[measure], uses_start[measure + 1]
        if begin == end:
            continue
        length = row_gradients(rows_i, rows_f, column, row, X, w, g, J)
        speed = rate(rows_i, row, J, V)
        force, stiffness, damping, inertia = 0.0, 0.0, 0.0, 0.0
        for n in range(begin, end):
            role, number = uses_i[n, ROLE], uses_i[n, NUMBER]
            if role == LAW:
                acts = law(number, uses_f[n], length)
                potential += acts.energy
                force += acts.force
                stiffness -= acts.slope
                damping += acts.damping
                inertia += acts.inertia
            elif role == ACTUATOR:
                force += u[number]
                account[ACTUATED] += u[number] * speed
            elif role == DRY:
                resisting = dry_friction(uses_f[n, DRY_FORCE], speed, speed_0)[0]
                force -= resisting
                account[LOST] -= resisting * speed
        force -= damping * speed
        account[LOST] -= damping * speed * speed
        if inertia != 0.0:
            second = bias(system.rows, row, X, V, work) + rate(rows_i, row, J, acceleration)
            force -= inertia * second
            account[ROTORS] += 0.5 * inertia * speed * speed
        stiffnesses[measure], dampings[measure], inertias[measure] = stiffness, damping, inertia
        push(rows_i, row, J, force, Q)
    return potential


# Mass that a frame carries on an arm r: its centre moves with ẋ + R (ω × r).


@kernel(inline=True)
def arm_of(system, b):
    """Return R of frame b, and the arm in its axes."""
    return (system.arm[b, 0], system.arm[b, 1], system.arm[b, 2])


@kernel(inline=True)
def arm_forces(system, X, V, acceleration, work):
    """Add the terms due to arms that m ẍ and J ω̇ omit: -m (a_c - ẍ), and the moment -r × m Rᵀ a_c."""
    column, mass, Q = system.rows.column, system.mass, work.forces
    for n in range(system.armed.shape[0]):
        b = system.armed[n]
        r, w, turning = arm_of(system, b), angular(V, b), angular(acceleration, b)
        own = rotate(X, b, plus(cross(turning, r), cross(w, cross(w, r))))
        moment = cross(r, in_body(X, b, plus(linear(acceleration, b), own)))
        for c in range(column.shape[0]):
            k = column[c]
            Q[b, c] -= mass[b] * (own[k] if k < 3 else moment[k - 3])


@kernel(inline=True)
def arm_tangents(system, at_body, A_):
    """Add the blocks [0, -m r̃; ., -m r̃ r̃] of arms to the iteration matrix, displacements in frame axes."""
    column, mass = system.rows.column, system.mass
    d = column.shape[0]
    for n in range(system.armed.shape[0]):
        b = system.armed[n]
        r = arm_of(system, b)
        for e in range(d):
            if column[e] < 3:
                continue
            axis = column[e] - 3
            unit = (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)
            shift = cross(unit, r)
            moment = cross(r, shift)
            for c in range(e + 1):
                k = column[c]
                A_[at_body[b, c, e]] += mass[b] * (shift[k] if k < 3 else moment[k - 3])


@kernel(inline=True)
def arm_kinetic(system, X, V):
    """Return ½ m (|v_c|² - |ẋ|²)."""
    total = 0.0
    for n in range(system.armed.shape[0]):
        b = system.armed[n]
        v, own = linear(V, b), rotate(X, b, cross(angular(V, b), arm_of(system, b)))
        total += system.mass[b] * (dot(v, own) + 0.5 * dot(own, own))
    return total


@kernel(inline=True)
def arm_momentum(system, factor, X, V, force):
    """Add the terms due to arms that m ẋ and J ω omit, times a factor: m R (ω × r), and r × m Rᵀ v_c."""
    column, mass = system.rows.column, system.mass
    for n in range(system.armed.shape[0]):
        b = system.armed[n]
        r = arm_of(system, b)
        own = rotate(X, b, cross(angular(V, b), r))
        moment = cross(r, in_body(X, b, plus(linear(V, b), own)))
        for c in range(column.shape[0]):
            k = column[c]
            force[b, c] += factor * mass[b] * (own[k] if k < 3 else moment[k - 3])
