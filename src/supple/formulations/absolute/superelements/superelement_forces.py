"""Forces of superelements on their frames: inertia, gravity, elasticity and damping.

    R (m a + ω̇ × s + 2 ω × Cq̇ + ω × (ω × s) + C q̈)                                = f     on the floating frame
    s × a + J ω̇ + J̇ ω + H q̈ + Ḣ q̇ + ω × (J ω + H q̇)                               = m     in its axes
    Cᵀa + Hᵀω̇ + M q̈ + ω_k (N_k - N_kᵀ) q̇ - ½ ωᵀ(∂J/∂q) ω + K q + D q̇              = 0     on the coordinates

with a = Rᵀ(ẍ - g). These are the complete Lagrange equations of the kinetic energy of x = r + R (X + S q)
(docs/theory/superelements-in-motion.md, 5-8).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel
from supple.formulations.absolute.residual import angular, linear, rotate
from supple.formulations.absolute.step_work import LOST, STRAIN
from supple.geometry.vectors import cross, dot, minus, plus, times
from supple.kinematics.primitives import in_body

# What the inertia of a floating body depends on: its moments at q, and the rates of these.
#
#     s = C q,   J = J₀ + J₁ q + qᵀ J₂ q,   H_k = H₀ₖ + N_k q            (docs/theory/superelements-in-motion.md, 4)


class Deformation(NamedTuple):
    """Deformation of one superelement: q, q̇ and q̈ (n,), J and its rate (3, 3), and H (3, n)."""

    q: Array
    rate: Array
    second: Array
    inertia: Array
    widened: Array
    spin: Array


@kernel
def deformation(n):
    """Return arrays for at most n coordinates."""
    return Deformation(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, n)))


@kernel
def copy_stored(values, d, first, count, out):
    """Copy the values stored in the frames from `first` on: first columns of poses, velocities or accelerations."""
    held = 3 if d == 6 else 2
    for i in range(count):
        out[i] = values[first + i // held, i % held]


@kernel
def moments_into(elements, e, d, bent):
    """Compute J, J̇ and H at q, q̇; for one axis in the plane (d = 3)."""
    n, lowest = elements.coordinates[e], 0 if d == 6 else 2
    J0, J1, J2 = elements.inertia[e], elements.widening[e], elements.turned[e]
    H0, N = elements.spin[e], elements.turning[e]
    q, rate, J, change, H = bent.q, bent.rate, bent.inertia, bent.widened, bent.spin
    for j in range(lowest, 3):
        for k in range(j, 3):
            total, slope = J0[j, k], 0.0
            for a in range(n):
                through = 0.0
                for b in range(n):
                    through += J2[j, k, a, b] * q[b]
                total += (J1[j, k, a] + through) * q[a]
                slope += (J1[j, k, a] + 2.0 * through) * rate[a]
            J[j, k] = J[k, j] = total
            change[j, k] = change[k, j] = slope
    for k in range(lowest, 3):
        for a in range(n):
            total = H0[k, a]
            for b in range(n):
                total += N[k, a, b] * q[b]
            H[k, a] = total


@kernel(inline=True)
def across(A, values, n):
    """Return A values for a table (3, n)."""
    x, y, z = 0.0, 0.0, 0.0
    for a in range(n):
        x += A[0, a] * values[a]
        y += A[1, a] * values[a]
        z += A[2, a] * values[a]
    return (x, y, z)


@kernel(inline=True)
def column_of(A, a):
    """Return column a of a table (3, n)."""
    return (A[0, a], A[1, a], A[2, a])


@kernel(inline=True)
def apply_table(A, v):
    """Return A v for a table (3, 3)."""
    return (
        A[0, 0] * v[0] + A[0, 1] * v[1] + A[0, 2] * v[2],
        A[1, 0] * v[0] + A[1, 1] * v[1] + A[1, 2] * v[2],
        A[2, 0] * v[0] + A[2, 1] * v[1] + A[2, 2] * v[2],
    )


# Forces, kinetic energy and momentum.


@kernel
def superelement_forces(elements, column, gravity, X, V, acceleration, work):
    """Add the forces of all superelements on their frames to work.forces (F, d); return the potential.

    gravity : (3,) in world axes. The potential includes strain and gravity. Damping power and strain energy are added
              to
    the account.
    """
    Q, account, d = work.forces, work.account, column.shape[0]
    frame, first, count, mass, momentum = (
        elements.frame,
        elements.first,
        elements.coordinates,
        elements.mass,
        elements.momentum,
    )
    g = (gravity[0], gravity[1], gravity[2])
    bent = deformation(elements.stiffness.shape[1])
    potential = 0.0
    for e in range(frame.shape[0]):
        f, n = frame[e], count[e]
        copy_stored(X, d, first[e], n, bent.q)
        copy_stored(V, d, first[e], n, bent.rate)
        copy_stored(acceleration, d, first[e], n, bent.second)
        moments_into(elements, e, d, bent)
        moving = (in_body(X, f, minus(linear(acceleration, f), g)), angular(V, f), angular(acceleration, f))
        force, moment = on_frame(elements, e, bent, moving)
        force = rotate(X, f, force)
        for c in range(d):
            k = column[c]
            Q[f, c] -= force[k] if k < 3 else moment[k - 3]
        strain, lost = on_coordinates(elements, e, d, bent, moving, Q)
        account[STRAIN] += strain
        account[LOST] -= lost
        first_moment = rotate(X, f, across(momentum[e], bent.q, n))
        potential += strain - mass[e] * dot(g, (X[f, 0], X[f, 1], X[f, 2])) - dot(g, first_moment)
    return potential


@kernel
def on_frame(elements, e, bent, moving):
    """Return the force and moment for the motion `moving` (a, ω, ω̇) of the floating frame, in its axes."""
    a, w, dw = moving
    n, m, C, J, change, H = (
        elements.coordinates[e],
        elements.mass[e],
        elements.momentum[e],
        bent.inertia,
        bent.widened,
        bent.spin,
    )
    s, flow = across(C, bent.q, n), across(C, bent.rate, n)
    force = plus(plus(times(m, a), cross(dw, s)), across(C, bent.second, n))
    force = plus(force, plus(times(2.0, cross(w, flow)), cross(w, cross(w, s))))
    whirl = plus(apply_table(J, w), across(H, bent.rate, n))
    moment = plus(plus(cross(s, a), apply_table(J, dw)), plus(apply_table(change, w), across(H, bent.second, n)))
    return force, plus(plus(moment, cross(w, whirl)), swirl(elements.turning[e], bent.rate, n))


@kernel(inline=True)
def swirl(N, rate, n):
    """Return Ḣ q̇ = e_k q̇ᵀ N_k q̇."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(n):
        for j in range(n):
            both = rate[i] * rate[j]
            x += N[0, i, j] * both
            y += N[1, i, j] * both
            z += N[2, i, j] * both
    return (x, y, z)


