"""Forces on the bodies in absolute coordinates, and the gradients of rows along which they act.

    M v̇ - Q(q, v, t) - Φ_qᵀ λ = 0,   Φ(q, t) = 0                              [Brüls 2004, eq. 5]

A body is at the position of its centre of mass, in world axes, and turns with its angular velocity in body axes, so
that M is constant: m and J_c. Rows and loads are those of kinematics and of the local model, with points counted from
the centres of mass.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.equations.dry_friction import dry_friction
from supple.formulations.absolute.step_work import ACTUATED, FOLLOWING, LOST, ROTORS
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
from supple.formulations.laws import law
from supple.geometry.vectors import cross, dot, plus
from supple.kinematics.primitives import NONE, THEN, A, continued, curvature, gradient, in_body, turned
from supple.kinematics.row_arrays import row_sizes

OF_TWIST = (1, 7)
"""Where the gradients of a term with respect to the twists of its two bodies stand, behind its value."""


@kernel
def row_gradients(rows, i, X, w, work):
    """Gradients of the terms of row i with respect to (ẋ in the world, ω in the body) into work.gradients.

    Returns its value; w : the measures a step ago, to follow angles beyond a turn.
    """
    column, g, J = rows.column, work.term, work.gradients
    total = 0.0
    term = i
    while term != NONE:
        gradient(rows.rows_i, rows.rows_f, term, X, g)
        total += continued(rows.rows_i, rows.rows_f, term, g[0], w)
        for side in range(2):
            b, f = rows.rows_i[term, A + side], OF_TWIST[side]
            for c in range(column.shape[0]):
                k = column[c]
                if k < 3:
                    J[term, side, c] = X[b, 3 + 3 * k] * g[f] + X[b, 4 + 3 * k] * g[f + 1] + X[b, 5 + 3 * k] * g[f + 2]
                else:
                    J[term, side, c] = g[f + k]
        term = rows.rows_i[term, THEN]
    return total


@kernel
def rate(rows, i, J, V):
    """Rate of row i: its gradients times the velocities (bodies, d), or accelerations."""
    total = 0.0
    term = i
    while term != NONE:
        for side in range(2):
            b = rows.rows_i[term, A + side]
            if b < V.shape[0]:
                for c in range(V.shape[1]):
                    total += J[term, side, c] * V[b, c]
        term = rows.rows_i[term, THEN]
    return total


@kernel
def push(rows, i, J, force, Q):
    """Add a force along row i to the forces Q (bodies, d)."""
    term = i
    while term != NONE:
        for side in range(2):
            b = rows.rows_i[term, A + side]
            if b < Q.shape[0]:
                for c in range(Q.shape[1]):
                    Q[b, c] += force * J[term, side, c]
        term = rows.rows_i[term, THEN]


@kernel
def add_gradient(rows, i, J, out):
    """Add the gradient of row i with respect to the velocities of all bodies to out (n,)."""
    d = J.shape[2]
    term = i
    while term != NONE:
        for side in range(2):
            b = rows.rows_i[term, A + side]
            if b * d < out.shape[0]:
                for c in range(d):
                    out[b * d + c] += J[term, side, c]
        term = rows.rows_i[term, THEN]


@kernel
def bias(rows, i, X, V, work):
    """Second rate of row i at zero accelerations (ẍ, ω̇)."""
    J, twists = work.gradients, work.twists
    total = 0.0
    term = i
    while term != NONE:
        for side in range(2):
            body = rows.rows_i[term, A + side]
            if body < V.shape[0]:
                v, w = linear(V, body), rotated(X, body, angular(V, body))
                for k in range(3):
                    twists[body, 0, k], twists[body, 0, 3 + k] = v[k], w[k]
        curvature(rows.rows_i, rows.rows_f, term, X, twists, 1, work.scratch, work.second)
        total += work.second[0, 0]
        # With constant components in body axes ẍ would be ω × ẋ: take that part out again.
        for side in range(2):
            body = rows.rows_i[term, A + side]
            if body < V.shape[0]:
                turn = cross(rotated(X, body, angular(V, body)), linear(V, body))
                for c in range(rows.column.shape[0]):
                    if rows.column[c] < 3:
                        total -= J[term, side, c] * turn[rows.column[c]]
        term = rows.rows_i[term, THEN]
    return total


@kernel
def linear(V, b):
    """Velocity of body b, in the world."""
    return (V[b, 0], V[b, 1], V[b, 2] if V.shape[1] == 6 else 0.0)


@kernel
def angular(V, b):
    """Angular velocity of body b, in its axes."""
    if V.shape[1] == 6:
        return (V[b, 3], V[b, 4], V[b, 5])
    return (0.0, 0.0, V[b, 2])


@kernel
def rotated(X, b, v):
    """R_b v."""
    return (
        X[b, 3] * v[0] + X[b, 4] * v[1] + X[b, 5] * v[2],
        X[b, 6] * v[0] + X[b, 7] * v[1] + X[b, 8] * v[2],
        X[b, 9] * v[0] + X[b, 10] * v[1] + X[b, 11] * v[2],
    )


@kernel
def body_forces(system, X, V, work):
    """Loads and gyroscopic moments of all bodies into work.forces. Returns the potential of the loads.

    The power of loads that have no potential, moments and followers, goes into the account.
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
            in_world, F_body, moment_body = rotated(X, b, F), F, moment
        else:
            in_world, F_body, moment_body = F, in_body(X, b, F), in_body(X, b, moment)
            potential -= dot(F, plus((X[b, 0], X[b, 1], X[b, 2]), turned(X, b, loads_f, n, AT_POINT)))
        arm, w = cross(r, F_body), angular(V, b)
        account[FOLLOWING] += dot(moment_body, w)
        if follows == 1:
            account[FOLLOWING] += dot(in_world, linear(V, b)) + dot(arm, w)
        for c in range(d):
            k = column[c]
            Q[b, c] += in_world[k] if k < 3 else arm[k - 3] + moment_body[k - 3]
    return potential


