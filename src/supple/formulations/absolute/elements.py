"""All elements between frames: their forces, iteration matrix and kinetic energy.

A kind of element that a mechanism does not have is None. A kernel with None as argument compiles to nothing, so rigid
mechanisms neither compile nor call elements.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_arrays import ALPHA, ARMS, AXIAL, BENDING, BETA, LENGTH, SHORTENING
from supple.formulations.absolute.beams.beam_forces import beam_forces, beam_kinetic
from supple.formulations.absolute.beams.element_work import END_WIDTH, THETA, S, element_work
from supple.formulations.absolute.beams.planar_element import end_angle, planar_chord, times_pair
from supple.formulations.absolute.beams.space_frame import local_rotations, space_frame, space_stretch
from supple.formulations.absolute.drive_deflections import drive_forces, drive_kinetic, drive_tangents
from supple.formulations.absolute.superelements.superelement_forces import (
    across,
    column_of,
    copy_stored,
    deformation,
    moments_into,
    superelement_forces,
    superelement_kinetic,
)
from supple.geometry.vectors import cross


@kernel(inline=True)
def element_forces(system, X, V, acceleration, work):
    """Add elastic, damping, gravity and inertia forces to work.forces; return the potential."""
    potential = forces_of_drives(system.drives, X, V, acceleration, work)
    potential += forces_of_beams(system.beams, system.gravity, X, V, acceleration, work)
    potential += forces_of_superelements(
        system.superelements, system.rows.column, system.gravity, X, V, acceleration, work
    )
    return potential


@kernel(inline=True)
def element_tangents(system, X, factors, work):
    """Add M + damping factor D + stiffness factor K to work.matrix; factors : the two factors."""
    tangents_of_drives(system.drives, factors, work)
    tangents_of_beams(system.beams, X, factors, work)
    tangents_of_superelements(system.superelements, system.rows.column, X, factors, work)


@kernel(inline=True)
def element_kinetic(system, X, V):
    """Return the kinetic energy."""
    total = kinetic_of_drives(system.drives, V)
    total += kinetic_of_beams(system.beams, X, V)
    total += kinetic_of_superelements(system.superelements, system.rows.column, X, V)
    return total


@kernel(inline=True)
def forces_of_drives(drives, X, V, acceleration, work):
    """Return the potential of the drives and add their forces."""
    if drives is None:
        return 0.0
    return drive_forces(drives, X, V, acceleration, work)


@kernel(inline=True)
def forces_of_beams(beams, gravity, X, V, acceleration, work):
    """Return the potential of the beams and add their forces."""
    if beams is None:
        return 0.0
    return beam_forces(beams, gravity, X, V, acceleration, work)


@kernel(inline=True)
def forces_of_superelements(superelements, column, gravity, X, V, acceleration, work):
    """Return the potential of the superelements and add their forces."""
    if superelements is None:
        return 0.0
    return superelement_forces(superelements, column, gravity, X, V, acceleration, work)


@kernel(inline=True)
def tangents_of_drives(drives, factors, work):
    """Add the tangents of the drives to work.matrix."""
    if drives is not None:
        drive_tangents(drives, factors, work)


@kernel(inline=True)
def tangents_of_beams(beams, X, factors, work):
    """Add the tangents of the beams to work.matrix."""
    if beams is not None:
        beam_tangents(beams, X, factors[0], factors[1], work)


@kernel(inline=True)
def tangents_of_superelements(superelements, column, X, factors, work):
    """Add the tangents of the superelements to work.matrix."""
    if superelements is not None:
        superelement_tangents(superelements, column, X, factors, work)


@kernel(inline=True)
def kinetic_of_drives(drives, V):
    """Return ½ m δ̇² summed over the drives."""
    if drives is None:
        return 0.0
    return drive_kinetic(drives, V)


@kernel(inline=True)
def kinetic_of_beams(beams, X, V):
    """Return the kinetic energy of all beams."""
    if beams is None:
        return 0.0
    return beam_kinetic(beams, X, V)


@kernel(inline=True)
def kinetic_of_superelements(superelements, column, X, V):
    """Return the kinetic energy of all bodies in floating frames."""
    if superelements is None:
        return 0.0
    return superelement_kinetic(superelements, column, X, V)


# What beam elements add to the iteration matrix of a step in time.
#
#     Cᵀ [(1 + c α) M + (c β + k) (K + EA/L (a aᵀ - a₀a₀ᵀ)) + k (N K_N + G)] C
#
# with the factors c and k of damping and stiffness, the element's matrices at rest, the gradient a of its stretch,
# which is a₀ at rest, its geometric stiffness for the tension N, and G that of the moments m of its ends (docs of
# add_moments).
#
# C takes displacements and rotations of the nodes, both in their own axes, to those of the ends in element axes: where
# a mechanism turns, and its elements with it, the matrix stays what it was. It is symmetric; what the motion adds, and
# what is of second order in the local rotations, is left out, which a convergent iteration does not mind.
# `beam_derivatives` leaves out nothing.


@kernel
def beam_tangents(beams, X, damping_factor, stiffness_factor, work):
    """Add the matrices of all beam elements to work.matrix."""
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    if count == 0:
        return
    mass, stiffness, tension, coupled = beams.mass, beams.stiffness, beams.tension, beams.coupled
    own, d, places, matrix = element_work(X), width // 2, beams.places, work.matrix
    A, turn, slope, block = np.zeros((width, width)), np.zeros((2, 3, 3)), np.zeros(width), np.empty((3, 3))
    form = np.empty((9, 9))
    for n in range(count):
        i, j, constants = beams.frames[n, 0], beams.frames[n, 1], beams.numbers[n]
        A[:] = 0.0
        if d == 3:
            N = planar_turn(constants, X, i, j, turn, slope, stiffness_factor, A)
        else:
            N = space_turn(constants, X, i, j, own, turn, slope)
            add_moments(constants, slope, N, own, stiffness_factor, form, A)
        N *= stiffness_factor
        of_mass = 1.0 + damping_factor * constants[ALPHA]
        of_stiffness = damping_factor * constants[BETA] + stiffness_factor
        for r in range(width):
            for q in range(4):
                A[r, coupled[r, q]] += (
                    of_mass * mass[n, r, q] + of_stiffness * stiffness[n, r, q] + N * tension[n, r, q]
                )
        axial = of_stiffness * constants[AXIAL]
        for p in range(width):
            for q in range(width):
                A[p, q] += axial * slope[p] * slope[q]
        A[0, 0] -= axial
        A[d, d] -= axial
        A[0, d] += axial
        A[d, 0] += axial
        for p in range(0, width, 3):
            for q in range(p, width, 3):
                turn_block(A, p, q, turn[p // d], turn[q // d], block)
        take_arms(constants, d, A)
        for p in range(width):
            for q in range(p, width):
                matrix[places[n, p, q]] += A[p, q]


@kernel
def planar_turn(constants, X, i, j, turn, slope, factor, A):
    """Compute axes of the nodes in element axes, the gradient a (6,) of the stretch, and G; return the tension."""
    chord = planar_chord(constants, X, i, j)
    x, y, length = chord.x, chord.y, chord.length
    for end in range(2):
        b = i if end == 0 else j
        turn[end, 0, 0], turn[end, 0, 1] = x * X[b, 3] + y * X[b, 6], x * X[b, 4] + y * X[b, 7]
        turn[end, 1, 0], turn[end, 1, 1] = x * X[b, 6] - y * X[b, 3], x * X[b, 7] - y * X[b, 4]
        turn[end, 2, 2] = 1.0
    t1, t2 = end_angle(constants, chord, X, i), end_angle(constants, chord, X, j)
    h1, h2 = times_pair(constants, SHORTENING, t1, t2)
    across = (h1 + h2) / length
    slope[0], slope[1], slope[2], slope[3], slope[4], slope[5] = -1.0, across, h1, 1.0, -across, h2
    N = constants[AXIAL] * (length - constants[LENGTH] + 0.5 * (t1 * h1 + t2 * h2))
    m1, m2 = times_pair(constants, BENDING, t1, t2)
    add_shear(factor * (m1 + m2 + N * (h1 + h2)) / (length * length), 0, 1, 3, A)
    return N


@kernel(inline=True)
def add_shear(factor, axial, across, d, A):
    """Add factor (r zᵀ + z rᵀ), with the stretch r and the difference z of the deflections of the ends."""
    for p in range(2):
        for q in range(2):
            entry = factor if p == q else -factor
            A[axial + d * p, across + d * q] += entry
            A[across + d * q, axial + d * p] += entry


@kernel
def space_turn(constants, X, i, j, work, turn, slope):
    """Compute axes of the nodes in element axes, and the gradient a (12,) of the stretch; return the tension."""
    length = space_frame(constants, X, i, j, work)
    local_rotations(work)
    for end in range(2):
        for r in range(3):
            for c in range(3):
                turn[end, r, c] = work[S + END_WIDTH * end + 3 * r + c]
    slope[0], slope[6] = -1.0, 1.0
    for k in range(3):
        h1, h2 = times_pair(constants, SHORTENING + 4 * k, work[THETA + k], work[THETA + END_WIDTH + k])
        slope[3 + k], slope[9 + k] = h1, h2
    slope[1], slope[2] = (slope[5] + slope[11]) / length, -(slope[4] + slope[10]) / length
    slope[7], slope[8] = -slope[1], -slope[2]
    return constants[AXIAL] * space_stretch(constants, length, work)


@kernel
def add_moments(constants, slope, N, work, factor, F, A):
    """Add G of an element in space, due to the moments m of its local rotations θ.

    With rotations ψ of both ends and φ of the element, δ = ψ - φ, local rotations change by δ - ½ θ × δ - ½ φ × ψ, and
    the energy of second order is

        ½ (δ - ½ θ × δ)ᵀK(δ - ½ θ × δ) + Σ ½ ψ·(φ × m) + ½ φ_x (φ_y Σm_z - φ_z Σm_y) + (δl/l) φ·Σm

    without the first part at θ = 0, which the matrix at rest contains. F (9, 9) is this form over (ψ₁, ψ₂, φ); φ
    follows from the displacements of the ends.
    """
    F[:] = 0.0
    inverse = 1.0 / constants[LENGTH]
    whole_y, whole_z = 0.0, 0.0
    for end in range(2):
        at, own = BENDING + 2 * end, 3 * end
        t1, t2 = THETA, THETA + END_WIDTH
        m = (
            constants[at] * work[t1] + constants[at + 1] * work[t2] + N * slope[3 + 6 * end],
            constants[at + 4] * work[t1 + 1] + constants[at + 5] * work[t2 + 1] + N * slope[4 + 6 * end],
            constants[at + 8] * work[t1 + 2] + constants[at + 9] * work[t2 + 2] + N * slope[5 + 6 * end],
        )
        whole_y += m[1]
        whole_z += m[2]
        for k in range(3):
            up, down = (k + 1) % 3, (k + 2) % 3
            put_both(F, own + up, 6 + k, -0.5 * m[down])  # ½ ψ·(φ × m)
            put_both(F, own + down, 6 + k, 0.5 * m[up])
        for other in range(2):
            theta = (THETA, THETA + END_WIDTH)[other]
            for k in range(3):
                up, down = (k + 1) % 3, (k + 2) % 3
                t = 0.5 * constants[BENDING + 4 * k + 2 * end + other]
                put_turn(F, own + k, 3 * other + up, 6 + k, 6 + up, t * work[theta + down])
                put_turn(F, own + k, 3 * other + down, 6 + k, 6 + down, -t * work[theta + up])
    put_both(F, 6, 7, 0.5 * whole_z)
    put_both(F, 6, 8, -0.5 * whole_y)
    spread(F, factor, inverse, A)
    add_shear(-factor * whole_y * inverse * inverse, 0, 2, 6, A)
    add_shear(factor * whole_z * inverse * inverse, 0, 1, 6, A)


@kernel(inline=True)
def put_both(F, p, q, entry):
    """Add entry to F at (p, q) and (q, p)."""
    F[p, q] += entry
    F[q, p] += entry


@kernel(inline=True)
def put_turn(F, p, q, r, s, entry):
    """Add entry of (x_p - x_r)(x_q - x_s) to F, twice."""
    put_both(F, p, q, entry)
    put_both(F, p, s, -entry)
    put_both(F, r, q, -entry)
    put_both(F, r, s, entry)


@kernel(inline=True)
def spread(F, factor, inverse, A):
    """Add the form F over (ψ₁, ψ₂, φ) to A: φ_x is the mean of both ends, φ_y and φ_z follow from deflections."""
    for p in range(9):
        for q in range(9):
            entry = factor * F[p, q]
            if entry == 0.0:
                continue
            for one in range(2):
                if p < 6 and one == 1:
                    continue
                row, left = map_part(p, one, inverse)
                for other in range(2):
                    if q < 6 and other == 1:
                        continue
                    column, right = map_part(q, other, inverse)
                    A[row, column] += left * right * entry


@kernel(inline=True)
def map_part(p, end, inverse):
    """Return the displacement of an end, and the factor, that gives part p of (ψ₁, ψ₂, φ)."""
    if p < 6:
        return 3 + p + (3 if p > 2 else 0), 1.0
    sign = 1.0 if end == 0 else -1.0
    if p == 6:
        return 3 + 6 * end, 0.5
    if p == 7:
        return 2 + 6 * end, sign * inverse
    return 1 + 6 * end, -sign * inverse


@kernel
def turn_block(A, p, q, one, other, T):
    """Return the block of A at (p, q) in axes of the nodes, SᵀAS; one, other : S (3, 3) of the two."""
    for r in range(3):
        x, y, z = A[p + r, q], A[p + r, q + 1], A[p + r, q + 2]
        for c in range(3):
            T[r, c] = x * other[0, c] + y * other[1, c] + z * other[2, c]
    for r in range(3):
        x, y, z = one[0, r], one[1, r], one[2, r]
        for c in range(3):
            A[p + r, q + c] = x * T[0, c] + y * T[1, c] + z * T[2, c]


@kernel
def take_arms(constants, d, A):
    """Convert from displacements u + φ × arm of the ends to those of the nodes; A : its upper triangle."""
    if not constants[ARMS : ARMS + 6].any():
        return
    width, turns, first = 2 * d, 3 if d == 6 else 1, 3 if d == 6 else 2
    for p in range(width):
        for q in range(p):
            A[p, q] = A[q, p]
    for end in range(2):
        x, y, z = constants[ARMS + 3 * end], constants[ARMS + 3 * end + 1], constants[ARMS + 3 * end + 2]
        for k in range(turns):
            axis = k if d == 6 else 2
            lever = (0.0, -z, y) if axis == 0 else ((z, 0.0, -x) if axis == 1 else (-y, x, 0.0))  # e_k × arm
            at = end * d + first + k
            for p in range(width):
                for c in range(first):
                    A[p, at] += A[p, end * d + c] * lever[c]
            for p in range(width):
                for c in range(first):
                    A[at, p] += lever[c] * A[end * d + c, p]


# The iteration matrix of superelements: mass at q, damping and stiffness of the coordinates.
#
#           Rᵀẍ     ω̇      q̈
#     [   m I    -s̃        C        ]
#     [           J        H        ]                                       (docs/theory/superelements-in-motion.md, 9)
#     [ sym.              M + γ'/β' D + K/β' ]
#
# Forces that depend on velocities are left out: they are small against M over a step.


@kernel
def superelement_tangents(elements, column, X, factors, work):
    """Add M + damping_factor D + stiffness_factor K of all superelements to work.matrix; factors : the two factors."""
    A_, d = work.matrix, column.shape[0]
    bent = deformation(elements.stiffness.shape[1])
    for e in range(elements.frame.shape[0]):
        n, places = elements.coordinates[e], elements.places[e]
        copy_stored(X, d, elements.first[e], n, bent.q)
        moments_into(elements, e, d, bent)
        frame_block(elements, e, column, bent, A_)
        C, H, M, K, D = (
            elements.momentum[e], bent.spin, elements.modal_mass[e], elements.stiffness[e], elements.damping[e]
        )  # fmt: skip
        for i in range(n):
            push, turn = column_of(C, i), column_of(H, i)
            for c in range(d):
                k = column[c]
                A_[places[c, d + i]] += push[k] if k < 3 else turn[k - 3]
            for j in range(i, n):
                A_[places[d + i, d + j]] += M[i, j] + factors[0] * D[i, j] + factors[1] * K[i, j]


@kernel
def frame_block(elements, e, column, bent, A_):
    """Add the part of the velocities of the floating frame."""
    d, m, J, places = column.shape[0], elements.mass[e], bent.inertia, elements.places[e]
    s = across(elements.momentum[e], bent.q, elements.coordinates[e])
    for c in range(d):
        k = column[c]
        if k < 3:
            A_[places[c, c]] += m
        for o in range(c, d):
            turn = column[o] - 3
            if turn < 0:
                continue
            if k >= 3:
                A_[places[c, o]] += J[k - 3, turn]
            else:  # e_k·(e_turn × s)
                axis = (1.0 if turn == 0 else 0.0, 1.0 if turn == 1 else 0.0, 1.0 if turn == 2 else 0.0)
                A_[places[c, o]] += cross(axis, s)[k]
