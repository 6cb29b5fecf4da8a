"""The beam element in the plane.

Its axis x runs along the chord from end to end: E = (e, e⊥). Local deformations are its stretch u = l - L and the
angles θ₁, θ₂ of the end sections relative to the chord.   (docs/theory/flexible-motion.md, eqs. 1-9)
"""

from __future__ import annotations

from typing import NamedTuple

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_arrays import (
    ARMS,
    AXES,
    AXIAL,
    BENDING,
    BETA,
    LENGTH,
    LUMPS,
    SAG,
    SHORTENING,
)
from supple.formulations.absolute.beams.element_work import (
    END_WIDTH,
    ENDS,
    HEIGHT_ENERGY,
    POWER_LOST,
    STRAIN_ENERGY,
    THETA,
    angle_of,
    root,
)

U1, V1, F1, U2, V2, F2 = range(ENDS, ENDS + 6)  # degrees of freedom of the two ends


class Chord(NamedTuple):
    """Direction (x, y) of an element's chord, its length, and the arms of its ends, in world axes."""

    x: float
    y: float
    length: float
    arm1_x: float
    arm1_y: float
    arm2_x: float
    arm2_y: float


class PlanarEnds(NamedTuple):
    """Velocities, momenta or forces of both ends, in element axes."""

    u1: float
    v1: float
    f1: float
    u2: float
    v2: float
    f2: float


@kernel(inline=True)
def planar_chord(constants, X, i, j):
    """Return the chord of an element between frames i and j."""
    ax, ay, bx, by = constants[ARMS], constants[ARMS + 1], constants[ARMS + 3], constants[ARMS + 4]
    x1, y1 = X[i, 3] * ax + X[i, 4] * ay, X[i, 6] * ax + X[i, 7] * ay
    x2, y2 = X[j, 3] * bx + X[j, 4] * by, X[j, 6] * bx + X[j, 7] * by
    dx, dy = X[j, 0] - X[i, 0] + x2 - x1, X[j, 1] - X[i, 1] + y2 - y1
    length = root(dx * dx + dy * dy)
    return Chord(dx / length, dy / length, length, x1, y1, x2, y2)


@kernel(inline=True)
def planar_velocities(chord, V, i, j):
    """Return the velocities w of both ends."""
    x, y = chord.x, chord.y
    x1, y1 = V[i, 0] - V[i, 2] * chord.arm1_y, V[i, 1] + V[i, 2] * chord.arm1_x
    x2, y2 = V[j, 0] - V[j, 2] * chord.arm2_y, V[j, 1] + V[j, 2] * chord.arm2_x
    return PlanarEnds(x * x1 + y * y1, x * y1 - y * x1, V[i, 2], x * x2 + y * y2, x * y2 - y * x2, V[j, 2])


@kernel(inline=True)
def planar_product(M, w, longer, lengthening, spin1, spin2):
    """Return M w, M (6, 4) in the layout of `BeamArrays.coupled`.

    Rotations are slopes of a chord that is `longer` times as long. For rates, the lengthening of the chord and the
    spins of the ends add terms.
    """
    v1, v2 = w.v1, w.v2
    f1, f2 = longer * w.f1 + lengthening * spin1, longer * w.f2 + lengthening * spin2
    return PlanarEnds(
        M[0, 0] * w.u1 + M[0, 1] * w.u2,
        M[1, 0] * v1 + M[1, 1] * f1 + M[1, 2] * v2 + M[1, 3] * f2,
        M[2, 0] * v1 + M[2, 1] * f1 + M[2, 2] * v2 + M[2, 3] * f2,
        M[3, 0] * w.u1 + M[3, 1] * w.u2,
        M[4, 0] * v1 + M[4, 1] * f1 + M[4, 2] * v2 + M[4, 3] * f2,
        M[5, 0] * v1 + M[5, 1] * f1 + M[5, 2] * v2 + M[5, 3] * f2,
    )


@kernel(inline=True)
def planar_rates(chord, w, V, acceleration, i, j):
    """Return the rates of w: ẇ = Eᵀ p̈ - ω_E × w."""
    x, y, spin = chord.x, chord.y, (w.v2 - w.v1) / chord.length
    s1, s2, a1, a2 = V[i, 2] * V[i, 2], V[j, 2] * V[j, 2], acceleration[i, 2], acceleration[j, 2]
    x1 = acceleration[i, 0] - a1 * chord.arm1_y - s1 * chord.arm1_x
    y1 = acceleration[i, 1] + a1 * chord.arm1_x - s1 * chord.arm1_y
    x2 = acceleration[j, 0] - a2 * chord.arm2_y - s2 * chord.arm2_x
    y2 = acceleration[j, 1] + a2 * chord.arm2_x - s2 * chord.arm2_y
    return PlanarEnds(
        x * x1 + y * y1 + spin * w.v1,
        x * y1 - y * x1 - spin * w.u1,
        a1,
        x * x2 + y * y2 + spin * w.v2,
        x * y2 - y * x2 - spin * w.u2,
        a2,
    )


