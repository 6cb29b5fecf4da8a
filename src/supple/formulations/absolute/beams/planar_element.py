"""The beam element in the plane.

Its axis x runs along the chord from end to end, at the angle ψ: E = (e, e⊥). Local deformations are its stretch
u = l - L and the angles θ₁, θ₂ of the end sections against the chord.   (docs/theory/flexible-motion.md, eqs. 1-9)
"""

from __future__ import annotations

from typing import NamedTuple

from supple.compilation import kernel
from supple.formulations.absolute.beams.element_rotation import angle_of, root
from supple.formulations.absolute.beams.element_work import (
    HEIGHT_ENERGY,
    POWER_LOST,
    STRAIN_ENERGY,
    coupled_product,
)

U1, V1, F1, U2, V2, F2 = range(6)  # degrees of freedom of the two ends


class PlanarFrame(NamedTuple):
    """Of an element: the direction (x, y) of its chord, its length, and the arms of its ends, in the world."""

    x: float
    y: float
    length: float
    arm1_x: float
    arm1_y: float
    arm2_x: float
    arm2_y: float


@kernel(inline=True)
def planar_frame(beams, n, X):
    """The chord of element n."""
    i, j, arms = beams.frames[n, 0], beams.frames[n, 1], beams.arms
    x1 = X[i, 3] * arms[n, 0, 0] + X[i, 4] * arms[n, 0, 1]
    y1 = X[i, 6] * arms[n, 0, 0] + X[i, 7] * arms[n, 0, 1]
    x2 = X[j, 3] * arms[n, 1, 0] + X[j, 4] * arms[n, 1, 1]
    y2 = X[j, 6] * arms[n, 1, 0] + X[j, 7] * arms[n, 1, 1]
    dx, dy = X[j, 0] + x2 - X[i, 0] - x1, X[j, 1] + y2 - X[i, 1] - y1
    length = root(dx * dx + dy * dy)
    return PlanarFrame(dx / length, dy / length, length, x1, y1, x2, y2)


@kernel(inline=True)
def planar_velocities(beams, n, frame, V, w):
    """Velocities of both ends in element axes into w (6,)."""
    i, j = beams.frames[n, 0], beams.frames[n, 1]
    x1, y1 = V[i, 0] - V[i, 2] * frame.arm1_y, V[i, 1] + V[i, 2] * frame.arm1_x
    x2, y2 = V[j, 0] - V[j, 2] * frame.arm2_y, V[j, 1] + V[j, 2] * frame.arm2_x
    w[U1], w[V1], w[F1] = frame.x * x1 + frame.y * y1, frame.x * y1 - frame.y * x1, V[i, 2]
    w[U2], w[V2], w[F2] = frame.x * x2 + frame.y * y2, frame.x * y2 - frame.y * x2, V[j, 2]


@kernel(inline=True)
def planar_rates(beams, n, frame, V, acceleration, work):
    """Rates of w, in element axes: ẇ = Eᵀ p̈ - ω_E × w. Returns ω_E."""
    i, j, w, dw = beams.frames[n, 0], beams.frames[n, 1], work.w, work.dw
    spin = (w[V2] - w[V1]) / frame.length
    s1, s2, a1, a2 = V[i, 2] * V[i, 2], V[j, 2] * V[j, 2], acceleration[i, 2], acceleration[j, 2]
    x1, y1 = acceleration[i, 0] - a1 * frame.arm1_y, acceleration[i, 1] + a1 * frame.arm1_x
    x2, y2 = acceleration[j, 0] - a2 * frame.arm2_y, acceleration[j, 1] + a2 * frame.arm2_x
    x1, y1 = x1 - s1 * frame.arm1_x, y1 - s1 * frame.arm1_y
    x2, y2 = x2 - s2 * frame.arm2_x, y2 - s2 * frame.arm2_y
    dw[U1], dw[V1] = frame.x * x1 + frame.y * y1 + spin * w[V1], frame.x * y1 - frame.y * x1 - spin * w[U1]
    dw[U2], dw[V2] = frame.x * x2 + frame.y * y2 + spin * w[V2], frame.x * y2 - frame.y * x2 - spin * w[U2]
    dw[F1], dw[F2] = a1, a2
    return spin


@kernel(inline=True)
def end_angle(beams, n, end, frame, X):
    """The angle θ of the section at an end against the chord."""
    b, axes = beams.frames[n, end], beams.axes
    x = X[b, 3] * axes[n, 0, 0] + X[b, 4] * axes[n, 1, 0]
    y = X[b, 6] * axes[n, 0, 0] + X[b, 7] * axes[n, 1, 0]
    return angle_of(frame.x * y - frame.y * x, frame.x * x + frame.y * y)


