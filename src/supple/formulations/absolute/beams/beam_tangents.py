"""What beam elements add to the iteration matrix of a step in time.

    Cᵀ [(1 + c α) M + (c β + k) (K + EA/L (b bᵀ - b₀ b₀ᵀ)) + k N K_N] C

with C from displacements of the nodes to those of the ends, in element axes, the factors c and k of damping and
stiffness, the matrices at rest and the geometric stiffness for the tension N. b is the gradient of the stretch
û, which local rotations change much: they turn bending into stretch; b₀ is that at rest. It is symmetric; what local
rotations and motion change besides is left out, which a convergent iteration does not mind. `beam_derivatives` leaves
out nothing.   (docs/theory/flexible-motion.md, eq. 17)
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_arrays import ALPHA, AXIAL, BETA, LENGTH, SHORTENING
from supple.formulations.absolute.beams.element_work import ARM, END_WIDTH, THETA, E, S, element_work, vector_at
from supple.formulations.absolute.beams.planar_element import end_angle, planar_chord, times_pair
from supple.formulations.absolute.beams.space_frame import local_rotations, space_frame, space_stretch
from supple.geometry.vectors import cross, plus


@kernel
def beam_tangents(beams, X, damping_factor, stiffness_factor, work):
    """Adds the matrices of all elements to work.matrix."""
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    if count == 0:
        return
    mass, stiffness, tension, coupled = beams.mass, beams.stiffness, beams.tension, beams.coupled
    own, d, places, matrix = element_work(X), width // 2, beams.places, work.matrix
    C, product = np.zeros((2, d, d)), np.empty((width, width))
    along, bent, straight = np.empty(width), np.empty(width), np.empty(width)
    for n in range(count):
        i, j, constants = beams.frames[n, 0], beams.frames[n, 1], beams.numbers[n]
        if d == 3:
            N = stiffness_factor * planar_turn(constants, X, i, j, C, along)
        else:
            N = stiffness_factor * space_turn(constants, X, i, j, own, C, along)
        of_mass = 1.0 + damping_factor * constants[ALPHA]
        of_stiffness = damping_factor * constants[BETA] + stiffness_factor
        for r in range(width):
            for c in range(width):
                product[r, c] = 0.0
            for q in range(4):
                entry = of_mass * mass[n, r, q] + of_stiffness * stiffness[n, r, q] + N * tension[n, r, q]
                end, row = coupled[r, q] // d, coupled[r, q] % d
                for c in range(d):
                    product[r, end * d + c] += entry * C[end, row, c]
        stretching = of_stiffness * constants[AXIAL]
        for p in range(width):
            end, column = p // d, p % d
            straight[p], bent[p] = (2.0 * end - 1.0) * C[end, 0, column], 0.0
            for r in range(d):
                bent[p] += C[end, r, column] * along[end * d + r]
        for p in range(width):
            end, column = p // d, p % d
            for c in range(p, width):
                total = stretching * (bent[p] * bent[c] - straight[p] * straight[c])
                for r in range(d):
                    total += C[end, r, column] * product[end * d + r, c]
                matrix[places[n, p, c]] += total


@kernel
def planar_turn(constants, X, i, j, C, along):
    """C (2, 3, 3) of an element and b (6,). Returns its tension."""
    chord = planar_chord(constants, X, i, j)
    x, y = chord.x, chord.y
    for end in range(2):
        arm_x, arm_y = (chord.arm1_x, chord.arm1_y) if end == 0 else (chord.arm2_x, chord.arm2_y)
        C[end, 0, 0], C[end, 0, 1], C[end, 0, 2] = x, y, y * arm_x - x * arm_y
        C[end, 1, 0], C[end, 1, 1], C[end, 1, 2] = -y, x, x * arm_x + y * arm_y
        C[end, 2, 2] = 1.0
    t1, t2 = end_angle(constants, chord, X, i), end_angle(constants, chord, X, j)
    h1, h2 = times_pair(constants, SHORTENING, t1, t2)
    across = (h1 + h2) / chord.length
    along[0], along[1], along[2] = -1.0, across, h1
    along[3], along[4], along[5] = 1.0, -across, h2
    return constants[AXIAL] * (chord.length - constants[LENGTH] + 0.5 * (t1 * h1 + t2 * h2))


@kernel
def space_turn(constants, X, i, j, work, C, along):
    """C (2, 6, 6) of an element and b (12,). Returns its tension."""
    length = space_frame(constants, X, i, j, work)
    local_rotations(work)
    for end in range(2):
        turn, arm = S + END_WIDTH * end, vector_at(work, ARM + END_WIDTH * end)
        for c in range(3):
            lever = cross((work[turn + c], work[turn + 3 + c], work[turn + 6 + c]), arm)
            for r in range(3):
                C[end, r, c], C[end, 3 + r, 3 + c] = work[E + 3 * r + c], work[turn + 3 * r + c]
                C[end, r, 3 + c] = lever[r]
    about = (0.0, 0.0, 0.0)
    for end in range(2):
        h = shortening(constants, end, work)
        about = plus(about, h)
        for k in range(3):
            along[6 * end + k], along[6 * end + 3 + k] = 0.0, h[k]
    along[0], along[1], along[2] = -1.0, about[2] / length, -about[1] / length
    along[6], along[7], along[8] = 1.0, -about[2] / length, about[1] / length
    return constants[AXIAL] * space_stretch(constants, length, work)


@kernel(inline=True)
def shortening(constants, end, work):
    """(Hθ) of an end."""
    y, z = SHORTENING + 4 + 2 * end, SHORTENING + 8 + 2 * end
    first, last = vector_at(work, THETA), vector_at(work, THETA + END_WIDTH)
    return (
        0.0,
        constants[y] * first[1] + constants[y + 1] * last[1],
        constants[z] * first[2] + constants[z + 1] * last[2],
    )
