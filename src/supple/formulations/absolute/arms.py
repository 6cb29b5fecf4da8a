"""Mass that a frame carries on an arm r: its centre moves with ẋ + R (ω × r)."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.residual import angular, linear, rotated
from supple.geometry.vectors import cross, dot, plus
from supple.kinematics.primitives import in_body


@kernel(inline=True)
def arm_of(system, b):
    """r of frame b, in its axes."""
    return (system.arm[b, 0], system.arm[b, 1], system.arm[b, 2])


@kernel(inline=True)
def arm_forces(system, X, V, acceleration, work):
    """Adds to work.forces what m ẍ and J ω̇ of the frames leave out: -m (a_c - ẍ), and the moment -r × m Rᵀ a_c."""
    column, mass, Q = system.rows.column, system.mass, work.forces
    for n in range(system.armed.shape[0]):
        b = system.armed[n]
        r, w, turning = arm_of(system, b), angular(V, b), angular(acceleration, b)
        own = rotated(X, b, plus(cross(turning, r), cross(w, cross(w, r))))
        moment = cross(r, in_body(X, b, plus(linear(acceleration, b), own)))
        for c in range(column.shape[0]):
            k = column[c]
            Q[b, c] -= mass[b] * (own[k] if k < 3 else moment[k - 3])


@kernel(inline=True)
def arm_tangents(system, at_body, A_):
    """Adds their blocks [0, -m r̃; ., -m r̃ r̃] to the iteration matrix, displacements being in the axes of the frame."""
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
    """½ m (|v_c|² - |ẋ|²)."""
    total = 0.0
    for n in range(system.armed.shape[0]):
        b = system.armed[n]
        v, own = linear(V, b), rotated(X, b, cross(angular(V, b), arm_of(system, b)))
        total += system.mass[b] * (dot(v, own) + 0.5 * dot(own, own))
    return total


@kernel(inline=True)
def arm_momentum(system, factor, X, V, force):
    """Adds to force what m ẋ and J ω of the frames leave out, times a factor: m R (ω × r), and r × m Rᵀ v_c."""
    column, mass = system.rows.column, system.mass
    for n in range(system.armed.shape[0]):
        b = system.armed[n]
        r = arm_of(system, b)
        own = rotated(X, b, cross(angular(V, b), r))
        moment = cross(r, in_body(X, b, plus(linear(V, b), own)))
        for c in range(column.shape[0]):
            k = column[c]
            force[b, c] += factor * mass[b] * (own[k] if k < 3 else moment[k - 3])
