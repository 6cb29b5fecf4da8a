"""The residual of the equations of motion in absolute coordinates.

    M v̇ - Q(q, v, t) - Φ_qᵀ λ = 0,   Φ(q, t) = 0                              [Brüls 2004, eq. 5]

A body is at the position of its centre of mass, in world axes, and turns with its angular velocity in body axes, so
that M is constant: m and J_c. Rows and loads are those of kinematics and of the local model, with points counted from
the centres of mass.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.equations.dry_friction import dry_friction
from supple.formulations.coefficients import ACTUATOR, DAMPER, DRIVE, DRY, MOTOR, SPRING
from supple.geometry.vectors import cross, dot
from supple.kinematics.closure_kernel import unwrapped
from supple.kinematics.primitives import ANGLE, curvature, gradient


@kernel
def world_gradient(rows_i, rows_f, i, X, g, column, J, at):
    """Gradient of measure i with respect to (ẋ in the world, ω in the body): J[at, side, column]. Returns its value."""
    gradient(rows_i, rows_f, i, X, g)
    for side in range(2):
        b = rows_i[i, 1 + side]
        f = 1 + 6 * side
        for c in range(column.shape[0]):
            k = column[c]
            if k < 3:
                J[at, side, c] = X[b, 3 + 3 * k] * g[f] + X[b, 4 + 3 * k] * g[f + 1] + X[b, 5 + 3 * k] * g[f + 2]
            else:
                J[at, side, c] = g[f + k]
    return g[0]


@kernel
def rate(rows_i, i, J, at, V):
    """Rate of a measure: its gradient times the velocities."""
    total = 0.0
    for side in range(2):
        b = rows_i[i, 1 + side]
        if b < V.shape[0]:
            for c in range(V.shape[1]):
                total += J[at, side, c] * V[b, c]
    return total


@kernel
def added(rows_i, i, J, at, factor, Q):
    """Add a force along a measure to the forces Q (bodies, d)."""
    for side in range(2):
        b = rows_i[i, 1 + side]
        if b < Q.shape[0]:
            for c in range(Q.shape[1]):
                Q[b, c] += factor * J[at, side, c]


@kernel
def body_forces(system, X, V, Q, account):
    """Loads and gyroscopic moments of all bodies. Returns the potential of the loads.

    account[3] : power of the loads that have no potential, moments and followers
    """
    sizes, column, _, _, _, inertia, loads_i, loads_f, _, _, _, _, _ = system
    nb, d = sizes[0], sizes[1]
    potential = 0.0
    account[3] = 0.0
    for b in range(nb):
        for c in range(d):
            Q[b, c] = 0.0
    if d == 6:
        for b in range(nb):
            w = angular(V, b)
            h = (
                inertia[b, 0, 0] * w[0] + inertia[b, 0, 1] * w[1] + inertia[b, 0, 2] * w[2],
                inertia[b, 1, 0] * w[0] + inertia[b, 1, 1] * w[1] + inertia[b, 1, 2] * w[2],
                inertia[b, 2, 0] * w[0] + inertia[b, 2, 1] * w[1] + inertia[b, 2, 2] * w[2],
            )
            moment = cross(h, w)
            for k in range(3):
                Q[b, 3 + k] += moment[k]
    for n in range(loads_i.shape[0]):
        b, follows = loads_i[n, 0], loads_i[n, 1]
        if b == nb:
            continue
        F = (loads_f[n, 3], loads_f[n, 4], loads_f[n, 5])
        moment = (loads_f[n, 6], loads_f[n, 7], loads_f[n, 8])
        r = (loads_f[n, 0], loads_f[n, 1], loads_f[n, 2])
        if follows == 1:
            in_world, in_body, moment_body = rotated(X, b, F), F, moment
        else:
            in_world, in_body, moment_body = F, rotated_back(X, b, F), rotated_back(X, b, moment)
            p = rotated(X, b, r)
            potential -= F[0] * (X[b, 0] + p[0]) + F[1] * (X[b, 1] + p[1]) + F[2] * (X[b, 2] + p[2])
        arm = cross(r, in_body)
        w = angular(V, b)
        account[3] += dot(moment_body, w)
        if follows == 1:
            account[3] += dot(in_world, linear(V, b)) + dot(arm, w)
        for c in range(d):
            k = column[c]
            Q[b, c] += in_world[k] if k < 3 else arm[k - 3] + moment_body[k - 3]
    return potential


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
def rotated_back(X, b, v):
    """R_bᵀ v."""
    return (
        X[b, 3] * v[0] + X[b, 6] * v[1] + X[b, 9] * v[2],
        X[b, 4] * v[0] + X[b, 7] * v[1] + X[b, 10] * v[2],
        X[b, 5] * v[0] + X[b, 8] * v[1] + X[b, 11] * v[2],
    )


@kernel
def bias(rows_i, rows_f, i, X, V, column, J, at, twists, scratch, h):
    """Second rate of a measure at zero accelerations (ẍ, ω̇)."""
    for side in range(2):
        body = rows_i[i, 1 + side]
        if body < V.shape[0]:
            v, turned = linear(V, body), rotated(X, body, angular(V, body))
            for k in range(3):
                twists[body, 0, k], twists[body, 0, 3 + k] = v[k], turned[k]
    curvature(rows_i, rows_f, i, X, twists, 1, scratch, h)
    total = h[0, 0]
    # With constant components in body axes ẍ would be ω × ẋ: take that part out again.
    for side in range(2):
        body = rows_i[i, 1 + side]
        if body < V.shape[0]:
            turn = cross(rotated(X, body, angular(V, body)), linear(V, body))
            for c in range(column.shape[0]):
                if column[c] < 3:
                    total -= J[at, side, c] * turn[column[c]]
    return total


@kernel
def measure_forces(system, X, V, acceleration, w, u, Q, J, account):
    """Springs, dampers, drives, motors, friction and actuators. Returns the potential of springs and drives.

    w : values of the measures a step ago, to follow angles beyond a turn; J : (measures, 2, d) their gradients
    account : power of the actuators, power lost in dampers and friction, kinetic energy of the motors
    """
    sizes, column, rows_i, rows_f, _, _, _, _, uses_start, uses_i, uses_f, speeds, _ = system
    first, last = sizes[2], sizes[3]
    g = np.empty(13)
    twists = np.zeros((sizes[0] + 1, 1, 6))
    scratch = np.empty((2, 13))
    h = np.empty((1, 1))
    potential = 0.0
    account[0], account[1], account[2] = 0.0, 0.0, 0.0
    for row in range(first, last):
        at = row - first
        begin, end = uses_start[at], uses_start[at + 1]
        if begin == end:
            continue
        length = world_gradient(rows_i, rows_f, row, X, g, column, J, at)
        if rows_i[row, 0] == ANGLE:
            length = unwrapped(length, w[at])
        speed = rate(rows_i, row, J, at, V)
        force = 0.0
        for n in range(begin, end):
            role, number = uses_i[n, 0], uses_i[n, 1]
            factor, reference = uses_f[n, 0], uses_f[n, 1]
            if role == SPRING:
                force -= factor * (length - reference)
                potential += 0.5 * factor * (length - reference) ** 2
            elif role == DRIVE:
                force += factor
                potential -= factor * length
            elif role == DAMPER:
                force -= factor * speed
                account[1] -= factor * speed * speed
            elif role == DRY:
                resisting = dry_friction(reference, speed, speeds[number])[0]
                force -= resisting
                account[1] -= resisting * speed
            elif role == ACTUATOR:
                force += u[number]
                account[0] += u[number] * speed
            elif role == MOTOR:
                second = bias(rows_i, rows_f, row, X, V, column, J, at, twists, scratch, h)
                second += rate(rows_i, row, J, at, acceleration)
                force -= factor * second
                account[2] += 0.5 * factor * speed * speed
        added(rows_i, row, J, at, force, Q)
    return potential