@kernel
def measure_forces(system, X, V, acceleration, w, u, work):
    """Adds what laws, actuators and dry friction do along measures to work.forces. Returns the potential of the laws.

    f = f(ℓ) - c ℓ̇ - m ℓ̈ + u - dry friction; -f', c and m of each measure stay in `work`, and in its account the power
    of the actuators, the power lost, and the kinetic energy of inertia along measures.
    """
    rows, account = system.rows, work.account
    sizes = row_sizes(rows)
    potential = 0.0
    account[ACTUATED], account[LOST], account[ROTORS] = 0.0, 0.0, 0.0
    for row in range(sizes.joint_rows, sizes.rows):
        measure = row - sizes.joint_rows
        begin, end = system.uses_start[measure], system.uses_start[measure + 1]
        if begin == end:
            continue
        length = row_gradients(rows, row, X, w, work)
        speed = rate(rows, row, work.gradients, V)
        force, stiffness, damping, inertia = 0.0, 0.0, 0.0, 0.0
        for n in range(begin, end):
            role, number = system.uses_i[n, ROLE], system.uses_i[n, NUMBER]
            if role == LAW:
                acts = law(number, system.uses_f[n], length)
                potential += acts.energy
                force += acts.force
                stiffness -= acts.slope
                damping += acts.damping
                inertia += acts.inertia
            elif role == ACTUATOR:
                force += u[number]
                account[ACTUATED] += u[number] * speed
            elif role == DRY:
                resisting = dry_friction(system.uses_f[n, DRY_FORCE], speed, system.friction_speed)[0]
                force -= resisting
                account[LOST] -= resisting * speed
        force -= damping * speed
        account[LOST] -= damping * speed * speed
        if inertia != 0.0:
            second = bias(rows, row, X, V, work) + rate(rows, row, work.gradients, acceleration)
            force -= inertia * second
            account[ROTORS] += 0.5 * inertia * speed * speed
        work.stiffness[measure], work.damping[measure], work.inertia[measure] = stiffness, damping, inertia
        push(rows, row, work.gradients, force, work.forces)
    return potential