@kernel(inline=True)
def end_angle(constants, chord, X, b):
    """Return the angle θ of the end section of frame b relative to the chord."""
    along_x, along_y = constants[AXES], constants[AXES + 3]
    x, y = X[b, 3] * along_x + X[b, 4] * along_y, X[b, 6] * along_x + X[b, 7] * along_y
    return angle_of(chord.x * y - chord.y * x, chord.x * x + chord.y * y)


@kernel(inline=True)
def times_pair(constants, at, a, b):
    """Multiply (2, 2) numbers at a position by (a, b)."""
    return constants[at] * a + constants[at + 1] * b, constants[at + 2] * a + constants[at + 3] * b


@kernel
def planar_element(beams, n, gravity, X, V, acceleration, work, Q):
    """Subtract the required nodal forces of element n from the forces Q (frames, 3).

    `work` keeps the end forces in element axes, and energies.
    """
    i, j, c, M = beams.frames[n, 0], beams.frames[n, 1], beams.numbers[n], beams.mass[n]
    beta, mass1, mass2 = c[BETA], c[LUMPS], c[LUMPS + 1]
    chord = planar_chord(c, X, i, j)
    x, y, length = chord.x, chord.y, chord.length
    w = planar_velocities(chord, V, i, j)
    spin, longer, lengthening = (w.v2 - w.v1) / length, length / c[LENGTH], (w.u2 - w.u1) / c[LENGTH]
    P = planar_product(M, w, longer, 0.0, w.f1, w.f2)
    f = planar_product(M, planar_rates(chord, w, V, acceleration, i, j), longer, lengthening, w.f1, w.f2)
    swing = P.f1 * w.f1 + P.f2 * w.f2
    inward = swing / c[LENGTH]  # kinetic energy rises as the chord grows
    # Strain and its rate: the chord's stretch, less what bending shortens it by, and the angles.
    t1, t2 = end_angle(c, chord, X, i), end_angle(c, chord, X, j)
    work[THETA], work[THETA + END_WIDTH] = t1, t2
    r1, r2 = w.f1 - spin, w.f2 - spin
    h1, h2 = times_pair(c, SHORTENING, t1, t2)
    k1, k2 = times_pair(c, BENDING, t1, t2)
    d1, d2 = times_pair(c, BENDING, r1, r2)
    stretch, stretching = length - c[LENGTH] + 0.5 * (t1 * h1 + t2 * h2), w.u2 - w.u1 + h1 * r1 + h2 * r2
    N = c[AXIAL] * (stretch + beta * stretching)
    # Gravity, on the deflected element.
    gx, gy = x * gravity[0] + y * gravity[1], x * gravity[1] - y * gravity[0]
    deflection = c[SAG] * t1 + c[SAG + 1] * t2
    m1, m2 = k1 + beta * d1 + N * h1 - c[SAG] * gy, k2 + beta * d2 + N * h2 - c[SAG + 1] * gy
    # What turns the chord: its share of inertia, of gravity, and the moments that push against it.
    torque = w.u1 * P.v1 - w.v1 * P.u1 + w.u2 * P.v2 - w.v2 * P.u2 + deflection * gx - m1 - m2
    shear = torque / length
    u1, v1 = (
        f.u1 - spin * P.v1 - N + inward - mass1 * gx,
        f.v1 + spin * P.u1 - shear - mass1 * gy,
    )
    u2, v2 = (
        f.u2 - spin * P.v2 + N - inward - mass2 * gx,
        f.v2 + spin * P.u2 + shear - mass2 * gy,
    )
    m1 += longer * f.f1 + lengthening * P.f1
    m2 += longer * f.f2 + lengthening * P.f2
    work[U1], work[V1], work[F1], work[U2], work[V2], work[F2] = u1, v1, m1, u2, v2, m2
    work[POWER_LOST] = -beta * (c[AXIAL] * stretching * stretching + r1 * d1 + r2 * d2)
    work[STRAIN_ENERGY] = 0.5 * (c[AXIAL] * stretch * stretch + t1 * k1 + t2 * k2)
    fall1 = gravity[0] * (X[i, 0] + chord.arm1_x) + gravity[1] * (X[i, 1] + chord.arm1_y)
    fall2 = gravity[0] * (X[j, 0] + chord.arm2_x) + gravity[1] * (X[j, 1] + chord.arm2_y)
    work[HEIGHT_ENERGY] = -mass1 * fall1 - mass2 * fall2 - deflection * gy
    fx, fy = x * u1 - y * v1, y * u1 + x * v1
    Q[i, 0] -= fx
    Q[i, 1] -= fy
    Q[i, 2] -= m1 + chord.arm1_x * fy - chord.arm1_y * fx
    fx, fy = x * u2 - y * v2, y * u2 + x * v2
    Q[j, 0] -= fx
    Q[j, 1] -= fy
    Q[j, 2] -= m2 + chord.arm2_x * fy - chord.arm2_y * fx