@kernel
def planar_element(beams, n, gravity, X, V, acceleration, work, Q):
    """Takes what the nodes must do to element n off the forces Q (frames, 3) on them; energies are left in `work`."""
    i, j = beams.frames[n, 0], beams.frames[n, 1]
    K, H, sag, lumps = beams.bending, beams.shortening, beams.sag, beams.lumps
    w, dw, P, ends, alpha, beta = work.w, work.dw, work.momentum, work.ends, beams.alpha[n], beams.beta[n]
    frame = planar_frame(beams, n, X)
    length, x, y = frame.length, frame.x, frame.y
    planar_velocities(beams, n, frame, V, w)
    spin = planar_rates(beams, n, frame, V, acceleration, work)
    coupled_product(beams.coupled, beams.mass, n, w, P)
    coupled_product(beams.coupled, beams.mass, n, dw, ends)
    # Inertia: Ṗ, and what the element's frame takes for its turning with the ends.
    ends[U1] += alpha * P[U1] - spin * P[V1]
    ends[V1] += alpha * P[V1] + spin * P[U1]
    ends[U2] += alpha * P[U2] - spin * P[V2]
    ends[V2] += alpha * P[V2] + spin * P[U2]
    torque = w[U1] * P[V1] - w[V1] * P[U1] + w[U2] * P[V2] - w[V2] * P[U2]
    # Strain, and its rate.
    t1, t2 = end_angle(beams, n, 0, frame, X), end_angle(beams, n, 1, frame, X)
    r1, r2 = w[F1] - spin, w[F2] - spin
    h1, h2 = H[n, 0, 0, 0] * t1 + H[n, 0, 0, 1] * t2, H[n, 0, 1, 0] * t1 + H[n, 0, 1, 1] * t2
    stretch, stretching = length - beams.length[n] + 0.5 * (t1 * h1 + t2 * h2), w[U2] - w[U1] + h1 * r1 + h2 * r2
    k1, k2 = K[n, 0, 0, 0] * t1 + K[n, 0, 0, 1] * t2, K[n, 0, 1, 0] * t1 + K[n, 0, 1, 1] * t2
    c1, c2 = K[n, 0, 0, 0] * r1 + K[n, 0, 0, 1] * r2, K[n, 0, 1, 0] * r1 + K[n, 0, 1, 1] * r2
    N = beams.axial[n] * (stretch + beta * stretching)
    # Gravity, on the deflected element.
    gx, gy = x * gravity[0] + y * gravity[1], x * gravity[1] - y * gravity[0]
    deflection = sag[n, 0, 0] * t1 + sag[n, 0, 1] * t2
    m1, m2 = k1 + beta * c1 + N * h1 - sag[n, 0, 0] * gy, k2 + beta * c2 + N * h2 - sag[n, 0, 1] * gy
    torque += deflection * gx - m1 - m2
    ends[U1] -= N + lumps[n, 0] * gx
    ends[V1] -= torque / length + lumps[n, 0] * gy
    ends[F1] += m1 + alpha * P[F1]
    ends[U2] += N - lumps[n, 1] * gx
    ends[V2] += torque / length - lumps[n, 1] * gy
    ends[F2] += m2 + alpha * P[F2]
    lost = 0.0
    if alpha != 0.0 or beta != 0.0:
        lost = -beta * (beams.axial[n] * stretching * stretching + r1 * c1 + r2 * c2)
        for k in range(6):
            lost -= alpha * w[k] * P[k]
    work.energies[POWER_LOST] = lost
    work.energies[STRAIN_ENERGY] = 0.5 * (beams.axial[n] * stretch * stretch + t1 * k1 + t2 * k2)
    fall1 = gravity[0] * (X[i, 0] + frame.arm1_x) + gravity[1] * (X[i, 1] + frame.arm1_y)
    fall2 = gravity[0] * (X[j, 0] + frame.arm2_x) + gravity[1] * (X[j, 1] + frame.arm2_y)
    work.energies[HEIGHT_ENERGY] = -lumps[n, 0] * fall1 - lumps[n, 1] * fall2 - deflection * gy
    fx, fy = x * ends[U1] - y * ends[V1], y * ends[U1] + x * ends[V1]
    Q[i, 0] -= fx
    Q[i, 1] -= fy
    Q[i, 2] -= ends[F1] + frame.arm1_x * fy - frame.arm1_y * fx
    fx, fy = x * ends[U2] - y * ends[V2], y * ends[U2] + x * ends[V2]
    Q[j, 0] -= fx
    Q[j, 1] -= fy
    Q[j, 2] -= ends[F2] + frame.arm2_x * fy - frame.arm2_y * fx
