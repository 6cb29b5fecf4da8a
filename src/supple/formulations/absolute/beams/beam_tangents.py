"""What beam elements add to the iteration matrix of a step in time.

    Cᵀ [(1 + c α) M + (c β + k) K + k N K_N] C      C : displacements of the nodes → of the ends, in element axes

with the factors c and k of damping and stiffness, the element's matrices at rest and its geometric stiffness for the
tension N. It is symmetric; what local rotations change and what the motion adds is left out, which a convergent
iteration does not mind. `beam_derivatives` leaves out nothing.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.absolute.beams.element_work import element_work
from supple.formulations.absolute.beams.planar_element import end_angle, planar_frame
from supple.formulations.absolute.beams.space_element import in_rows, space_frame, space_rotations, space_stretch
from supple.geometry.vectors import cross


@kernel
def beam_tangents(beams, X, damping_factor, stiffness_factor, work):
    """Adds the matrices of all elements to work.matrix."""
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    if count == 0:
        return
    mass, stiffness, tension, coupled = beams.mass, beams.stiffness, beams.tension, beams.coupled
    own, d, places, matrix = element_work(X, width), width // 2, beams.places, work.matrix
    C, product = np.zeros((2, d, d)), np.empty((width, width))
    for n in range(count):
        N = stiffness_factor * (planar_turn(beams, n, X, C) if d == 3 else space_turn(beams, n, X, C, own))
        of_mass = 1.0 + damping_factor * beams.alpha[n]
        of_stiffness = damping_factor * beams.beta[n] + stiffness_factor
        for r in range(width):
            for c in range(width):
                product[r, c] = 0.0
            for q in range(4):
                entry = of_mass * mass[n, r, q] + of_stiffness * stiffness[n, r, q] + N * tension[n, r, q]
                end, row = coupled[r, q] // d, coupled[r, q] % d
                for c in range(d):
                    product[r, end * d + c] += entry * C[end, row, c]
        for p in range(width):
            end, column = p // d, p % d
            for c in range(p, width):
                total = 0.0
                for r in range(d):
                    total += C[end, r, column] * product[end * d + r, c]
                matrix[places[n, p, c]] += total


@kernel
def planar_turn(beams, n, X, C):
    """C (2, 3, 3) of element n. Returns its tension."""
    frame, H = planar_frame(beams, n, X), beams.shortening
    x, y = frame.x, frame.y
    for end in range(2):
        arm_x, arm_y = (frame.arm1_x, frame.arm1_y) if end == 0 else (frame.arm2_x, frame.arm2_y)
        C[end, 0, 0], C[end, 0, 1], C[end, 0, 2] = x, y, y * arm_x - x * arm_y
        C[end, 1, 0], C[end, 1, 1], C[end, 1, 2] = -y, x, x * arm_x + y * arm_y
        C[end, 2, 2] = 1.0
    t1, t2 = end_angle(beams, n, 0, frame, X), end_angle(beams, n, 1, frame, X)
    shorter = H[n, 0, 0, 0] * t1 * t1 + 2.0 * H[n, 0, 0, 1] * t1 * t2 + H[n, 0, 1, 1] * t2 * t2
    return beams.axial[n] * (frame.length - beams.length[n] + 0.5 * shorter)


@kernel
def space_turn(beams, n, X, C, work):
    """C (2, 6, 6) of element n. Returns its tension."""
    E, S, arms = work.E, work.S, beams.arms
    length = space_frame(beams, n, X, work)
    space_rotations(work)
    for end in range(2):
        arm = in_rows(S[end], (arms[n, end, 0], arms[n, end, 1], arms[n, end, 2]))
        for c in range(3):
            lever = cross((S[end, 0, c], S[end, 1, c], S[end, 2, c]), arm)
            for r in range(3):
                C[end, r, c], C[end, r, 3 + c], C[end, 3 + r, 3 + c] = E[r, c], lever[r], S[end, r, c]
    return beams.axial[n] * space_stretch(beams, n, length, work)