@kernel
def on_coordinates(elements, e, d, bent, moving, Q):
    """Subtract the forces on the coordinates from Q; return strain energy and damping power."""
    a, w, dw = moving
    n, first, held = elements.coordinates[e], elements.first[e], 3 if d == 6 else 2
    C, H, J1, J2, N = elements.momentum[e], bent.spin, elements.widening[e], elements.turned[e], elements.turning[e]
    M, K, D = elements.modal_mass[e], elements.stiffness[e], elements.damping[e]
    q, rate, second = bent.q, bent.rate, bent.second
    strain, lost = 0.0, 0.0
    for i in range(n):
        elastic, resisting = 0.0, 0.0
        inertia = dot(column_of(C, i), a) + dot(column_of(H, i), dw)
        for j in range(3):
            for k in range(3):
                inertia -= 0.5 * w[j] * w[k] * J1[j, k, i]
        for b in range(n):
            elastic += K[i, b] * q[b]
            resisting += D[i, b] * rate[b]
            inertia += M[i, b] * second[b]
            for k in range(3):
                inertia += w[k] * (N[k, i, b] - N[k, b, i]) * rate[b]
                for j in range(3):
                    inertia -= w[j] * w[k] * J2[j, k, i, b] * q[b]
        strain += 0.5 * q[i] * elastic
        lost += rate[i] * resisting
        Q[first + i // held, i % held] -= inertia + elastic + resisting
    return strain, lost


@kernel
def superelement_kinetic(elements, column, X, V):
    """Return T = ½ m v² + v·(ω × s + C q̇) + ½ ωᵀJω + ω·Hq̇ + ½ q̇ᵀMq̇ of all superelements, v = Rᵀẋ."""
    d = column.shape[0]
    bent = deformation(elements.stiffness.shape[1])
    total = 0.0
    for e in range(elements.frame.shape[0]):
        f, n, C, M = elements.frame[e], elements.coordinates[e], elements.momentum[e], elements.modal_mass[e]
        copy_stored(X, d, elements.first[e], n, bent.q)
        copy_stored(V, d, elements.first[e], n, bent.rate)
        moments_into(elements, e, d, bent)
        v, w, rate = in_body(X, f, linear(V, f)), angular(V, f), bent.rate
        total += dot(
            v, plus(times(0.5 * elements.mass[e], v), plus(cross(w, across(C, bent.q, n)), across(C, rate, n)))
        )
        total += dot(w, plus(times(0.5, apply_table(bent.inertia, w)), across(bent.spin, rate, n)))
        for i in range(n):
            for j in range(n):
                total += 0.5 * rate[i] * M[i, j] * rate[j]
    return total


@kernel
def superelement_momentum(elements, factor, column, X, V, force):
    """Add ∂T/∂(ẋ, ω, q̇) of all superelements times a factor to force (F, d)."""
    d, held = column.shape[0], 3 if column.shape[0] == 6 else 2
    bent = deformation(elements.stiffness.shape[1])
    for e in range(elements.frame.shape[0]):
        f, n, C, M = elements.frame[e], elements.coordinates[e], elements.momentum[e], elements.modal_mass[e]
        copy_stored(X, d, elements.first[e], n, bent.q)
        copy_stored(V, d, elements.first[e], n, bent.rate)
        moments_into(elements, e, d, bent)
        v, w, rate, s = in_body(X, f, linear(V, f)), angular(V, f), bent.rate, across(C, bent.q, n)
        own = rotate(X, f, plus(plus(times(elements.mass[e], v), cross(w, s)), across(C, rate, n)))
        turning = plus(plus(cross(s, v), apply_table(bent.inertia, w)), across(bent.spin, rate, n))
        for c in range(d):
            k = column[c]
            force[f, c] += factor * (own[k] if k < 3 else turning[k - 3])
        for i in range(n):
            total = dot(column_of(C, i), v) + dot(column_of(bent.spin, i), w)
            for j in range(n):
                total += M[i, j] * rate[j]
            force[elements.first[e] + i // held, i % held] += factor * total
